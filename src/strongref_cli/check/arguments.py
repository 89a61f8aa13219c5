"""The options of `strongref check`."""

from __future__ import annotations

from strongref_cli.terminal.options import Commands, add_command, add_output, add_profile, add_region


def add_check(commands: Commands) -> None:
    check = add_command(
        commands,
        "check",
        "predict what a deployment changes and whether strongref refuses it",
        epilog="To compare values, it reads all exports of the stack, and decrypts secure ones.",
    )
    check.add_argument("--stack", metavar="NAME", help="the stack to create or update")
    what = check.add_mutually_exclusive_group(required=True)
    what.add_argument("--template", metavar="FILE", help="its new template; - for standard input")
    what.add_argument("--change-set", metavar="NAME", help="a change set of the stack")
    what.add_argument("--delete", metavar="STACK", help="the stack to delete")
    check.add_argument(
        "--parameters",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="the template's parameters; others keep their values, or their defaults",
    )
    add_region(check)
    check.add_argument("--strict", action="store_true", help="also exit with 1 if something is unknown")
    add_profile(check)
    add_output(check)
    check.set_defaults(run="check.command:check_deployment", extra="manifests")
