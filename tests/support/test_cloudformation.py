"""CloudFormation in memory: which requests each operation sends, and what becomes of the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from strongref.contract.event import RequestType
from strongref.contract.response import Response
from strongref.errors import PartialCreateError, ServiceTimeoutError, StrongRefError
from tests.support.cloudformation.client import CloudFormationClient
from tests.support.cloudformation.operations import CloudFormation, LaterResourceError, NoAnswerError
from tests.support.cloudformation.stacks import CLEANUP, DELETED, UPDATING, FakeStack

if TYPE_CHECKING:
    from tests.support.cloudformation.requests import ResourceRequest

EU, US = "eu-west-1", "us-east-1"
NAME = "web"


class Recorder(CloudFormation):
    """Every resource's physical ID is made of its properties, so that each change replaces it.

    Attributes:
        sent: the requests as text, with the stack's status.
        failing: what makes a request fail, by its text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self.failing: dict[str, StrongRefError] = {}

    def send(self, request: ResourceRequest) -> Response:
        old = f"{request.old['v']}->" if request.old else ""
        text = f"{request.kind.value} {request.logical_id} {request.physical_id or '-'} {old}{request.properties['v']}"
        self.sent.append(text)
        if text in self.failing:
            raise self.failing[text]
        return Response(f"id-{request.properties['v']}", {"Value": request.properties["v"]})

    def taken(self) -> list[str]:
        sent, self.sent = self.sent, []
        return sent


def resources(**versions: str) -> dict[str, dict[str, Any]]:
    return {logical_id: {"v": version} for logical_id, version in versions.items()}


def held(stack: FakeStack) -> dict[str, str]:
    return {logical_id: resource.physical_id for logical_id, resource in stack.resources.items()}


@pytest.fixture
def cloudformation() -> Recorder:
    """One stack, with the resources A and B."""
    made = Recorder()
    made.deploy(NAME, EU, resources(A="1", B="1"))
    assert made.taken() == ["Create A - 1", "Create B - 1"]
    return made


def test_an_update_sends_old_properties_and_deletes_what_it_replaced_or_took_out(cloudformation: Recorder) -> None:
    stack = cloudformation.deploy(NAME, EU, resources(A="2", C="1"))
    assert cloudformation.taken() == ["Update A id-1 1->2", "Create C - 1", "Delete A id-1 1", "Delete B id-1 1"]
    assert held(stack) == {"A": "id-2", "C": "id-1"}
    assert stack.resources["A"].attributes == {"Value": "2"}
    assert (stack.status, stack.before, stack.replaced) == ("UPDATE_COMPLETE", {}, {})


def test_what_stays_the_same_is_not_updated(cloudformation: Recorder) -> None:
    cloudformation.deploy(NAME, EU, resources(A="1", B="1"))
    assert cloudformation.taken() == []


def test_an_update_that_fails_is_rolled_back_with_swapped_properties(cloudformation: Recorder) -> None:
    cloudformation.failing["Update B id-1 1->2"] = LaterResourceError()
    with pytest.raises(LaterResourceError):
        cloudformation.deploy(NAME, EU, resources(C="1", A="2", B="2"))
    assert cloudformation.taken() == [
        "Create C - 1",
        "Update A id-1 1->2",
        "Update B id-1 1->2",
        "Update A id-2 2->1",
        "Update B id-1 2->1",
        "Delete A id-2 2",
        "Delete C id-1 1",
    ]
    stack = cloudformation.stack(NAME, EU)
    assert held(stack) == {"A": "id-1", "B": "id-1"}
    assert (stack.status, stack.before, stack.replaced) == ("UPDATE_ROLLBACK_COMPLETE", {}, {})


def test_a_later_resource_that_fails_undoes_an_update_that_was_applied(cloudformation: Recorder) -> None:
    with pytest.raises(LaterResourceError):
        cloudformation.deploy(NAME, EU, resources(A="2"), fails=True)
    assert cloudformation.taken() == ["Update A id-1 1->2", "Update A id-2 2->1", "Delete A id-2 2"]
    assert held(cloudformation.stack(NAME, EU)) == {"A": "id-1", "B": "id-1"}


def test_a_rollback_that_fails_can_be_continued_and_still_deletes_what_it_replaced(cloudformation: Recorder) -> None:
    cloudformation.failing = {"Update B id-2 2->1": NoAnswerError()}
    with pytest.raises(NoAnswerError):
        cloudformation.deploy(NAME, EU, resources(A="2", B="2"), fails=True)
    stack = cloudformation.stack(NAME, EU)
    assert stack.status == "UPDATE_ROLLBACK_FAILED"
    cloudformation.failing.clear()
    cloudformation.taken()
    cloudformation.roll_back(stack)
    assert cloudformation.taken() == ["Update B id-2 2->1", "Delete A id-2 2", "Delete B id-2 2"]
    assert held(stack) == {"A": "id-1", "B": "id-1"}
    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"


def test_a_cleanup_goes_on_after_a_failure_and_leaves_it_in_the_events(cloudformation: Recorder) -> None:
    cloudformation.failing["Delete A id-1 1"] = LaterResourceError()
    stack = cloudformation.deploy(NAME, EU, {})
    assert cloudformation.taken() == ["Delete A id-1 1", "Delete B id-1 1"]
    assert (stack.status, stack.resources, stack.reasons) == ("UPDATE_COMPLETE", {}, ["another resource failed"])


def test_a_stack_can_be_held_in_its_cleanup_phase(cloudformation: Recorder) -> None:
    stack = cloudformation.deploy(NAME, EU, resources(A="2"), cleanup=False)
    assert (stack.status, held(stack), list(stack.replaced)) == (CLEANUP, {"A": "id-2"}, ["A", "B"])
    cloudformation.clean_up(stack)
    assert (stack.status, stack.replaced) == ("UPDATE_COMPLETE", {})
    assert held(stack) == {"A": "id-2"}


