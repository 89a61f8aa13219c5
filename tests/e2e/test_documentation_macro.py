"""The page of the macro."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.reader import Reader, reading
from tests.e2e.templates import EU, US

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator


PAGES = ("docs/macro.md",)

pytestmark = pytest.mark.story


def test_each_command_of_the_page_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        reader.install()
        _macro(reader)


def _macro(reader: Reader) -> None:
    """The macro's page: a load balancer and a site in front of it, by the macro and by the command."""
    aws = reader.aws
    reader.run("sam deploy --stack-name network --template-file examples/macro")
    assert aws.outputs("web", US)["LoadBalancer"] == aws.physical_ids("network", EU)["LoadBalancer"]
    before = aws.physical_ids("web", US)
    reader.run("strongref transform examples/macro/alb/web.yaml -o")
    assert "StrongRef" not in (reader.checkout / "transformed/web.yaml").read_text()
    assert aws.physical_ids("web", US) == before  # the same: nothing is claimed anew
    assert reader.own("/strongref/exports/web/111111111111/eu-west-1/network/WebAlb/Arn") in reader.run(
        "strongref transform examples/macro/alb/web.yaml --iam"
    )
    aws.delete("web", US)
    aws.delete("network", EU)
