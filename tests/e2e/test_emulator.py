"""What the emulator was corrected for in IAM, in SSM's limits and in custom resources' answers.

Without this, the other tests would prove less than they say. It has an emulator of its own: bad answers are sent here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from botocore.exceptions import ClientError

from tests.e2e.harness import assumed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.e2e.harness import Aws
    from tests.support.emulator.control import Emulator

US = "us-east-1"
ARN = "arn:aws:ssm:us-east-1:111111111111:parameter"
ANSWER = {
    "Status": "SUCCESS",
    "PhysicalResourceId": "id",
    "StackId": "stack",
    "RequestId": "request",
    "LogicalResourceId": "Exports",
}
IDS = list(ANSWER)[1:]
TOO_LARGE = ANSWER | {"Data": {"a": "é" * 700}}

Statement = dict[str, Any]


@pytest.fixture(scope="module")
def emulator(bare: Aws) -> Emulator:
    return bare.emulator


@pytest.fixture(scope="module")
def aws(bare: Aws) -> Aws:
    return bare


def allow(*actions: str, on: str) -> Statement:
    """A policy's statement."""
    return {"Effect": "Allow", "Action": [f"ssm:{action}" for action in actions], "Resource": on}


@dataclass(frozen=True)
class Narrow:
    """Parameter Store as a user with a narrow policy sees it."""

    emulator: Emulator
    aws: Aws
    name: str

    def ssm(self, *statements: Statement) -> Any:
        iam = self.aws.client("iam", US)
        iam.create_user(UserName=self.name)
        document = json.dumps({"Version": "2012-10-17", "Statement": statements})
        iam.put_user_policy(UserName=self.name, PolicyName="narrow", PolicyDocument=document)
        key = iam.create_access_key(UserName=self.name)["AccessKey"]
        return self.emulator.client("ssm", US, key=(key["AccessKeyId"], key["SecretAccessKey"]))


@pytest.fixture
def narrow(emulator: Emulator, aws: Aws, names: Callable[[str], str]) -> Narrow:
    return Narrow(emulator, aws, names("narrow"))


def put(aws: Aws, name: str) -> None:
    aws.client("ssm", US).put_parameter(Name=name, Value="1", Type="String")


def refused(code: str, call: Callable[..., object], **request: object) -> str:
    """The message with which a call is refused."""
    with pytest.raises(ClientError) as caught:
        call(**request)
    assert caught.value.response["Error"]["Code"] == code
    message: str = caught.value.response["Error"]["Message"]
    return message


@pytest.mark.parametrize(("call", "result"), [("get_parameters", "Parameters"), ("delete_parameters", None)])
def test_each_name_of_a_batch_needs_the_permission(
    narrow: Narrow, aws: Aws, names: Callable[[str], str], call: str, result: str | None
) -> None:
    mine, other = f"/{names('mine')}", f"/{names('other')}"
    for name in (mine, other):
        put(aws, name)
    batch = getattr(narrow.ssm(allow("GetParameters", "DeleteParameters", on=f"{ARN}{mine}")), call)

    message = refused("AccessDeniedException", batch, Names=[mine, other])
    assert f"{ARN}{other}" in message
    answer = batch(Names=[mine])
    assert [found["Name"] for found in answer[result]] == [mine] if result else answer["DeletedParameters"] == [mine]
    assert other in aws.parameters(US, "/")


def test_a_path_is_the_resource_of_its_listing(narrow: Narrow, aws: Aws, names: Callable[[str], str]) -> None:
    path = f"/{names('listed')}"
    put(aws, f"{path}/web/a")
    ssm = narrow.ssm(allow("GetParametersByPath", on=f"{ARN}{path}/web*"))

    assert ssm.get_parameters_by_path(Path=f"{path}/web", Recursive=True)["Parameters"]
    refused("AccessDeniedException", ssm.get_parameters_by_path, Path=path, Recursive=True)


