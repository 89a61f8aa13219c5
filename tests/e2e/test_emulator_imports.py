"""What the emulator was corrected for in imports of CloudFormation's exports, at the same time as other operations.

Of an import that begins, and an operation that takes away what is imported, one at most succeeds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.harness import Aws, failing_resource, waiting_resource
from tests.e2e.templates import function
from tests.support.emulator.control import ACCOUNT
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    Template = dict[str, Any]

US = "us-east-1"
NOTHING = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
STACK = "AWS::CloudFormation::Stack"
GATE = """
import boto3, json, time, urllib.request
def handler(event, context):
    name = event["ResourceProperties"]["Gate"]
    while event["RequestType"] == "Delete" and not boto3.client("ssm").get_parameters(Names=[name])["Parameters"]:
        time.sleep(0.1)
    answer = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    answer |= {"PhysicalResourceId": name, "Status": "SUCCESS"}
    put = urllib.request.Request(event["ResponseURL"], json.dumps(answer).encode(), method="PUT")
    urllib.request.urlopen(put)
"""
"""A resource that can be deleted once there is a parameter."""
READ = {"Effect": "Allow", "Action": "ssm:GetParameters", "Resource": f"arn:aws:ssm:*:{ACCOUNT}:parameter/gates/*"}
GATES = function("gate", GATE, READ)


@pytest.fixture(scope="module")
def aws(bare: Aws) -> Aws:
    bare.deploy("gates", GATES, US, "CREATE_COMPLETE")
    return bare


@dataclass(frozen=True)
class Pair:
    """A stack that exports, and one that imports; also the export's name."""

    aws: Aws
    exporter: str
    importer: str

    def export(self, expect: str | None, value: str | None = "one", **resources: Template) -> None:
        """Deploy the exporter; without a value, it exports nothing."""
        self.begin(value, **resources)
        if expect:
            self.aws.wait(self.exporter, US, expect)

    def begin(self, value: str | None = "one", **resources: Template) -> None:
        outputs = {"Value": {"Value": value, "Export": {"Name": self.exporter}}} if value else {}
        template = {"Resources": {"Nothing": NOTHING, **resources}, "Outputs": outputs}
        self.aws.begin(self.exporter, template, US)

    def hold(self, **resources: Template) -> None:
        """Begin to deploy the importer."""
        template = {"Resources": {"Held": self.held, **resources}}
        self.aws.begin(self.importer, template, US, OnFailure="DELETE")

    @property
    def held(self) -> Template:
        value = {"Fn::ImportValue": self.exporter}
        properties = {"Name": f"/holds/{self.importer}", "Type": "String", "Value": value}
        return {"Type": "AWS::SSM::Parameter", "Properties": properties}

    @property
    def gate(self) -> Template:
        """A resource that can be deleted once `open` was called."""
        token = {"Fn::ImportValue": "gate"}
        return {"Type": "Custom::Gate", "Properties": {"ServiceToken": token, "Gate": f"/gates/{self.exporter}"}}

    def open(self) -> None:
        self.aws.client("ssm", US).put_parameter(Name=f"/gates/{self.exporter}", Value="open", Type="String")

    def reach(self, stack: str, status: str) -> None:
        wait_until(lambda: self.aws.status(stack, US) == status, f"{stack} to be {status}")

    def refuses_to_drop(self) -> None:
        """Neither an update nor a deletion takes away what is imported."""
        for value in (None, "two"):
            self.export("UPDATE_ROLLBACK_COMPLETE", value)
            assert f"in use by {self.importer}" in " ".join(self.aws.reasons(self.exporter, US))
        self.aws.delete(self.exporter, US, "UPDATE_ROLLBACK_COMPLETE")
        assert f"in use by {self.importer}" in " ".join(self.aws.reasons(self.exporter, US))

    def cannot_be_imported(self) -> None:
        """A new importer fails, and is gone."""
        self.hold()
        self.aws.wait(self.importer, US, "DELETE_COMPLETE")
        assert f"No export named {self.exporter} found" in " ".join(self.aws.reasons(self.importer, US))


@pytest.fixture
def pair(aws: Aws, names: Callable[[str], str]) -> Pair:
    name = names("export")
    return Pair(aws, name, f"{name}-user")


