"""What users live through, with the real exporter and importer over a cloud in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import RequestType
from strongref.errors import PartialCreateError, StrongRefError, UnfinishedError
from strongref.refusals import (
    ConflictingExportError,
    ExportsInUseError,
    ForeignParameterError,
    NoSuchExportError,
    NoSuchProducerError,
    NothingExportedError,
    TooManyClaimsError,
    UnsettledError,
)
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import LaterResourceError
from tests.support.fake_ssm import FakeClock
from tests.support.half_deleted import SECONDS, Again, RememberingCloud

if TYPE_CHECKING:
    from collections.abc import Callable

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"


def exports(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Region": US, "Consumer": "web", "Values": values} | more


def imports(*names: str, **more: Any) -> dict[str, Any]:
    named = {"Names": list(names)} if names else {}
    return {"From": {"Stack": "network", "Region": EU}, **named, **more}


def name(key: str, consumer: str = "web", stack: str = "network", region: str = EU) -> str:
    return f"{consumer}/{ACCOUNT}/{region}/{stack}/{key}"


CLOUDS: dict[str, Callable[[], Cloud]] = {
    "full pages": Cloud,
    "empty pages too": partial(Cloud, empty_pages=True),
    **{f"deleted names are {again.value}": partial(RememberingCloud, again) for again in (Again.REFUSED, Again.HIDDEN)},
}


@pytest.fixture(params=CLOUDS)
def cloud(request: pytest.FixtureRequest) -> Cloud:
    return CLOUDS[request.param]()


@pytest.fixture
def claimed(cloud: Cloud) -> Cloud:
    """A is imported by web, B is not."""
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    return cloud


def test_strings_lists_and_maps_arrive(cloud: Cloud) -> None:
    values = {"Arn": "arn:x", "Ids": ["s-1", "s-2"], "Alb": {"Arn": "alb", "Sg": {"Id": "sg"}}}
    cloud.deploy("network", EU, {"Exports": exports(values)})
    cloud.deploy("web", US, {"Imports": imports("Arn", "Ids", "Alb")})
    assert cloud.get("web", US) == {"Arn": "arn:x", "Ids": ["s-1", "s-2"], "Alb.Arn": "alb", "Alb.Sg.Id": "sg"}
    assert cloud.get("network", EU, "Exports") == {"Prefix": f"/strongref/exports/{name('')}"[:-1], "Count": "4"}
    assert cloud.values(US)[name("Ids")] == "s-1,s-2"


def test_without_names_everything_is_imported(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a", "M": {"B": "b"}})})
    cloud.deploy("web", US, {"Imports": imports()})
    assert cloud.get("web", US) == {"A": "a", "M.B": "b"}
    assert cloud.claims(US, name("M/B")) == ["web"]


def test_an_empty_list_of_names_imports_and_claims_nothing(cloud: Cloud) -> None:
    """A program may generate it, before there is anything to import and after."""
    nothing = imports(Names=[])
    cloud.deploy("web", US, {"Imports": nothing})  # The producer does not exist yet.
    assert cloud.calls == []
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert (cloud.get("web", US), cloud.claims(US, name("A"))) == ({"A": "a1"}, ["web"])
    cloud.deploy("web", US, {"Imports": nothing})
    assert (cloud.get("web", US), cloud.claims(US, name("A"))) == ({}, [])
    cloud.deploy("web", US, {"Imports": imports(Names=[], Strength="weak")})
    with pytest.raises(NoSuchExportError):
        cloud.deploy("web", US, {"Imports": imports("B")})  # The rollback returns to nothing.
    assert (cloud.get("web", US), cloud.claims(US, name("A"))) == ({}, [])
    cloud.deploy("network", EU, {"Exports": exports({"A": "a2"})})
    cloud.deploy("web", US, {"Imports": imports(Names=[])})
    cloud.calls.clear()
    cloud.deploy("web", US, {})
    assert cloud.calls == []


def test_a_claimed_value_is_not_changed(claimed: Cloud) -> None:
    before = claimed.texts(US)
    with pytest.raises(ExportsInUseError) as refused:
        claimed.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b2"})})
    assert str(refused.value) == (
        f"A cannot be changed: it is imported by stack web ({US}, {ACCOUNT}). Remove that import first, "
        "or set OnChange: propagate. Nothing was changed."
    )
    assert claimed.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"
    assert claimed.texts(US) == before


@pytest.mark.parametrize(
    "wanted",
    [
        exports({"B": "b1"}),
        exports({}),
        exports({"A": "a1", "B": "b1"}, Region=AP),
        exports({"A": "a1", "B": "b1"}, Consumer="other"),
    ],
    ids=["dropped", "emptied", "moved to another region", "moved to another consumer"],
)
def test_a_claimed_value_is_not_dropped(claimed: Cloud, wanted: dict[str, Any]) -> None:
    before = claimed.texts(US)
    with pytest.raises(ExportsInUseError, match=r"^A cannot be dropped: it is imported by stack web"):
        claimed.deploy("network", EU, {"Exports": wanted})
    assert claimed.texts(US) == before
    assert claimed.texts(AP) == {}


def test_a_producer_cannot_be_deleted_under_its_consumer_and_can_once_it_is_released(claimed: Cloud) -> None:
    before = claimed.texts(US)
    with pytest.raises(ExportsInUseError, match="A cannot be dropped"):
        claimed.delete("network", EU)
    assert claimed.texts(US) == before
    claimed.deploy("web", US, {})
    claimed.delete("network", EU)
    assert claimed.texts(US) == {}


def test_unclaimed_values_next_to_claimed_ones_change_freely(claimed: Cloud) -> None:
    claimed.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b2", "C": "c"})})
    claimed.deploy("network", EU, {"Exports": exports({"A": "a1", "C": ["x", "y"]})})
    assert claimed.values(US) == {name("A"): "a1", name("C"): "x,y"}


def test_an_import_claims_the_new_before_it_releases_the_old(claimed: Cloud) -> None:
    seen: list[list[str]] = []

    def watch(action: str, _request: dict[str, Any]) -> None:
        if action == "RemoveTagsFromResource":
            seen.append(claimed.claims(US, name("B")))

    claimed.ssm(US).before_call = watch
    claimed.deploy("web", US, {"Imports": imports("B")})
    assert seen == [["web"]]
    assert claimed.claims(US, name("A")) == []
    assert claimed.get("web", US) == {"B": "b1"}


def test_an_update_that_fails_later_leaves_the_old_claim_and_no_new_one(claimed: Cloud) -> None:
    with pytest.raises(LaterResourceError):
        claimed.deploy("web", US, {"Imports": imports("B")}, fails=True)
    assert claimed.claims(US, name("A")) == ["web"]
    assert claimed.claims(US, name("B")) == []


def test_a_create_that_fails_later_leaves_no_claim_and_the_exports(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    before = cloud.texts(US)
    with pytest.raises(LaterResourceError):
        cloud.deploy("web", US, {"Imports": imports("A")}, fails=True)
    assert cloud.texts(US) == before
    assert cloud.claims(US, name("A")) == []


def test_deleting_the_consumer_cleans_its_prefix_and_creating_it_again_finds_the_values_again(claimed: Cloud) -> None:
    claimed.deploy("other", US, {"Imports": imports("B", Consumer="web")})
    claimed.delete("web", US)
    assert claimed.values(US) == {name("B"): "b1"}  # claimed by somebody else
    claimed.deploy("web", US, {"Imports": imports("A")})
    assert claimed.values(US) == {name("A"): "a1", name("B"): "b1"}
    assert claimed.get("web", US) == {"A": "a1"}
    with pytest.raises(ExportsInUseError, match="A cannot be changed"):
        claimed.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b1"})})


def test_after_its_consumer_is_gone_the_producer_does_as_it_likes(claimed: Cloud) -> None:
    claimed.delete("web", US)
    claimed.deploy("network", EU, {"Exports": exports({"A": "a2"})})
    assert claimed.values(US) == {name("A"): "a2"}
    claimed.delete("network", EU)
    assert claimed.texts(US) == {}


def test_a_failed_or_removed_import_does_not_clean_the_prefix(claimed: Cloud) -> None:
    claimed.deploy("web", US, {})
    assert claimed.values(US) == {name("A"): "a1", name("B"): "b1"}
    assert claimed.claims(US, name("A")) == []


def test_one_release_leaves_the_others_claim(cloud: Cloud) -> None:
    shared = {"Region": US, "Values": {"A": "a1"}}
    cloud.deploy("network", EU, {"Exports": shared})
    cloud.deploy("web", US, {"One": imports("A", Shared="true"), "Two": imports("A", Shared="true")})
    cloud.deploy("api", US, {"Imports": imports("A", Shared="true")})
    cloud.deploy("web", US, {"One": imports("A", Shared="true")})
    assert cloud.claims(US, name("A", "_shared")) == ["api", "web"]
    cloud.delete("api", US)
    assert cloud.claims(US, name("A", "_shared")) == ["web"]
    with pytest.raises(ExportsInUseError, match="stack web"):
        cloud.delete("network", EU)
    cloud.delete("web", US)
    cloud.delete("network", EU)
    assert cloud.texts(US) == {}


def test_a_claim_of_a_stack_that_is_gone_heals(claimed: Cloud) -> None:
    claimed.vanish("web", US)
    claimed.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b1"})})
    assert claimed.values(US)[name("A")] == "a2"
    assert claimed.claims(US, name("A")) == []


def test_a_claim_of_a_generation_that_its_stack_at_rest_does_not_have_heals(claimed: Cloud) -> None:
    del claimed.stack("web", US).resources["Imports"]
    claimed.stack("web", US).status = "UPDATE_IN_PROGRESS"
    with pytest.raises(ExportsInUseError):
        claimed.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b1"})})
    claimed.stack("web", US).status = "UPDATE_COMPLETE"
    claimed.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b1"})})
    assert claimed.values(US)[name("A")] == "a2"


@pytest.mark.parametrize("tags", [[], [{"Key": "strongref:producer", "Value": "nonsense"}]])
def test_a_foreign_parameter_is_never_touched(cloud: Cloud, tags: list[dict[str, str]]) -> None:
    cloud.ssm(US).put_parameter(Name=f"/strongref/exports/{name('A')}", Type="String", Value="theirs", Tags=tags)
    before = cloud.ssm(US).snapshot()
    with pytest.raises(ForeignParameterError, match=name("A")):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
    assert cloud.values(US) == {name("A"): "theirs"}
    assert (
        dict(before)[f"/strongref/exports/{name('A')}"]
        == dict(cloud.ssm(US).snapshot())[f"/strongref/exports/{name('A')}"]
    )
    cloud.deploy("network", EU, {})
    with pytest.raises(NothingExportedError):
        cloud.deploy("web", US, {"Imports": imports("A")})


def test_the_owner_of_a_foreign_parameter_is_named(cloud: Cloud) -> None:
    other = cloud.deploy("other", EU, {})
    cloud.ssm(US).put_parameter(
        Name=f"/strongref/exports/{name('A')}",
        Type="String",
        Value="theirs",
        Tags=[{"Key": "strongref:producer", "Value": other.arn}],
    )
    with pytest.raises(ForeignParameterError, match=r"it belongs to stack other \(eu-west-1"):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})


def test_a_missing_export_tells_which_it_is(cloud: Cloud) -> None:
    with pytest.raises(NoSuchProducerError, match=r"stack network \(eu-west-1, 1{12}\) does not exist"):
        cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, {"Exports": exports({"A": "a"}, Consumer="api")})
    with pytest.raises(NothingExportedError, match="exists, but exports nothing to consumer web in us-east-1"):
        cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, {"Exports": exports({"CertArn": "a", "M": {"Id": "x"}})})
    with pytest.raises(
        NoSuchExportError, match=r"CertAnr \(did you mean CertArn\?\) and M\.Name to .* exports CertArn and M\.Id\."
    ):
        cloud.deploy("web", US, {"Imports": imports("CertAnr", "M.Name", "M.Id")})
    assert cloud.claims(US, name("M/Id")) == []


def test_a_shared_export_is_hinted_at(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": {"Region": US, "Values": {"A": "a"}}})
    with pytest.raises(NothingExportedError, match="set Shared: true"):
        cloud.deploy("web", US, {"Imports": imports("A")})


def test_a_shared_export_is_hinted_at_where_others_are_for_the_consumer_alone(cloud: Cloud) -> None:
    both = {"Alone": exports({"A": "a"}), "Shared": {"Region": US, "Values": {"B": "b"}}}
    cloud.deploy("network", EU, both)
    with pytest.raises(
        NoSuchExportError, match=r"not export B to this consumer\..* B to all consumers: .* with Shared"
    ):
        cloud.deploy("web", US, {"Imports": imports("A", "B")})
    from_shared = {"From": {"Stack": "network", "Region": EU}, "Names": ["A"], "Shared": "true"}
    with pytest.raises(NoSuchExportError, match=r"A to all consumers\..* A to this consumer alone: .* without Shared"):
        cloud.deploy("web", US, {"Imports": from_shared})


def test_a_producer_in_another_account_cannot_be_asked_about(cloud: Cloud) -> None:
    other = {"From": {"Stack": "network", "Region": EU, "Account": "222222222222"}, "Names": ["A"]}
    with pytest.raises(NothingExportedError, match="was not checked"):
        cloud.deploy("web", US, {"Imports": other})


def test_imports_and_exports_wait_for_a_change_for_as_long_as_it_goes_on(claimed: Cloud) -> None:
    """Ten minutes: much longer than patience lasts."""
    deployments: list[tuple[str, str, dict[str, Any]]] = [
        ("api", US, {"Imports": imports("B", Consumer="web")}),
        ("network", EU, {"Exports": exports({"A": "a1", "B": "b1", "C": "c"})}),
    ]
    for deployment in deployments:
        fence = put_up_fence(claimed, deployment[0])
        claimed.clock.slept.clear()
        claimed.clock.on_sleep = partial(end_later, claimed, fence)
        claimed.deploy(*deployment)
        assert 600 < sum(claimed.clock.slept) < 605
    assert (claimed.claims(US, name("B")), claimed.values(US)[name("C")]) == (["api"], "c")


def test_who_waits_for_a_change_goes_on_in_another_invocation(claimed: Cloud) -> None:
    put_up_fence(claimed, "x")
    claimed.clock = FakeClock(300)
    with pytest.raises(UnfinishedError):
        claimed.send(claimed.stack("web", US).request(RequestType.CREATE, "More", imports("B")))
    claimed.clock = FakeClock(300)
    with pytest.raises(UnfinishedError):
        claimed.send(claimed.stack("network", EU).request(RequestType.UPDATE, "Exports", exports({}), "x", {}))


def end_later(cloud: Cloud, fence: str, slept: float) -> None:
    if slept > 600:
        cloud.ssm(US).delete_parameters(Names=[fence])


def put_up_fence(cloud: Cloud, token: str) -> str:
    """Somebody changes exports; the parameter's name."""
    fence = f"/strongref/fences/web/{ACCOUNT}/{EU}/network/Exports.{token}"
    far = '{"by":"Exports of stack network","until":"2030-01-01T00:00:00+00:00"}'
    cloud.ssm(US).put_parameter(Name=fence, Type="String", Value=far)
    return fence