def test_tags_of_a_put_need_a_permission_of_their_own(narrow: Narrow, names: Callable[[str], str]) -> None:
    name = f"/{names('tagged')}"
    ssm = narrow.ssm(allow("PutParameter", on=f"{ARN}/*"))
    request = {"Name": name, "Value": "1", "Type": "String"}

    message = refused("AccessDeniedException", ssm.put_parameter, **request, Tags=[{"Key": "owner", "Value": "me"}])
    assert "ssm:AddTagsToResource" in message
    ssm.put_parameter(**request)


def test_the_permission_for_the_tags_of_a_put_knows_their_keys(narrow: Narrow, names: Callable[[str], str]) -> None:
    keys = {"Condition": {"ForAllValues:StringLike": {"aws:TagKeys": "strongref:*"}}}
    ssm = narrow.ssm(allow("PutParameter", on=f"{ARN}/*"), allow("AddTagsToResource", on=f"{ARN}/*") | keys)
    request, ours, foreign = {"Value": "1", "Type": "String"}, {"Key": "strongref:a", "Value": ""}, {"Key": "a"}
    for tags in ([foreign | {"Value": ""}], [ours, foreign | {"Value": ""}]):
        refused("AccessDeniedException", ssm.put_parameter, Name=f"/{names('keys')}", **request, Tags=tags)
    ssm.put_parameter(Name=f"/{names('keys')}", **request, Tags=[ours])


def test_a_session_of_a_role_is_its_role_with_its_path_and_assumes_others_for_an_hour(
    aws: Aws, emulator: Emulator, names: Callable[[str], str]
) -> None:
    iam = aws.client("iam", US)

    def role(name: str, path: str, **statement: Any) -> str:
        trust = {"Effect": "Allow", "Principal": {"AWS": "111111111111"}, "Action": "sts:AssumeRole", **statement}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        created = iam.create_role(RoleName=names(name), Path=path, AssumeRolePolicyDocument=document)
        arn: str = created["Role"]["Arn"]
        return arn

    def sts(arn: str) -> Any:
        return emulator.client("sts", US, key=assumed(aws.client("sts", US), arn))

    anything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    first, other = role("first", "/team/"), role("first-too", "/")
    for each in (first, other):
        iam.put_role_policy(RoleName=each.split("/")[-1], PolicyName="all", PolicyDocument=json.dumps(anything))
    second = role("second", "/", Condition={"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/team/first*"}})
    given = {"RoleArn": second, "RoleSessionName": "session"}
    refused("AccessDenied", sts(other).assume_role, **given)
    sts(first).assume_role(**given, DurationSeconds=3600)
    refused("ValidationError", sts(first).assume_role, **given, DurationSeconds=3601)


@pytest.mark.parametrize(
    ("code", "call", "request_"),
    [
        ("ValidationException", "get_parameters", {"Names": [f"/{i}" for i in range(11)]}),
        ("ValidationException", "delete_parameters", {"Names": [f"/{i}" for i in range(11)]}),
        ("ValidationException", "get_parameters_by_path", {"Path": "/a", "MaxResults": 11}),
        ("ValidationException", "put_parameter", {"Name": "/a", "Value": "{{b}}", "Type": "String"}),
        ("ValidationException", "put_parameter", {"Name": "/a", "Value": "x" * 4097, "Type": "String"}),
        ("HierarchyLevelLimitExceededException", "put_parameter", {"Name": "/a" * 16, "Value": "x", "Type": "String"}),
        ("InvalidResourceId", "list_tags_for_resource", {"ResourceType": "Parameter", "ResourceId": "/strongref/none"}),
    ],
    ids=["11 names", "11 deletes", "page of 11", "braces", "4097 bytes", "16 levels", "tags of nothing"],
)
def test_what_parameter_store_refuses_is_refused(aws: Aws, code: str, call: str, request_: Mapping[str, Any]) -> None:
    refused(code, getattr(aws.client("ssm", US), call), **request_)


