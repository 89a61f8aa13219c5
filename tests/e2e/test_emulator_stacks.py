"""What the emulator was corrected for in CloudFormation, as a custom resource's function sees it.

Functions decide by the status of their stack, so a wrong one would make the other tests prove the wrong thing.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from strongref.contract.origin import requested_at
from tests.e2e.templates import function

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

    Template = dict[str, Any]

US = "us-east-1"
PROBE = """
import boto3, datetime, json, urllib.request
def handler(event, context):
    soon = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=30)
    signed = event["ResponseURL"].partition("X-Amz-Date=")[2]
    if "Raise" in event["ResourceProperties"] and signed > f"{soon:%Y%m%dT%H%M%SZ}":
        raise RuntimeError("too early")
    client = boto3.client("cloudformation")
    stack = client.describe_stacks(StackName=event["StackId"])["Stacks"][0]
    listed = {}
    try:
        named = {"StackName": event["StackId"], "LogicalResourceId": event["LogicalResourceId"]}
        listed = client.describe_stack_resource(**named)["StackResourceDetail"]
    except client.exceptions.ClientError:
        pass
    asked = event["ResourceProperties"]
    answer = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    answer["PhysicalResourceId"] = asked.get("Id") or event.get("PhysicalResourceId", "probe")
    answer["Status"] = "FAILED" if event["RequestType"] in asked.get("Fail", ()) else "SUCCESS"
    answer["Reason"] = "as raised"
    saw = {"Saw": stack["StackStatus"], "Root": stack.get("RootId", ""), "Of": event.get("PhysicalResourceId", "")}
    shown = [listed.get(key) or "-" for key in ("ResourceStatus", "PhysicalResourceId", "ResourceType")]
    saw = {**saw, "Listed": " ".join(shown), "URL": event["ResponseURL"]}
    answer["Data"] = {"Type": event["RequestType"], **saw}
    put = urllib.request.Request(event["ResponseURL"], json.dumps(answer).encode(), method="PUT")
    urllib.request.urlopen(put)
