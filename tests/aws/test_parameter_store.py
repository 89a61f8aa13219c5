"""The store against moto and against the fake: batches, pages, retries, and errors without values."""

from __future__ import annotations

import traceback
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ParamValidationError
from moto import mock_aws

from strongref.aws.clients import CONNECT_SECONDS, READ_SECONDS, Clients
from strongref.aws.parameter_store import SsmStore, Stores
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.aws.settings import KMS_KEY
from strongref.contract.fence import IN_FLIGHT
from strongref.contract.values import ParameterType
from strongref.errors import (
    AccessDeniedError,
    AlreadyExistsError,
    NotFoundError,
    OutOfTimeError,
    StandardTierError,
    StoreError,
    ThrottledError,
    TooManyTagsError,
)
from tests.support.fake_ssm import FakeClock, FakeSsm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_ssm import SSMClient

    from strongref.protocol.ports import Store

REGION = "us-east-1"
SECRET = "the value itself"
UNHURRIED = RateLimits(reads=1000, writes=1000, tags=1000, deletes=1000)


def store_over(client: SSMClient, clock: FakeClock | None = None, rates: RateLimits = UNHURRIED) -> SsmStore:
    return SsmStore(client, REGION, RateLimiter(rates), clock or FakeClock(), jitter=lambda: 0.5)


@pytest.fixture(params=["moto", "fake", "fake with empty pages"])
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SSMClient]:
    if request.param == "moto":
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(variable, "testing")
        with mock_aws():
            yield boto3.client("ssm", region_name=REGION)
    else:
        yield FakeSsm(empty_pages=request.param != "fake").as_client()


@pytest.fixture
def store(client: SSMClient) -> Store:
    return store_over(client)


def test_what_is_created_is_read_back_decrypted(store: Store) -> None:
    store.create("/app/a", ParameterType.STRING, "one", {"owner": "me"})
    store.create("/app/l", ParameterType.STRING_LIST, "one,two", {})
    store.create("/app/s", ParameterType.SECURE, SECRET, {})
    found = store.get(["/app/a", "/app/l", "/app/s", "/app/absent", "/app/a"])
    assert {name: (parameter.type, parameter.text) for name, parameter in found.items()} == {
        "/app/a": (ParameterType.STRING, "one"),
        "/app/l": (ParameterType.STRING_LIST, "one,two"),
        "/app/s": (ParameterType.SECURE, SECRET),
    }
    assert found == store.under("/app")
    assert SECRET not in repr(found)
    assert found["/app/a"].modified.endswith("+00:00")


def test_a_create_never_overwrites(store: Store) -> None:
    store.create("/app/a", ParameterType.STRING, "one", {})
    with pytest.raises(AlreadyExistsError):
        store.create("/app/a", ParameterType.STRING, "two", {})
    assert store.get(["/app/a"])["/app/a"].text == "one"


def test_an_overwrite_tells_the_version_and_keeps_the_tags(store: Store) -> None:
    store.create("/app/a", ParameterType.STRING, "one", {"owner": "me"})
    assert store.overwrite("/app/a", ParameterType.STRING, "two") == 2
    assert store.tags("/app/a") == {"owner": "me"}
    assert store.overwrite("/app/gone", ParameterType.STRING, "new") == 1
    assert store.tags("/app/gone") == {}


def test_tags_come_and_go(store: Store) -> None:
    store.create("/app/a", ParameterType.STRING, "one", {})
    assert store.tag("/app/a", {"k": "1", "l": "2"})
    assert store.tags("/app/a") == {"k": "1", "l": "2"}
    assert store.untag("/app/a", ["k", "absent"])
    assert store.tags("/app/a") == {"l": "2"}


def test_tags_of_what_is_not_there(store: Store) -> None:
    assert store.tags("/app/a") is None
    assert store.tag("/app/a", {"k": "1"}) is False
    assert store.untag("/app/a", ["k"]) is False