def test_an_import_waits_for_a_fence_that_ends(claimed: Cloud) -> None:
    fence = f"/strongref/fences/web/{ACCOUNT}/{EU}/network/Exports.x"
    near = '{"by":"somebody","until":"2025-01-01T00:00:05+00:00","for":5}'
    claimed.clock.slept.clear()
    claimed.ssm(US).put_parameter(Name=fence, Type="String", Value=near, Overwrite=True)
    claimed.deploy("api", US, {"Imports": imports("B", Consumer="web")})
    assert claimed.claims(US, name("B")) == ["api"]


def test_propagate_changes_a_claimed_value_and_says_to_whom(claimed: Cloud) -> None:
    claimed.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b1"}, OnChange="propagate")})
    assert claimed.values(US)[name("A")] == "a2"
    assert claimed.claims(US, name("A")) == ["web"]
    new, old = exports({"A": "a3"}, OnChange="propagate"), exports({"A": "a2", "B": "b1"})
    answer = claimed.send(claimed.stack("network", EU).request(RequestType.UPDATE, "Exports", new, "x", old))
    assert answer.reason.startswith(f"A changed while imported by stack web ({US}, {ACCOUNT})")
    assert claimed.claims(US, name("A")) == ["web"]
    with pytest.raises(ExportsInUseError, match="A cannot be given another type"):  # SSM cannot change it in place
        claimed.deploy("network", EU, {"Exports": exports({"A": ["list", "now"]}, OnChange="propagate")})
    with pytest.raises(ExportsInUseError, match="A cannot be dropped"):
        claimed.deploy("network", EU, {"Exports": exports({"B": "b1"}, OnChange="propagate")})


