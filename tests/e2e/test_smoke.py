"""The application as deployed by sam: its outputs, its tokens, and its functions' first words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.harness import APPLICATION, REGIONS, US

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws


@pytest.mark.parametrize("region", REGIONS)
def test_the_service_tokens_are_exported_and_stored(aws: Aws, region: str) -> None:
    pages = aws.client("cloudformation", region).get_paginator("list_exports").paginate()
    exports = {export["Name"]: export["Value"] for page in pages for export in page["Exports"]}
    for function in ("exporter", "importer"):
        assert exports[f"{APPLICATION}-{function}"] == aws.token(function, region)
        assert aws.token(function, region).startswith(f"arn:aws:lambda:{region}:{aws.account}:function:")


@pytest.mark.parametrize("region", REGIONS)
def test_logs_are_kept_for_a_while_only(aws: Aws, region: str) -> None:
    groups = aws.client("logs", region).describe_log_groups(logGroupNamePrefix=f"/aws/lambda/{APPLICATION}-")
    assert {group["logGroupName"]: group["retentionInDays"] for group in groups["logGroups"]} == {
        f"/aws/lambda/{APPLICATION}-exporter": 90,
        f"/aws/lambda/{APPLICATION}-importer": 90,
    }


def test_a_value_travels_from_one_region_to_another(aws: Aws, names: Callable[[str], str]) -> None:
    producer, consumer = names("network"), names("web")
    exports = {"Region": US, "Consumer": consumer, "Values": {"Vpc": {"Id": "vpc-1"}}}
    imports = {"From": {"Stack": producer, "Region": "eu-west-1"}, "Names": ["Vpc"]}
    aws.deploy(producer, "eu-west-1", custom("Export", "exporter", exports))
    template = custom("Import", "importer", imports)
    template["Outputs"] = {"Vpc": {"Value": {"Fn::GetAtt": ["It", "Vpc.Id"]}}}
    result = aws.deploy(consumer, US, template)
    assert result.outputs == {"Vpc": "vpc-1"}
    (name,) = aws.parameters(US, f"/strongref/exports/{consumer}")
    assert aws.claims(US, name) == [result.arn]
    aws.delete(consumer, US)
    aws.delete(producer, "eu-west-1")
    assert all(answer.count == 1 and not answer.violations for answer in aws.answers())


def custom(kind: str, function: str, properties: dict[str, object]) -> dict[str, object]:
    token = {"Fn::ImportValue": f"{APPLICATION}-{function}"}
    resource = {"Type": f"Custom::CrossRegion{kind}", "Properties": {"ServiceToken": token, **properties}}
    return {"Resources": {"It": resource}}
