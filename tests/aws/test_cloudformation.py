"""Stack lookups, against moto; against stubbed responses where moto has none."""

from __future__ import annotations

import json
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import Mock

import boto3
import pytest
from botocore.exceptions import InvalidRegionError
from botocore.stub import Stubber
from moto import mock_aws

from strongref.aws.cloudformation import CloudFormationStacks
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.aws.settings import PARAMETER_TAGS
from strongref.contract.hold_stacks import HOLD_TYPE
from strongref.errors import StackLookupError, WaitInterruptedError
from strongref.protocol.ports import NewStack, StackInfo
from tests.support.fake_ssm import FakeClock, error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_cloudformation import CloudFormationClient

ACCOUNT = "123456789012"
REGION = "eu-west-1"
WEB = f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/web/0a1b"
ROOT = f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/root/0a1b"
NOW = datetime(2025, 1, 1, tzinfo=UTC)
TEMPLATE = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})


def client_in(region: str) -> CloudFormationClient:
    return boto3.client("cloudformation", region_name=region)


def client_of(stub: Stubber) -> CloudFormationClient:
    return cast("CloudFormationClient", stub.client)


def stacks_over(client: CloudFormationClient | None = None, clock: FakeClock | None = None) -> CloudFormationStacks:
    clock = clock or FakeClock()
    return CloudFormationStacks(
        lambda region: client or client_in(region),
        RateLimiter(RateLimits(stacks=1000)),
        clock,
        account=ACCOUNT,
        jitter=lambda: 0.5,
    )


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, "testing")
    with mock_aws():
        yield


@pytest.fixture
def stub() -> Iterator[Stubber]:
    with Stubber(client_in(REGION)) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def stubbed(stub: Stubber) -> CloudFormationStacks:
    return stacks_over(client_of(stub))


def created(name: str, region: str = REGION) -> str:
    return client_in(region).create_stack(StackName=name, TemplateBody=TEMPLATE)["StackId"]


def described(status: str = "UPDATE_IN_PROGRESS", **more: str) -> dict[str, Any]:
    found = {"StackId": WEB, "StackName": "web", "StackStatus": status, "CreationTime": NOW}
    return {"Stacks": [{**found, **more}]}


def resource(kind: str, physical_id: str | None, status: str = "CREATE_COMPLETE") -> dict[str, Any]:
    found = {"LogicalResourceId": "R", "ResourceType": kind, "ResourceStatus": status, "LastUpdatedTimestamp": NOW}
    return {**found, "PhysicalResourceId": physical_id} if physical_id else found


def test_a_hold_stack_that_fails_does_not_stay(stub: Stubber, stubbed: CloudFormationStacks) -> None:
    """Nor is another type of resource in it, whatever the template says."""
    tags = [{"Key": "strongref:consumer", "Value": WEB}]
    request = {"StackName": "hold", "TemplateBody": TEMPLATE, "ResourceTypes": [HOLD_TYPE], "Tags": tags}
    stub.add_response("create_stack", {"StackId": WEB}, {**request, "OnFailure": "DELETE"})
    stub.add_response("update_stack", {"StackId": WEB}, request)
    new = NewStack("hold", REGION, TEMPLATE, (HOLD_TYPE,), {"strongref:consumer": WEB})
    assert stubbed.create_stack(new) == WEB
    stubbed.update_stack(new)


def test_a_hold_stack_has_the_installations_tags_unless_it_has_others_and_none_of_aws(
    stub: Stubber, stubbed: CloudFormationStacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PARAMETER_TAGS, "team=web,cost-center=7")
    tags = [{"Key": key, "Value": value} for key, value in {"team": "api", "cost-center": "7", "audit": "yes"}.items()]
    request = {"StackName": "hold", "TemplateBody": TEMPLATE, "ResourceTypes": [HOLD_TYPE], "Tags": tags}
    stub.add_response("create_stack", {"StackId": WEB}, {**request, "OnFailure": "DELETE"})
    stub.add_response("update_stack", {"StackId": WEB}, request)
    found = {"aws:servicecatalog:provisionedProductArn": "x", "team": "api", "audit": "yes"}
    new = NewStack("hold", REGION, TEMPLATE, (HOLD_TYPE,), found)
    stubbed.create_stack(new)
    stubbed.update_stack(new)


def test_a_stack_is_found_by_its_arn_in_its_own_region() -> None:
    here, there = created("web"), created("web", "us-east-1")
    assert stacks_over().by_arn(here) == StackInfo(here, "web", "CREATE_COMPLETE", here)
    assert stacks_over().by_arn(there) == StackInfo(there, "web", "CREATE_COMPLETE", there)


def test_a_stack_is_found_by_its_name_in_the_region_asked() -> None:
    arn = created("web")
    assert stacks_over().by_name("web", REGION) == StackInfo(arn, "web", "CREATE_COMPLETE", arn)
    assert stacks_over().by_name("web", "us-east-1") is None


def test_a_deleted_stack_is_none_even_when_another_has_its_name() -> None:
    old = created("web")
    client_in(REGION).delete_stack(StackName="web")
    assert stacks_over().by_arn(old) is None
    new = created("web")
    assert stacks_over().by_arn(old) is None
    assert stacks_over().by_arn(new) is not None
    assert stacks_over().physical_ids(WEB) == frozenset()


def test_a_stack_that_never_existed_is_none() -> None:
    assert stacks_over().by_arn(WEB) is None
    assert stacks_over().by_name("web", REGION) is None