def test_the_event_of_a_cleanup_removes_only_what_was_replaced(cloudformation: Recorder) -> None:
    stack = cloudformation.deploy(NAME, EU, resources(A="2"), cleanup=False)
    stack.succeed(stack.request(RequestType.DELETE, "A", {"v": "1"}, "id-1"), "id-1", {})
    assert (held(stack), list(stack.replaced)) == ({"A": "id-2"}, ["B"])
    stack.succeed(stack.request(RequestType.DELETE, "A", {"v": "2"}, "id-2"), "id-2", {})
    assert (held(stack), list(stack.replaced)) == ({}, ["B"])


@pytest.mark.parametrize(
    ("error", "physical_id"),
    [
        (LaterResourceError(), "strongref-failed-create/new/B"),
        (ServiceTimeoutError(1, 3600, LaterResourceError()), "strongref-unfinished-create/new/B"),
        (PartialCreateError(LaterResourceError(), "id-1"), "id-1"),
        (NoAnswerError(), "new-B-1ABCDEF"),
    ],
    ids=["failed", "timed out", "partial", "never answered"],
)
def test_a_create_that_fails_is_deleted_by_the_physical_id_that_it_has(error: StrongRefError, physical_id: str) -> None:
    cloudformation = Recorder()
    cloudformation.failing["Create B - 1"] = error
    with pytest.raises(type(error)):
        cloudformation.deploy("new", EU, resources(A="1", B="1", C="1"))
    assert cloudformation.taken() == ["Create A - 1", "Create B - 1", f"Delete B {physical_id} 1", "Delete A id-1 1"]
    assert cloudformation.find("new", EU) is None


def test_a_deletion_runs_in_reverse_order_and_stops_at_a_failure(cloudformation: Recorder) -> None:
    cloudformation.failing["Delete A id-1 1"] = LaterResourceError()
    with pytest.raises(LaterResourceError):
        cloudformation.delete(NAME, EU)
    stack = cloudformation.stack(NAME, EU)
    assert cloudformation.taken() == ["Delete B id-1 1", "Delete A id-1 1"]
    assert (stack.status, held(stack)) == ("DELETE_FAILED", {"A": "id-1"})
    cloudformation.failing.clear()
    cloudformation.delete(NAME, EU)
    assert cloudformation.find(NAME, EU) is None


def test_the_port_knows_existing_stacks_alone(cloudformation: Recorder) -> None:
    gone = cloudformation.stack(NAME, EU)
    cloudformation.vanish(NAME, EU)
    stack = cloudformation.deploy(NAME, EU, resources(A="1"), root=gone.arn)
    assert cloudformation.by_arn(gone.arn) is None
    assert cloudformation.physical_ids(gone.arn) == frozenset()
    found = cloudformation.by_name(NAME, EU)
    assert found is not None
    assert (found.arn, found.root_arn, found.status) == (stack.arn, gone.arn, "CREATE_COMPLETE")
    assert cloudformation.by_name(NAME, US) is None
    assert cloudformation.physical_ids(stack.arn) == {"id-1"}
    assert cloudformation.lookups == 4


def test_a_copy_of_a_stack_keeps_its_state(cloudformation: Recorder) -> None:
    stack = cloudformation.stack(NAME, EU)
    kept = stack.copy()
    stack.begin_update()
    stack.fail(stack.request(RequestType.UPDATE, "A", {"v": "2"}, "id-1", {"v": "1"}), "")
    assert (kept.status, kept.before, kept.resources["A"].attempted) == ("CREATE_COMPLETE", {}, None)
    assert (stack.status, stack.resources["A"].attempted) == (UPDATING, {"v": "2"})


def test_the_client_shows_a_deleted_stack_by_its_arn_alone(cloudformation: Recorder) -> None:
    client = CloudFormationClient(EU, cloudformation)
    arn = cloudformation.stack(NAME, EU).arn
    assert client.describe_stacks(StackName=NAME)["Stacks"][0]["StackStatus"] == "CREATE_COMPLETE"
    cloudformation.vanish(NAME, EU)
    assert client.describe_stacks(StackName=arn)["Stacks"][0]["StackStatus"] == DELETED
    for region, name in ((EU, NAME), (US, arn)):
        with pytest.raises(ClientError, match="does not exist"):
            CloudFormationClient(region, cloudformation).describe_stacks(StackName=name)


def test_the_client_lists_resources_in_pages(cloudformation: Recorder) -> None:
    client = CloudFormationClient(EU, cloudformation)
    first = client.list_stack_resources(StackName=NAME)
    second = client.list_stack_resources(StackName=NAME, NextToken=first["NextToken"])
    listed = first["StackResourceSummaries"] + second["StackResourceSummaries"]
    assert [each["LogicalResourceId"] for each in listed] == ["Bucket", "A", "B"]
    assert listed[1]["PhysicalResourceId"] == "id-1"
    assert "NextToken" not in second


def test_a_request_becomes_the_same_event_however_often_it_is_delivered(cloudformation: Recorder) -> None:
    stack = cloudformation.stack(NAME, EU)
    update = stack.request(RequestType.UPDATE, "A", {"From": {}}, "id-1", {"v": "1"})
    event = update.event("one")
    assert event == update.event("one")
    assert (event.stack, event.physical_id, event.request_id) == (stack.arn, "id-1", "one")
    assert event.old_properties is not None
    assert event.old_properties["v"] == "1"
    assert event.resource_type == "Custom::CrossRegionImport"
