"""Runs one command, and turns every error into a sentence and an exit status."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from strongref.errors import StrongRefError
from strongref_cli.arguments import parser
from strongref_cli.output import unwritten
from strongref_manifests.errors import InputError
from strongref_toolkit.errors import UsageError
from strongref_toolkit.extras import missing_dependency

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

FAILED, WRONG_USAGE = 1, 2


def run(arguments: Sequence[str] | None = None) -> int:
    args = None
    try:
        args = parser().parse_args(arguments)
        return _run(args)
    except StrongRefError as error:
        sys.stderr.write(f"strongref: {error}\n")
        return WRONG_USAGE if isinstance(error, UsageError | InputError) else FAILED
    except ModuleNotFoundError as error:
        problem = missing_dependency(args.command, error, args.extra) if args else None
        if not problem:
            raise
        sys.stderr.write(f"strongref: {problem}\n")
        return WRONG_USAGE


def _run(args: argparse.Namespace) -> int:
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 (`--help` does not wait for it)

    from strongref_toolkit.session import ToolSession  # noqa: PLC0415 (the same)

    module, _, function = args.run.partition(":")
    try:
        status: int = getattr(import_module(f"strongref_cli.{module}"), function)(args, ToolSession.start())
        sys.stdout.flush()
    except BotoCoreError as error:  # before any call: errors of calls are ours
        name = type(error).__name__
        sys.stderr.write(f"strongref: AWS cannot be called: {name}. Check AWS_PROFILE and AWS's configuration.\n")
        return FAILED
    except BrokenPipeError:  # as of `head`, which has read enough
        raise unwritten("broken pipe") from None
    return status
