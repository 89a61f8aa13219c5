"""The calls that a lookup makes: pages, requests, time, and AWS's errors turned into ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import InvalidRegionError
from botocore.loaders import Loader
from botocore.stub import Stubber

from strongref.aws import cloud_control as cloudcontrol
from strongref.aws.clients import Clients
from strongref.aws.cloud_control import CloudControlApi, TaggingApi, required_properties
from strongref.aws.errors import (
    CloudControlError,
    LookUpDeniedError,
    NoSuchResourceError,
    PropertiesAskedError,
    UnsupportedError,
)
from strongref.errors import WaitInterruptedError
from tests.support.fake_cloudcontrol import REGION, FakeCloudControl, FakeTagging, api, error, limiter, tagging_api
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

BUCKET = "AWS::S3::Bucket"
SECRET = "a-value-not-to-be-shown"
OF = "property in AWS::Some::Type list handler request input."


def buckets(count: int) -> FakeCloudControl:
    return FakeCloudControl({BUCKET: {f"b{number}": {"BucketName": f"b{number}"} for number in range(count)}})


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_every_page_is_read_empty_ones_included(count: int) -> None:
    found = list(api(buckets(count)).each(BUCKET, {}))
    assert [each.identifier for each in found] == [f"b{number}" for number in range(count)]
    assert [each.properties for each in found] == [{"BucketName": f"b{number}"} for number in range(count)]


def test_a_resource_is_read_with_its_properties() -> None:
    found = api(buckets(1)).get(BUCKET, "b0")
    assert (found.type_name, found.identifier, found.properties) == (BUCKET, "b0", {"BucketName": "b0"})
    assert SECRET not in repr(api(FakeCloudControl({BUCKET: {"b": {"Password": SECRET}}})).get(BUCKET, "b"))


def real(service: str) -> tuple[Any, Stubber]:
    """A client of boto3's that knows what such a request and answer have to be."""
    client: Any = Clients()._client(service, REGION)
    return client, Stubber(client)


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")


def test_requests_are_as_the_service_wants_them() -> None:
    client, stub = real("cloudcontrol")
    model = json.dumps({"Schedule": {"ScheduleId": "s", "Of": "o"}, "DataSetId": "d"})
    request = {"TypeName": BUCKET, "ResourceModel": model}
    described = {"Identifier": "b", "Properties": '{"A": 1}'}
    stub.add_response("list_resources", {"ResourceDescriptions": [described], "NextToken": "t"}, request)
    stub.add_response("list_resources", {"ResourceDescriptions": []}, {**request, "NextToken": "t"})
    stub.add_response(
        "get_resource", {"ResourceDescription": {"Identifier": "b"}}, {"TypeName": BUCKET, "Identifier": "b"}
    )
    calls = CloudControlApi(lambda _: client, REGION, limiter(), FakeClock())
    with stub:
        listed = list(calls.each(BUCKET, {"Schedule.ScheduleId": "s", "Schedule.Of": "o", "DataSetId": "d"}))
        assert [each.properties for each in listed] == [{"A": 1}]
        assert calls.get(BUCKET, "b").properties == {}
    stub.assert_no_pending_responses()


def test_tagged_resources_are_asked_for_as_the_service_wants_it() -> None:
    client, stub = real("resourcegroupstaggingapi")
    filters = [{"Key": "app", "Values": ["shop"]}, {"Key": "stage", "Values": ["prod"]}]
    request = {"TagFilters": filters, "ResourcesPerPage": 100, "ResourceTypeFilters": ["sns"]}
    first = {"ResourceTagMappingList": [{"ResourceARN": "arn:aws:sns:eu-west-1:1:a"}], "PaginationToken": "t"}
    stub.add_response("get_resources", first, request)
    second = {"ResourceTagMappingList": [], "PaginationToken": ""}
    stub.add_response("get_resources", second, {**request, "PaginationToken": "t"})
    calls = TaggingApi(lambda _: client, REGION, limiter(), FakeClock())
    with stub:
        assert list(calls.arns(["sns"], {"app": "shop", "stage": "prod"})) == ["arn:aws:sns:eu-west-1:1:a"]
    stub.assert_no_pending_responses()


def test_without_a_service_all_are_asked() -> None:
    client = FakeTagging({"arn:aws:x:::a": {"app": "shop"}})
    assert list(tagging_api(client).arns([], {"app": "shop"})) == ["arn:aws:x:::a"]
    assert "ResourceTypeFilters" not in client.requests[0]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"Missing Or Invalid ResourceModel {OF} Required property: [LoadBalancerArn]", ["LoadBalancerArn"]),
        (
            f"Missing or invalid ResourceModel {OF}Required property:  (#: required key [FunctionName] not found)",
            ["FunctionName"],
        ),
        ("Required property: [Scope, Name]", ["Scope", "Name"]),
        ("#: required key [A] not found, #: required key [B] not found, #: required key [A] not found", ["A", "B"]),
        ("Required property: [Schedule.ScheduleId]", ["Schedule.ScheduleId"]),
        ("#/Schedule: required key [ScheduleId] not found", ["Schedule.ScheduleId"]),
        ("(#: required key [A] not found, #/B/C: required key [D] not found)", ["A", "B.C.D"]),
        (f"Required property: [{SECRET} {SECRET}]", []),
        ("Required property: []", []),
        ("Invalid identifier provided [x]", []),
        ("", []),
    ],
)
def test_of_a_services_text_no_more_is_read_than_what_it_asks_for(text: str, names: list[str]) -> None:
    assert required_properties(text) == names


