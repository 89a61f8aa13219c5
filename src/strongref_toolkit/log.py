"""The log of tools on people's machines: lines for people, on standard error."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from strongref.log import logger
from strongref.untyped import Untyped
from strongref_toolkit.messages import message, tell

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName"}
"""What every record has: anything else is what the log line is about."""


def log_to_stderr() -> None:
    """Log warnings and errors to standard error: a command's standard output may be a manifest."""
    for handler in logger.handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.stream = _Stderr()
            handler.setFormatter(_Lines())
            handler.setLevel(logging.WARNING)


def log_calls(events: Untyped) -> None:
    """Write a line for each call of a client, given its events: never what was sent or answered, which has values."""
    events.register_first("before-call", _begin)
    events.register_last("after-call", _end)
    events.register_last("after-call-error", _fail)


def _begin(context: dict[str, Any], **_: Untyped) -> None:
    context["strongref"] = time.monotonic()


def _end(model: Untyped, parsed: Untyped, context: dict[str, Any], **_: Untyped) -> None:
    answer = parsed["ResponseMetadata"]
    code = parsed.get("Error", {}).get("Code", answer["HTTPStatusCode"])
    _tell_call(model.name, f"{code}, request {answer.get('RequestId', 'unknown')}", context)


def _fail(exception: Exception, context: dict[str, Any], event_name: str, **_: Untyped) -> None:
    _tell_call(event_name.rpartition(".")[2], type(exception).__name__, context)


def _tell_call(action: str, end: str, context: dict[str, Any]) -> None:
    seconds = time.monotonic() - context["strongref"]
    tell("note", f"{action} in {context['client_region']}: {end}, {seconds:.2f} s")


@contextmanager
def no_log() -> Iterator[None]:
    """Without log lines on standard error: the command itself reports what is done, and what failed."""
    levels = {each: each.level for each in logger.handlers if isinstance(each, logging.StreamHandler)}
    for each in levels:
        each.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for each, level in levels.items():
            each.setLevel(level)


class _Lines(logging.Formatter):
    """One line for each record, with what it is about in brackets."""

    def format(self, record: logging.LogRecord) -> str:
        about = ", ".join(f"{name}: {value}" for name, value in vars(record).items() if name not in _STANDARD)
        return message("note", f"{record.getMessage()}{f' ({about})' if about else ''}")


class _Stderr:
    """The `sys.stderr` of the moment, which may be replaced."""

    def write(self, text: str) -> None:
        sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()