"""
DESCRIBE = {
    "Effect": "Allow",
    "Action": ["cloudformation:DescribeStacks", "cloudformation:DescribeStackResource"],
    "Resource": {"Fn::Sub": "arn:aws:cloudformation:*:${AWS::AccountId}:stack/*/*"},
}
PROBES = function("probe", PROBE, DESCRIBE)


@pytest.fixture(scope="module")
def aws(bare: Aws) -> Aws:
    bare.deploy("probes", PROBES, US)
    return bare


def probe(**properties: object) -> Template:
    return {"Type": "Custom::Probe", "Properties": {"ServiceToken": {"Fn::ImportValue": "probe"}, **properties}}


def failing(*depends_on: str) -> Template:
    """Fails without ever being called, after others."""
    token = {"Fn::Sub": "arn:aws:lambda:${AWS::Region}:${AWS::AccountId}:function:none"}
    return {"Type": "Custom::Failing", "DependsOn": list(depends_on), "Properties": {"ServiceToken": token}}


def stack(**resources: Template) -> Template:
    return {"Resources": resources}


def nested(aws: Aws, name: str, **resources: Template) -> Template:
    """A nested stack of these resources."""
    return aws.nested(name, stack(**resources), US)


def seen(aws: Aws, arn_part: str) -> list[tuple[str, str, str, str]]:
    """Request, resource, physical id and status of the stack, of each call for the stacks of a name, in order."""
    return [(x["Data"]["Type"], x["LogicalResourceId"], x["Data"]["Of"], x["Data"]["Saw"]) for x in ours(aws, arn_part)]


def ours(aws: Aws, arn_part: str) -> list[dict[str, Any]]:
    """The responses for the stacks of a name, in order."""
    part = f":stack/{arn_part}"
    bodies = (answer.body or {} for answer in aws.emulator.answers(part))
    return [body for body in bodies if part in body.get("StackId", "")]


CLEANUP = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
ROLLBACK_CLEANUP = "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"


def test_a_resource_is_listed_in_progress_before_its_function_is_called(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("listed")
    for version in ("1", "2"):
        aws.deploy(name, stack(Probe=probe(Id=f"probe-{version}")), US)
    aws.delete(name, US)
    assert [body["Data"]["Listed"] for body in ours(aws, f"{name}/")] == [
        "CREATE_IN_PROGRESS - Custom::Probe",
        "UPDATE_IN_PROGRESS probe-1 Custom::Probe",
        "UPDATE_COMPLETE probe-2 Custom::Probe",  # What was replaced is deleted, and is not listed.
        "DELETE_IN_PROGRESS probe-2 Custom::Probe",
    ]


def test_a_response_url_names_its_resource_and_its_date(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("signed")
    arn = aws.deploy(name, stack(Probe=probe()), US).arn
    (url,) = (body["Data"]["URL"] for body in ours(aws, f"{name}/"))
    *_, key = urlsplit(url).path.split("/")
    assert re.fullmatch(re.escape(f"{arn}|Probe|") + "[0-9a-f-]{36}", unquote(key))
    assert parse_qs(urlsplit(url).query)["X-Amz-Expires"] == ["7200"]
    signed = requested_at(url)
    assert signed
    assert abs(datetime.now(UTC) - signed) < timedelta(minutes=10)


@pytest.mark.deep
def test_a_function_that_fails_gets_its_event_again(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("again")
    began = datetime.now(UTC)
    aws.deploy(name, stack(Probe=probe(Raise="once")), US)
    assert datetime.now(UTC) - began > timedelta(seconds=60)
    assert [body["Data"]["Type"] for body in ours(aws, f"{name}/")] == ["Create"]


def test_an_update_cleans_up_in_a_status_of_its_own(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("cleanup")
    aws.deploy(name, stack(A=probe(), B=probe(Id="old")), US)
    aws.deploy(name, stack(B=probe(Id="new")), US)
    statuses = aws.statuses(name, name, US), aws.statuses(name, "A", US)
    aws.delete(name, US)

    assert seen(aws, name)[2:] == [
        ("Update", "B", "old", "UPDATE_IN_PROGRESS"),
        ("Delete", "B", "old", CLEANUP),
        ("Delete", "A", "probe", CLEANUP),
        ("Delete", "B", "new", "DELETE_IN_PROGRESS"),
    ]
    assert statuses[0] == ["UPDATE_IN_PROGRESS", CLEANUP, "UPDATE_COMPLETE"]
    assert statuses[1] == ["DELETE_IN_PROGRESS", "DELETE_COMPLETE"]


def test_a_rollback_cleans_up_in_a_status_of_its_own(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("back")
    aws.deploy(name, stack(A=probe(V="1")), US)
    changed = stack(A=probe(V="2"), B=probe(), F=failing("A", "B"))
    aws.deploy(name, changed, US, "UPDATE_ROLLBACK_COMPLETE")

    assert seen(aws, name)[1:] == [
        ("Update", "A", "probe", "UPDATE_IN_PROGRESS"),
        ("Create", "B", "", "UPDATE_IN_PROGRESS"),
        ("Update", "A", "probe", "UPDATE_ROLLBACK_IN_PROGRESS"),
        ("Delete", "B", "probe", ROLLBACK_CLEANUP),
    ]


def test_what_failed_to_be_created_is_deleted(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("failed")
    template = stack(A=probe(), B={**probe(Id="half", Fail=["Create"]), "DependsOn": "A"})
    aws.deploy(name, template, US, "ROLLBACK_COMPLETE")

    assert seen(aws, name)[2:] == [
        ("Delete", "B", "half", "ROLLBACK_IN_PROGRESS"),
        ("Delete", "A", "probe", "ROLLBACK_IN_PROGRESS"),
    ]


def test_what_an_update_failed_to_create_is_deleted(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("failed")
    aws.deploy(name, stack(A=probe()), US)
    aws.deploy(name, stack(A=probe(), B=probe(Fail=["Create"])), US, "UPDATE_ROLLBACK_COMPLETE")

    assert seen(aws, name)[2:] == [("Delete", "B", "probe", ROLLBACK_CLEANUP)]


def test_a_nested_stack_tells_its_root(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("root")
    middle = nested(aws, f"{name}-middle", Inner=nested(aws, f"{name}-inner", A=probe()))
    root = aws.deploy(name, stack(Middle=middle), US)

    (answer,) = ours(aws, f"{name}-Middle")
    assert answer["Data"]["Root"] == root.arn


def test_a_nested_stack_is_updated_as_any(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("nested")
    aws.deploy(name, stack(Inner=nested(aws, f"{name}-1", A=probe(Id="old"), B=probe())), US)
    aws.deploy(name, stack(Inner=nested(aws, f"{name}-2", A=probe(Id="new"))), US)

    assert seen(aws, f"{name}-Inner")[2:] == [
        ("Update", "A", "old", "UPDATE_IN_PROGRESS"),
        ("Delete", "A", "old", CLEANUP),
        ("Delete", "B", "probe", CLEANUP),
    ]


def test_a_nested_stack_that_fails_takes_its_root_back(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("nested")
    aws.deploy(name, stack(Inner=nested(aws, f"{name}-1", A=probe(V="1"))), US)
    worse = nested(aws, f"{name}-2", A=probe(V="2"), F=failing("A"))
    aws.deploy(name, stack(Inner=worse), US, "UPDATE_ROLLBACK_COMPLETE")

    assert [status for *_, status in seen(aws, f"{name}-Inner")[1:]] == [
        "UPDATE_IN_PROGRESS",
        "UPDATE_ROLLBACK_IN_PROGRESS",
    ]
    assert "resource(s) failed to create: [F]" in " ".join(aws.reasons(name, US))


def test_a_nested_stack_that_cannot_be_created_is_deleted(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("nested")
    inner = nested(aws, f"{name}-1", A=probe(), F=failing("A"))
    aws.deploy(name, stack(Inner=inner), US, "ROLLBACK_COMPLETE")

    assert seen(aws, f"{name}-Inner") == [
        ("Create", "A", "", "CREATE_IN_PROGRESS"),
        ("Delete", "A", "probe", "ROLLBACK_IN_PROGRESS"),
    ]
    assert "DELETE_COMPLETE" in aws.statuses(name, "Inner", US)


def test_a_nested_stack_that_cannot_be_deleted_keeps_its_root(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("nested")
    aws.deploy(name, stack(Inner=nested(aws, f"{name}-1", A=probe(Fail=["Delete"]))), US)
    aws.delete(name, US, "DELETE_FAILED")

    assert seen(aws, f"{name}-Inner")[1:] == [("Delete", "A", "probe", "DELETE_IN_PROGRESS")]
    assert "resource(s) failed to delete: [A]" in " ".join(aws.reasons(name, US))
    assert aws.status(name, US) == "DELETE_FAILED"


def test_stacks_of_one_name_have_roles_of_their_own(aws: Aws) -> None:
    aws.deploy("probes", PROBES, "eu-west-1")

    assert aws.physical_ids("probes", "eu-west-1")["Role"] != aws.physical_ids("probes", US)["Role"]
