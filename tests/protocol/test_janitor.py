"""The janitor: what it finds, what of it it repairs, and what it never touches."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from strongref.aws.parameter_store import SsmStore
from strongref.contract.fence import Fence
from strongref.contract.names import RESTORED, Key
from strongref.contract.releases import KEPT, Release
from strongref.errors import OTHER_ACCOUNT, AccessDeniedError, OutOfTimeError, StackLookupError, StrongRefError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor import PART, Janitor, JanitorProgress
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports, StackInfo
from strongref.protocol.time import Patience
from tests.support.builders import ACCOUNT, stack_arn
from tests.support.cloud import Cloud
from tests.support.fake_ssm import FakeClock

EU, US = "eu-west-1", "us-east-1"
SCOPE = f"web/{ACCOUNT}/{EU}/network"
OTHER_SCOPE = f"web/{ACCOUNT}/{EU}/other"
OLD_FENCE = '{"by": "x", "until": "2001-01-01T00:00:00+00:00", "for": -2}'
WRITES = {"PutParameter", "DeleteParameters", "AddTagsToResource", "RemoveTagsFromResource"}


def exports(consumer: str | None = "web", **values: Any) -> dict[str, Any]:
    return {"Region": US, "Values": values} | ({"Consumer": consumer} if consumer else {})


def imports(*names: str, **more: Any) -> dict[str, Any]:
    return {"From": {"Stack": "network", "Region": EU}, "Names": list(names), **more}


@pytest.fixture
def cloud() -> Cloud:
    """One producer, one consumer, and all is well."""
    found = Cloud()
    found.deploy("network", EU, {"Exports": exports(A="a1", B="b1")})
    found.deploy("web", US, {"Imports": imports("A")})
    return found


def janitor(cloud: Cloud, region: str = US) -> Janitor:
    return Janitor(Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token), region, ACCOUNT)


def tend(cloud: Cloud, region: str = US) -> list[JanitorProgress]:
    cloud.calls.clear()
    return list(janitor(cloud, region).tend(cloud.clock))


def found(cloud: Cloud, region: str = US) -> list[Finding]:
    """What the janitor of a region finds, and repairs."""
    return [finding for tended in tend(cloud, region) for finding in tended.findings]


def examined(cloud: Cloud) -> list[Finding]:
    """What a janitor finds that only looks."""
    cloud.calls.clear()
    looking = Janitor(
        Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token, cloud.lag), US, ACCOUNT, repairs=False
    )
    return [finding for tended in looking.tend(cloud.clock) for finding in tended.findings]


def counted(tended: list[JanitorProgress]) -> Counter[str]:
    return sum((each.counts() for each in tended), Counter())


def name(key: str, branch: str = "exports", scope: str = SCOPE) -> str:
    return f"/strongref/{branch}/{scope}/{key}"


def arn(cloud: Cloud, stack: str, region: str) -> str:
    return cloud.stack(stack, region).arn


def test_where_all_is_well_nothing_is_found_and_nothing_written(cloud: Cloud) -> None:
    before = cloud.ssm(US).snapshot()
    assert found(cloud) == []
    assert not {action for action, _ in cloud.calls} & WRITES
    assert cloud.ssm(US).snapshot() == before


def test_a_claim_of_a_stack_that_is_gone_is_taken_off(cloud: Cloud) -> None:
    gone = arn(cloud, "web", US)
    cloud.vanish("web", US)
    cloud.deploy("web", US, {})
    assert found(cloud) == [Finding(FindingType.STALE_CLAIM, name("A"), (gone,))]
    assert cloud.claims(US, f"{SCOPE}/A") == []
    assert found(cloud) == []


def test_a_claim_of_an_import_that_its_stack_has_no_more_is_taken_off(cloud: Cloud) -> None:
    del cloud.stack("web", US).resources["Imports"]
    assert found(cloud) == [Finding(FindingType.STALE_CLAIM, name("A"), (arn(cloud, "web", US),))]
    assert found(cloud) == []


def test_a_claim_of_a_stack_at_work_is_left_alone(cloud: Cloud) -> None:
    stack = cloud.stack("web", US)
    del stack.resources["Imports"]
    stack.status = "UPDATE_IN_PROGRESS"
    assert found(cloud) == []
    assert cloud.claims(US, f"{SCOPE}/A") == ["web"]


def test_a_claim_of_another_account_of_which_nobody_can_be_asked_is_left_alone(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = stack_arn("far", US, "222222222222")
    claim = {"Key": "strongref:claim:0123456789abcdef", "Value": far}
    cloud.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=name("B"), Tags=[claim])
    asked = cloud.by_arn

    def by_arn(arn: str) -> StackInfo | None:
        if arn == far:
            raise StackLookupError(arn, US, OTHER_ACCOUNT)
        return asked(arn)

    monkeypatch.setattr(cloud, "by_arn", by_arn)
    assert found(cloud) == [Finding(FindingType.UNKNOWN_CLAIM, name("B"), (far,))]
    assert cloud.claims(US, f"{SCOPE}/B") == ["far"]


def test_a_fence_whose_holder_died_is_taken_away_and_one_that_stands_is_not(cloud: Cloud) -> None:
    put_up_fence(cloud, "Dead.1", -2)
    put_up_fence(cloud, "Alive.1", 60)
    assert found(cloud) == [Finding(FindingType.EXPIRED_FENCE, name("Dead.1", "fences"))]
    assert [text for text in cloud.texts(US) if "fences" in text] == [name("Alive.1", "fences").removeprefix("/")]
    assert found(cloud) == []


def put_up_fence(cloud: Cloud, holder: str, seconds: float) -> None:
    lifetime = timedelta(seconds=seconds)
    fence = Fence("somebody", cloud.clock.now() + lifetime, lifetime=lifetime)
    cloud.ssm(US).put_parameter(Name=name(holder, "fences"), Type="String", Value=fence.encode())


def test_what_a_producer_that_is_gone_left_behind_goes_but_for_what_is_imported(cloud: Cloud) -> None:
    producer, consumer = arn(cloud, "network", EU), arn(cloud, "web", US)
    cloud.vanish("network", EU)
    assert found(cloud) == [
        Finding(FindingType.IMPORTED_ORPHAN, name("A"), (consumer,)),
        Finding(FindingType.ORPHANED, name("B"), (producer,)),
        Finding(FindingType.ORPHANED, name("Exports", "records"), (producer,)),
    ]
    assert cloud.values(US) == {f"{SCOPE}/A": "a1"}
    assert [finding.kind for finding in found(cloud)] == [FindingType.IMPORTED_ORPHAN]
    cloud.deploy("web", US, {"Imports": imports("A", Revision="2")})  # its record is there, so it can go on
    cloud.deploy("web", US, {})
    assert [finding.kind for finding in found(cloud)] == [FindingType.ORPHANED, FindingType.ORPHANED]
    assert cloud.texts(US) == {}


def test_a_new_stack_of_that_name_adopts_what_is_left(cloud: Cloud) -> None:
    cloud.vanish("network", EU)
    tend(cloud)
    cloud.deploy("network", EU, {"Exports": exports(A="a1", B="b2")})
    assert found(cloud) == []
    assert cloud.values(US) == {f"{SCOPE}/A": "a1", f"{SCOPE}/B": "b2"}


def test_a_value_that_no_record_holds_goes_if_nobody_imports_it(cloud: Cloud) -> None:
    cloud.ssm(US).delete_parameters(Names=[name("Exports", "records")])
    producer, consumer = arn(cloud, "network", EU), arn(cloud, "web", US)
    assert found(cloud) == [
        Finding(FindingType.STRAY, name("B"), (producer,)),
        Finding(FindingType.UNREADABLE_RECORD, name("Exports", "records"), (consumer,)),
    ]
    assert cloud.values(US) == {f"{SCOPE}/A": "a1"}


def test_a_withdrawn_value_is_as_it_should_be_until_its_last_import_goes(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {})  # taken out of the template: kept for the claim
    tended = tend(cloud)
    assert counted(tended) == Counter(Values=1, Withdrawn=1)
    assert cloud.values(US) == {f"{SCOPE}/A": "a1"}
    cloud.deploy("web", US, {})
    assert found(cloud) == [Finding(FindingType.STRAY, name("Exports", "records"))]  # what marked it as withdrawn
    assert cloud.texts(US) == {}


def test_a_value_that_is_gone_comes_back_while_its_consumer_is_there(cloud: Cloud) -> None:
    cloud.ssm(US).delete_parameters(Names=[name("A")])
    assert found(cloud) == [Finding(FindingType.MISSING, name("A"), (arn(cloud, "network", EU),))]
    assert cloud.values(US)[f"{SCOPE}/A"] == "a1"
    assert cloud.tags(US, f"{SCOPE}/A") == cloud.tags(US, f"{SCOPE}/B") | RESTORED
    assert found(cloud) == [Finding(FindingType.RESTORED, name("A"), (arn(cloud, "network", EU),))]


def test_a_value_that_was_put_back_is_like_any_other_once_it_is_claimed_again(cloud: Cloud) -> None:
    cloud.ssm(US).delete_parameters(Names=[name("A")])
    found(cloud)
    cloud.deploy("web", US, {"Imports": imports("A", Revision="2")})
    assert found(cloud) == []
    assert RESTORED.keys().isdisjoint(cloud.tags(US, f"{SCOPE}/A"))
    assert cloud.claims(US, f"{SCOPE}/A") == ["web"]


def test_what_was_cleaned_up_with_its_consumer_does_not_come_back(cloud: Cloud) -> None:
    cloud.delete("web", US)
    assert cloud.values(US) == {}
    assert {each.kind for each in found(cloud)} == {FindingType.CLEANED_UP}
    assert cloud.values(US) == {}


def test_a_value_for_a_label_that_is_gone_is_found(cloud: Cloud) -> None:
    cloud.deploy("other", EU, {"Exports": exports("payments", A="a1", B="b1")})
    gone = f"/strongref/exports/payments/{ACCOUNT}/{EU}/other/B"
    cloud.ssm(US).delete_parameters(Names=[gone])
    assert found(cloud) == [Finding(FindingType.CLEANED_UP, gone, (arn(cloud, "other", EU),))]


def test_what_is_being_cleaned_up_does_not_come_back_either(cloud: Cloud) -> None:
    cloud.ssm(US).delete_parameters(Names=[name("A")])
    cloud.stack("web", US).status = "DELETE_IN_PROGRESS"
    assert [each.kind for each in found(cloud)] == [FindingType.CLEANED_UP]
    assert name("A")[1:] not in cloud.texts(US)


def test_a_shared_value_that_is_gone_always_comes_back(cloud: Cloud) -> None:
    cloud.deploy("shared", EU, {"Exports": exports(None, S="s1")})
    shared = f"_shared/{ACCOUNT}/{EU}/shared/S"
    cloud.ssm(US).delete_parameters(Names=[f"/strongref/exports/{shared}"])
    assert [finding.kind for finding in found(cloud)] == [FindingType.MISSING]
    assert cloud.values(US)[shared] == "s1"


def test_a_value_that_was_changed_by_hand_is_reported_and_left(cloud: Cloud) -> None:
    cloud.ssm(US).put_parameter(Name=name("A"), Type="String", Value="by hand", Overwrite=True)
    tended = tend(cloud)
    assert [each.findings for each in tended if each.findings] == [
        (Finding(FindingType.CHANGED_BY_HAND, name("A"), (arn(cloud, "web", US),)),)
    ]
    assert counted(tended)["FindingsReported"] == 1
    assert cloud.values(US)[f"{SCOPE}/A"] == "by hand"


@pytest.mark.parametrize("tags", [[], [{"Key": "strongref:producer", "Value": stack_arn("other", EU)}]])
def test_a_foreign_parameter_is_reported_and_never_touched(cloud: Cloud, tags: list[dict[str, str]]) -> None:
    cloud.ssm(US).put_parameter(Name=name("Theirs"), Type="String", Value="x", Tags=tags)
    before = cloud.ssm(US).snapshot()
    stacks = tuple(tag["Value"] for tag in tags)
    assert found(cloud) == [Finding(FindingType.FOREIGN, name("Theirs"), stacks)]
    assert cloud.ssm(US).snapshot() == before


def test_next_to_a_record_that_cannot_be_read_nothing_is_decided(cloud: Cloud) -> None:
    cloud.ssm(US).put_parameter(Name=name("Exports", "records"), Type="String", Value="{", Overwrite=True)
    before = cloud.ssm(US).snapshot()
    assert found(cloud) == [Finding(FindingType.UNREADABLE_RECORD, name("Exports", "records"))]
    assert cloud.ssm(US).snapshot() == before


def test_parts_of_records_that_no_record_needs_go(cloud: Cloud) -> None:
    for part in ("Exports.7", "Gone.2"):
        cloud.ssm(US).put_parameter(Name=name(part, "records"), Type="String", Value="x")
    assert found(cloud) == [
        Finding(FindingType.STRAY, name("Exports.7", "records")),
        Finding(FindingType.STRAY, name("Gone.2", "records")),
    ]
    assert found(cloud) == []
    assert len(cloud.values(US)) == 2


def test_a_record_in_many_parts_needs_them_all() -> None:
    cloud = Cloud()
    values = {f"Key{number:03d}": "v" * 60 for number in range(200)}
    cloud.deploy("network", EU, {"Exports": exports(**values) | {"SecureKeys": ["Key000"]}})
    assert len([text for text in cloud.texts(US) if "/records/" in f"/{text}"]) > 3
    assert found(cloud) == []


def test_what_an_exporter_is_changing_is_left_for_the_next_time(cloud: Cloud) -> None:
    """Half a change looks like damage; its fence tells."""
    cloud.ssm(US).put_parameter(Name=name("A"), Type="String", Value="a2", Overwrite=True)
    cloud.ssm(US).delete_parameters(Names=[name("B")])
    put_up_fence(cloud, "Exports.1", 600)
    tended = tend(cloud)
    assert [each.busy for each in tended] == [False, True, False, False, False]
    assert counted(tended) == Counter(Values=1)  # Neither repaired, nor reported to a person.
    assert f"{SCOPE}/B" not in cloud.values(US)


def test_what_is_found_is_looked_at_again_behind_a_fence(cloud: Cloud) -> None:
    """A stack whose claim was stale a moment ago begins to import again: its claim stays."""
    stack = cloud.stack("web", US)
    kept = stack.resources.pop("Imports")

    def begin(action: str, request: dict[str, Any]) -> None:
        if action == "PutParameter" and "/fences/" in request["Name"]:
            stack.resources["Imports"] = kept

    cloud.ssm(US).before_call = begin
    assert found(cloud) == []
    assert cloud.claims(US, f"{SCOPE}/A") == ["web"]


def test_all_of_it_at_once_and_twice_the_second_time_finds_what_needs_a_person_only(cloud: Cloud) -> None:
    for number in range(5):
        cloud.deploy(f"network{number}", EU, {"Exports": exports(A="a", B="b")})
    for number in range(3):
        cloud.vanish(f"network{number}", EU)
    cloud.ssm(US).put_parameter(Name=name("Theirs"), Type="String", Value="x")
    counts = counted(tend(cloud))
    assert counts == Counter(Values=2 * 6 + 1, Orphaned=9, Foreign=1, RepairsMade=9, FindingsReported=1)
    assert counted(tend(cloud)) == Counter(Values=2 * 3 + 1, Foreign=1, FindingsReported=1)
    assert {f"{SCOPE}/A", f"{SCOPE}/B"} <= cloud.values(US).keys()


def many(count: int) -> Cloud:
    cloud = Cloud()
    values = {f"Key{number:04d}": "v" for number in range(count)}
    cloud.deploy("network", EU, {"Exports": exports(**values) | {"SecureKeys": list(values)}})
    cloud.deploy("web", US, {"Imports": {"From": {"Stack": "network", "Region": EU}}})
    return cloud


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_it_takes_at_most_so_many_calls(count: int) -> None:
    cloud = many(count)
    cloud.lookups = 0
    assert found(cloud) == []
    assert len(cloud.calls) + cloud.lookups <= count + count / 8 + 13


def test_when_time_runs_short_it_tells_up_to_where_it_came_and_goes_on_from_there() -> None:
    cloud = many(3 * PART)
    cloud.ssm(US).put_parameter(Name=name("Theirs"), Type="String", Value="x")
    done: list[JanitorProgress] = []
    turns = 0
    while True:
        turns += 1
        after = done[-1].mark if done else ("", "")
        clock = FakeClock(remaining=PART * 1.5)

        def slow(_action: str, _request: object, clock: FakeClock = clock) -> None:
            if clock.remaining() <= 0:
                raise OutOfTimeError("ListTagsForResource", "OutOfTime", "x", US)
            clock.sleep(1)

        cloud.ssm(US).before_call = slow
        try:
            for tended in janitor(cloud).tend(clock, after):
                done.append(tended)  # noqa: PERF402 (what comes before the error counts)
        except StrongRefError:
            assert turns < 10
            continue
        break
    assert turns > 2
    marks = [each.mark for each in done if each.values]
    assert sorted(set(marks)) == marks
    assert counted(done) == Counter(Values=3 * PART + 1, Foreign=1, FindingsReported=1)


def test_a_janitor_that_only_looks_finds_the_same_and_writes_nothing(cloud: Cloud) -> None:
    cloud.deploy("shop", US, {"Imports": imports("B", Consumer="web")})
    cloud.vanish("shop", US)
    cloud.ssm(US).delete_parameters(Names=[name("A")])
    cloud.ssm(US).put_parameter(Name=name("Stray"), Type="String", Value="x")
    cloud.ssm(US).put_parameter(Name=name("Dead", "fences"), Type="String", Value=OLD_FENCE)
    cloud.ssm(EU).delete_parameters(Names=[f"/strongref/index/network/Exports/{ACCOUNT}/{US}/web"])
    before = [cloud.ssm(region).snapshot() for region in (US, EU)]
    seen = examined(cloud)
    assert not {action for action, _ in cloud.calls} & WRITES
    assert [cloud.ssm(region).snapshot() for region in (US, EU)] == before
    assert {each.kind for each in seen} == {
        FindingType.STALE_CLAIM,
        FindingType.MISSING,
        FindingType.FOREIGN,
        FindingType.EXPIRED_FENCE,
        FindingType.INDEX_ENTRY,
    }
    assert found(cloud) == seen
    assert {each.kind for each in found(cloud)} == {FindingType.FOREIGN, FindingType.RESTORED}


def test_a_janitor_that_only_looks_looks_twice_more_than_a_lag_apart(cloud: Cloud) -> None:
    """A value that has been restored by the second look was never missing, as far as anyone can know."""
    value = cloud.ssm(US).parameters()[name("B")]
    tags = [{"Key": key, "Value": text} for key, text in value.tags]
    cloud.ssm(US).delete_parameters(Names=[name("B")])
    cloud.lag = ReadLag(2)

    def restore(_slept: float) -> None:
        cloud.ssm(US).put_parameter(Name=name("B"), Type="String", Value=value.text, Tags=tags)
        cloud.clock.on_sleep = lambda _slept: None

    cloud.clock.on_sleep = restore
    assert examined(cloud) == []
    assert sum(cloud.clock.slept) > cloud.lag.seconds


def test_a_released_value_stays_whose_record_cannot_be_read() -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports(**{f"Key{number:03d}": "v" * 60 for number in range(150)})})
    cloud.deploy("web", US, {"Imports": imports("Key000")})
    cloud.ssm(US).delete_parameters(Names=[name("Exports.1", "records")])
    cloud.deploy("web", US, {})
    assert cloud.claims(US, f"{SCOPE}/Key000") == []


def test_traces_of_releases_are_kept_for_90_days(cloud: Cloud) -> None:
    now = cloud.clock.now()
    traces = [
        Release("network", Key("A"), "web", "x", f"strongref:claim:{number}", "me", now - age, "because")
        for number, age in enumerate((KEPT - timedelta(minutes=1), KEPT + timedelta(minutes=1)))
    ]
    for each in traces:
        cloud.ssm(US).put_parameter(Name=each.name, Type="String", Value=each.encode())
    early = traces[0].encode().replace(traces[0].at.isoformat(timespec="seconds"), "0001-01-01T00:00:00+14:00")
    odd = {f"/strongref/releases/odd/{number}": text for number, text in enumerate(("odd", early, "[" * 4000))}
    for name_, text in odd.items():
        cloud.ssm(US).put_parameter(Name=name_, Type="String", Value=text)
    cloud.ssm(US).put_parameter(Name="/strongref/index/network/Odd", Type="String", Value="[" * 4000)
    assert found(cloud) == []
    left = cloud.parameters_below(US, "/strongref/releases")
    assert left == sorted([traces[0].name, *odd])
    assert Release.decode(traces[0].name, cloud.texts(US)[traces[0].name[1:]]) == traces[0]


def test_a_scope_that_cannot_be_repaired_stops_no_other_one(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    cloud.deploy("other", EU, {"Exports": exports(A="x")})
    for scope in (SCOPE, OTHER_SCOPE):
        cloud.ssm(US).delete_parameter(Name=name("A", scope=scope))
    create, failed = SsmStore.create, list[tuple[str, str]]()

    def denied(store: SsmStore, parameter: str, *more: Any) -> None:
        if parameter == name("A"):
            raise AccessDeniedError("PutParameter", "AccessDeniedException", parameter, US)
        create(store, parameter, *more)

    monkeypatch.setattr(SsmStore, "create", denied)
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token)

    def note(_message: str, error: StrongRefError, /, **about: str) -> None:
        failed.append((about["parameter"], type(error).__name__))

    done = [each for tended in Janitor(ports, US, ACCOUNT, failed=note).tend(cloud.clock) for each in tended.findings]
    assert [(each.kind, each.parameter) for each in done] == [
        (FindingType.FAILED_CALL, name("A")),
        (FindingType.MISSING, name("A", scope=OTHER_SCOPE)),
    ]
    assert failed == [(name("A"), "AccessDeniedError")]