def test_what_is_deleted_is_gone_and_deleting_again_is_no_error(store: Store) -> None:
    store.create("/app/a", ParameterType.STRING, "one", {})
    store.delete(["/app/a", "/app/absent"])
    store.delete(["/app/a"])
    assert store.get(["/app/a"]) == {}


@pytest.mark.parametrize("count", [0, 1, 10, 11, 25])
def test_many_are_read_and_deleted_whole(store: Store, count: int) -> None:
    names = [f"/app/{number:02}/deep" for number in range(count)]
    for name in [*names, "/app-2/beside"]:
        store.create(name, ParameterType.STRING, name, {})
    assert sorted(store.get(names)) == names
    assert sorted(store.under("/app")) == names
    store.delete(names)
    assert store.under("/app") == {}


# From here on the fake alone: calls counted, requests seen, faults injected.


class Calls:
    """Keeps the calls, and fails the first ones with the errors given."""

    def __init__(self, *errors: Exception) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.errors = list(errors)

    def __call__(self, action: str, request: dict[str, Any]) -> None:
        self.seen.append((action, dict(request)))
        if self.errors:
            raise self.errors.pop(0)

    def sizes(self, action: str) -> list[int]:
        return [len(request["Names"]) for seen, request in self.seen if seen == action]


@pytest.mark.parametrize("key", ["", "alias/strongref"])
def test_secure_values_are_encrypted_with_the_installations_key_and_others_with_none(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KMS_KEY, key)
    calls = Calls()
    client = FakeSsm(before_call=calls).as_client()
    stores = Stores(lambda _: client, RateLimiter(UNHURRIED))
    store = stores(REGION, FakeClock())
    store.create("/app/s", ParameterType.SECURE, SECRET, {})
    store.overwrite("/app/s", ParameterType.SECURE, SECRET)
    store.create("/app/a", ParameterType.STRING, "one", {})
    assert [request.get("KeyId") for _, request in calls.seen] == [key or None, key or None, None]


def test_a_call_has_ten_names_without_duplicates() -> None:
    calls = Calls()
    store = store_over(FakeSsm(before_call=calls).as_client())
    names = [f"/app/{number}" for number in range(21)]
    store.get([*names, *names])
    store.delete(iter([*names, *names]))
    assert calls.sizes("GetParameters") == [10, 10, 1]
    assert calls.sizes("DeleteParameters") == [10, 10, 1]


def test_a_put_asks_for_the_tier_that_its_value_needs() -> None:
    calls = Calls()
    store = store_over(FakeSsm(before_call=calls).as_client())
    store.create("/a", ParameterType.STRING, "x" * 5000, {"k": "v"})
    store.overwrite("/a", ParameterType.STRING, "x")
    assert [request["Tier"] for _, request in calls.seen] == ["Intelligent-Tiering"] * 2
    assert "Overwrite" not in calls.seen[0][1]
    assert "Tags" not in calls.seen[1][1]


class Untiered(Calls):
    """A region that refuses every tier, as China's once did (hashicorp/terraform-provider-aws, issue 8662)."""

    def __call__(self, action: str, request: dict[str, Any]) -> None:
        super().__call__(action, request)
        if "Tier" in request:
            raise client_error("ValidationException")


def test_where_tiers_are_not_supported_puts_go_without_and_that_is_remembered_for_the_region() -> None:
    calls = {REGION: Untiered(), "eu-west-1": Calls()}
    fakes = {region: FakeSsm(region, before_call=seen) for region, seen in calls.items()}
    stores = Stores(lambda region: fakes[region].as_client(), RateLimiter(UNHURRIED))
    stores(REGION, FakeClock()).create("/a", ParameterType.STRING, "x", {"k": "v"})
    stores(REGION, FakeClock()).overwrite("/a", ParameterType.STRING, "y")
    assert calls[REGION].seen[1] == (
        "PutParameter",
        {"Name": "/a", "Type": "String", "Value": "x", "Tags": [{"Key": "k", "Value": "v"}]},
    )
    assert [request.get("Tier") for _, request in calls[REGION].seen] == ["Intelligent-Tiering", None, None]
    stores("eu-west-1", FakeClock()).create("/a", ParameterType.STRING, "x", {})
    assert calls["eu-west-1"].seen[0][1]["Tier"] == "Intelligent-Tiering"
    with pytest.raises(StandardTierError) as raised:
        stores(REGION, FakeClock()).create("/b", ParameterType.STRING, SECRET * 300, {})
    assert "/b is larger than 4 KB, and Parameter Store in us-east-1 takes only standard" in str(raised.value)
    assert SECRET not in "".join(traceback.format_exception(raised.value))