def test_a_revision_writes_every_value_again(claimed: Cloud) -> None:
    claimed.ssm(US).delete_parameter(Name=f"/strongref/exports/{name('A')}")
    claimed.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}, Revision="2")})
    assert claimed.values(US) == {name("A"): "a1", name("B"): "b1"}
    claimed.deploy("web", US, {"Imports": imports("A", Revision="2")})
    assert claimed.claims(US, name("A")) == ["web"]


def test_a_value_changed_by_hand_is_reported_and_mended_by_a_revision(claimed: Cloud) -> None:
    claimed.ssm(US).put_parameter(
        Name=f"/strongref/exports/{name('B')}", Type="String", Value="by hand", Overwrite=True
    )
    with pytest.raises(UnsettledError, match="another Revision"):
        claimed.deploy("api", US, {"Imports": imports("B", Consumer="web")})
    claimed.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}, Revision="2")})
    claimed.deploy("api", US, {"Imports": imports("B", Consumer="web")})


def test_a_fan_out_is_refused_everywhere_if_claimed_anywhere(cloud: Cloud) -> None:
    both = exports({"A": "a1"}, Region=[US, AP])
    cloud.deploy("network", EU, {"Exports": both})
    cloud.deploy("web", AP, {"Imports": imports("A")})
    before = cloud.texts(US), cloud.texts(AP)
    with pytest.raises(ExportsInUseError, match=rf"stack web \({AP}"):
        cloud.deploy("network", EU, {"Exports": both | {"Values": {"A": "a2"}}})
    assert (cloud.texts(US), cloud.texts(AP)) == before
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Region=[AP])})
    assert (cloud.texts(US), cloud.values(AP)) == ({}, {name("A"): "a1"})


