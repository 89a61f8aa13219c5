"""docs/selftest.md: its commands, in the account of somebody who has just installed strongref: every check passes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from strongref_cli.selftest.behavior import CHECKS
from strongref_cli.selftest.beliefs import BELIEFS
from strongref_cli.selftest.probes import PROBES
from tests.e2e.conftest import hurry
from tests.e2e.reader import reading
from tests.support.schemas import validate

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator

PAGES = ("docs/selftest.md",)


def test_each_command_of_the_page_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        reader.install()
        checks, looks = {each.name for each in CHECKS}, {each.name for each in (*CHECKS, *PROBES)}
        beliefs = [each.name for each in BELIEFS if each.shown_by in looks]
        hurry(reader.aws)  # so that a continuation does not take 15 minutes
        reader.run("strongref selftest --region eu-west-1 --region us-east-1 --yes --output json")
        document = json.loads((reader.checkout / "selftest.json").read_text())
        validate("selftest", document)
        assert {each["check"] for each in document["behavior"] if each["passed"]} == checks
        assert [each["belief"] for each in document["beliefs"] if each["passed"]] == beliefs
        assert document["left"] == []
        table = reader.run("strongref selftest --region eu-west-1 --region us-east-1 --quick")
        assert {each.name for each in CHECKS if each.quick} <= {*re.findall(r"(?m)^(\S+) +PASS ", table)}
        reader.run("strongref selftest --policy")
        assert "There is nothing to remove." in reader.run(
            "strongref selftest --region eu-west-1 --region us-east-1 --clean"
        )