def test_a_large_value_is_what_shows_that_a_region_has_no_tiers() -> None:
    calls = Untiered()
    with pytest.raises(StandardTierError):
        store_over(FakeSsm(before_call=calls).as_client()).create("/b", ParameterType.STRING, "x" * 5000, {})
    assert [request.get("Tier") for _, request in calls.seen] == ["Intelligent-Tiering", None]


def test_a_request_that_is_invalid_without_a_tier_too_says_nothing_about_tiers() -> None:
    calls = Calls(*[client_error("ValidationException")] * 2)
    store = store_over(FakeSsm(before_call=calls).as_client())
    with pytest.raises(StoreError, match="ValidationException"):
        store.create("/a", ParameterType.STRING, "x", {})
    store.create("/a", ParameterType.STRING, "x" * 5000, {})
    assert [request.get("Tier") for _, request in calls.seen] == ["Intelligent-Tiering", None, "Intelligent-Tiering"]


def client_error(code: str, status: int = 400) -> ClientError:
    answer: Any = {"Error": {"Code": code, "Message": SECRET}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "PutParameter")


ERRORS: dict[type[StoreError], list[str]] = {
    AccessDeniedError: ["AccessDeniedException", "AccessDenied", "UnauthorizedOperation"],
    AlreadyExistsError: ["ParameterAlreadyExists"],
    NotFoundError: ["ParameterNotFound", "InvalidResourceId"],
    TooManyTagsError: ["TooManyTagsError"],
    ThrottledError: ["ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded"],
    StoreError: ["ValidationException", "HierarchyTypeMismatchException", "UnrecognizedClientException"],
}
CASES: list[tuple[Exception, type[StoreError]]] = [
    *((client_error(code), expected) for expected, codes in ERRORS.items() for code in codes),
    (client_error("TooManyUpdates"), ThrottledError),
    (client_error("InternalServerError", status=500), StoreError),
    (client_error("NotHeardOf", status=503), StoreError),
    (ParamValidationError(report=SECRET), StoreError),
    (NoCredentialsError(), StoreError),
    (EndpointConnectionError(endpoint_url=SECRET), StoreError),
]


@pytest.mark.parametrize(("error", "expected"), CASES)
def test_errors_become_ours_by_code_and_keep_no_text(error: Exception, expected: type[StoreError]) -> None:
    code = error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
    store = store_over(FakeSsm(before_call=Calls(*[error] * 1000)).as_client(), FakeClock(remaining=60))
    with pytest.raises(StoreError) as raised:
        store.overwrite("/app/a", ParameterType.STRING, SECRET)
    assert type(raised.value) is expected
    assert raised.value.args == ("PutParameter", code, "/app/a", REGION)
    assert REGION in str(raised.value)
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    assert raised.value.__cause__ is raised.value.__context__ is None


def test_an_error_about_many_names_one_and_counts_the_rest() -> None:
    store = store_over(FakeSsm(before_call=Calls(*[client_error("AccessDeniedException")] * 2)).as_client())
    with pytest.raises(AccessDeniedError, match=r"GetParameters of /app/0 and 9 more in us-east-1 was denied"):
        store.get([f"/app/{number}" for number in range(12)])


def test_a_tag_call_that_is_denied_is_no_missing_parameter() -> None:
    store = store_over(FakeSsm(before_call=Calls(*[client_error("AccessDeniedException")] * 2)).as_client())
    for ask in (lambda: store.tags("/a"), lambda: store.untag("/a", ["k"])):
        with pytest.raises(AccessDeniedError):
            ask()


