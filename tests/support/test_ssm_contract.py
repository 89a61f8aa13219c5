"""The fake Parameter Store does what moto does where moto is right, and what AWS does where moto is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from tests.support.fake_ssm import EPOCH, FakeSsm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_ssm.type_defs import ParameterStringFilterTypeDef, TagTypeDef


@pytest.fixture(params=["moto", "fake", "fake with empty pages"])
def ssm_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client for a region."""
    if request.param == "moto":
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(variable, "testing")
        with mock_aws():
            yield lambda region: boto3.client("ssm", region_name=region)
    else:
        fakes: dict[str, FakeSsm] = {}
        empty = request.param != "fake"
        yield lambda region: fakes.setdefault(region, FakeSsm(region, empty_pages=empty)).as_client()


@pytest.fixture
def ssm(ssm_in: Callable[[str], SSMClient]) -> SSMClient:
    return ssm_in("us-east-1")


def code_of(call: Callable[..., object], **request: object) -> str:
    with pytest.raises(ClientError) as raised:
        call(**request)
    return raised.value.response["Error"]["Code"]


def tags_of(ssm: SSMClient, name: str) -> dict[str, str]:
    found = ssm.list_tags_for_resource(ResourceType="Parameter", ResourceId=name)
    return {tag["Key"]: tag["Value"] for tag in found["TagList"]}


def names_under(ssm: SSMClient, path: str, *, recursive: bool = True, page: int = 10) -> list[str]:
    names: list[str] = []
    token: dict[str, Any] = {}
    while True:
        found = ssm.get_parameters_by_path(Path=path, Recursive=recursive, MaxResults=page, **token)
        assert len(found["Parameters"]) <= page
        names += [parameter["Name"] for parameter in found["Parameters"]]
        if not found.get("NextToken"):
            return sorted(names)
        token = {"NextToken": found["NextToken"]}


def described(ssm: SSMClient, *filters: ParameterStringFilterTypeDef) -> list[str]:
    names: list[str] = []
    token: dict[str, Any] = {}
    while True:
        found = ssm.describe_parameters(ParameterFilters=filters, **token)
        names += [parameter["Name"] for parameter in found["Parameters"]]
        if not found.get("NextToken"):
            return sorted(names)
        token = {"NextToken": found["NextToken"]}


def test_a_put_without_overwrite_never_replaces(ssm: SSMClient) -> None:
    ssm.put_parameter(Name="/a", Value="1", Type="String")
    assert code_of(ssm.put_parameter, Name="/a", Value="2", Type="String") == "ParameterAlreadyExists"
    assert ssm.get_parameters(Names=["/a"])["Parameters"][0]["Value"] == "1"


def test_versions_count_writes_and_start_again_after_a_delete(ssm: SSMClient) -> None:
    assert ssm.put_parameter(Name="/a", Value="1", Type="String")["Version"] == 1
    assert ssm.put_parameter(Name="/a", Value="2", Type="String", Overwrite=True)["Version"] == 2
    assert ssm.put_parameter(Name="/a", Value="2", Overwrite=True)["Version"] == 3
    before = ssm.get_parameters(Names=["/a"])["Parameters"][0]
    assert (before["Version"], before["Type"]) == (3, "String")
    ssm.delete_parameter(Name="/a")
    assert ssm.put_parameter(Name="/a", Value="2", Type="String", Overwrite=True)["Version"] == 1
    assert ssm.get_parameters(Names=["/a"])["Parameters"][0]["LastModifiedDate"] > before["LastModifiedDate"]


def test_what_a_parameter_says_of_itself(ssm: SSMClient) -> None:
    ssm.put_parameter(Name="/a/b", Value="x,y", Type="StringList", Tier="Standard")
    (found,) = ssm.get_parameters(Names=["/a/b"])["Parameters"]
    assert found["ARN"] == "arn:aws:ssm:us-east-1:123456789012:parameter/a/b"
    assert (found["Name"], found["Type"], found["Value"]) == ("/a/b", "StringList", "x,y")
    assert found["LastModifiedDate"].tzinfo is not None


def test_get_names_what_is_not_there(ssm: SSMClient) -> None:
    ssm.put_parameter(Name="/a", Value="1", Type="String")
    found = ssm.get_parameters(Names=["/a", "/b"])
    assert [parameter["Name"] for parameter in found["Parameters"]] == ["/a"]
    assert found["InvalidParameters"] == ["/b"]


def test_a_call_takes_ten_names_and_a_page_holds_ten(ssm: SSMClient) -> None:
    assert code_of(ssm.get_parameters_by_path, Path="/app", MaxResults=11) == "ValidationException"
    assert code_of(ssm.get_parameters, Names=[f"/{number}" for number in range(11)]) == "ValidationException"


def test_a_path_means_what_is_below_it(ssm: SSMClient) -> None:
    for name in ("/app", "/app/a", "/app/b/c", "/app-2/a"):
        ssm.put_parameter(Name=name, Value="1", Type="String")
    assert names_under(ssm, "/app") == ["/app/a", "/app/b/c"]
    assert names_under(ssm, "/app/") == ["/app/a", "/app/b/c"]
    assert names_under(ssm, "/app", recursive=False) == ["/app/a"]
    assert names_under(ssm, "/other") == []


