"""`strongref trust`: the stack is created, updated, listed and deleted, and what stands in its way is named."""

from __future__ import annotations

import json
from ast import literal_eval
from typing import TYPE_CHECKING, Any

import boto3
import pytest

import strongref_cli as cli
from strongref_cli.install import apply, trust
from strongref_cli.install.errors import InstallError
from strongref_cli.install.plan import Found, FoundStack
from strongref_cli.install.stacks import RegionStacks
from strongref_cli.install.trust import TEMPLATE
from tests.support.empty_aws import empty_aws
from tests.support.schemas import validate

if TYPE_CHECKING:
    from collections.abc import Iterator

EU, A, B = "eu-west-1", "111111111111", "123456789012"
STACK, ROLE = f"strongref-trust-{A}", f"strongref-writer-{A}"
OTHER_ROLES = f"arn:aws:iam::{A}:role/platform-*"
ANYTHING = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
FOREIGN = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(apply, "POLL_SECONDS", 0)
    with empty_aws(monkeypatch, EU):
        yield


def trusted(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What the command reports."""
    assert cli.main(["trust", A, "--yes", "--output", "json", *arguments]) == 0, capsys.readouterr()
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    validate("trust", found)
    return found


def refused(capsys: pytest.CaptureFixture[str], status: int, *arguments: str) -> str:
    assert cli.main(["trust", *arguments]) == status
    out, err = capsys.readouterr()
    assert out == ""
    return err


def role() -> Any:
    return boto3.client("iam", EU).get_role(RoleName=ROLE)["Role"]


def patterns() -> Any:
    (statement,) = role()["AssumeRolePolicyDocument"]["Statement"]
    return statement["Condition"]["ArnLike"]["aws:PrincipalArn"]


def test_an_account_is_trusted_and_trusted_no_longer(capsys: pytest.CaptureFixture[str]) -> None:
    assert trusted(capsys)["result"] == "installed"
    assert trusted(capsys)["result"] == "up to date"
    defaults = [f"arn:aws:iam::{A}:role/strongref-{each}Role-*" for each in ("Exporter", "Janitor")]
    assert patterns() == defaults
    found = trusted(capsys, "--parameter", f"ProducerRoles={OTHER_ROLES}")
    assert (found["result"], found["details"]) == ("updated", [f"ProducerRoles (empty) → {OTHER_ROLES}"])
    assert trusted(capsys)["result"] == "up to date"  # what is not given stays

    assert trusted(capsys, "--remove")["result"] == "removed"
    assert boto3.client("iam", EU).list_roles()["Roles"] == []
    assert "so nothing was removed" in refused(capsys, 1, A, "--remove", "--yes")


def test_the_template_is_printed_as_it_is_deployed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RegionStacks, "find", None)
    assert cli.main(["trust", A, "--template"]) == 0
    printed = capsys.readouterr().out
    assert printed == TEMPLATE.read_text()
    assert "Transform" not in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1111"], "PRODUCER must be an account ID of 12 digits, got '1111'"),
        (["network", "--template"], "PRODUCER must be an account ID of 12 digits, got 'network'"),
        ([B], f"{B} is this account itself"),
        ([A, "--parameter", f"Producer={B}"], "--parameter Producer: the trust has no such parameter. Did you mean P"),
        ([A, "--parameter", "ProducerRoles=exporter"], "--parameter ProducerRoles is not valid: it must match "),
        ([A], "nothing was changed: give --yes where nobody can be asked"),
        ([A, "--remove", "--template"], "--template: not allowed with argument --remove"),
    ],
)
def test_wrong_usage_changes_nothing(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in refused(capsys, 2, *arguments)
    assert boto3.client("cloudformation", EU).describe_stacks()["Stacks"] == []


@pytest.mark.parametrize("option", [[], ["--remove"]])
def test_a_stack_of_another_kind_is_left_alone(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    cloudformation = boto3.client("cloudformation", EU)
    cloudformation.create_stack(StackName=STACK, TemplateBody=FOREIGN)
    assert f"The stack {STACK} in {EU} is not one of strongref trust." in refused(capsys, 1, A, "--yes", *option)
    (stack,) = cloudformation.describe_stacks()["Stacks"]
    assert stack["StackStatus"] == "CREATE_COMPLETE"


def test_a_trust_of_a_stack_with_another_name_is_listed_and_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    other = "StackSet-trust-1"
    boto3.client("cloudformation", EU).create_stack(
        StackName=other,
        TemplateBody=TEMPLATE.read_text(),
        Parameters=[{"ParameterKey": "Producer", "ParameterValue": A}],
        Capabilities=["CAPABILITY_NAMED_IAM"],
    )
    for option in ([], ["--remove"]):
        message = f"The stack {other} in {EU} trusts account {A}. Update or delete it with the tool"
        assert message in refused(capsys, 1, A, "--yes", *option)
    assert cli.main(["status", "--output", "json"]) == 1
    status = json.loads(capsys.readouterr().out)
    validate("status", status)
    assert status["trusted"] == [{"account": A, "region": EU, "stack": other}]
    assert cli.main(["status"]) == 1
    assert f"TRUSTED ACCOUNT  REGION     STACK\n{A}     {EU}  {other}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        (f"WriterRole (AWS::IAM::Role): {ROLE} already exists in stack x", f"The role {ROLE} exists already. Did "),
        ("The following validation failed: [AWS::EarlyValidation::ResourceExistenceCheck].", f"The role {ROLE} exists"),
        ("WriterRole (AWS::IAM::Role): Not authorized", "Not authorized"),
    ],
)
def test_a_role_of_that_name_is_named(
    reason: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object) -> None:
        raise InstallError(reason)

    monkeypatch.setattr(trust, "deploy", failing)
    assert message in refused(capsys, 1, A, "--yes")


def test_a_stack_that_can_only_be_removed_or_is_at_work_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def in_status(status: str) -> None:
        monkeypatch.setattr(trust, "_find", lambda *_: Found(EU, FoundStack("arn", status)))

    in_status("ROLLBACK_COMPLETE")
    assert f"Remove it with strongref trust {A} --remove, then install" in refused(capsys, 1, A, "--yes")
    in_status("UPDATE_IN_PROGRESS")
    assert "Wait until CloudFormation has finished" in refused(capsys, 1, A, "--yes", "--remove")


def test_the_role_may_do_exactly_this(capsys: pytest.CaptureFixture[str]) -> None:
    iam = boto3.client("iam", EU)
    boundary = iam.create_policy(PolicyName="limit", PolicyDocument=json.dumps(ANYTHING))["Policy"]["Arn"]
    trusted(capsys, "--parameter", f"PermissionsBoundary={boundary}")
    assert role()["PermissionsBoundary"]["PermissionsBoundaryArn"] == boundary
    (name,) = iam.list_role_policies(RoleName=ROLE)["PolicyNames"]
    below = f"arn:aws:ssm:*:{B}:parameter/strongref"
    exports, trees = f"{below}/exports/*/{A}/*", ("exports", "records", "fences")

    def allow(sid: str, actions: str, *on: str, keys: str = "") -> dict[str, Any]:
        named = [f"ssm:{each}" for each in actions.split()]
        one, only = named[0] if keys else named, {"ForAllValues:StringLike": {"aws:TagKeys": keys}}
        found = {"Sid": sid, "Effect": "Allow", "Action": one, "Resource": list(on) if len(on) > 1 else on[0]}
        return {**found, "Condition": only} if keys else found

    changes = "GetParametersByPath PutParameter DeleteParameters"
    deeper = [f"{below}/{tree}/*/*/{A}/*" for tree in trees]
    found = iam.get_role_policy(RoleName=ROLE, PolicyName=name)
    assert (
        literal_eval(str(found["PolicyDocument"]))["Statement"]
        == [  # moto's is text
            allow("Exports", f"{changes} ListTagsForResource", exports),
            allow("Tags", "AddTagsToResource", exports, keys="strongref:*"),
            allow("OwnTags", "RemoveTagsFromResource", exports, keys="strongref:export:*"),
            allow("RecordsAndFences", changes, *(f"{below}/{tree}/*/{A}/*" for tree in trees[1:])),
            {"Sid": "NotDeeper", "Effect": "Deny", "Action": "ssm:*", "Resource": deeper},
        ]
    )
    (statement,) = role()["AssumeRolePolicyDocument"]["Statement"]
    assert (statement["Principal"], statement["Action"]) == ({"AWS": A}, "sts:AssumeRole")