def test_the_fifty_first_tag_is_refused() -> None:
    store = store_over(FakeSsm().as_client())
    store.create("/a", ParameterType.STRING, "v", {f"k{number}": "v" for number in range(50)})
    with pytest.raises(TooManyTagsError):
        store.tag("/a", {"one": "more"})


def test_throttling_slows_and_then_succeeds() -> None:
    clock = FakeClock()
    calls = Calls(*[client_error("ThrottlingException")] * 5)
    store = store_over(FakeSsm(before_call=calls).as_client(), clock)
    store.create("/a", ParameterType.STRING, "v", {})
    assert [action for action, _ in calls.seen] == ["PutParameter"] * 6
    assert len(clock.slept) == 5
    assert clock.slept == sorted(clock.slept)
    assert store.get(["/a"])["/a"].text == "v"


def test_a_create_whose_response_was_lost_is_reported_as_existing(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeSsm()
    put, lost = fake.put_parameter, [client_error("InternalServerError", status=500)]

    def put_and_lose_the_answer(**request: object) -> dict[str, Any]:
        answer = put(**request)
        if lost:
            raise lost.pop()
        return answer

    monkeypatch.setattr(fake, "put_parameter", put_and_lose_the_answer)
    with pytest.raises(AlreadyExistsError):
        store_over(fake.as_client()).create("/a", ParameterType.STRING, "v", {})


def test_no_call_begins_after_the_deadline() -> None:
    calls = Calls()
    store = store_over(FakeSsm(before_call=calls).as_client(), FakeClock(remaining=0))
    with pytest.raises(OutOfTimeError):
        store.create("/a", ParameterType.STRING, "v", {})
    assert calls.seen == []


def test_a_fence_outlasts_a_call_in_flight() -> None:
    assert timedelta(seconds=CONNECT_SECONDS + READ_SECONDS) < IN_FLIGHT


def test_each_region_has_a_store_of_its_own() -> None:
    fakes = {region: FakeSsm(region) for region in (REGION, "eu-west-1")}
    stores, clock = Stores(lambda region: fakes[region].as_client(), RateLimiter(UNHURRIED)), FakeClock()
    stores("eu-west-1", clock).create("/a", ParameterType.STRING, "v", {})
    assert stores("eu-west-1", clock).region == "eu-west-1"
    assert stores(REGION, clock).get(["/a"]) == {}


def test_stores_keep_one_pace_and_each_its_clock() -> None:
    fake, clock, hurried = FakeSsm(), FakeClock(), FakeClock(remaining=0.2)
    stores = Stores(lambda _: fake.as_client(), RateLimiter(RateLimits(writes=1)))
    stores(REGION, clock).create("/a", ParameterType.STRING, "v", {})
    with pytest.raises(OutOfTimeError):
        stores(REGION, hurried).create("/b", ParameterType.STRING, "v", {})
    stores(REGION, clock).create("/b", ParameterType.STRING, "v", {})
    assert sum(clock.slept) > 0


def test_an_invalid_region_is_an_error_that_names_it() -> None:
    with pytest.raises(StoreError, match=r"in nowhere at all failed: InvalidRegionError") as raised:
        Stores(Clients().ssm, RateLimiter(UNHURRIED))("nowhere at all", FakeClock())
    assert raised.value.__context__ is None


def test_clients_are_made_once_per_region_and_do_not_retry() -> None:
    clients = Clients()
    ssm, stacks = clients.ssm("eu-west-1"), clients.cloudformation("eu-west-1")
    assert clients.ssm("eu-west-1") is ssm
    assert clients.ssm(REGION) is not ssm
    for client in (ssm, stacks):
        config: Any = client.meta.config
        assert config.retries["total_max_attempts"] == 1
        assert client.meta.region_name == "eu-west-1"


def test_the_endpoint_can_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    assert Clients().ssm(REGION).meta.endpoint_url == "http://127.0.0.1:4566"
