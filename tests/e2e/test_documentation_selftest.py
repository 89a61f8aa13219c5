"""docs/selftest.md: its commands, in the account of somebody who has just installed strongref: every check passes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref_cli.selftest.behavior import CHECKS
from strongref_cli.selftest.beliefs import BELIEFS
from tests.e2e.conftest import hurry
from tests.e2e.reader import reading

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator

PAGES = ("docs/selftest.md",)


def test_each_command_of_the_page_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        reader.install()
        checks, beliefs = [each.name for each in CHECKS], [each.name for each in BELIEFS if each.shown_by]
        hurry(reader.aws)  # so that a continuation does not take 15 minutes
        table = reader.run("strongref selftest --region eu-west-1 --region us-east-1 --yes")
        assert re.findall(r"(?m)^(\S+) +PASS ", table) == checks + beliefs
        reader.run("strongref selftest --policy")
        assert "There is nothing to remove." in reader.run(
            "strongref selftest --region eu-west-1 --region us-east-1 --clean"
        )
