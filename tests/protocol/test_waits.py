"""What is waited for because reads may lag: how long, and by whom; and that CloudFormation is asked twice."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.continuation import SERVICE_TIMEOUT
from strongref.contract.event import RequestType
from strongref.errors import BadRequestError, WaitInterruptedError
from strongref.protocol.exports import Exporter
from strongref.protocol.findings import FindingType
from strongref.protocol.janitor import Janitor
from strongref.protocol.lag import MAX_LAG, VARIABLE, ReadLag
from strongref.protocol.ports import Ports, StackInfo
from strongref.protocol.staleness import ClaimingStack, is_stale_twice
from strongref.protocol.time import Patience
from strongref.refusals import ExportsInUseError
from strongref.runtime.wiring import PATIENCE, PATIENCE_TO_CREATE_AN_IMPORT, PAUSE
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud
from tests.support.fake_ssm import FakeClock
from tests.support.virtual_time import VirtualClock, VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable

EU, US = "eu-west-1", "us-east-1"
D = 2.0
TAG = "strongref:claim:1"
VALUE = "web/111111111111/eu-west-1/network/A"


def exports(**values: str) -> dict[str, Any]:
    return {"Region": [US, EU], "Consumer": "web", "Values": values}


IMPORT = {"From": {"Stack": "network", "Region": EU}, "Names": ["A"]}


@pytest.fixture
def cloud() -> Cloud:
    found = Cloud()
    found.lag = ReadLag(D)
    return found


def waited(cloud: Cloud) -> float:
    seconds = sum(cloud.clock.slept)
    cloud.clock.slept.clear()
    return seconds


def test_a_creation_waits_for_nothing(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports(A="a1", B="b1")})
    assert waited(cloud) == 0
    assert cloud.values(US)[VALUE] == "a1"


def test_a_creations_fence_expires_by_itself_and_nobody_takes_its_holder_for_dead(
    cloud: Cloud, caplog: pytest.LogCaptureFixture
) -> None:
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    fences = [name for name in cloud.texts(US) if "strongref/fences/" in name]
    assert len(fences) == 1
    cloud.clock.slept.append(10)
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token, cloud.lag)
    findings = [finding for tended in Janitor(ports, US, ACCOUNT).tend(cloud.clock) for finding in tended.findings]
    assert findings == []
    assert not [name for name in cloud.texts(US) if "strongref/fences/" in name]
    assert "expired" not in caplog.text


def test_an_import_and_an_unchanged_export_wait_for_nothing(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    cloud.clock.slept.append(10)  # The creation's fences have expired.
    cloud.deploy("web", US, {"Imports": IMPORT})
    cloud.deploy("network", EU, {"Exports": exports(A="a1") | {"OnChange": "propagate"}})
    assert waited(cloud) == 10


def test_a_change_waits_once_for_all_regions(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    cloud.clock.slept.append(10)
    cloud.deploy("network", EU, {"Exports": exports(A="a2")})
    assert 3 * D < waited(cloud) - 10 <= 3 * D + 1
    assert cloud.values(US)[VALUE] == cloud.values(EU)[VALUE] == "a2"


def test_a_deletion_waits_as_long_as_a_change_and_to_find_a_claim_stale_takes_another_wait(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    cloud.clock.slept.append(10)
    cloud.deploy("web", US, {"Imports": IMPORT})
    del cloud.stack("web", US).resources["Imports"]
    cloud.clock.slept.append(10)
    before = sum(cloud.clock.slept)
    cloud.deploy("network", EU, {"Exports": exports(A="a2")})
    changed = sum(cloud.clock.slept)
    cloud.delete("network", EU)
    assert 4 * D < changed - before <= 4 * D + 2
    assert 3 * D < waited(cloud) - changed <= 3 * D + 1


def test_a_refusal_waits_once_and_so_does_its_rollback(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    cloud.clock.slept.append(10)
    cloud.deploy("web", US, {"Imports": IMPORT})
    before = sum(cloud.clock.slept)
    with pytest.raises(ExportsInUseError):
        cloud.deploy("network", EU, {"Exports": exports(A="a2")})
    # The refused update needs no fence; its rollback reads behind one what is there.
    assert D + 2 * D < sum(cloud.clock.slept) - before <= D + 2 * D + 2
    assert cloud.values(US)[VALUE] == "a1"


def test_a_creation_where_something_exists_waits(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    cloud.vanish("network", EU)
    cloud.clock.slept.append(10)
    cloud.deploy("network", EU, {"Exports": exports(A="a2")})
    assert 3 * D < waited(cloud) - 10 <= 3 * D + 1
    assert cloud.values(US)[VALUE] == "a2"


def test_a_creation_where_a_record_is_left_alone_waits(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    for region in (US, EU):
        cloud.ssm(region).delete_parameter(Name=f"/strongref/exports/{VALUE}")
    cloud.vanish("network", EU)
    waited(cloud)
    cloud.deploy("network", EU, {"Exports": exports(A="a2")})
    assert waited(cloud) > 2 * D
    assert cloud.values(US)[VALUE] == "a2"


@pytest.mark.parametrize("lag", [0.0, D, MAX_LAG])
def test_exports_of_one_stack_that_change_side_by_side_all_succeed(lag: float) -> None:
    cloud, time = Cloud(), VirtualTime()
    stack = cloud.new_stack("network", EU)
    before, after = ({f"E{number}": exports(**{f"K{number}": text}) for number in range(6)} for text in "12")
    patience = Patience(PATIENCE.under(ReadLag(lag)), PAUSE, Random(1).random)  # noqa: S311 (of pauses)

    def carry_out(logical_id: str, kind: RequestType, *given: Any) -> Callable[[], object]:
        event = stack.request(kind, logical_id, *given).event(logical_id)
        clock = VirtualClock.lasting(time, 880)
        ports = Ports(cloud.stores, cloud, patience, cloud.token, ReadLag(lag))
        return lambda: Exporter(ports).handle(event, clock)

    for logical_id, properties in before.items():
        with stack.asking(stack.request(RequestType.CREATE, logical_id, properties)):
            time.run(carry_out(logical_id, RequestType.CREATE, properties))
    time.run(lambda: time.sleep(100))
    for region in (EU, US):
        cloud.ssm(region).before_call = lambda *_: time.sleep(0.05)
    updates = [
        carry_out(logical_id, RequestType.UPDATE, properties, "x", before[logical_id])
        for logical_id, properties in after.items()
    ]
    time.run(*updates)
    assert set(cloud.values(US).values()) == set(cloud.values(EU).values()) == {"2"}


@pytest.mark.parametrize("lag", [0.0, D, MAX_LAG])
def test_a_new_import_waits_longer_than_one_change_takes(lag: float) -> None:
    change = ReadLag(lag).before_reading + ReadLag(lag).after_writing
    assert PATIENCE_TO_CREATE_AN_IMPORT.under(ReadLag(lag)) > change + 10


class ExportedMeanwhile(FakeClock):
    """A clock by which something is exported as soon as an import waits."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(100_000)
        self._cloud = cloud

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if not self._cloud.texts(US):
            Cloud.deploy(self._cloud, "network", EU, {"Exports": exports(A="a1")})


