"""The page about two accounts: its commands from top to bottom, each in the account that it is for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.e2e.harness import Aws
from tests.e2e.reader import Reader, reading
from tests.e2e.templates import EU, US
from tests.support.documents import ROOT, blocks, load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator


PAGES = ("docs/accounts.md",)


@pytest.mark.story
def test_two_accounts_from_top_to_bottom(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        for template in (reader.checkout / "examples/accounts").glob("*.yaml"):
            template.write_text(reader.own(template.read_text()))
        _two_accounts(reader)
        _an_organization(reader)
        _the_producer_is_protected(reader)
        _the_trust_ends(reader)


def _two_accounts(reader: Reader) -> None:
    here, there = reader.aws, reader.there
    assert f"strongref-trust-{here.account}" in reader.run("strongref install --region us-east-1\n", there=True)
    reader.run("strongref install --region eu-west-1 --parameter ExportAccounts=")
    deploy = "aws cloudformation deploy --stack-name network --template-file examples/accounts/network.yaml"
    reader.run(f"{deploy} --region")
    reader.run("aws cloudformation deploy --stack-name web", there=True)
    assert there.outputs("web", US) == {"Cidr": "10.0.0.0/16"}
    vpc = here.physical_ids("network", EU)["Vpc"]
    reader.run(f"{deploy} --parameter-overrides", fails=True)
    here.wait("network", EU, "UPDATE_ROLLBACK_COMPLETE")
    (shown,) = [block.text for block in blocks("text") if block.page == ROOT / PAGES[0]]
    assert " ".join(reader.own(shown).split()) in "".join(here.reasons("network", EU))
    assert here.physical_ids("network", EU)["Vpc"] == vpc
    assert f"{there.account} (not read)" in reader.run("strongref who network")
    listed = reader.shell("strongref list --region us-east-1", there=True).stdout
    assert re.search(rf"us-east-1 +network.*{here.account}.* Cidr +web +published", listed), listed


def _an_organization(reader: Reader) -> None:
    """The emulator has no StackSets: the template that the page prints is deployed as a stack."""
    (block,) = [each for each in reader.left if each.text.startswith("strongref trust 111111111111 --template")]
    reader.left.remove(block)
    template, *_ = block.text.splitlines()
    assert reader.shell(reader.own(template)).returncode == 0
    printed = load((reader.checkout / "trust.yaml").read_text())
    assert "Transform" not in printed
    member = Aws(reader.aws.emulator, str(int(reader.there.account) + 1))
    given = [{"ParameterKey": "Producer", "ParameterValue": reader.aws.account}]
    member.deploy("StackSet-strongref-trust", printed, US, "CREATE_COMPLETE", Parameters=given)


def _the_producer_is_protected(reader: Reader) -> None:
    here, there = reader.aws, reader.there
    assert "Repaired: unheld" in reader.run("strongref doctor --fix")
    here.delete("network", EU, "UPDATE_ROLLBACK_COMPLETE")
    assert f"in use by strongref-hold-{there.account}-web-" in "".join(here.reasons("network", EU))
    deletion = reader.shell("strongref check --delete network --region eu-west-1")
    assert deletion.returncode == 1
    assert "CloudFormation refuses to remove export network-Exports" in deletion.stdout


def _the_trust_ends(reader: Reader) -> None:
    here, there = reader.aws, reader.there
    early = reader.shell(reader.own("strongref forget 111111111111 --region us-east-1 --yes"), there=True)
    assert (early.returncode, "--remove" in early.stderr) == (2, True), early.stderr
    assert "removed" in reader.run("strongref trust 111111111111 --remove", there=True)
    assert "Places to forget" in reader.run("strongref forget 222222222222")
    in_use = reader.shell(reader.own("strongref forget 111111111111 --region us-east-1 --yes"), there=True)
    assert (in_use.returncode, "imported by stack web" in in_use.stderr) == (1, True), in_use.stderr
    there.delete("web", US)
    reader.shell("strongref doctor --fix --yes --region eu-west-1")
    here.delete("network", EU)
    assert f"What {here.account} published in us-east-1" in reader.run("strongref forget 111111111111", there=True)
    assert [
        name for name in there.parameters(US, "/strongref") if here.account in name and "/releases/" not in name
    ] == []
