"""What the emulator was corrected for in which operations a stack takes, and what is told about stacks."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.e2e.harness import Aws, failing_resource, waiting_resource
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    Template = dict[str, Any]

US = "us-east-1"
NOTHING = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
OWNER = [{"Key": "owner", "Value": "me"}]


@pytest.fixture(scope="module")
def aws(bare: Aws) -> Aws:
    return bare


@pytest.fixture
def name(names: Callable[[str], str]) -> str:
    """A stack's name of this test's own."""
    return names("stack")


def body(**resources: Template) -> str:
    return json.dumps({"Resources": resources})


def parameter(name: str, *depends_on: str) -> Template:
    properties = {"Name": f"/{name}", "Type": "String", "Value": "1"}
    return {"Type": "AWS::SSM::Parameter", "Properties": properties, "DependsOn": list(depends_on)}


def refused(code: str, call: Callable[..., object], **request: object) -> str:
    """The message with which a call is refused."""
    with pytest.raises(ClientError) as caught:
        call(**request)
    assert caught.value.response["Error"]["Code"] == code
    message: str = caught.value.response["Error"]["Message"]
    return message


def described(aws: Aws, stack: str) -> dict[str, Any]:
    found: dict[str, Any] = aws.client("cloudformation", US).describe_stacks(StackName=stack)["Stacks"][0]
    return found


@pytest.mark.parametrize(("given", "compared"), [("a:b", "one"), ("b:a", "other"), ("b", "other")])
def test_a_condition_compares_what_functions_make_of_parameters(aws: Aws, name: str, given: str, compared: str) -> None:
    first = {"Fn::Select": [0, {"Fn::Split": [":", {"Ref": "Given"}]}]}
    joined = {"Fn::Join": ["-", [first, {"Fn::Sub": "${Given}"}]]}
    template = {
        "Parameters": {"Given": {"Type": "String", "Default": given}},
        "Conditions": {
            "IsA": {"Fn::Equals": [first, "a"]},
            "IsJoined": {"Fn::And": [{"Condition": "IsA"}, {"Fn::Equals": [joined, "a-a:b"]}]},
        },
        "Resources": {"Nothing": NOTHING},
        "Outputs": {"Compared": {"Value": {"Fn::If": ["IsJoined", "one", "other"]}}},
    }
    assert aws.deploy(name, template, US, "CREATE_COMPLETE").outputs == {"Compared": compared}


def test_a_stack_is_described_with_exports_tags_and_description(aws: Aws, name: str) -> None:
    outputs = {"Value": {"Value": "one", "Export": {"Name": name}}, "Plain": {"Value": "two"}}
    template = {"Description": "held", "Resources": {"Nothing": NOTHING}, "Outputs": outputs}
    aws.deploy(name, template, US, "CREATE_COMPLETE", Tags=OWNER)

    found = described(aws, name)
    assert {each["OutputKey"]: each.get("ExportName") for each in found["Outputs"]} == {"Value": name, "Plain": None}
    assert (found["Tags"], found["Description"]) == (OWNER, "held")
    assert found.keys().isdisjoint({"DeletionTime", "ParentId", "RootId"})


def test_a_nested_stack_is_described_with_its_ancestors(aws: Aws, name: str) -> None:
    inside = aws.nested(f"{name}-inner", {"Resources": {"Nothing": NOTHING}}, US)
    between = aws.nested(f"{name}-middle", {"Resources": {"Inner": inside}}, US)
    root = aws.deploy(name, {"Resources": {"Middle": between}}, US, "CREATE_COMPLETE").arn
    middle = aws.physical_ids(name, US)["Middle"]
    inner = described(aws, aws.physical_ids(middle, US)["Inner"])
    assert (inner["ParentId"], inner["RootId"]) == (middle, root)


@pytest.mark.parametrize("tags", [OWNER, None], ids=["same", "none given"])
def test_an_update_needs_something_to_update(aws: Aws, name: str, tags: list[dict[str, str]] | None) -> None:
    template = body(Nothing=NOTHING)
    update = partial(aws.client("cloudformation", US).update_stack, StackName=name, TemplateBody=template)
    aws.deploy(name, json.loads(template), US, "CREATE_COMPLETE", Tags=OWNER)

    message = refused("ValidationError", update, **({"Tags": tags} if tags else {}))
    assert message == "No updates are to be performed."
    update(Tags=[{"Key": "owner", "Value": "you"}])
    aws.wait(name, US, "UPDATE_COMPLETE")
    assert described(aws, name)["Tags"][0]["Value"] == "you"


@pytest.mark.parametrize("failed", [False, True])
def test_a_name_is_taken_until_its_stack_is_deleted(aws: Aws, name: str, *, failed: bool) -> None:
    client = aws.client("cloudformation", US)
    resources = {"Failing": failing_resource()} if failed else {"Nothing": NOTHING}
    arn = aws.deploy(name, {"Resources": resources}, US, "ROLLBACK_COMPLETE" if failed else "CREATE_COMPLETE").arn

    request = {"StackName": name, "TemplateBody": body(Nothing=NOTHING)}
    assert refused("AlreadyExistsException", client.create_stack, **request) == f"Stack [{name}] already exists"
    aws.delete(name, US)
    refused("ValidationError", client.describe_stack_events, StackName=name)
    refused("ValidationError", client.list_stack_resources, StackName=name)
    client.create_stack(**request)
    aws.wait(name, US, "CREATE_COMPLETE")
    assert described(aws, arn)["StackStatus"] == "DELETE_COMPLETE"
    assert client.describe_stack_events(StackName=arn)["StackEvents"][0]["StackId"] == arn


def test_a_stack_that_is_being_created_is_not_updated(aws: Aws, name: str) -> None:
    client = aws.client("cloudformation", US)
    arn = aws.begin(name, {"Resources": {"Waiting": waiting_resource()}}, US)
    again = {"StackName": name, "TemplateBody": body(Nothing=NOTHING)}

    refused("AlreadyExistsException", client.create_stack, **again)
    message = refused("ValidationError", client.update_stack, **again)
    assert message == f"Stack:{arn} is in CREATE_IN_PROGRESS state and can not be updated."
    aws.fail(name, "Waiting", US)
    aws.wait(name, US, "ROLLBACK_COMPLETE")
    message = refused("ValidationError", client.update_stack, **again)
    assert message == f"Stack:{arn} is in ROLLBACK_COMPLETE state and can not be updated."


@pytest.mark.parametrize("options", [{}, {"OnFailure": "DELETE"}], ids=["rollback", "delete"])
def test_a_stack_that_is_being_created_can_be_deleted(aws: Aws, name: str, options: dict[str, str]) -> None:
    resources = {
        "First": parameter(f"{name}/first"),
        "Waiting": waiting_resource("First"),
        "Second": parameter(f"{name}/second", "Waiting"),
    }
    arn = aws.begin(name, {"Resources": resources}, US, **options)
    wait_until(lambda: aws.statuses(name, "Waiting", US), "the second resource")
    for _ in range(2):
        aws.client("cloudformation", US).delete_stack(StackName=name)
    aws.wait(arn, US, "DELETE_COMPLETE")

    found = aws.client("cloudformation", US).describe_stack_events(StackName=arn)["StackEvents"]
    events = [(event["LogicalResourceId"], event["ResourceStatus"]) for event in reversed(found)]
    own = [status for resource, status in events if resource == name]
    assert own == ["CREATE_IN_PROGRESS", "DELETE_IN_PROGRESS", "DELETE_COMPLETE"]
    assert events.index(("Waiting", "CREATE_FAILED")) < events.index(("First", "DELETE_COMPLETE"))
    assert "Second" not in dict(events)
    assert aws.values(US, f"/{name}") == {}
    assert aws.status(name, US) is None


def test_a_stack_that_is_being_updated_is_neither_updated_nor_deleted(aws: Aws, name: str) -> None:
    client = aws.client("cloudformation", US)
    aws.deploy(name, {"Resources": {"Nothing": NOTHING}}, US, "CREATE_COMPLETE")
    arn = aws.begin(name, {"Resources": {"Nothing": NOTHING, "Waiting": waiting_resource()}}, US)

    message = refused("ValidationError", client.update_stack, StackName=name, TemplateBody=body(Other=NOTHING))
    assert message == f"Stack:{arn} is in UPDATE_IN_PROGRESS state and can not be updated."
    message = refused("ValidationError", client.delete_stack, StackName=arn)
    assert message == f"Stack [{arn}] cannot be deleted while in status UPDATE_IN_PROGRESS"
    aws.fail(name, "Waiting", US)
    aws.wait(name, US, "UPDATE_ROLLBACK_COMPLETE")
    aws.delete(name, US)


def test_a_stack_that_is_not_there_is_not_updated_and_need_not_be_deleted(aws: Aws, name: str) -> None:
    client = aws.client("cloudformation", US)
    message = refused("ValidationError", client.describe_stacks, StackName=name)
    assert message == f"Stack with id {name} does not exist"
    refused("ValidationError", client.update_stack, StackName=name, TemplateBody=body(Nothing=NOTHING))
    client.delete_stack(StackName=name)
