"""What the emulator was corrected for in what it takes to deploy a stack.

That is `cloudformation:ResourceTypes`, the stacks that a policy names, and the caller's own permissions for parameters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.e2e.harness import Aws, failing_resource, waiting_resource
from tests.support.emulator.control import ACCOUNT
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    Template = dict[str, Any]
    Statement = dict[str, Any]

US = "us-east-1"
PARAMETER, TOPIC = "AWS::SSM::Parameter", "AWS::SNS::Topic"
STACKS = f"arn:aws:cloudformation:{US}:{ACCOUNT}:stack"
PARAMETERS = f"arn:aws:ssm:{US}:{ACCOUNT}:parameter"
NOTHING = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
TYPES = "cloudformation:ResourceTypes"
TO_CREATE = ("PutParameter", "AddTagsToResource", "GetParameters")


@pytest.fixture(scope="module")
def aws(bare: Aws) -> Aws:
    """The account's root, who looks at what became of the stacks."""
    return bare


def allow(*actions: str, on: str = "*", **condition: Statement) -> Statement:
    """A policy's statement; a condition's operator has an underscore for its colon."""
    operators = {operator.replace("_", ":"): keys for operator, keys in condition.items()}
    return {"Effect": "Allow", "Action": list(actions), "Resource": on, "Condition": operators}


ANY_STACK = allow("cloudformation:*")


def parameters(*actions: str, on: str = "*", **condition: Statement) -> Statement:
    return allow(*(f"ssm:{action}" for action in actions), on=on, **condition)


@dataclass(frozen=True)
class User:
    """CloudFormation as a user with a policy sees it."""

    aws: Aws
    name: str

    def may(self, *statements: Statement) -> Any:
        self.allow(*statements)
        key = self.aws.client("iam", US).create_access_key(UserName=self.name)["AccessKey"]
        return self.aws.emulator.client("cloudformation", US, key=(key["AccessKeyId"], key["SecretAccessKey"]))

    def allow(self, *statements: Statement) -> None:
        """From now on only that."""
        document = json.dumps({"Version": "2012-10-17", "Statement": statements})
        self.aws.client("iam", US).put_user_policy(UserName=self.name, PolicyName="own", PolicyDocument=document)


@pytest.fixture
def user(aws: Aws, names: Callable[[str], str]) -> User:
    name = names("deployer")
    aws.client("iam", US).create_user(UserName=name)
    return User(aws, name)


def parameter(name: str, value: str = "1", **tags: str) -> Template:
    return {"Type": PARAMETER, "Properties": {"Name": f"/{name}", "Type": "String", "Value": value, "Tags": tags}}


def body(**resources: Template) -> str:
    return json.dumps({"Resources": resources})


def refused(code: str, call: Callable[..., object], **request: object) -> str:
    """The message with which a call is refused."""
    with pytest.raises(ClientError) as caught:
        call(**request)
    assert caught.value.response["Error"]["Code"] == code
    message: str = caught.value.response["Error"]["Message"]
    return message


ONLY_PARAMETERS: dict[str, list[Statement]] = {
    "equal": [allow("cloudformation:*Stack", ForAllValues_StringEquals={TYPES: [PARAMETER]}, Null={TYPES: "false"})],
    "like": [
        allow("cloudformation:*Stack", ForAllValues_StringLike={TYPES: "AWS::SSM::Param*"}, Null={TYPES: "false"})
    ],
    "deny": [
        allow("cloudformation:*Stack", ForAllValues_StringEquals={TYPES: [PARAMETER]}),
        {**allow("cloudformation:*", Null={TYPES: "true"}), "Effect": "Deny"},
    ],
}


