"""The pages of manifests and of references in them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.e2e.reader import Reader, reading
from tests.e2e.templates import EU
from tests.support.documents import example, load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator


PAGES = ("docs/extras/manifests.md", "docs/extras/ack-references.md")

pytestmark = pytest.mark.story


def test_each_command_of_these_pages_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        reader.install()
        _resolve(reader)
        _refer(reader)


def _resolve(reader: Reader) -> None:
    """The resolvers' page: a manifest with a stack's outputs and an attribute."""
    reader.run("sam deploy --stack-name storage")
    (written,) = (reader.checkout / "out").rglob("*")
    outputs = reader.aws.outputs("storage", EU)
    queue = reader.aws.physical_ids("storage", EU)["Queue"]
    text = (reader.checkout / "examples/manifests/kubernetes/reports.yaml").read_text()
    for token, value in (
        ("${cfn:storage.QueueArn}", outputs["QueueArn"]),
        ("${cfn:storage.BucketName}", outputs["BucketName"]),
        ("${cfn-attr:storage.Queue.Ref}", queue),
    ):
        assert token in text
        text = text.replace(token, value)
    assert written.read_text() == text

    reader.run("sam deploy --stack-name network")
    written = reader.checkout / "out/ingress.yaml"
    (subnets,) = re.findall(r"ids: \[(.*)\]|ids:\n((?: +- .*\n)+)", written.read_text())
    ids = reader.aws.physical_ids("network", EU)
    assert [ids["SubnetA"] in each or ids["SubnetB"] in each for each in subnets if each] == [True]
    reader.run("strongref resolve examples/manifests/terraform")
    variables = json.loads((reader.checkout / "out/shop.tfvars.json").read_text())
    assert variables == {"vpc_id": ids["Vpc"], "subnet_ids": [ids["SubnetA"], ids["SubnetB"]]}
    other = load(example("network/network"))
    other["Resources"]["Exports"]["Properties"]["Values"]["Vpc"]["Id"] = "vpc-2"
    reader.aws.deploy("network", other, EU, "UPDATE_ROLLBACK_COMPLETE")
    assert reader.own("imported by manifests shop-terraform (111111111111)") in "".join(
        reader.aws.reasons("network", EU)
    )
    assert reader.shell("strongref resolve --unclaim shop-terraform --region eu-west-1").returncode == 0
    reader.run("strongref resolve examples/manifests/claiming")  # with --hold
    reader.aws.delete("network", EU, "UPDATE_ROLLBACK_COMPLETE")
    assert reader.own("is in use by strongref-hold-111111111111-shop-") in "".join(reader.aws.reasons("network", EU))
    assert "/network/SubnetIds is no longer claimed\n" in reader.run("strongref resolve --unclaim")
    reader.aws.delete("network", EU)


def _refer(reader: Reader) -> None:
    """The page of references: a VPC link whose subnets a stack exports, and what its controller needs."""
    aws = reader.aws
    aws.deploy("network", load(example("network/network")), EU, "CREATE_COMPLETE")
    written = reader.run("strongref refs")
    assert written.startswith("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n")
    assert "\nvpclinks.apigatewayv2.services.k8s.aws:\n" in written
    ids = aws.physical_ids("network", EU)
    text = (reader.checkout / "out/link.yaml").read_text()
    assert "    - sg-0123456789abcdef0 # made by the web team\n" in text
    assert all(f"    - {ids[name]}\n" in text for name in ("Databases", "SubnetA", "SubnetB"))
    aws.delete("network", EU)
