"""The installation's own tags: on everything that strongref creates, from the call that creates it on."""

from __future__ import annotations

from typing import Any

import pytest

from strongref.aws.parameter_store import SsmStore
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.aws.settings import PARAMETER_TAGS
from strongref.contract.values import ParameterType
from strongref.errors import TAG_LIMIT
from tests.support.cloud import Cloud
from tests.support.fake_ssm import FakeClock, FakeSsm

EU, US = "eu-west-1", "us-east-1"
TAGS = {"team": "web", "cost center": "a=b"}
FENCE, VALUE = "/strongref/fences/web/f", "/strongref/exports/web/1/eu-west-1/network/A"


@pytest.fixture(autouse=True)
def _tagging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PARAMETER_TAGS, "team=web,cost center=a=b")


class Seen:
    """A store over a fake whose calls are kept."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fake = FakeSsm(before_call=self._see)
        self.store = SsmStore(self.fake.as_client(), US, RateLimiter(RateLimits()), FakeClock())

    def _see(self, action: str, request: dict[str, Any]) -> None:
        how = " over" if request.get("Overwrite") else " with tags" if request.get("Tags") else ""
        self.calls.append(f"{action}{how}")


@pytest.fixture
def seen() -> Seen:
    return Seen()


def test_what_is_created_has_them_and_strongrefs_own_count_more(seen: Seen) -> None:
    seen.store.create(VALUE, ParameterType.STRING, "1", {"strongref:producer": "p", "team": "theirs"})
    assert seen.store.tags(VALUE) == {**TAGS, "strongref:producer": "p", "team": "theirs"}


def test_what_an_overwrite_creates_has_them_from_that_call_on(seen: Seen) -> None:
    assert seen.store.overwrite(FENCE, ParameterType.STRING, "1") == 1
    assert seen.calls == ["PutParameter with tags"]
    assert seen.store.tags(FENCE) == TAGS
    assert seen.store.overwrite(FENCE, ParameterType.STRING, "2") == 2
    assert seen.store.get([FENCE])[FENCE].text == "2"


def test_what_exists_keeps_its_tags(seen: Seen) -> None:
    seen.fake.put_parameter(Name=FENCE, Type="String", Value="1", Tags=[{"Key": "team", "Value": "before"}])
    seen.store.overwrite(FENCE, ParameterType.STRING, "2")
    assert seen.store.tags(FENCE) == {"team": "before"}


def test_a_value_is_overwritten_in_one_call_and_tagged_if_it_has_gone(seen: Seen) -> None:
    seen.store.create(VALUE, ParameterType.STRING, "1", {})
    seen.calls.clear()
    seen.store.overwrite(VALUE, ParameterType.STRING, "2")
    assert seen.calls == ["PutParameter over"]
    seen.store.delete([VALUE])
    seen.store.overwrite(VALUE, ParameterType.STRING, "3")
    assert seen.store.tags(VALUE) == TAGS


def test_they_take_no_room_from_the_claims_of_a_value_that_is_created_again(seen: Seen) -> None:
    claims = {f"strongref:claim:{number:016}": "web" for number in range(TAG_LIMIT - 1)}
    seen.store.create(VALUE, ParameterType.STRING, "1", claims)
    assert seen.store.tags(VALUE) == {"team": "web", **claims}


def test_all_that_a_deployment_creates_has_them_and_what_others_tagged_stays() -> None:
    cloud = Cloud()
    created: dict[str, dict[str, str]] = {}

    def see(action: str, request: dict[str, Any]) -> None:
        if action == "PutParameter" and not request.get("Overwrite"):
            created[request["Name"]] = {each["Key"]: each["Value"] for each in request["Tags"]}

    for region in (EU, US):
        cloud.ssm(region).before_call = see
    exported: dict[str, Any] = {"Region": US, "Consumer": "web", "Values": {"A": "1", "B": "1"}}
    imported = {"From": {"Stack": "network", "Region": EU}, "Names": ["A"]}
    cloud.deploy("network", EU, {"Exports": exported})
    cloud.deploy("web", US, {"Imports": imported})
    trees = {name.split("/")[2] for name in created}
    assert trees == {"exports", "fences", "index", "records"}
    assert all(TAGS.items() <= tags.items() for tags in created.values())

    value = f"web/{cloud.stack('network', EU).arn.split(':')[4]}/{EU}/network/A"
    before = {"audit": "yes", **cloud.tags(US, value)}
    cloud.ssm(US).add_tags_to_resource(
        ResourceType="Parameter", ResourceId=f"/strongref/exports/{value}", Tags=[{"Key": "audit", "Value": "yes"}]
    )
    cloud.deploy("web", US, {"Imports": {**imported, "Revision": "2"}})
    cloud.deploy("web", US, {})
    cloud.deploy("network", EU, {"Exports": {**exported, "Values": {"A": "2"}}})
    assert cloud.values(US) == {value: "2"}
    assert cloud.tags(US, value) == {key: each for key, each in before.items() if "claim" not in key}
    cloud.deploy("network", EU, {})
    assert not cloud.texts(US)