@pytest.mark.parametrize("statements", ONLY_PARAMETERS.values(), ids=ONLY_PARAMETERS)
@pytest.mark.parametrize("action", ["create_stack", "update_stack"])
def test_the_resource_types_of_a_request_are_a_condition_key(
    user: User, aws: Aws, names: Callable[[str], str], action: str, statements: list[Statement]
) -> None:
    name = names("types")
    client = user.may(*statements, parameters("*"))
    if action == "update_stack":
        aws.deploy(name, {"Resources": {"P": parameter(name)}}, US)
    call = partial(getattr(client, action), StackName=name, TemplateBody=body(P=parameter(name, "2")))

    refused("AccessDenied", call)
    refused("AccessDenied", call, ResourceTypes=[PARAMETER, TOPIC])
    refused("AccessDenied", call, ResourceTypes=[TOPIC])
    call(ResourceTypes=[PARAMETER])
    aws.wait(name, US, "CREATE_COMPLETE" if action == "create_stack" else "UPDATE_COMPLETE")


def test_without_resource_types_a_request_has_no_such_key(user: User, aws: Aws, names: Callable[[str], str]) -> None:
    name = names("untyped")
    client = user.may(allow("cloudformation:CreateStack", Null={TYPES: "true"}), parameters("*"))
    call = partial(client.create_stack, StackName=name, TemplateBody=body(P=parameter(name)))

    refused("AccessDenied", call, ResourceTypes=[PARAMETER])
    call(ResourceTypes=[])
    aws.wait(name, US, "CREATE_COMPLETE")


