"""The options of `strongref list`, `who`, `graph` and `order`."""

from __future__ import annotations

from strongref.contract.names import ALL
from strongref_cli.overview.states import ExportState, ImportState, Protection
from strongref_cli.terminal.options import (
    Commands,
    add_command,
    add_consumer,
    add_output,
    add_regions,
)

STATES = (
    *ExportState,
    *("imported", "unused"),
    *(ImportState.OUTDATED, ImportState.STALE),
    *(Protection.UNHELD, Protection.UNPROTECTED),
)


def add_list(commands: Commands) -> None:
    exports = add_command(commands, "list", "list exports and who imports them")
    add_regions(exports)
    exports.add_argument("--stack", help="only exports of this stack")
    add_consumer(exports, f"only exports for this consumer; {ALL} for shared exports")
    exports.add_argument("--importer", help="only exports that this stack imports")
    exports.add_argument("--state", choices=STATES, help="only exports or imports in this state")
    add_output(exports)
    exports.set_defaults(run="overview.list_command:list_exports")


def add_who(commands: Commands) -> None:
    who = add_command(
        commands,
        "who",
        "show who imports a stack's exports, and what it imports",
        epilog="It also reads every region that the stack exports to.",
    )
    who.add_argument("stack", metavar="STACK", help="the stack, or a manifest set")
    who.add_argument("key", metavar="KEY", nargs="?", help="only this export, or everything in the map of this name")
    add_regions(who)
    add_output(who)
    who.set_defaults(run="overview.who_command:show_who")
