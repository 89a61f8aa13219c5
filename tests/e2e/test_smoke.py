"""The application, deployed by the real sam."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.emulator.sam import APPLICATION, REGIONS

if TYPE_CHECKING:
    from tests.e2e.harness import Aws


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


def test_each_region_has_roles_of_its_own(aws: Aws) -> None:
    roles = [aws.physical_ids(APPLICATION, region)["ImporterRole"] for region in REGIONS]
    for region, role in zip(REGIONS, roles, strict=True):
        policy = aws.client("iam", region).get_role_policy(RoleName=role, PolicyName="importer")["PolicyDocument"]
        (exports,) = (part for part in policy["Statement"] if part["Sid"] == "Exports")
        assert exports["Resource"] == f"arn:aws:ssm:{region}:{aws.account}:parameter/strongref/exports/*"
    assert len(set(roles)) == len(REGIONS)
