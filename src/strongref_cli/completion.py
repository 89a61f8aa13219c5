"""`strongref completion`: a script for the shell, made from the commands' own parsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shtab import complete

from strongref_cli.arguments import parser
from strongref_cli.output import put_out

if TYPE_CHECKING:
    import argparse

    from strongref_toolkit.session import ToolSession


def print_script(args: argparse.Namespace, _session: ToolSession) -> int:
    put_out(f"{complete(parser(), args.shell)}\n".encode())
    return 0
