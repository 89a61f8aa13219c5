"""The application, deployed by the real sam."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.documents import ROOT
from tests.support.emulator.sam import APPLICATION, REGIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.harness import Aws


@pytest.mark.story
@pytest.mark.parametrize("region", REGIONS)
def test_the_application_exports_its_functions(aws: Aws, region: str) -> None:
    assert aws.status(APPLICATION, region) == "CREATE_COMPLETE"
    pages = aws.client("cloudformation", region).get_paginator("list_exports").paginate()
    exports = {export["Name"]: export["Value"] for page in pages for export in page["Exports"]}
    functions = aws.physical_ids(APPLICATION, region)

    for function in ("Exporter", "Importer", "Lookup"):
        arn = f"arn:aws:lambda:{region}:{aws.account}:function:{functions[function]}"
        assert arn in exports.values()
        assert arn in aws.outputs(APPLICATION, region).values()


@pytest.mark.story
def test_each_region_has_roles_of_its_own(aws: Aws) -> None:
    roles = [aws.physical_ids(APPLICATION, region)["ImporterRole"] for region in REGIONS]
    for region, role in zip(REGIONS, roles, strict=True):
        policy = aws.client("iam", region).get_role_policy(RoleName=role, PolicyName="importer")["PolicyDocument"]
        (exports,) = (part for part in policy["Statement"] if part["Sid"] == "Exports")
        assert exports["Resource"] == f"arn:aws:ssm:{region}:{aws.account}:parameter/strongref/exports/*"
    assert len(set(roles)) == len(REGIONS)


def sources(folder: Path) -> set[str]:
    """The files below a folder, without bytecode."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(folder)) for path in files}


def owners(layer: Path) -> Iterator[tuple[str, str]]:
    """What the layer's root holds, and the distribution that installed it."""
    for info in layer.glob("*.dist-info"):
        name = re.sub(r"[-_.]+", "-", info.name.partition("-")[0]).lower()
        yield from (
            (line.partition(",")[0].partition("/")[0], name) for line in (info / "RECORD").read_text().splitlines()
        )


@pytest.mark.story
def test_the_layer_holds_the_package_and_its_dependencies_and_nothing_of_src(built: Path) -> None:
    layer = built / "CoreLayer" / "python"
    lock = (ROOT / "layers/core/requirements.txt").read_text()
    installed = dict(owners(layer))
    assert set(installed.values()) == set(re.findall(r"(?m)^([a-z0-9-]+)==", lock))
    held = {path.name for path in layer.iterdir()} - {"__pycache__"}
    assert held - installed.keys() == {"strongref"}
    assert held.isdisjoint(path.name for path in (ROOT / "src").iterdir())
    assert sources(layer / "strongref") == sources(ROOT / "layers/core/strongref")