@pytest.mark.parametrize("strength", ["strong", "weak"])
def test_what_is_missing_is_looked_for_again(strength: str) -> None:
    cloud = Cloud()
    cloud.lag = ReadLag(D)
    cloud.new_stack("network", EU).status = "CREATE_COMPLETE"
    cloud.clock = ExportedMeanwhile(cloud)
    imports = {**IMPORT, "Strength": strength}
    cloud.deploy("web", US, {"Imports": imports})
    assert cloud.get("web", US) == {"A": "a1"}


class Lagging(Cloud):
    """CloudFormation's lists lag: the first one of imports lacks what was made a moment ago."""

    def __init__(self, begins_between: str = "") -> None:
        super().__init__()
        self.lag = ReadLag(D)
        self.lists = 0
        self.infos = 0
        self.late = False
        self._begins_between = begins_between

    def physical_ids(self, arn: str) -> frozenset[str]:
        self.lists += 1
        found = super().physical_ids(arn)
        return frozenset() if self.late and (self.lists <= 1 or self._begins_between) else found

    def by_arn(self, arn: str) -> StackInfo | None:
        found = super().by_arn(arn)
        if self.late and self._begins_between and found and found.name == "web":
            self.infos += 1
            return replace(found, updated=self._begins_between if self.infos > 1 else "")
        return found