def test_secure_values_are_stored_secure_claimed_and_never_returned(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"P": "hunter2", "Q": "q"}, SecureKeys=["P"])})
    cloud.deploy("web", US, {"Imports": imports("P", "Q")})
    assert cloud.get("web", US) == {"Q": "q"}
    assert cloud.claims(US, name("P")) == ["web"]
    there = cloud.ssm(US).parameters()
    kinds = {each: found.kind for each, found in there.items()}
    assert kinds[f"/strongref/exports/{name('P')}"] == "SecureString"
    secret = [each for each, found in there.items() if "hunter2" in found.text]
    assert {kinds[each] for each in secret} == {"SecureString"}
    cloud.delete("web", US)
    cloud.deploy("web", US, {"Imports": imports("P")})
    assert cloud.values(US)[name("P")] == "hunter2"


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("claim", [False, True])
def test_renaming_an_export_loses_nothing(cloud: Cloud, *, claim: bool, fails: bool) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    if claim:
        cloud.deploy("web", US, {"Imports": imports("A")})
    if fails:
        with pytest.raises(LaterResourceError):
            cloud.deploy("network", EU, {"Renamed": exports({"A": "a1"})}, fails=True)
    else:
        cloud.deploy("network", EU, {"Renamed": exports({"A": "a1"})})
    assert cloud.values(US) == {name("A"): "a1"}
    records = [each for each in cloud.texts(US) if each.startswith("strongref/records")]
    assert [each.rsplit("/", 1)[1] for each in records] == ["Exports" if fails else "Renamed"]
    owners = [value for key, value in cloud.tags(US, name("A")).items() if key.startswith("strongref:export:")]
    assert owners == ["Exports" if fails else "Renamed"]
    if claim:
        cloud.delete("web", US)
    cloud.delete("network", EU)
    assert cloud.texts(US) == {}