def stack_events(aws: Aws, arn: str) -> list[tuple[str, str]]:
    """Resources and statuses of all of a stack's events, from the first."""
    found = aws.client("cloudformation", US).describe_stack_events(StackName=arn)["StackEvents"]
    return [(event["ResourceType"], event["ResourceStatus"]) for event in reversed(found)]


def test_a_stack_whose_import_is_not_there_is_created_and_deleted(pair: Pair, aws: Aws) -> None:
    pair.hold(First=NOTHING)
    arn = aws.stack_arn(pair.importer, US)
    aws.wait(arn, US, "DELETE_COMPLETE")

    assert aws.status(pair.importer, US) is None
    statuses = ("CREATE_IN_PROGRESS", "DELETE_IN_PROGRESS", "DELETE_COMPLETE")
    assert stack_events(aws, arn) == [(STACK, status) for status in statuses]
    assert f"No export named {pair.exporter} found. Delete requested by user." in aws.reasons(arn, US)


def test_a_stack_whose_import_is_not_there_is_rolled_back(pair: Pair, aws: Aws) -> None:
    template = {"Resources": {"First": NOTHING, "Held": {**pair.held, "DependsOn": "First"}}}
    arn = aws.deploy(pair.importer, template, US, "ROLLBACK_COMPLETE").arn
    statuses = ("CREATE_IN_PROGRESS", "ROLLBACK_IN_PROGRESS", "ROLLBACK_COMPLETE")
    assert stack_events(aws, arn) == [(STACK, status) for status in statuses]
    assert f"No export named {pair.exporter} found. Rollback requested by user." in aws.reasons(arn, US)


def test_an_update_whose_import_is_not_there_is_rolled_back(pair: Pair, aws: Aws) -> None:
    aws.deploy(pair.importer, {"Resources": {"First": NOTHING}}, US, "CREATE_COMPLETE")
    resources = {"First": NOTHING, "Second": {**NOTHING, "DependsOn": "First"}}
    outputs = {"Seen": {"Value": {"Fn::ImportValue": {"Fn::Sub": f"{pair.exporter}"}}}}
    aws.deploy(pair.importer, {"Resources": resources, "Outputs": outputs}, US, "UPDATE_ROLLBACK_COMPLETE")
    assert f"No export named {pair.exporter} found" in " ".join(aws.reasons(pair.importer, US))
    assert aws.physical_ids(pair.importer, US).keys() == {"First"}


def test_what_a_condition_leaves_out_is_not_imported(pair: Pair, aws: Aws) -> None:
    never = {"Never": {"Fn::Equals": ["a", "b"]}}
    either = {"Fn::If": ["Never", {"Fn::ImportValue": pair.exporter}, "none"]}
    properties = {"Type": "String", "Value": either}
    resources = {
        "Left": {**pair.held, "Condition": "Never"},
        "Either": {"Type": "AWS::SSM::Parameter", "Properties": properties},
    }
    aws.deploy(pair.importer, {"Conditions": never, "Resources": resources}, US, "CREATE_COMPLETE")


def test_what_a_stack_that_is_being_deleted_exports_cannot_be_imported(pair: Pair, aws: Aws) -> None:
    pair.export("CREATE_COMPLETE", Gate=pair.gate)
    aws.client("cloudformation", US).delete_stack(StackName=pair.exporter)
    pair.reach(pair.exporter, "DELETE_IN_PROGRESS")
    pair.cannot_be_imported()
    pair.open()
    aws.wait(pair.exporter, US, "DELETE_COMPLETE")