@pytest.mark.parametrize("count", [2, 3, 4])
def test_pages_lose_and_repeat_nothing(ssm: SSMClient, count: int) -> None:
    names = [f"/app/{number}" for number in range(count)]
    for name in names:
        ssm.put_parameter(Name=name, Value="1", Type="String")
    assert names_under(ssm, "/app", page=2) == names


def test_a_secure_value_comes_in_clear_only_when_asked_for(ssm: SSMClient) -> None:
    ssm.put_parameter(Name="/app/s", Value="secret", Type="SecureString")
    for found in (ssm.get_parameters(Names=["/app/s"]), ssm.get_parameters_by_path(Path="/app")):
        assert "secret" not in {parameter["Value"] for parameter in found["Parameters"]}
    (clear,) = ssm.get_parameters(Names=["/app/s"], WithDecryption=True)["Parameters"]
    assert clear["Value"] == "secret"


def test_deleting_what_is_not_there(ssm: SSMClient) -> None:
    ssm.put_parameter(Name="/a", Value="1", Type="String")
    found = ssm.delete_parameters(Names=["/a", "/b"])
    assert (found["DeletedParameters"], found["InvalidParameters"]) == (["/a"], ["/b"])
    assert code_of(ssm.delete_parameter, Name="/a") == "ParameterNotFound"


def test_tags_are_put_on_with_a_create_changed_and_taken_off(ssm: SSMClient) -> None:
    ssm.put_parameter(Name="/a", Value="1", Type="String", Tags=[{"Key": "k", "Value": "1"}])
    added: list[TagTypeDef] = [{"Key": "k", "Value": "2"}, {"Key": "l", "Value": ""}]
    ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId="/a", Tags=added)
    assert tags_of(ssm, "/a") == {"k": "2", "l": ""}
    ssm.remove_tags_from_resource(ResourceType="Parameter", ResourceId="/a", TagKeys=["k", "other"])
    assert tags_of(ssm, "/a") == {"l": ""}


def test_tagging_is_no_new_version_and_an_overwrite_keeps_the_tags(ssm: SSMClient) -> None:
    ssm.put_parameter(Name="/a", Value="1", Type="String")
    before = ssm.get_parameters(Names=["/a"])["Parameters"][0]
    ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId="/a", Tags=[{"Key": "k", "Value": "v"}])
    after = ssm.get_parameters(Names=["/a"])["Parameters"][0]
    assert after["Version"] == before["Version"]
    assert after["LastModifiedDate"] == before["LastModifiedDate"]
    ssm.put_parameter(Name="/a", Value="2", Type="String", Overwrite=True)
    assert tags_of(ssm, "/a") == {"k": "v"}


def test_tags_with_overwrite_are_refused(ssm: SSMClient) -> None:
    request = {"Name": "/a", "Value": "1", "Type": "String", "Tags": [{"Key": "k", "Value": "v"}]}
    assert code_of(ssm.put_parameter, **request, Overwrite=True) == "ValidationException"


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("list_tags_for_resource", {}),
        ("add_tags_to_resource", {"Tags": [{"Key": "k", "Value": "v"}]}),
        ("remove_tags_from_resource", {"TagKeys": ["k"]}),
    ],
)
def test_tags_of_what_is_not_there(ssm: SSMClient, method: str, more: dict[str, Any]) -> None:
    call = getattr(ssm, method)
    assert code_of(call, ResourceType="Parameter", ResourceId="/a", **more) == "InvalidResourceId"


def test_regions_are_apart(ssm_in: Callable[[str], SSMClient]) -> None:
    ssm_in("us-east-1").put_parameter(Name="/a", Value="1", Type="String")
    assert ssm_in("eu-west-1").get_parameters(Names=["/a"])["InvalidParameters"] == ["/a"]


def test_describe_pages_and_filters(ssm: SSMClient) -> None:
    names = [f"/app/{number:02}" for number in range(12)]
    for name in names:
        ssm.put_parameter(Name=name, Value="1", Type="String", Tags=[{"Key": "last", "Value": name[-1]}])
    ssm.put_parameter(Name="/app/deep/er", Value="1,2", Type="StringList")
    assert described(ssm) == sorted([*names, "/app/deep/er"])
    assert described(ssm, {"Key": "Name", "Values": ["/app/01", "/app/1"]}) == ["/app/01"]
    assert described(ssm, {"Key": "Name", "Option": "BeginsWith", "Values": ["/app/1"]}) == ["/app/10", "/app/11"]
    assert described(ssm, {"Key": "Name", "Option": "Contains", "Values": ["eep"]}) == ["/app/deep/er"]
    assert described(ssm, {"Key": "Type", "Values": ["StringList"]}) == ["/app/deep/er"]
    assert described(ssm, {"Key": "Path", "Values": ["/app"]}) == names
    assert described(ssm, {"Key": "Path", "Option": "Recursive", "Values": ["/app/deep"]}) == ["/app/deep/er"]
    assert described(ssm, {"Key": "tag:last", "Values": ["1"]}) == ["/app/01", "/app/11"]