def test_a_stack_created_again_adopts_what_its_former_self_retained(claimed: Cloud) -> None:
    claimed.vanish("network", EU)
    claimed.deploy("network", EU, {"Exports": exports({"A": "a1", "C": "c1"})})
    assert claimed.values(US) == {name("A"): "a1", name("C"): "c1"}
    assert claimed.tags(US, name("A"))["strongref:producer"] == claimed.stack("network", EU).arn
    assert claimed.claims(US, name("A")) == ["web"]


def test_a_former_selfs_other_export_is_taken_over_key_by_key(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"One": exports({"A": "a1", "B": "b1"}), "Two": exports({"C": "c1"})})
    cloud.vanish("network", EU)
    cloud.deploy("network", EU, {"New": exports({"A": "a2"})})
    assert cloud.values(US) == {name("A"): "a2", name("B"): "b1", name("C"): "c1"}
    cloud.deploy("web", US, {"Imports": imports("A", "B")})
    assert cloud.get("web", US) == {"A": "a2", "B": "b1"}


def test_two_exports_of_one_stack(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"One": exports({"A": "a", "B": "b"}), "Two": exports({"B": "b", "C": "c"})})
    assert sorted(cloud.values(US)) == [name("A"), name("B"), name("C")]
    with pytest.raises(ConflictingExportError, match=r"^B cannot be exported: One in the same stack"):
        cloud.deploy("network", EU, {"One": exports({"A": "a", "B": "b"}), "Two": exports({"B": "other"})})
    cloud.deploy("network", EU, {"Two": exports({"B": "b", "C": "c"})})
    assert sorted(cloud.values(US)) == [name("B"), name("C")]
    cloud.deploy("network", EU, {"Two": exports({})})
    assert cloud.texts(US) == {}


