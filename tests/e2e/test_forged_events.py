"""Events that CloudFormation did not send: functions ask it at most, write nothing, and respond nowhere."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from strongref.protocol.time import READING
from tests.e2e.harness import Invocation
from tests.e2e.templates import EU, US
from tests.support.emulator.listener import listening
from tests.support.emulator.sam import APPLICATION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.e2e.harness import Aws

KINDS = ("Create", "Update", "Delete")
ASKING = {"DescribeStackResource", "DescribeStacks"}


class Resource(NamedTuple):
    """A custom resource that is deployed, and the properties with which its function would do something."""

    region: str
    stack: str
    logical_id: str
    type: str
    properties: dict[str, Any]


RESOURCES = {
    "Exporter": Resource(
        EU,
        "network",
        "Exports",
        "Custom::CrossRegionExport",
        {"Region": US, "Consumer": "web", "Values": {"A": "2"}, "OnChange": "propagate"},
    ),
    "Importer": Resource(
        US, "web", "Imports", "Custom::CrossRegionImport", {"From": {"Stack": "network", "Region": EU}, "Names": ["A"]}
    ),
    "Lookup": Resource(
        US, "web", "Lookup", "Custom::ResourceLookup", {"TypeName": "AWS::S3::Bucket", "Name": "forged-photos"}
    ),
}


def event(aws: Aws, function: str, kind: str = "Update") -> dict[str, Any]:
    """What CloudFormation could ask of a function."""
    region, stack, logical_id, type_name, properties = RESOURCES[function]
    found: dict[str, Any] = {
        "RequestType": kind,
        "StackId": aws.stack_arn(stack, region),
        "RequestId": "forged",
        "LogicalResourceId": logical_id,
        "ResourceType": type_name,
        "ResourceProperties": {"ServiceToken": "x"} | properties,
    }
    if kind != "Create":
        found["PhysicalResourceId"] = aws.physical_ids(stack, region)[logical_id]
    if kind == "Update":
        found["OldResourceProperties"] = found["ResourceProperties"]
    return found


def stored(aws: Aws) -> dict[str, object]:
    """Everything that is stored in the account, with its tags."""
    values = {(region, name): value for region in (EU, US) for name, value in aws.values(region, "/strongref/").items()}
    return {str(name): (value, aws.tags(*name)) for name, value in values.items()}


def calls(aws: Aws, function: str) -> Counter[str]:
    """The calls of a function to SSM, CloudFormation and the services that are looked at."""
    name = aws.physical_ids(APPLICATION, RESOURCES[function].region)[function]
    return Counter({call.action: call.count for call in aws.calls if call.caller == name})


def forgeries(aws: Aws, asked: dict[str, Any], elsewhere: str) -> dict[str, dict[str, Any]]:
    """Events that differ from what CloudFormation asks for in one field, by its name."""
    stack, logical_id = asked["StackId"], asked["LogicalResourceId"]
    yesterday = aws.response_url(stack, logical_id, "forged", datetime.now(UTC) - timedelta(days=1))
    fields: dict[str, dict[str, Any]] = {
        "StackId of another account": {"StackId": stack.replace("888888888888", "222222222222")},
        "StackId of another region": {"StackId": stack.replace("-1:", "-2:")},
        "StackId of no stack": {"StackId": f"{stack}0"},
        "LogicalResourceId": {"LogicalResourceId": "Other"},
        "ResourceType": {"ResourceType": "Custom::Other"},
        "RequestType": {"RequestType": "Delete"},
        "ResponseURL of another host": {"ResponseURL": elsewhere},
        "ResponseURL of another host, malformed": {"ResponseURL": elsewhere, "ResourceProperties": None},
        "ResponseURL of yesterday": {"ResponseURL": yesterday},
    }
    return {name: asked | field for name, field in fields.items()}


def check_rejected(aws: Aws, function: str, forged: Mapping[str, Mapping[str, Any]], asked: Mapping[str, Any]) -> None:
    """Send events, all at once, while CloudFormation waits for another one; each is reported by its name."""
    before, called = stored(aws), calls(aws, function)
    region = RESOURCES[function].region
    with ThreadPoolExecutor(len(forged)) as pool, aws.waiting_for(asked):
        sent = {name: pool.submit(aws.invoke, function, each, region, asked={}) for name, each in forged.items()}
        done = {name: each.result() for name, each in sent.items()}
    for name, each in done.items():
        is_certain = name.startswith(("ResponseURL", "StackId of another"))
        assert each == Invocation(each.result, failed=not is_certain, answers=[]), name
        assert is_certain or each.result["errorMessage"].endswith("Lambda delivers the event again."), name
    made = set(calls(aws, function) - called)
    may_read = "Create" in forged  # beside its verification
    assert not {each for each in made - ASKING if not (may_read and each.startswith(READING))}
    assert stored(aws) == before


@pytest.mark.parametrize("function", RESOURCES)
def test_only_what_cloudformation_waits_for_is_done(forged: Aws, function: str) -> None:
    check_rejected(forged, function, {kind: event(forged, function, kind) for kind in KINDS}, {})
    asked = event(forged, function)
    with listening() as elsewhere:
        check_rejected(forged, function, forgeries(forged, asked, elsewhere.url), asked)
        assert elsewhere.bodies == []
    assert not [each for each in forged.emulator.answers("forged") if each.token == "forged"]
    if function == "Exporter":  # The other functions' tests run at the same time: nothing may change.
        asked["ResourceProperties"] = asked["ResourceProperties"] | {"Values": {"A": "1"}}
    (answer,) = forged.invoke(function, asked, RESOURCES[function].region).answers
    assert answer["Status"] == "SUCCESS"
