"""The options of `strongref doctor`, `release` and `republish`."""

from __future__ import annotations

from strongref_cli.terminal.options import Commands, add_command, add_dry_run, add_output, add_regions, add_yes


def add_doctor(commands: Commands) -> None:
    doctor = add_command(commands, "doctor", "find what is wrong in stored data, and repair what is safe")
    add_regions(doctor)
    doctor.add_argument("--fix", action="store_true", help="show the findings, then repair what is safe")
    add_yes(doctor)
    add_output(doctor)
    doctor.set_defaults(run="doctor.command:examine")


def add_release(commands: Commands) -> None:
    release = add_command(
        commands,
        "release",
        "release a stack's claim on an export",
        epilog="The stack may still use the export, so the command first shows what may break. It stores who released "
        "the claim, and why, for 90 days.",
    )
    release.add_argument("stack", metavar="STACK", help="the stack that exports it")
    release.add_argument("key", metavar="KEY", help="the export, or everything in the map of this name")
    release.add_argument(
        "--consumer",
        required=True,
        help="the importing stack; stack:NAME if manifests have the same name",
    )
    release.add_argument("--reason", required=True, help="why you release it; stored for 90 days")
    add_dry_run(release)
    add_yes(release)
    add_regions(release)
    add_output(release)
    release.set_defaults(run="doctor.release_command:release_claim")


def add_republish(commands: Commands) -> None:
    republish = add_command(commands, "republish", "restore deleted values from their records")
    republish.add_argument("stack", metavar="STACK", help="the stack that exports them")
    republish.add_argument("--key", help="only this export, or everything in the map of this name")
    add_regions(republish)
    add_output(republish)
    republish.set_defaults(run="doctor.republish_command:republish_exports")