def test_an_export_taken_out_while_claimed_leaves_the_value_until_its_last_claim_goes(claimed: Cloud) -> None:
    network = claimed.deploy("network", EU, {})
    assert network.status == "UPDATE_COMPLETE"
    assert network.reasons[-1].startswith(f"A stays: imported by stack web ({US}, {ACCOUNT}). The export is withdrawn")
    assert claimed.values(US) == {name("A"): "a1"}
    with pytest.raises(StrongRefError):
        claimed.deploy("api", US, {"Imports": imports("A", Consumer="web")})
    with pytest.raises(LaterResourceError):  # the holder can go back to it when an update is rolled back
        claimed.deploy("web", US, {}, fails=True)
    with pytest.raises(NothingExportedError):
        claimed.deploy("web", US, {"Imports": imports("A", "B")})
    assert claimed.claims(US, name("A")) == ["web"]
    claimed.deploy("web", US, {})
    assert claimed.values(US) == {}


def test_a_withdrawn_value_is_kept_for_an_update_that_is_rolled_back(claimed: Cloud) -> None:
    claimed.deploy("network", EU, {"Other": exports({"B": "b1"})})
    with pytest.raises(LaterResourceError):
        claimed.deploy("web", US, {"Imports": imports("B")}, fails=True)
    assert claimed.get("web", US) == {"A": "a1"}
    assert claimed.claims(US, name("A")) == ["web"]
    assert claimed.claims(US, name("B")) == []


def test_a_cleanup_deletion_tried_again_tells_the_same(claimed: Cloud) -> None:
    network = claimed.deploy("network", EU, {})
    network.status = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
    for _ in range(2):
        with pytest.raises(StrongRefError, match=r"^A stays"):
            claimed.send(network.request(RequestType.DELETE, "Exports", exports({"A": "a1", "B": "b1"}), "x"))
    claimed.deploy("web", US, {})
    claimed.send(network.request(RequestType.DELETE, "Exports", exports({"A": "a1", "B": "b1"}), "x"))


def test_a_withdrawn_value_that_is_exported_again_is_adopted(claimed: Cloud) -> None:
    claimed.deploy("network", EU, {})
    with pytest.raises(ExportsInUseError):
        claimed.deploy("network", EU, {"Again": exports({"A": "a2"})})
    claimed.deploy("network", EU, {"Again": exports({"A": "a1"})})
    claimed.deploy("web", US, {})
    assert claimed.values(US) == {name("A"): "a1"}


