"""The page of `check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.reader import Reader, reading
from tests.e2e.templates import EU, US
from tests.support.documents import blocks, example, load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator


PAGES = ("docs/check.md",)

pytestmark = pytest.mark.story


def test_each_command_of_the_page_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        reader.install()
        for name, region in (("certificate", US), ("site", EU)):
            reader.aws.deploy(name, load(example(f"certificate/{name}")), region, "CREATE_COMPLETE")
        _check(reader)


def _check(reader: Reader) -> None:
    """The page of `check`: another domain name for the certificate that the site uses, and its deletion."""
    checking = "strongref check --stack certificate --region us-east-1 --template examples/certificate/certificate.yaml"
    from_change_set = reader.run(f"{checking} --parameters DomainName=shop.example.com --create-change-set", fails=True)
    assert "CertificateArn and DomainName cannot be changed: they are imported by stack site" in from_change_set
    client = reader.aws.client("cloudformation", US)
    assert client.list_change_sets(StackName="certificate")["Summaries"] == []
    (shown,) = [block for block in blocks("console") if block.page.name == "check.md"]
    assert reader.run(checking, fails=True) == reader.own(shown.text)
    assert reader.run("strongref check --stacks").count("accepted") >= len(("certificate", "site"))
    assert "cannot be dropped" in reader.run("strongref check --delete certificate", fails=True)
    assert reader.run("cfn-lint") == ""