def test_a_template_has_only_the_types_that_its_request_names(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("typed")
    client = aws.client("cloudformation", US)
    mixed = {"StackName": name, "TemplateBody": body(P=parameter(name), Nothing=NOTHING)}

    for action in (client.create_stack, client.update_stack):
        message = refused("ValidationError", action, **mixed, ResourceTypes=[PARAMETER])
        assert NOTHING["Type"] in message
        refused("ValidationError", action, **mixed, ResourceTypes=[PARAMETER], Capabilities=["CAPABILITY_IAM"])
        assert aws.status(name, US) in (None, "CREATE_COMPLETE")
        if action == client.create_stack:
            aws.deploy(name, {"Resources": {"P": parameter(name)}}, US, "CREATE_COMPLETE")
    client.update_stack(**mixed, ResourceTypes=[PARAMETER, "AWS::CloudFormation::*"])
    aws.wait(name, US, "UPDATE_COMPLETE")


def test_a_policy_names_stacks_by_their_names(user: User, aws: Aws, names: Callable[[str], str]) -> None:
    mine, other = names("strongref-hold-1"), names("strongref-other")
    client = user.may(allow("cloudformation:*", on=f"{STACKS}/strongref-hold-*/*"), parameters("*"))
    arn = client.create_stack(StackName=mine, TemplateBody=body(P=parameter(mine)))["StackId"]
    aws.wait(mine, US, "CREATE_COMPLETE")
    others = aws.deploy(other, {"Resources": {"Nothing": NOTHING}}, US).arn
    template = body(P=parameter(mine), Nothing=NOTHING)

    for allowed in (mine, arn):
        assert client.describe_stacks(StackName=allowed)["Stacks"][0]["StackName"] == mine
        assert client.describe_stack_events(StackName=allowed)["StackEvents"]
    for forbidden in (other, others):
        refused("AccessDenied", client.describe_stacks, StackName=forbidden)
        refused("AccessDenied", client.describe_stack_events, StackName=forbidden)
        refused("AccessDenied", client.update_stack, StackName=forbidden, TemplateBody=template)
        refused("AccessDenied", client.delete_stack, StackName=forbidden)
    refused("AccessDenied", client.create_stack, StackName=names("hold"), TemplateBody=template)
    refused("AccessDenied", client.describe_stacks)
    client.update_stack(StackName=arn, TemplateBody=template)
    aws.wait(mine, US, "UPDATE_COMPLETE")
    client.delete_stack(StackName=mine)
    aws.wait(mine, US, "DELETE_COMPLETE")


@pytest.mark.parametrize("missing", TO_CREATE)
def test_a_parameter_is_created_with_the_callers_permissions(
    user: User, aws: Aws, names: Callable[[str], str], missing: str
) -> None:
    name = names("created")
    client = user.may(ANY_STACK, parameters(*(set(TO_CREATE) - {missing}), "DeleteParameter"))
    client.create_stack(StackName=name, TemplateBody=body(P=parameter(name)))
    aws.wait(name, US, "ROLLBACK_COMPLETE")

    denied = f"user/{user.name} is not authorized to perform: ssm:{missing} on resource: {PARAMETERS}/{name}"
    assert denied in " ".join(aws.reasons(name, US))
    assert aws.statuses(name, "P", US)[:2] == ["CREATE_IN_PROGRESS", "CREATE_FAILED"]
    assert aws.values(US, f"/{name}") == {}


def test_who_may_all_of_it_deploys_updates_and_deletes(user: User, aws: Aws, names: Callable[[str], str]) -> None:
    name = names("deployed")
    client = user.may(ANY_STACK, parameters(*TO_CREATE, "DeleteParameter", on=f"{PARAMETERS}/{name}"))
    client.create_stack(StackName=name, TemplateBody=body(P=parameter(name)))
    aws.wait(name, US, "CREATE_COMPLETE")
    client.update_stack(StackName=name, TemplateBody=body(P=parameter(name, "2", owner="me")))
    aws.wait(name, US, "UPDATE_COMPLETE")
    assert aws.values(US, "/")[f"/{name}"] == "2"
    client.delete_stack(StackName=name)
    aws.wait(name, US, "DELETE_COMPLETE")
    assert f"/{name}" not in aws.values(US, "/")


@pytest.mark.parametrize("via", ["ForAnyValue:StringEquals", "ForAllValues:StringEquals"])
def test_a_policy_can_allow_parameters_through_stacks_alone(
    user: User, aws: Aws, names: Callable[[str], str], via: str
) -> None:
    name = names("via")
    through = {via: {"aws:CalledVia": ["cloudformation.amazonaws.com"]}, "Null": {"aws:CalledVia": "false"}}
    client = user.may(ANY_STACK, parameters(*TO_CREATE, "DeleteParameter") | {"Condition": through})
    key = aws.client("iam", US).create_access_key(UserName=user.name)["AccessKey"]
    ssm = aws.emulator.client("ssm", US, key=(key["AccessKeyId"], key["SecretAccessKey"]))

    client.create_stack(StackName=name, TemplateBody=body(P=parameter(name)))
    aws.wait(name, US, "CREATE_COMPLETE")
    refused("AccessDeniedException", ssm.get_parameters, Names=[f"/{name}"])
    client.delete_stack(StackName=name)
    aws.wait(name, US, "DELETE_COMPLETE")


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"value": "2"}, "PutParameter"),
        ({"value": "2"}, "GetParameters"),
        ({"added": "x"}, "AddTagsToResource"),
        ({"owner": "you"}, "AddTagsToResource"),
        ({}, "RemoveTagsFromResource"),
    ],
    ids=["value", "read", "new tag", "other tag", "no tag"],
)
def test_a_parameter_is_updated_with_the_callers_permissions(
    user: User, aws: Aws, names: Callable[[str], str], changed: dict[str, str], missing: str
) -> None:
    name = names("updated")
    aws.deploy(name, {"Resources": {"P": parameter(name, owner="me")}}, US, "CREATE_COMPLETE")
    every = {*TO_CREATE, "RemoveTagsFromResource", "DeleteParameter"}
    tags = {} if missing == "RemoveTagsFromResource" else {"owner": "me"}
    template = body(P=parameter(name, **{**tags, **changed}))
    client = user.may(ANY_STACK, parameters(*(every - {missing})))

    client.update_stack(StackName=name, TemplateBody=template)
    aws.wait(name, US, "UPDATE_ROLLBACK_COMPLETE")
    assert f"{user.name} is not authorized to perform: ssm:{missing}" in " ".join(aws.reasons(name, US))
    assert (aws.values(US, "/")[f"/{name}"], aws.tags(US, f"/{name}")["owner"]) == ("1", "me")
    user.allow(ANY_STACK, parameters(*every))
    client.update_stack(StackName=name, TemplateBody=template)
    aws.wait(name, US, "UPDATE_COMPLETE")


