"""Exports to other accounts: what they hold, and what a missing trust stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.index import FORGOTTEN, Place, encode_place, index_name, path_of
from strongref.contract.names import Site, claim_tag
from strongref.contract.values import ParameterType
from strongref.errors import AccountNotListedError, BadRequestError, RoleDeniedError
from strongref.protocol.lag import ReadLag
from strongref.refusals import ExportsInUseError, OutOfReachError
from tests.protocol.test_out_of_reach import COMPLETE, ROLLED_BACK, DatedCloud, status
from tests.protocol.test_scenarios import EU, US, exports, name
from tests.support.builders import ACCOUNT

if TYPE_CHECKING:
    from tests.support.cloud import Cloud

B, C = "222222222222", "333333333333"
THERE, FURTHER = str(Site(US, B)), str(Site(US, C))
CLAIM = f"arn:aws:cloudformation:{US}:{B}:stack/web/5b6f1af0-ac4e-11f0-8f43-0afff1b3a3b1"
IN_USE = {claim_tag("web's import"): CLAIM}
INDEXED = f"{index_name('network', 'Exports')}{path_of(Place(B, US, 'web'))}"


@pytest.fixture(params=[0.0, 2.0], ids=["reads at once", "late reads"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    cloud = DatedCloud()
    cloud.lag = ReadLag(request.param)
    cloud.trusting = {B: True, C: True}
    return cloud


def deploy(cloud: Cloud, values: dict[str, Any], *accounts: str, fails: bool = False, **more: Any) -> None:
    cloud.deploy("network", EU, {"Exports": exports(values, Account=list(accounts), **more)}, fails=fails)
    cloud.clock.sleep(10)


def claim(cloud: Cloud, key: str = "A", tags: dict[str, str] | None = None) -> None:
    store = cloud.store(Site(US, B), cloud.clock)
    assert store.tag(f"/strongref/exports/{name(key)}", tags or IN_USE)


def test_values_are_written_to_each_account_and_go_with_the_stack(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, B, C, ACCOUNT)
    deploy(cloud, {"A": "a2", "B": "b"}, B, C)
    assert cloud.values(THERE) == cloud.values(FURTHER) == {name("A"): "a2", name("B"): "b"}
    assert cloud.values(US) == {}
    cloud.delete("network", EU)
    assert [cloud.texts(each) for each in (US, EU, THERE, FURTHER)] == [{}] * 4


def test_what_is_claimed_there_is_neither_changed_nor_deleted(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1", "B": "b1"}, B)
    claim(cloud)
    with pytest.raises(ExportsInUseError, match="stack web"):
        deploy(cloud, {"A": "a2", "B": "b1"}, B)
    assert status(cloud) == ROLLED_BACK
    with pytest.raises(ExportsInUseError):
        deploy(cloud, {"A": "a1"}, ACCOUNT)
    deploy(cloud, {"A": "a1", "B": "b2", "C": "c"}, B)
    assert cloud.values(THERE) == {name("A"): "a1", name("B"): "b2", name("C"): "c"}
    with pytest.raises(ExportsInUseError):
        cloud.delete("network", EU)


@pytest.mark.parametrize("stack", [CLAIM, CLAIM.replace(B, ACCOUNT), "by hand"])
def test_no_claim_there_is_stale(cloud: Cloud, stack: str) -> None:
    """Nor is one of a stack that is gone, or one that no import can have made: this account cannot know."""
    deploy(cloud, {"A": "a1"}, B)
    tags = {claim_tag("web's import"): stack}
    claim(cloud, tags=tags)
    with pytest.raises(ExportsInUseError):
        deploy(cloud, {"A": "a2"}, B)
    assert tags.items() <= cloud.tags(THERE, name("A")).items()


def test_an_account_that_trusts_nobody_is_refused_and_the_rollback_passes_it_over(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, B)
    cloud.trusting[C] = False
    for _ in range(2):
        with pytest.raises(RoleDeniedError, match="There, run strongref trust 111111111111"):
            deploy(cloud, {"A": "a2"}, B, C)
        assert status(cloud) == ROLLED_BACK
    assert cloud.values(THERE) == {name("A"): "a1"}
    assert FURTHER not in cloud.regions
    deploy(cloud, {"A": "a3"}, B)
    assert status(cloud) == COMPLETE
    cloud.delete("network", EU)
    assert cloud.texts(EU) == {}


def test_a_creation_that_an_account_refuses_writes_nowhere_and_is_deleted(cloud: Cloud) -> None:
    cloud.trusting[C] = False
    with pytest.raises(RoleDeniedError):
        deploy(cloud, {"A": "a1"}, B, C)
    assert cloud.texts(THERE) == cloud.texts(EU) == {}


def test_an_account_that_is_not_listed_is_refused_without_a_call(cloud: Cloud) -> None:
    cloud.trusting = {B: True}
    with pytest.raises(AccountNotListedError, match="--parameter ExportAccounts="):
        deploy(cloud, {"A": "a1"}, B, "444444444444")
    assert cloud.texts(THERE) == cloud.texts(EU) == {}


@pytest.mark.parametrize("values", [{"A": "a2"}, {"B": "b"}])
def test_a_revoked_trust_refuses_changes_and_deletions_until_it_is_back_or_forgotten(
    cloud: Cloud, values: dict[str, Any]
) -> None:
    deploy(cloud, {"A": "a1"}, B)
    cloud.trusting[B] = False
    with pytest.raises(RoleDeniedError):
        deploy(cloud, values, B)
    assert status(cloud) == ROLLED_BACK
    with pytest.raises(OutOfReachError, match="run strongref forget 222222222222"):
        cloud.delete("network", EU)
    cloud.trusting[B] = True
    assert cloud.values(THERE) == {name("A"): "a1"}
    cloud.trusting[B] = False
    home = cloud.stores(EU, cloud.clock)
    text = encode_place(cloud.stack("network", EU).arn, cloud.clock.now())
    home.overwrite(f"{INDEXED}/{FORGOTTEN}", ParameterType.STRING, text)
    cloud.delete("network", EU)
    cloud.trusting[B] = True
    assert cloud.values(THERE) == {name("A"): "a1"}


def test_the_index_names_a_place_there_before_its_first_value_and_until_its_last(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, B)
    written = [str(request["Name"]) for action, request in cloud.calls if action == "PutParameter"]
    assert written.index(INDEXED) < written.index(f"/strongref/exports/{name('A')}")
    deploy(cloud, {"A": "a1"}, C)
    cloud.calls.clear()
    deploy(cloud, {}, C)
    assert INDEXED not in cloud.texts(EU)


@pytest.mark.parametrize(
    ("values", "more", "problem"),
    [
        ({"A": "a"}, {"SecureKeys": ["A"]}, "must not be secure"),
        ({"A": {ACCOUNT: "a"}}, {}, f"must have no level {ACCOUNT}"),
        ({"A": "a"}, {"Account": [B] * 2 + [f"{at:012}" for at in range(50)]}, "at most 50 regions, times accounts"),
        ({"A": "a"}, {"Account": []}, "must name an account"),
        ({"A": "a"}, {"Account": [B, "12"]}, "Account\\[1\\] must be an account's twelve digits"),
    ],
)
def test_what_another_account_cannot_have_is_refused(
    cloud: Cloud, values: dict[str, Any], more: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadRequestError, match=problem):
        cloud.deploy("network", EU, {"Exports": exports(values, **{"Account": B, **more})})
