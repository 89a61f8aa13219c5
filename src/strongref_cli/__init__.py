"""The command `strongref`: see what is exported and who imports it, bring back what is gone.

All printing is done in this folder, a module for each command. It works with the caller's own credentials.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError

from strongref import __version__
from strongref.errors import StrongRefError
from strongref_cli import exports, lookup, objects, refs, resolve, transform
from strongref_cli.output import unwritten
from strongref_toolkit.errors import UsageError
from strongref_toolkit.toolbox import Toolbox

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = (exports, lookup, objects, refs, resolve, transform)


INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status: 0 if it was done, 1 if it failed, 2 if it was not asked rightly.

    130 if somebody interrupted it, as shells have it.
    """
    asked = _parser().parse_args(arguments)
    try:
        status: int = asked.do(asked, Toolbox.of_this_process())
        sys.stdout.flush()
    except StrongRefError as error:
        sys.stderr.write(f"strongref: {error}\n")
        return 2 if isinstance(error, UsageError) else 1
    except BotoCoreError as error:  # before any call: those turn botocore's errors into ours
        name = type(error).__name__
        sys.stderr.write(f"strongref: AWS cannot be called: {name}. Check AWS_PROFILE and AWS's configuration.\n")
        return 1
    except BrokenPipeError:  # as of `head`, which has read enough
        sys.stderr.write(f"strongref: {unwritten('broken pipe')}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("strongref: interrupted\n")
        return INTERRUPTED
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="strongref", description=__doc__.partition("\n")[0])
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for each in _COMMANDS:
        each.add(commands)
    return parser
