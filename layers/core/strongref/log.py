"""The logger: JSON lines with the event's IDs as keys. Values and presigned URLs are never logged."""

from __future__ import annotations

import logging
import traceback

from aws_lambda_powertools import Logger

from strongref.errors import InternalError

logger = Logger(service="strongref", level="INFO")

_SILENCED = ("crhelper", "boto3", "botocore", "urllib3")
"""Loggers of libraries that log requests, events and error texts, which hold values and presigned URLs."""


def start_invocation_log(invocation: str, **keys: str) -> None:
    """Start the log of an invocation, given by Lambda's request ID: every line has these keys, and none from before."""
    for name in _SILENCED:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    logger.clear_state()
    logger.append_keys(invocation=invocation, **keys)


def log_internal_error(error: BaseException, invocation: str) -> InternalError:
    """Log where a defect occurred, and return the error to report."""
    logger.error("Internal error", extra={"error": type(error).__name__, "frames": stack_frames(error)})
    return InternalError(type(error).__name__, invocation)


def stack_frames(error: BaseException) -> list[str]:
    """Where an error was raised, without its text and without lines of code: both could show a value."""
    return [
        f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
