"""The pages of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.reader import Reader, reading
from tests.e2e.templates import EU, US
from tests.support.documents import example, load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator


PAGES = ("docs/cli/index.md", "docs/cli/commands.md", "docs/cli/graph.md")

pytestmark = pytest.mark.story


def test_each_command_of_these_pages_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        reader.install()
        _command_line(reader)


def _command_line(reader: Reader) -> None:
    """The pages of the command line, with the example of a shared network."""
    aws = reader.aws
    aws.deploy("network", load(example("network/network")), EU, "CREATE_COMPLETE")
    for region in (EU, US):
        aws.deploy("service", load(example("network/service")), region, "CREATE_COMPLETE")
    everything, unused = reader.run("strongref list --all-regions").split(" UTC.\n")[:2]
    assert ("SubnetIds" in everything, "SubnetIds" in unused) == (True, False)
    assert "service" in reader.run("strongref who network Vpc.Id")
    assert reader.run("strongref graph --out graph.html").splitlines()[-2].startswith("2     network")
    assert (reader.checkout / "graph.html").read_text().startswith("<!DOCTYPE html>")
    name = f"/strongref/exports/_shared/{aws.account}/{EU}/network/Vpc/Id"
    assert "Released Vpc.Id of network." in reader.run("strongref release network Vpc.Id")
    assert not any(tag.startswith("strongref:claim:") for tag in aws.tags(US, name))
    aws.client("ssm", US).delete_parameter(Name=name)
    assert "us-east-1  Vpc.Id  _shared   service" in reader.run("strongref republish network --key Vpc")
    assert aws.values(US, name.rpartition("/")[0])[name] == aws.physical_ids("network", EU)["Vpc"]
    assert "Places to forget in us-east-1" in reader.run("strongref forget us-east-1 --stack network")
    reader.run("mkdir -p ~/.local/share/bash-completion")
    for stack_name, region in (("service", EU), ("service", US), ("network", EU)):
        aws.delete(stack_name, region)
