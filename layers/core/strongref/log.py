"""The one logger: JSON lines with the event's ids as keys. Never a value, never a presigned URL."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

from strongref.errors import InternalError

if TYPE_CHECKING:
    from strongref.event import Event

logger = Logger(service="strongref", level="INFO")

_SILENT = ("crhelper", "boto3", "botocore", "urllib3")
"""They log requests, events and error texts, which hold values and presigned URLs."""


def begin(event: Event | None, invocation: str) -> None:
    """Say in every line of this invocation which event it is about, if that is known; forget the one before."""
    for name in _SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    logger.clear_state()
    logger.append_keys(invocation=invocation)
    if event:
        logger.append_keys(
            stack=event.stack,
            logical_id=event.logical_id,
            request=event.request_id,
            request_type=event.request_type.value,
        )


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
    logger.error("A defect", extra={"error": type(error).__name__, "frames": frames(error)})
    return InternalError(error, invocation)


def frames(error: BaseException) -> list[str]:
    """Where an error came from, without its text or any line of code: both could show a value."""
    return [
        f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
