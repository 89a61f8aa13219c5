"""The log of tools on people's machines: lines for people, on standard error."""

from __future__ import annotations

import logging
import sys

from strongref.log import logger
from strongref.text import printable

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName"}
"""What every record has: anything else is what the log line is about."""


def log_to_stderr() -> None:
    """Log warnings and errors to standard error: a command's standard output may be a manifest."""
    for handler in logger.handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.stream = _Stderr()
            handler.setFormatter(_Lines())
            handler.setLevel(logging.WARNING)


class _Lines(logging.Formatter):
    """One line for each record, with what it is about in brackets."""

    def format(self, record: logging.LogRecord) -> str:
        about = ", ".join(f"{name}: {value}" for name, value in vars(record).items() if name not in _STANDARD)
        return printable(f"strongref: {record.getMessage()}{f' ({about})' if about else ''}")


class _Stderr:
    """The `sys.stderr` of the moment, which may be replaced."""

    def write(self, text: str) -> None:
        sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()
