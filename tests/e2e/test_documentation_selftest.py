"""docs/selftest.md: its commands, in the account of somebody who has just installed strongref."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref_cli.selftest.behavior import CHECKS
from tests.e2e.reader import reading

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator

PAGES = ("docs/selftest.md",)


def test_each_command_of_the_page_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        reader.install()
        table = reader.run("strongref selftest --region eu-west-1 --region us-east-1 --quick")
        results = [line.split()[:2] for line in table.splitlines() if " PASS " in line or " FAIL " in line]
        assert results[: len(CHECKS)] == [[each.name, "PASS"] for each in CHECKS if each.quick]
        reader.run("strongref selftest --policy")
        assert "There is nothing to remove." in reader.run(
            "strongref selftest --region eu-west-1 --region us-east-1 --clean"
        )
