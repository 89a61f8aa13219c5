"""The one logger: JSON lines with the event's ids as keys. Never a value, never a presigned URL."""

from __future__ import annotations

import logging
import sys
import traceback

from aws_lambda_powertools import Logger

from strongref.errors import InternalError

logger = Logger(service="strongref", level="INFO")

_SILENT = ("crhelper", "boto3", "botocore", "urllib3")
"""They log requests, events and error texts, which hold values and presigned URLs."""


def begin(invocation: str, **keys: str) -> None:
    """Start the log of an invocation: every line carries these keys, and none of the invocation before.

    Args:
        invocation: Lambda's request ID.
        **keys: what the event names, such as its stack.
    """
    for name in _SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    logger.clear_state()
    logger.append_keys(invocation=invocation, **keys)


def log_aside() -> None:
    """Log to standard error: standard output is a program's own, and may be a manifest."""
    for handler in logger.handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.stream = _Aside()


class _Aside:
    """Standard error, whatever that is when something is written."""

    def write(self, text: str) -> None:
        sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def defect(error: BaseException, invocation: str) -> InternalError:
    """Log where a defect of ours shows; what is to be told of it."""
    logger.error("Internal error", extra={"error": type(error).__name__, "frames": frames(error)})
    return InternalError(error, invocation)


def frames(error: BaseException) -> list[str]:
    """Where an error came from, without its text or any line of code: both could show a value."""
    return [
        f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