def test_a_nested_import_uses_the_roots_prefix(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.deploy("network2", EU, {"Exports": exports({"A": "x"}, Consumer="web-2")})
    root = cloud.deploy("web", US, {})
    cloud.deploy("web-Nested-ABC", US, {"Imports": imports("A")}, root=root.arn)
    assert cloud.claims(US, name("A")) == ["web-Nested-ABC"]
    root.status = "DELETE_IN_PROGRESS"
    cloud.delete("web-Nested-ABC", US)
    assert cloud.values(US) == {name("A", "web-2", "network2"): "x"}


def test_fifty_tags_are_reported_before_anything_is_claimed(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": {"Region": US, "Values": {"A": "a", "B": "b"}}})
    cloud.ssm(US).add_tags_to_resource(
        ResourceType="Parameter",
        ResourceId=f"/strongref/exports/{name('B', '_shared')}",
        Tags=[{"Key": f"t{n}", "Value": "x"} for n in range(48)],
    )
    cloud.calls.clear()
    with pytest.raises(TooManyClaimsError, match=r"^B of stack network .* an Export of its own"):
        cloud.deploy("web", US, {"Imports": imports("A", "B", Shared="true")})
    assert "AddTagsToResource" not in [action for action, _ in cloud.calls]
    addressed = exports({"A": "a", "B": "b"})
    cloud.deploy("network", EU, {"Exports": addressed})
    cloud.ssm(US).add_tags_to_resource(
        ResourceType="Parameter",
        ResourceId=f"/strongref/exports/{name('B')}",
        Tags=[{"Key": f"t{n}", "Value": "x"} for n in range(48)],
    )
    with pytest.raises(PartialCreateError, match="SSM allows 50 tags"):
        cloud.deploy("web", US, {"Imports": imports("A", "B")})
    assert cloud.claims(US, name("A")) == []  # its Delete has taken that off


def test_a_weak_import_reads_and_holds_nothing(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.deploy("web", US, {"Imports": imports("A", Strength="weak")})
    assert cloud.get("web", US) == {"A": "a1"}
    cloud.deploy("network", EU, {"Exports": exports({"A": "a2"})})
    cloud.deploy("web", US, {"Imports": imports("A", Strength="weak", Revision="2")})
    assert cloud.get("web", US) == {"A": "a2"}
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert cloud.claims(US, name("A")) == ["web"]
    cloud.delete("web", US)
    assert cloud.values(US) == {}


def test_the_same_event_twice_does_the_same(claimed: Cloud) -> None:
    for _ in range(2):
        network, web = claimed.stack("network", EU), claimed.stack("web", US)
        claimed.send(network.request(RequestType.CREATE, "Exports", exports({"A": "a1", "B": "b1"})))
        claimed.send(web.request(RequestType.CREATE, "Imports", imports("A")))
    assert claimed.claims(US, name("A")) == ["web"]
    generation = claimed.stack("web", US).resources["Imports"].physical_id
    export = claimed.stack("network", EU).resources["Exports"].physical_id
    for _ in range(2):
        claimed.send(claimed.stack("web", US).request(RequestType.DELETE, "Imports", imports("A"), generation))
        claimed.send(claimed.stack("network", EU).request(RequestType.DELETE, "Exports", exports({"A": "a1"}), export))
    assert claimed.texts(US) == {}


def test_a_second_delivery_that_fails_does_not_take_the_firsts_claim(claimed: Cloud) -> None:
    put_up_fence(claimed, "x")
    claimed.clock = FakeClock(60)
    with pytest.raises(UnfinishedError):
        claimed.send(claimed.stack("web", US).request(RequestType.CREATE, "Imports", imports("A")))
    assert claimed.claims(US, name("A")) == ["web"]


def test_an_update_that_changes_nothing_writes_nothing(claimed: Cloud) -> None:
    claimed.calls.clear()
    web, network = claimed.stack("web", US), claimed.stack("network", EU)
    generation = web.resources["Imports"].physical_id
    same = exports({"A": "a1", "B": "b1"})
    claimed.send(network.request(RequestType.UPDATE, "Exports", same | {"ServiceTimeout": "60"}, "x", same))
    claimed.send(web.request(RequestType.UPDATE, "Imports", imports("A"), generation, imports("A", ServiceTimeout="9")))
    reads = {"GetParameters", "GetParametersByPath", "ListTagsForResource"}
    assert {action for action, _ in claimed.calls} == reads


def test_a_create_that_never_answered_leaves_claims_that_its_delete_finds(claimed: Cloud) -> None:
    web = claimed.stack("web", US)
    web.resources["Imports"] = replace(web.resources["Imports"], physical_id="web-Imports-MADEUP")
    claimed.send(web.request(RequestType.DELETE, "Imports", imports("A"), "web-Imports-MADEUP"))
    assert claimed.claims(US, name("A")) == []


def test_two_exporters_at_one_place_do_not_meet(claimed: Cloud) -> None:
    """A dead exporter's fence is waited for, deleted when it expires, and the work is done."""
    fence = f"/strongref/fences/web/{ACCOUNT}/{EU}/network/Exports.dead"
    near = '{"by":"somebody","until":"2025-01-01T00:00:30+00:00","for":30}'
    claimed.ssm(US).put_parameter(Name=fence, Type="String", Value=near)
    claimed.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b2"})})
    assert 30 <= sum(claimed.clock.slept) <= 34
    assert not [each for each in claimed.texts(US) if each.startswith("strongref/fences")]


def test_a_propagated_change_is_rolled_back(claimed: Cloud) -> None:
    with pytest.raises(LaterResourceError):
        claimed.deploy("network", EU, {"Exports": exports({"A": "a2"}, OnChange="propagate")}, fails=True)
    assert claimed.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"
    assert claimed.values(US) == {name("A"): "a1", name("B"): "b1"}
    assert claimed.claims(US, name("A")) == ["web"]


def test_what_an_update_published_and_someone_claimed_at_once_is_kept_by_its_rollback(claimed: Cloud) -> None:
    network = claimed.stack("network", EU)
    new = exports({"A": "a1", "B": "b1", "C": "c1"})
    claimed.send(network.request(RequestType.UPDATE, "Exports", new, "x", exports({"A": "a1", "B": "b1"})))
    claimed.deploy("web", US, {"Imports": imports("A", "C")})
    network.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    back = claimed.send(network.request(RequestType.UPDATE, "Exports", exports({"A": "a1", "B": "b1"}), "x", new))
    assert back.reason.startswith("C stays: imported by stack web")
    assert claimed.values(US)[name("C")] == "c1"
    claimed.deploy("web", US, {"Imports": imports("A")})
    assert claimed.values(US) == {name("A"): "a1", name("B"): "b1"}


def test_a_value_that_was_changed_and_then_claimed_does_not_go_back(claimed: Cloud) -> None:
    network = claimed.stack("network", EU)
    new = exports({"A": "a1", "B": "b2"})
    claimed.send(network.request(RequestType.UPDATE, "Exports", new, "x", exports({"A": "a1", "B": "b1"})))
    claimed.deploy("web", US, {"Imports": imports("A", "B")})
    network.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    with pytest.raises(ExportsInUseError, match="B cannot be changed"):
        claimed.send(network.request(RequestType.UPDATE, "Exports", exports({"A": "a1", "B": "b1"}), "x", new))
    assert claimed.values(US)[name("B")] == "b2"


def test_a_claimed_value_changed_by_hand_is_made_right_by_a_revision(claimed: Cloud) -> None:
    claimed.ssm(US).put_parameter(
        Name=f"/strongref/exports/{name('A')}", Type="String", Value="by hand", Overwrite=True
    )
    claimed.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}, Revision="2")})
    assert claimed.values(US)[name("A")] == "a1"
    assert claimed.claims(US, name("A")) == ["web"]


def test_a_value_created_again_by_hand_is_foreign_even_to_a_revision(claimed: Cloud) -> None:
    claimed.ssm(US).delete_parameter(Name=f"/strongref/exports/{name('B')}")
    claimed.clock.sleep(SECONDS)
    claimed.ssm(US).put_parameter(Name=f"/strongref/exports/{name('B')}", Type="String", Value="b1")
    with pytest.raises(ForeignParameterError, match="was not made by strongref"):
        claimed.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}, Revision="2")})
