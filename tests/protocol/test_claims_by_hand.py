"""Claims that nobody can check, and claims that no import can have made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.contract.names import ManifestSet, can_be_claim, claim_tag
from strongref.errors import OTHER_ACCOUNT, StackLookupError, WaitInterruptedError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.inspection import TagInspector
from strongref.refusals import ExportsInUseError
from tests.protocol.test_janitor import examined, found
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.builders import ACCOUNT, SCOPE, stack_arn
from tests.support.cloud import Cloud

if TYPE_CHECKING:
    from strongref.errors import StrongRefError
    from strongref.protocol.ports import StackInfo

TAG = "strongref:claim:0123456789abcdef"
SHOP = ManifestSet(ACCOUNT, "shop")
MOON = stack_arn("web", "us-moon-1")
A = f"/strongref/exports/{name('A')}"

IMPOSSIBLE = {
    "a note": "do not touch",
    "nothing": "",
    "another ARN": "arn:aws:iam::111111111111:role/web",
    "no account": "arn:aws:cloudformation:us-east-1:me:stack/web/1",
    "no region": "arn:aws:cloudformation:Ireland:111111111111:stack/web/1",
    "a manifest set under another tag": str(SHOP),
}


@pytest.fixture
def cloud() -> Cloud:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
    return cloud


def claim(cloud: Cloud, value: str, tag: str = TAG, key: str = "A") -> None:
    parameter = f"/strongref/exports/{name(key)}"
    cloud.ssm(US).add_tags_to_resource(
        ResourceType="Parameter", ResourceId=parameter, Tags=[{"Key": tag, "Value": value}]
    )


def change(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b1"})})


@pytest.mark.parametrize("value", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_no_import_can_have_made_protects_nothing(cloud: Cloud, value: str) -> None:
    assert not can_be_claim(TAG, value)
    claim(cloud, value)
    change(cloud)
    assert cloud.values(US)[name("A")] == "a2"


@pytest.mark.parametrize("value", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_the_janitor_takes_it_off_and_reports_that(cloud: Cloud, value: str) -> None:
    claim(cloud, value)
    wanted = [Finding(FindingType.STALE_CLAIM, A, (value,))]
    assert examined(cloud) == wanted
    assert TAG in cloud.tags(US, name("A"))
    assert found(cloud) == wanted
    assert TAG not in cloud.tags(US, name("A"))
    assert found(cloud) == []


def test_a_set_of_manifests_counts_and_is_no_finding(cloud: Cloud) -> None:
    claim(cloud, str(SHOP), claim_tag(SHOP.generation))
    assert found(cloud) == []
    with pytest.raises(ExportsInUseError) as refused:
        change(cloud)
    assert "imported by manifests shop" in str(refused.value)
    assert "strongref release" not in str(refused.value)


def unreachable(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, error: StrongRefError) -> None:
    """From now on stacks called `web` cannot be asked about."""
    asked = cloud.by_arn

    def by_arn(arn: str) -> StackInfo | None:
        if "stack/web/" in arn:
            raise error
        return asked(arn)

    monkeypatch.setattr(cloud, "by_arn", by_arn)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (MOON, "EndpointConnectionError"),
        (stack_arn("web", US), "AccessDenied"),
        (stack_arn("web", US, "222222222222"), OTHER_ACCOUNT),
        ("strongref:fleet:111111111111:web", ""),
    ],
    ids=["an unreachable region", "no permission", "another account", "a later version's"],
)
def test_a_claim_that_nobody_can_check_counts_and_the_refusal_says_what_to_do(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, value: str, code: str
) -> None:
    unreachable(cloud, monkeypatch, StackLookupError("web", US, code))
    claim(cloud, value)
    with pytest.raises(ExportsInUseError) as refused:
        change(cloud)
    shown = f"'{value}'" if value.startswith("strongref") else "stack web ("
    assert f"A cannot be changed: it is imported by {shown}" in str(refused.value)
    assert "exists cannot be checked: if not, take the claim off with strongref release." in str(refused.value)
    assert str(refused.value).endswith("Nothing was changed.")
    assert cloud.values(US)[name("A")] == "a1"
    assert found(cloud) == [Finding(FindingType.UNKNOWN_CLAIM, A, (value,))]
    assert TAG in cloud.tags(US, name("A"))


def test_it_does_not_keep_other_values_from_changing(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    unreachable(cloud, monkeypatch, StackLookupError("web", US, "AccessDenied"))
    claim(cloud, stack_arn("web", US))
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b2"}, OnChange="propagate")})
    assert cloud.values(US)[name("B")] == "b2"
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    assert name("B") not in cloud.values(US)


def test_a_claim_that_cannot_be_asked_about_in_time_is_asked_about_again(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = StackLookupError("web", US, "ThrottlingException")
    unreachable(cloud, monkeypatch, WaitInterruptedError(why))
    claim(cloud, stack_arn("web", US))
    with pytest.raises(WaitInterruptedError):
        change(cloud)


def test_a_cleanup_keeps_what_has_a_claim_that_nobody_can_check(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    cloud.deploy("shop", US, {"Imports": imports("A", Consumer="web")})
    claim(cloud, MOON)
    unreachable(cloud, monkeypatch, StackLookupError("web", "us-moon-1", "EndpointConnectionError"))
    cloud.deploy("network", EU, {})
    assert cloud.values(US) == {name("A"): "a1"}


@pytest.mark.parametrize(
    "claimant",
    [stack_arn("web", each) for each in ("us-east-1", "us-gov-west-1", "us-isob-east-1", "eusc-de-east-1", "mx-new-9")],
)
def test_every_region_that_there_may_be_can_claim(claimant: str) -> None:
    assert can_be_claim(TAG, claimant)


def test_a_claim_that_the_first_look_did_not_see_counts_although_the_second_finds_it_stale(cloud: Cloud) -> None:
    """Its stack was asked about only once."""
    claim(cloud, stack_arn("gone", US, unique="9"))
    first, second, key = TagInspector(cloud), TagInspector(cloud), SCOPE.key(A)
    seen = second.inspect_in_scope(cloud.stores(US, cloud.clock), SCOPE, [key])
    assert seen[key].stale
    second.agree(first, [seen])
    assert (seen[key].stale, TAG in seen[key].claims) == ({}, True)