def test_a_cleanup_looks_twice_at_a_claim_that_looks_stale() -> None:
    cloud = Lagging()
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    cloud.clock.slept.append(10)
    cloud.deploy("api", US, {"Imports": {**IMPORT, "Consumer": "web"}})
    cloud.deploy("web", US, {"Imports": {**IMPORT, "Strength": "weak"}})
    cloud.late, cloud.lists = True, 0
    cloud.delete("web", US)
    assert cloud.values(US) == {VALUE: "a1"}
    assert cloud.claims(US, VALUE) == ["api"]


@pytest.mark.parametrize("begins_between", ["", "2026-11-23T04:00:00+00:00"])
def test_a_claim_that_looks_stale_once_is_live(begins_between: str) -> None:
    """Nor is it stale if an update began between the two looks: the second list may be too old as well."""
    cloud = Lagging(begins_between)
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    cloud.clock.slept.append(10)
    cloud.deploy("web", US, {"Imports": IMPORT})
    cloud.late, cloud.lists, cloud.infos = True, -1, -1  # One look comes before the two that count.
    with pytest.raises(ExportsInUseError):
        cloud.deploy("network", EU, {"Exports": exports(A="a2")})
    assert cloud.values(US)[VALUE] == "a1"
    assert cloud.claims(US, VALUE) == ["web"]


@pytest.mark.parametrize(("consumers", "lists"), [({"web"}, 3), (set[str](), 2)], ids=["a claim", "an export"])
def test_the_janitor_looks_twice(consumers: set[str], lists: int) -> None:
    """At what looks stale, or as if its stack had it no more; at the producer of what is claimed once."""
    cloud = Lagging()
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    cloud.clock.slept.append(10)
    for each in consumers:
        cloud.deploy(each, US, {"Imports": IMPORT})
    cloud.late, cloud.lists = True, 0
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token, cloud.lag)
    found = [finding for tended in Janitor(ports, US, ACCOUNT).tend(cloud.clock) for finding in tended.findings]
    assert cloud.lists == lists
    assert (found, set(cloud.claims(US, VALUE))) == ([], consumers)


class CreatedAMomentAgo(Cloud):
    """CloudFormation's answers lag: after the janitor's first look at the producer, one answer is from before it."""

    def __init__(self) -> None:
        super().__init__()
        self.lag = ReadLag(D)
        self.answers = iter([True, False])

    def by_arn(self, arn: str) -> StackInfo | None:
        found = super().by_arn(arn)
        return found if found is None or found.name != "network" or next(self.answers, True) else None


def test_a_producer_that_looks_deleted_to_the_second_look_alone_keeps_its_exports() -> None:
    """The first look found a value missing, so it comes back. Without a producer, its record would go as well."""
    cloud = CreatedAMomentAgo()
    cloud.deploy("web", US, {})
    cloud.deploy("network", EU, {"Exports": exports(A="a1", B="b1")})
    cloud.ssm(US).delete_parameter(Name=f"/strongref/exports/{VALUE}")
    cloud.answers = iter([True, False])
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token, cloud.lag)
    found = [finding.kind for tended in Janitor(ports, US, ACCOUNT).tend(cloud.clock) for finding in tended.settled]
    assert next(cloud.answers, None) is None
    assert set(cloud.values(US).values()) == {"a1", "b1"}
    assert found == [FindingType.MISSING]


