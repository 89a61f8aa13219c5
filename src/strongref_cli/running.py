"""Runs one command, and turns every error into a sentence and an exit status."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING

from strongref.errors import BadEndpointError, ServiceError, StackLookupError, StrongRefError, WaitInterruptedError
from strongref_cli.arguments import parser
from strongref_cli.overview.errors import NotFoundWhereReadError
from strongref_cli.terminal import AWS_FAILED, CLOSED_PIPE, FAILED, WRONG_USAGE
from strongref_cli.terminal.output import discard
from strongref_toolkit.errors import AwsCallError, NoWayInError, UnknownCallerError, UsageError
from strongref_toolkit.extras import missing_dependency
from strongref_toolkit.messages import messages_as_json, tell

if TYPE_CHECKING:
    import argparse

_OF_AWS = (
    AwsCallError,
    BadEndpointError,
    NotFoundWhereReadError,
    NoWayInError,
    ServiceError,
    StackLookupError,
    UnknownCallerError,
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit status.

    0 if all is well, 1 for findings and refusals, 2 for wrong usage, 3 if AWS cannot be called or refuses a call.
    """
    args, given = None, sys.argv[1:] if arguments is None else list(arguments)
    messages_as_json(wanted="--output=json" in given or ("--output", "json") in pairwise(given))
    try:
        args = parser().parse_args(given)
        messages_as_json(wanted=getattr(args, "output", "") == "json")
        return _run(args)
    except StrongRefError as error:
        tell("error", str(error))
        return _status(error)
    except BrokenPipeError:
        discard()
        return CLOSED_PIPE
    except ModuleNotFoundError as error:
        problem = missing_dependency(args.command, error, args.extra) if args else None
        if not problem:
            raise
        tell("error", problem)
        return WRONG_USAGE


def _status(error: StrongRefError) -> int:
    if isinstance(error, WaitInterruptedError):
        return _status(error.error)
    if isinstance(error, UsageError):
        return WRONG_USAGE
    return AWS_FAILED if isinstance(error, _OF_AWS) else FAILED


def _run(args: argparse.Namespace) -> int:
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 (`--help` does not wait for it)

    from strongref_toolkit.session import ToolSession, check_regions  # noqa: PLC0415 (the same)

    gc.set_threshold(100_000)  # Hardly anything becomes garbage in a run, and looking for it takes a tenth of the time.
    module, _, function = args.run.partition(":")
    try:
        args.as_of = datetime.now(UTC)  # AWS has not answered yet, so the session's clock is this one, too.
        sessions = []
        if "profile" in args:  # Without that option, no call is made.
            if args.profile:
                os.environ["AWS_PROFILE"] = args.profile  # for what asks botocore for the default region
            sessions = [ToolSession.start(args.profile, debug=args.debug)]
        if given := getattr(args, "region", None):
            check_regions([given] if isinstance(given, str) else given)
        status: int = getattr(import_module(f"strongref_cli.{module}"), function)(args, *sessions)
    except BotoCoreError as error:  # before any call: errors of calls are ours
        name = type(error).__name__
        profile = f" {error.kwargs['profile']!r}" if "profile" in error.kwargs else ""
        tell("error", f"AWS cannot be called: {name}{profile}. Check AWS_PROFILE and AWS's configuration.")
        return AWS_FAILED
    return status