def test_a_value_is_updated_without_permissions_for_tags(user: User, aws: Aws, names: Callable[[str], str]) -> None:
    name = names("untagged")
    aws.deploy(name, {"Resources": {"P": parameter(name, owner="me")}}, US, "CREATE_COMPLETE")
    client = user.may(ANY_STACK, parameters("PutParameter", "GetParameters"))
    client.update_stack(StackName=name, TemplateBody=body(P=parameter(name, "2", owner="me")))
    aws.wait(name, US, "UPDATE_COMPLETE")


def test_a_parameter_is_deleted_with_the_callers_permissions(user: User, aws: Aws, names: Callable[[str], str]) -> None:
    name = names("kept")
    aws.deploy(name, {"Resources": {"P": parameter(name)}}, US, "CREATE_COMPLETE")
    client = user.may(ANY_STACK, parameters(*TO_CREATE, "DeleteParameters"))
    client.delete_stack(StackName=name)
    aws.wait(name, US, "DELETE_FAILED")

    assert f"{user.name} is not authorized to perform: ssm:DeleteParameter" in " ".join(aws.reasons(name, US))
    assert aws.values(US, "/")[f"/{name}"] == "1"
    aws.delete(name, US)
    assert f"/{name}" not in aws.values(US, "/")


@pytest.mark.parametrize("renamed", [True, False])
def test_what_an_update_leaves_over_is_deleted_with_the_callers_permissions(
    user: User, aws: Aws, names: Callable[[str], str], *, renamed: bool
) -> None:
    name = names("left")
    aws.deploy(name, {"Resources": {"P": parameter(name), "Nothing": NOTHING}}, US, "CREATE_COMPLETE")
    client = user.may(ANY_STACK, parameters(*TO_CREATE))
    after = {"P": parameter(f"{name}-new")} if renamed else {}
    client.update_stack(StackName=name, TemplateBody=body(Nothing=NOTHING, **after))
    aws.wait(name, US, "UPDATE_COMPLETE")

    assert f"{user.name} is not authorized to perform: ssm:DeleteParameter" in " ".join(aws.reasons(name, US))
    assert f"/{name}" in aws.values(US, "/")


@pytest.mark.parametrize(
    ("options", "expected"), [({}, "ROLLBACK_FAILED"), ({"OnFailure": "DELETE"}, "DELETE_FAILED")], ids=["back", "gone"]
)
def test_a_failed_operation_is_undone_with_the_callers_permissions(
    user: User, aws: Aws, names: Callable[[str], str], options: dict[str, str], expected: str
) -> None:
    name = names("undone")
    client = user.may(ANY_STACK, parameters(*TO_CREATE))
    template = body(P=parameter(name), Failing=failing_resource("P"))
    arn = client.create_stack(StackName=name, TemplateBody=template, **options)["StackId"]
    aws.wait(arn, US, expected)

    assert f"{user.name} is not authorized to perform: ssm:DeleteParameter" in " ".join(aws.reasons(arn, US))
    assert f"/{name}" in aws.values(US, "/")


def test_a_deletion_that_ends_a_creation_has_its_own_callers_permissions(
    user: User, aws: Aws, names: Callable[[str], str]
) -> None:
    name = names("ended")
    client = user.may(ANY_STACK)
    arn = aws.begin(name, {"Resources": {"P": parameter(name), "Waiting": waiting_resource("P")}}, US)
    wait_until(lambda: aws.statuses(name, "Waiting", US), "the second resource")
    client.delete_stack(StackName=name)
    aws.wait(arn, US, "DELETE_FAILED")

    assert f"{user.name} is not authorized to perform: ssm:DeleteParameter" in " ".join(aws.reasons(arn, US))
    assert f"/{name}" in aws.values(US, "/")


def test_a_nested_stacks_parameters_are_made_with_the_callers_permissions(
    user: User, aws: Aws, names: Callable[[str], str]
) -> None:
    name = names("outer")
    nested = aws.nested(name, {"Resources": {"P": parameter(name)}}, US)
    client = user.may(ANY_STACK)
    client.create_stack(StackName=name, TemplateBody=body(Inner=nested))
    aws.wait(name, US, "ROLLBACK_COMPLETE")

    assert aws.values(US, f"/{name}") == {}