def test_a_nested_stack_names_its_root(stub: Stubber, stubbed: CloudFormationStacks) -> None:
    stub.add_response("describe_stacks", described(RootId=ROOT), {"StackName": WEB})
    assert stubbed.by_arn(WEB) == StackInfo(WEB, "web", "UPDATE_IN_PROGRESS", ROOT)


def test_an_answer_without_stacks_is_none(stub: Stubber, stubbed: CloudFormationStacks) -> None:
    stub.add_response("describe_stacks", {"Stacks": []})
    assert stubbed.by_arn(WEB) is None


def test_physical_ids_are_those_of_custom_resources_that_are_not_deleted(
    stub: Stubber, stubbed: CloudFormationStacks
) -> None:
    first = [
        resource("Custom::CrossRegionImport", "import-1"),
        resource("AWS::CloudFormation::CustomResource", "plain"),
        resource("Custom::CrossRegionImport", "old", status="DELETE_COMPLETE"),
        resource("AWS::SNS::Topic", "topic"),
    ]
    second = [
        resource("Custom::CrossRegionImport", None, status="CREATE_IN_PROGRESS"),
        resource("Custom::CrossRegionImport", "import-2", status="DELETE_FAILED"),
    ]
    answers: list[tuple[dict[str, Any], dict[str, str]]] = [
        ({"StackResourceSummaries": first, "NextToken": "1"}, {"StackName": WEB}),
        ({"StackResourceSummaries": [], "NextToken": "2"}, {"StackName": WEB, "NextToken": "1"}),
        ({"StackResourceSummaries": second}, {"StackName": WEB, "NextToken": "2"}),
    ]
    for answer, request in answers:
        stub.add_response("list_stack_resources", answer, request)
    assert stubbed.physical_ids(WEB) == {"import-1", "plain", "import-2"}


def test_the_stacks_that_import_an_export_are_on_all_pages(stub: Stubber, stubbed: CloudFormationStacks) -> None:
    stub.add_response("list_imports", {"Imports": ["web"], "NextToken": "1"}, {"ExportName": "x"})
    stub.add_response("list_imports", {"Imports": ["api"]}, {"ExportName": "x", "NextToken": "1"})
    stub.add_client_error("list_imports", "ValidationError", "Export 'x' is not imported by any stack.", 400)
    assert stubbed.importing_stacks("x", REGION) == {"web", "api"}
    assert stubbed.importing_stacks("x", REGION) == frozenset()


def test_who_imports_an_export_is_asked_for_half_of_the_time_that_is_left() -> None:
    """If CloudFormation does not answer, a rollback goes on without that, and needs time for it."""
    clock, throttled = FakeClock(remaining=10), error("Throttling", "Rate exceeded", "ListImports")
    with pytest.raises(WaitInterruptedError, match=r"asked about export x: Throttling"):
        stacks_over(Mock(list_imports=Mock(side_effect=throttled)), clock).importing_stacks("x", REGION)
    assert 4 < sum(clock.slept) <= 5


def test_a_stack_of_another_account_is_not_taken_for_a_deleted_one() -> None:
    """CloudFormation answers ValidationError for it too: "Resource account … doesn't match account …"."""
    other = WEB.replace(ACCOUNT, "210987654321")
    for ask in (stacks_over().by_arn, stacks_over().physical_ids):
        with pytest.raises(StackLookupError) as raised:
            ask(other)
        assert (raised.value.stack, raised.value.region, raised.value.code) == (other, REGION, "OtherAccount")


def test_an_invalid_arn_is_an_error_and_not_a_deleted_stack() -> None:
    with pytest.raises(StackLookupError) as raised:
        stacks_over().by_arn("web")
    assert raised.value.code == "NotAStackArn"


def test_a_denial_is_reported_by_code_without_its_text(stub: Stubber, stubbed: CloudFormationStacks) -> None:
    stub.add_client_error("describe_stacks", "AccessDenied", "User: arn is not authorized", 403)
    with pytest.raises(StackLookupError, match=r"eu-west-1 could not be asked about stack web: AccessDenied") as raised:
        stubbed.by_name("web", REGION)
    assert "not authorized" not in "".join(traceback.format_exception(raised.value))
    assert raised.value.__context__ is None


def test_throttling_slows_and_then_succeeds(stub: Stubber) -> None:
    clock = FakeClock()
    for _ in range(3):
        stub.add_client_error("describe_stacks", "Throttling", "Rate exceeded", 400)
    stub.add_response("describe_stacks", described("DELETE_IN_PROGRESS"))
    found = stacks_over(client_of(stub), clock).by_arn(WEB)
    assert found is not None
    assert found.being_deleted
    assert sum(clock.slept) > 0


def test_throttling_until_the_deadline_is_unfinished_work(stub: Stubber) -> None:
    clock = FakeClock(remaining=0.1)
    stub.add_client_error("describe_stacks", "Throttling", "Rate exceeded", 400)
    calls = CloudFormationStacks(lambda _: client_of(stub), RateLimiter(RateLimits(stacks=1)), clock, account=ACCOUNT)
    with pytest.raises(WaitInterruptedError, match="Throttling"):
        calls.by_arn(WEB)


def test_an_invalid_region_is_an_error_that_names_it() -> None:
    def nowhere(region: str) -> CloudFormationClient:
        raise InvalidRegionError(region_name=region)

    clock = FakeClock()
    calls = CloudFormationStacks(nowhere, RateLimiter(RateLimits()), clock, account=ACCOUNT)
    with pytest.raises(StackLookupError, match=r"CloudFormation in no where could .*: InvalidRegionError") as raised:
        calls.by_name("web", "no where")
    assert raised.value.__context__ is None