GONE = ClaimingStack(exists=False)
RUNNING = ClaimingStack(exists=True)
RESTING = ClaimingStack(exists=True, at_rest=True, updated="1")
IMPORTING = ClaimingStack(exists=True, at_rest=True, claims=frozenset([TAG]), updated="1")


@pytest.mark.parametrize(
    ("first", "second", "stale"),
    [
        (None, None, False),
        (None, GONE, False),
        (GONE, GONE, True),
        (RESTING, GONE, True),
        (GONE, RESTING, False),
        (RESTING, RESTING, True),
        (RESTING, replace(RESTING, updated="2"), False),
        (RESTING, IMPORTING, False),
        (IMPORTING, RESTING, False),
        (RUNNING, RESTING, False),
        (RESTING, RUNNING, False),
    ],
)
def test_two_looks_have_to_agree(first: ClaimingStack | None, second: ClaimingStack | None, stale: bool) -> None:
    assert is_stale_twice(TAG, first, second) is stale


@pytest.mark.parametrize(("lasts", "goes_on"), [(5.0, True), (20.0, False)])
def test_who_waited_until_its_time_was_over_goes_on_in_another_invocation(lasts: float, goes_on: bool) -> None:
    waiting, why = Patience(10, 1, lambda: 0.5).begin(FakeClock(lasts)), BadRequestError("Names", "is wrong")
    assert isinstance(waiting.over(why), WaitInterruptedError) is goes_on


def test_what_has_too_short_a_service_timeout_can_be_deleted(cloud: Cloud) -> None:
    cloud.lag = ReadLag()  # it was installed with a shorter lag
    cloud.deploy("network", EU, {"Exports": exports(A="a1") | {"ServiceTimeout": "10"}})
    cloud.deploy("web", US, {"Imports": IMPORT | {"ServiceTimeout": "10"}})
    cloud.lag = ReadLag(D)
    for stack, region in [("web", US), ("network", EU)]:
        cloud.delete(stack, region)
    assert cloud.values(US) == {}


def test_without_a_lag_one_look_is_certain() -> None:
    looks = iter(["first", "second"])
    assert ReadLag().certain(FakeClock(), lambda: next(looks), lambda _: False) == "first"


def test_a_service_timeout_that_does_not_hold_the_waits_is_refused_with_the_least_value() -> None:
    ReadLag(0).check_service_timeout(1)
    ReadLag(MAX_LAG).check_service_timeout(SERVICE_TIMEOUT)
    with pytest.raises(BadRequestError, match="ServiceTimeout must be at least 35 seconds, got 20: changes wait"):
        ReadLag(D).check_service_timeout(20)
    ReadLag(D).check_service_timeout(35)


@pytest.mark.parametrize("resource", ["export", "import"])
def test_a_resource_with_such_a_service_timeout_is_not_created(cloud: Cloud, resource: str) -> None:
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    cloud.clock.slept.append(10)
    stack, properties = ("web", IMPORT) if resource == "import" else ("other", exports(A="a1"))
    with pytest.raises(BadRequestError, match="ServiceTimeout must be at least 35 seconds"):
        cloud.deploy(stack, US, {"Late": properties | {"ServiceTimeout": "20"}})


@pytest.mark.parametrize(("given", "seconds"), [(None, 2), ("", 2), ("0", 0), ("10", 10), ("2.5", 2.5)])
def test_the_lag_comes_from_the_environment(given: str | None, seconds: float) -> None:
    environment = {} if given is None else {VARIABLE: given}
    assert ReadLag.from_environment(environment).seconds == seconds


@pytest.mark.parametrize("given", ["-1", "11", "nan", "soon"])
def test_a_lag_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(BadRequestError, match=f"{VARIABLE} must be a number of seconds from 0 to 10, got"):
        ReadLag.from_environment({VARIABLE: given})
