"""The options of `strongref install`, `status` and `uninstall`."""

from __future__ import annotations

from strongref_cli.terminal.options import (
    Commands,
    add_command,
    add_dry_run,
    add_output,
    add_regions,
    add_yes,
    repeatable,
)


def add_install(commands: Commands) -> None:
    """`install`, `status` and `uninstall`."""
    install = add_command(commands, "install", "install or upgrade the functions in regions")
    status = add_command(commands, "status", "show which version each region has, and what differs")
    uninstall = add_command(commands, "uninstall", "remove the functions from regions, unless stacks need them")
    bucket = "use the existing buckets PREFIX-REGION; by default, it creates strongref-ACCOUNT-REGION"
    install.add_argument("--bucket", metavar="PREFIX", help=bucket)
    source = "install the release in this folder; by default, what pip has installed"
    install.add_argument("--from", dest="release", metavar="FOLDER", help=source)
    repeatable(install, "--parameter", "a parameter of the template; repeatable", metavar="NAME=VALUE")
    repeatable(install, "--tag", "a tag of the stack; repeatable", metavar="NAME=VALUE")
    install.add_argument("--force", action="store_true", help="also replace a newer version")
    uninstall.add_argument("--bucket", metavar="PREFIX", help="the prefix, if install had one")
    purged = "also delete the code, and the buckets that install created"
    uninstall.add_argument("--purge", action="store_true", help=purged)
    add_yes(uninstall)
    for command in (install, uninstall):
        add_dry_run(command)
    for command, function in ((install, "install_suite"), (status, "show_status"), (uninstall, "uninstall_suite")):
        command.add_argument("--stack", default="strongref", help="the stack's name; by default strongref")
        add_regions(command)
        add_output(command)
        command.set_defaults(run=f"install.commands:{function}")