def test_what_is_asked_for_is_reported_to_who_lists_alone() -> None:
    text = f"Required property: [Scope]. Was {SECRET}"
    client = buckets(1)
    client.failing = {action: [error("InvalidRequestException", text)] for action in ("ListResources", "GetResource")}
    with pytest.raises(PropertiesAskedError) as asked:
        list(api(client).each(BUCKET, {}))
    assert asked.value.names == ["Scope"]
    assert str(asked.value) == "The service asks for Scope."
    assert SECRET not in repr(asked.value)
    with pytest.raises(CloudControlError, match="InvalidRequestException"):
        api(client).get(BUCKET, "b0")


CALLS: dict[str, Callable[[CloudControlApi], object]] = {
    "GetResource": lambda calls: calls.get(BUCKET, "b0"),
    "ListResources": lambda calls: list(calls.each(BUCKET, {})),
}


@pytest.mark.parametrize("action", CALLS)
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("UnsupportedActionException", UnsupportedError),
        ("TypeNotFoundException", UnsupportedError),
        ("AccessDeniedException", LookUpDeniedError),
        ("InvalidCredentialsException", LookUpDeniedError),
        ("GeneralServiceException", CloudControlError),
        ("InvalidRequestException", CloudControlError),
    ],
)
def test_an_error_is_reported_by_its_code_and_without_its_text(action: str, code: str, kind: type[Exception]) -> None:
    client = buckets(1)
    client.failing = {action: [error(code, SECRET)] * 2}
    with pytest.raises(kind) as failed:
        CALLS[action](api(client))
    assert type(failed.value) is kind
    assert client.calls[action] == 1
    assert SECRET not in str(failed.value)
    assert failed.value.__context__ is None
    assert action in str(failed.value)
    assert REGION in str(failed.value)


def test_what_is_not_there_is_none_of_many_or_an_error() -> None:
    client = buckets(1)
    client.failing = {action: [error("ResourceNotFoundException")] for action in ("ListResources", "GetResource")}
    assert list(api(client).each(BUCKET, {"Parent": "gone"})) == []
    with pytest.raises(NoSuchResourceError, match="No AWS::S3::Bucket with identifier b0 in eu-west-1"):
        api(client).get(BUCKET, "b0")


def test_the_failures_of_types_own_code_are_those_that_the_service_calls_faults() -> None:
    model = Loader().load_service_model("cloudcontrol", "service-2")
    faults = {name for name, resource_type in model["shapes"].items() if resource_type.get("fault")}
    assert faults == cloudcontrol._HANDLER_FAILED


@pytest.mark.parametrize("action", CALLS)
def test_a_types_own_failure_is_tried_again_but_not_for_ever(action: str) -> None:
    client = buckets(1)
    client.failing = {action: [error("HandlerInternalFailureException", status=502)] * 2}
    CALLS[action](api(client))
    client.failing = {action: [error("HandlerInternalFailureException", status=502)] * 9}
    client.calls.clear()
    with pytest.raises(CloudControlError, match="HandlerInternalFailureException") as failed:
        CALLS[action](api(client))
    assert client.calls[action] == 3
    assert failed.value.__context__ is None


@pytest.mark.parametrize("action", CALLS)
def test_throttling_is_waited_for_while_there_is_time(action: str) -> None:
    client, clock = buckets(1), FakeClock(20)
    client.failing = {action: [error("ThrottlingException")] * 3}
    CALLS[action](api(client, clock))
    client.failing = {action: [error("ThrottlingException")] * 100_000}
    with pytest.raises(WaitInterruptedError, match=f"{action} of .* in eu-west-1 failed: ThrottlingException"):
        CALLS[action](api(client, clock))
    with pytest.raises(WaitInterruptedError, match="OutOfTime"):
        CALLS[action](api(client, FakeClock(0)))


def test_tagging_errors_are_reported_by_their_codes() -> None:
    def ask(client: FakeTagging, clock: FakeClock | None = None) -> list[str]:
        return list(tagging_api(client, clock).arns(["sns"], {"app": SECRET}))

    with pytest.raises(LookUpDeniedError, match="GetResources of tagged resources in eu-west-1 was denied"):
        ask(FakeTagging(failing=[error("AccessDeniedException", SECRET)]))
    with pytest.raises(CloudControlError, match="failed: InternalError") as failed:
        ask(FakeTagging(failing=[error("InternalError", SECRET)]))
    assert SECRET not in str(failed.value)
    with pytest.raises(WaitInterruptedError):
        ask(FakeTagging(failing=[error("ThrottledException")] * 100_000), FakeClock(5))


def test_a_region_that_cannot_be_is_reported() -> None:
    def nowhere(region: str) -> Any:
        raise InvalidRegionError(region_name=region)

    calls = CloudControlApi(nowhere, "no where", limiter(), FakeClock())
    for ask in (lambda: calls.get(BUCKET, "b"), lambda: list(calls.each(BUCKET, {}))):
        with pytest.raises(CloudControlError, match="in no where failed: InvalidRegionError"):
            cast("Callable[[], object]", ask)()
    with pytest.raises(CloudControlError, match="in no where failed: InvalidRegionError"):
        list(TaggingApi(nowhere, "no where", limiter(), FakeClock()).arns([], {"a": "b"}))