def test_what_an_update_dropped_cannot_be_imported_while_it_cleans_up(pair: Pair, aws: Aws) -> None:
    pair.export("CREATE_COMPLETE", Gate=pair.gate)
    pair.export(None, None)
    pair.reach(pair.exporter, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
    pair.cannot_be_imported()
    pair.open()
    aws.wait(pair.exporter, US, "UPDATE_COMPLETE")


def test_what_an_update_changed_is_imported_as_it_is_while_it_cleans_up(pair: Pair, aws: Aws) -> None:
    pair.export("CREATE_COMPLETE", Gate=pair.gate)
    pair.export(None, "two")
    pair.reach(pair.exporter, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
    pair.hold()
    aws.wait(pair.importer, US, "CREATE_COMPLETE")
    assert aws.values(US, "/holds")[f"/holds/{pair.importer}"] == "two"
    pair.open()
    aws.wait(pair.exporter, US, "UPDATE_COMPLETE")


def test_a_stack_that_is_being_created_imports(pair: Pair, aws: Aws) -> None:
    pair.export("CREATE_COMPLETE")
    pair.hold(Waiting=waiting_resource("Held"))
    pair.refuses_to_drop()
    aws.fail(pair.importer, "Waiting", US)
    aws.wait(pair.importer, US, "DELETE_COMPLETE")
    pair.export("UPDATE_COMPLETE", None)


def test_an_import_that_is_yet_to_come_in_a_creation_is_one(pair: Pair, aws: Aws) -> None:
    pair.export("CREATE_COMPLETE")
    template = {"Resources": {"Waiting": waiting_resource(), "Held": {**pair.held, "DependsOn": "Waiting"}}}
    aws.begin(pair.importer, template, US)
    pair.refuses_to_drop()
    aws.fail(pair.importer, "Waiting", US)
    aws.wait(pair.importer, US, "ROLLBACK_COMPLETE")


def test_a_stack_that_is_being_updated_imports(pair: Pair, aws: Aws) -> None:
    pair.export("CREATE_COMPLETE")
    aws.deploy(pair.importer, {"Resources": {"Nothing": NOTHING}}, US, "CREATE_COMPLETE")
    template = {"Resources": {"Nothing": NOTHING, "Held": pair.held, "Waiting": waiting_resource("Held")}}
    aws.begin(pair.importer, template, US)
    pair.refuses_to_drop()
    aws.fail(pair.importer, "Waiting", US)
    aws.wait(pair.importer, US, "UPDATE_ROLLBACK_COMPLETE")
    pair.export("UPDATE_COMPLETE", None)


def test_an_update_that_drops_an_import_imports_until_it_has_cleaned_up(pair: Pair, aws: Aws) -> None:
    pair.export("CREATE_COMPLETE")
    pair.hold(Gate=pair.gate)
    aws.wait(pair.importer, US, "CREATE_COMPLETE")
    aws.begin(pair.importer, {"Resources": {"Nothing": NOTHING}}, US)
    pair.reach(pair.importer, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
    pair.refuses_to_drop()
    pair.open()
    aws.wait(pair.importer, US, "UPDATE_COMPLETE")
    pair.export("UPDATE_COMPLETE", None)


def test_a_stack_imports_until_it_is_deleted(pair: Pair, aws: Aws) -> None:
    pair.export("CREATE_COMPLETE")
    pair.hold(Gate=pair.gate)
    aws.wait(pair.importer, US, "CREATE_COMPLETE")
    aws.client("cloudformation", US).delete_stack(StackName=pair.importer)
    pair.reach(pair.importer, "DELETE_IN_PROGRESS")
    pair.refuses_to_drop()
    pair.open()
    aws.wait(pair.importer, US, "DELETE_COMPLETE")
    aws.delete(pair.exporter, US)


def test_an_import_and_the_deletion_of_what_it_imports_do_not_both_succeed(pair: Pair, aws: Aws) -> None:
    """The requests follow each other, whichever is served first."""
    pair.export("CREATE_COMPLETE")
    pair.hold()
    aws.client("cloudformation", US).delete_stack(StackName=pair.exporter)
    aws.wait(pair.importer, US)
    aws.wait(pair.exporter, US)
    assert aws.status(pair.importer, US) is None or aws.status(pair.exporter, US)


def test_a_creation_that_fails_is_deleted_without_a_rollback(aws: Aws, names: Callable[[str], str]) -> None:
    name = names("failing")
    resources = {"First": NOTHING, "Failing": failing_resource("First")}
    body = json.dumps({"Resources": resources})
    client = aws.client("cloudformation", US)
    arn = client.create_stack(StackName=name, TemplateBody=body, OnFailure="DELETE")["StackId"]
    aws.wait(arn, US, "DELETE_COMPLETE")

    own = [status for kind, status in stack_events(aws, arn) if kind == STACK]
    assert own == ["CREATE_IN_PROGRESS", "DELETE_IN_PROGRESS", "DELETE_COMPLETE"]
    assert (NOTHING["Type"], "DELETE_COMPLETE") in stack_events(aws, arn)
    assert "The following resource(s) failed to create: [Failing]. Delete requested by user." in aws.reasons(arn, US)