# From here on: what moto gets wrong, or lets pass; so the fake alone.


def put(name: str = "/b", value: str = "v", **more: object) -> dict[str, Any]:
    return {"Name": name, "Value": value, "Type": "String", **more}


def tag(key: str = "k", value: str = "v") -> list[dict[str, str]]:
    return [{"Key": key, "Value": value}]


@pytest.mark.parametrize(
    ("method", "request_", "expected"),
    [
        ("put_parameter", put("/a" * 16), "HierarchyLevelLimitExceededException"),
        ("put_parameter", put("/a b"), "ValidationException"),
        ("put_parameter", put("/" + "a" * 1000), "ValidationException"),
        ("put_parameter", put(value="x" * 4097), "ValidationException"),
        ("put_parameter", put(value="x" * 8193, Tier="Advanced"), "ValidationException"),
        ("put_parameter", put(value="{{x}}"), "ValidationException"),
        ("put_parameter", put("/a", Overwrite=True, Tier="Standard"), "ValidationException"),
        ("put_parameter", put("/a", Overwrite=True, Type="SecureString"), "HierarchyTypeMismatchException"),
        ("put_parameter", put(Tags=[*tag("k1"), *tag("k,2")]), "ValidationException"),
        ("delete_parameters", {"Names": [f"/{number}" for number in range(11)]}, "ValidationException"),
        (
            "add_tags_to_resource",
            {"ResourceType": "Parameter", "ResourceId": "/a", "Tags": [*tag("x"), *tag("y")]},
            "TooManyTagsError",
        ),
    ],
)
def test_refused_by_aws_but_not_by_moto(method: str, request_: dict[str, Any], expected: str) -> None:
    ssm = FakeSsm()
    tags = [{"Key": f"k{number}", "Value": "v"} for number in range(49)]
    ssm.put_parameter(Name="/a", Value="v", Type="String", Tier="Advanced", Tags=tags)
    before = ssm.snapshot()
    assert code_of(getattr(ssm, method), **request_) == expected
    assert ssm.snapshot() == before


@pytest.mark.parametrize(
    ("method", "request_"), [("delete_parameter", {"Name": "/b"}), ("delete_parameters", {"Names": ["/b"]})]
)
def test_tags_die_with_their_parameter(method: str, request_: dict[str, Any]) -> None:
    ssm = FakeSsm()
    ssm.put_parameter(**put(Tags=tag()))
    getattr(ssm, method)(**request_)
    ssm.put_parameter(**put())
    assert tags_of(ssm.as_client(), "/b") == {}


def test_intelligent_tiering_takes_the_tier_that_the_value_needs() -> None:
    ssm = FakeSsm()
    for size, expected in ((4096, "Standard"), (4097, "Advanced"), (1, "Advanced")):
        request = put(value="x" * size, Tier="Intelligent-Tiering", Overwrite=True)
        assert ssm.put_parameter(**request)["Tier"] == expected
    assert described(ssm.as_client(), {"Key": "Tier", "Values": ["Advanced"]}) == ["/b"]


def test_an_unknown_filter_is_refused() -> None:
    ssm = FakeSsm()
    ssm.put_parameter(**put())
    assert code_of(ssm.describe_parameters, ParameterFilters=[{"Key": "Colour"}]) == "InvalidFilterKey"


def test_a_state_can_be_kept_compared_and_brought_back() -> None:
    ssm = FakeSsm()
    ssm.put_parameter(**put("/a", "1", Tags=tag()))
    kept = ssm.snapshot()
    ssm.delete_parameter(Name="/a")
    assert ssm.snapshot() != kept
    ssm.restore(kept)
    assert ssm.snapshot() == kept
    other = FakeSsm()
    other.restore(kept)
    other.remove_tags_from_resource(ResourceType="Parameter", ResourceId="/a", TagKeys=["k"])
    assert other.snapshot() != kept == ssm.snapshot()


def test_time_is_a_count_of_writes_and_a_given_clock() -> None:
    ssm, now = FakeSsm(), datetime(2030, 1, 1, tzinfo=UTC)
    clocked = FakeSsm(clock=lambda: now)
    for fake in (ssm, clocked):
        fake.put_parameter(**put("/a"))
    assert (ssm.get_parameters(Names=["/a"])["Parameters"][0]["LastModifiedDate"] - EPOCH).total_seconds() == 1
    assert clocked.get_parameters(Names=["/a"])["Parameters"][0]["LastModifiedDate"] == now + timedelta(microseconds=1)


def test_the_hook_sees_each_call_and_can_make_it_fail() -> None:
    seen: list[str] = []

    def hook(action: str, request: dict[str, Any]) -> None:
        seen.append(f"{action} {request['Name']}")
        raise TimeoutError

    ssm = FakeSsm(before_call=hook)
    with pytest.raises(TimeoutError):
        ssm.put_parameter(**put())
    assert seen == ["PutParameter /b"]
    assert ssm.snapshot() == FakeSsm().snapshot()