def test_limits_know_what_is_stored(aws: Aws, names: Callable[[str], str]) -> None:
    name = f"/{names('stored')}"
    ssm = aws.client("ssm", US)
    tags = [{"Key": f"key{number}", "Value": ""} for number in range(50)]
    ssm.put_parameter(Name=name, Value="x" * 4097, Type="String", Tier="Intelligent-Tiering", Tags=tags)
    tagging = {"ResourceType": "Parameter", "ResourceId": name}

    refused("TooManyTagsError", ssm.add_tags_to_resource, **tagging, Tags=[{"Key": "one more", "Value": ""}])
    ssm.add_tags_to_resource(**tagging, Tags=[{"Key": "key1", "Value": "again"}])
    refused(
        "HierarchyTypeMismatchException", ssm.put_parameter, Name=name, Value="x", Type="SecureString", Overwrite=True
    )
    small = {"Name": name, "Value": "x", "Type": "String", "Overwrite": True}
    refused("ValidationException", ssm.put_parameter, **small, Tier="Standard")
    assert ssm.put_parameter(**small, Tier="Intelligent-Tiering")["Tier"] == "Advanced"


def put_answer(emulator: Emulator, token: str, body: bytes) -> int:
    """The status that an answer of a custom resource gets."""
    try:
        with urlopen(Request(f"{emulator.url}/_ministack/cfn-response/{token}", body, method="PUT")) as response:  # noqa: S310
            status: int = response.status
    except HTTPError as error:
        return error.code
    return status


@pytest.mark.parametrize(
    ("answer", "status", "violations"),
    [
        (ANSWER, 200, []),
        (ANSWER | {"Status": "FAILED"}, 200, ["FAILED without Reason"]),
        (ANSWER | {"Status": "FAILED", "Reason": "x"}, 200, []),
        ({"Status": "SUCCESS"} | dict.fromkeys(IDS, ""), 200, [f"no {name}" for name in IDS]),
        (TOO_LARGE, 400, [f"{len(json.dumps(TOO_LARGE))} bytes, 4096 are allowed"]),
    ],
    ids=["good", "no reason", "reason", "empty ids", "too large"],
)
def test_answers_are_held_to_the_rules(
    emulator: Emulator, names: Callable[[str], str], answer: Mapping[str, Any], status: int, violations: list[str]
) -> None:
    token, body = names("token"), json.dumps(answer).encode()

    assert put_answer(emulator, token, body) == status
    assert put_answer(emulator, token, body) == status
    found = emulator.answers(token)
    assert [(each.body, each.violations, each.count) for each in found] == [(answer, violations, 2)] * 2


def test_calls_are_counted_by_caller(narrow: Narrow, aws: Aws, emulator: Emulator) -> None:
    ssm = narrow.ssm(allow("GetParameters", on=f"{ARN}/b"))
    for _ in range(3):
        refused("AccessDeniedException", ssm.get_parameters, Names=["/a", "/b"])
    aws.status("no-such-stack", US)

    counts = {(call.action, call.region, call.caller): call.count for call in emulator.calls()}
    assert counts["GetParameters", US, narrow.name] == 3
    assert counts["DescribeStacks", US, "111111111111"] >= 1


def test_a_page_goes_on_after_the_one_before_whatever_is_deleted_meanwhile(aws: Aws) -> None:
    names = [f"/pages/{number:02}" for number in range(23)]
    for name in names:
        put(aws, name)
    ssm = aws.client("ssm", US)
    first = ssm.get_parameters_by_path(Path="/pages")
    assert [each["Name"] for each in first["Parameters"]] == names[:10]
    described = ssm.describe_parameters(MaxResults=5)["NextToken"]
    ssm.delete_parameters(Names=names[:4])
    second = ssm.get_parameters_by_path(Path="/pages", NextToken=first["NextToken"])
    assert [each["Name"] for each in second["Parameters"]] == names[10:20]
    third = ssm.get_parameters_by_path(Path="/pages", NextToken=second["NextToken"])
    assert [each["Name"] for each in third["Parameters"]] == names[20:]
    assert "NextToken" not in third
    assert ssm.describe_parameters(MaxResults=5, NextToken=described)["Parameters"][0]["Name"] > described
