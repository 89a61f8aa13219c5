"""Under SSM's quotas, with others at work in the same account: slower, and never failed.

Time is virtual, the quotas are the model's, all else is the real code.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.cloudformation import CloudFormationStacks
from strongref.aws.parameter_store import SsmStore
from strongref.aws.rate_limit import RateLimiter, RateLimits, Turn
from strongref.contract.continuation import MAX_INVOCATIONS, MIN_SECONDS_LEFT, SERVICE_TIMEOUT, Continuation
from strongref.contract.event import Event, RequestType
from strongref.contract.origin import ResponseHosts
from strongref.errors import StrongRefError, UnfinishedError
from strongref.protocol.exports import Exporter
from strongref.protocol.imports import Importer
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports, ResourceInfo, StackInfo
from strongref.protocol.time import Patience
from strongref.protocol.verification import ASKING_SECONDS, EventPendingError, EventVerifier
from tests.support.builders import stack_arn
from tests.support.cloudformation.requests import IMPORT
from tests.support.fake_ssm import error
from tests.support.faults.functions import RETRY_WAITS
from tests.support.local_ssm.parameters import IndexedSsm
from tests.support.quota import Quotas
from tests.support.read_only_stacks import ReadOnlyStacks
from tests.support.virtual_time import VirtualClock, VirtualTime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.contract.response import Response
    from strongref.protocol.time import Clock

pytestmark = pytest.mark.slow

ACCOUNT, REGION = "111111111111", "us-east-1"
NETWORK, WEB = stack_arn("network", "eu-west-1"), stack_arn("web")
LATENCY = 0.03
"""Seconds of each call: about what SSM takes."""

Properties = dict[str, Any]


class Account:
    """Its Parameter Stores with their quotas, and functions that work there at the same time."""

    def __init__(self, others: float = 0.0, seed: int = 1, **rates: float) -> None:
        self.time = VirtualTime()
        self.quotas = Quotas(others=others, seed=seed, **rates)
        self.limits = RateLimits()
        self.admitted: Counter[str] = Counter()
        self.throttled: list[tuple[str, float]] = []
        self.invocations = 0
        self._regions: dict[str, IndexedSsm] = {}

    def ssm(self, region: str) -> IndexedSsm:
        if region not in self._regions:
            now = VirtualClock.lasting(self.time, 0).now
            self._regions[region] = IndexedSsm(region, ACCOUNT, before_call=partial(self._call, region), clock=now)
        return self._regions[region]

    def _call(self, region: str, action: str, _request: object) -> None:
        self.time.sleep(LATENCY)
        if self.quotas.admit(action, ACCOUNT, region, self.time.seconds):
            self.admitted[action] += 1
        else:
            self.throttled.append((action, self.time.seconds))
            raise error("ThrottlingException", "Rate exceeded", action)

    def stored(self, region: str = REGION) -> int:
        """How many parameters there are in a region."""
        return len(self.ssm(region).parameters())

    def carry_out(self, event: Event, seconds: float = 885, seed: int = 0) -> Response:
        """Handle an event in as many invocations as it needs."""
        since, number = VirtualClock.lasting(self.time, 0).now(), 1
        while True:
            try:
                return self.send(event, 100 * seed + number, seconds)
            except UnfinishedError as error:
                number += 1
                if number > MAX_INVOCATIONS:
                    raise AssertionError("there is no invocation after that") from error
                event = replace(event, continuation=Continuation(number, since))
            finally:
                self.invocations = number

    def send(self, event: Event, seed: int, seconds: float) -> Response:
        """Have a function of its own carry an event out, as in an invocation of fifteen minutes."""
        chance = random.Random(seed).random  # noqa: S311 (jitter)
        limiter = RateLimiter(self.limits)
        ports = Ports(
            stores=lambda region, clock: SsmStore(
                self.ssm(region).as_client(), region, limiter, clock, chance, side_by_side=self.time.side_by_side
            ),
            stacks=_Stacks(),
            patience=Patience(120, 2, chance),
            token=lambda: f"token{seed}",
        )
        clock: Clock = VirtualClock.lasting(self.time, seconds)
        return (Importer(ports) if "From" in event.properties else Exporter(ports)).handle(event, clock)

    def measured(self, *events: Event) -> float:
        """Seconds until functions that work side by side are done with these events."""
        began = self.time.seconds
        self.admitted.clear()
        self.time.run(*[partial(self.carry_out, event, seed=seed) for seed, event in enumerate(events)])
        return self.time.seconds - began


class Unverified:
    """Functions that ask CloudFormation about their events at the same time, as Lambda delivers these."""

    def __init__(self, seed: int) -> None:
        self.time = VirtualTime()
        self.failed: list[StrongRefError] = []
        self._quotas = Quotas(stacks=5, others=0.4, seed=seed)
        self._chance = random.Random(seed).random  # noqa: S311 (jitter)

    def describe_stack_resource(self, **_request: object) -> dict[str, object]:
        """As boto3's client of CloudFormation."""
        self.time.sleep(LATENCY)
        if not self._quotas.admit("DescribeStackResource", ACCOUNT, REGION, self.time.seconds):
            raise error("Throttling", "Rate exceeded", "DescribeStackResource")
        updated = VirtualClock.lasting(self.time, 0).now().replace(year=2000)
        shown = {"ResourceType": IMPORT, "ResourceStatus": "UPDATE_IN_PROGRESS", "LastUpdatedTimestamp": updated}
        return {"StackResourceDetail": shown}

    def deliver(self) -> None:
        limiter, sent = RateLimiter(RateLimits()), VirtualClock.lasting(self.time, 0).now()

        def stacks(account: str, clock: Clock) -> CloudFormationStacks:
            client: Any = self
            return CloudFormationStacks(lambda _region: client, limiter, clock, account=account, jitter=self._chance)

        verifier = EventVerifier(ResponseHosts(), lambda _partition: "amazonaws.com", stacks, ReadLag(2))
        update = replace(event(RequestType.UPDATE, WEB, {}, "id"), resource_type=IMPORT, requested=sent)
        for wait in (0, *RETRY_WAITS):
            self.time.sleep(wait)
            try:
                verifier.check_expected(update, VirtualClock.lasting(self.time, 885))
            except EventPendingError:
                continue
            except StrongRefError as error:
                self.failed.append(error)
            return


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_hundred_functions_that_ask_about_their_events_at_the_same_time_all_go_on(seed: int) -> None:
    functions = Unverified(seed)
    functions.time.run(*[functions.deliver] * 200)
    assert functions.time.seconds > ASKING_SECONDS
    assert functions.failed == []


class _Stacks(ReadOnlyStacks):
    """All of the stacks exist, and are at work."""

    def by_arn(self, arn: str) -> StackInfo | None:
        return StackInfo(arn, arn.split("/")[1], "UPDATE_IN_PROGRESS", arn)

    def by_name(self, name: str, region: str) -> StackInfo | None:
        return self.by_arn(stack_arn(name, region))

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:  # noqa: ARG002
        return ResourceInfo("Custom::CrossRegionExport", "UPDATE_IN_PROGRESS")

    def physical_ids(self, arn: str) -> frozenset[str]:  # noqa: ARG002
        return frozenset()


def event(kind: RequestType, stack: str, properties: Properties, physical_id: str | None = None) -> Event:
    return Event(kind, stack, "Resource", "1", physical_id, properties, None, "http://127.0.0.1/", "Custom::Test")


def export(count: int, stack: str = NETWORK, **more: object) -> Event:
    values = {f"Key{number:04d}": f"arn:aws:service:eu-west-1:{ACCOUNT}:thing/{number:08d}" for number in range(count)}
    properties = {"Region": REGION, "Consumer": "web", "Values": values, "SecureKeys": list(values)} | more
    return event(RequestType.CREATE, stack, properties)


def take(stack: str = WEB, producer: str = "network") -> Event:
    return event(RequestType.CREATE, stack, {"From": {"Stack": producer, "Region": "eu-west-1"}, "Consumer": "web"})


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(("others", "most"), [(0.0, 1.05), (0.5, 1.10)])
def test_a_thousand_exports_and_imports_take_hardly_longer_than_the_quota_makes_them(
    others: float, most: float
) -> None:
    account = Account(others)
    exported = account.measured(export(1000))
    assert exported <= most * account.quotas.least_seconds({"PutParameter": 1000})
    imported = account.measured(take())
    assert imported <= most * account.quotas.least_seconds({"AddTagsToResource": 1000})


def test_without_a_quota_a_hundred_exports_and_imports_take_the_time_of_some_fifteen_calls() -> None:
    """Nothing is paced before AWS throttles a call, and 24 calls are in flight: alone they would take 111 and 126."""
    account = Account(reads=1e6, puts=1e6, tags=1e6, deletes=1e6)
    assert account.measured(export(100)) <= 16 * LATENCY
    assert account.measured(take()) <= 14 * LATENCY
    assert account.throttled == []


def test_an_account_with_higher_quotas_gains_by_them() -> None:
    account = Account(puts=10.0)
    assert account.measured(export(1000)) < 200 < Quotas().least_seconds({"PutParameter": 1000})


@pytest.mark.parametrize("throttling", [5, 40])
def test_half_a_minute_after_throttling_has_ended_a_warm_function_is_as_fast_as_before(throttling: int) -> None:
    account = Account(puts=3000)

    def written() -> int:
        before = account.admitted["PutParameter"]
        account.time.sleep(1)
        return account.admitted["PutParameter"] - before

    def others() -> None:
        account.time.sleep(2)
        former = written()
        account.quotas = Quotas(puts=3)
        account.time.sleep(throttling)
        account.quotas = Quotas(puts=3000)
        assert any(written() >= 0.9 * former > 500 for _ in range(30))

    account.time.run(lambda: account.carry_out(export(8000, SecureKeys=[])), others)


def test_limits_that_are_set_hold_whatever_the_quota_is() -> None:
    account = Account(reads=1e6, puts=1e6, tags=1e6, deletes=1e6)
    account.limits = RateLimits(writes=5, tags=20)
    assert account.measured(export(100)) > 100 / 5 - 1
    assert account.measured(take()) > 100 / 20 - 1


class Neighbor:
    """Somebody else in the account, who makes the same calls at a steady pace and does not repeat them."""

    def __init__(self, account: Account, action: str, rate: float, seed: int) -> None:
        self.made = self.throttled = 0
        self._account = account
        self._action = action
        self._rate = rate
        self._seed = seed

    def beside(self, event: Event) -> None:
        """Make calls until an event has been carried out."""
        done = []

        def work() -> None:
            self._account.carry_out(event, seed=self._seed)
            done.append(True)

        self._account.time.run(work, partial(self._call, done))

    def _call(self, done: list[bool]) -> None:
        time, chance = self._account.time, random.Random(self._seed)  # noqa: S311 (when it begins)
        time.sleep(chance.random() / self._rate)
        while not done:
            self.made += 1
            self.throttled += not self._account.quotas.admit(self._action, ACCOUNT, REGION, time.seconds)
            time.sleep(1 / self._rate)


@pytest.mark.parametrize("part", [0.1, 1 / 3])
@pytest.mark.parametrize(("count", "share"), [(30, 0.2), (100, 0.1), (1000, 0.05)])
def test_who_shares_a_quota_is_seldom_throttled(count: int, share: float, part: float) -> None:
    """It keeps what it needs, a part of the quota. Of ours, which take all of it otherwise, none fails."""
    many = max(6, 600 // count)
    neighbors = [Neighbor(Account(), "PutParameter", part * Quotas().puts, seed) for seed in range(many)]
    for neighbor in neighbors:
        neighbor.beside(export(count))
    made, throttled = (sum(getattr(each, name) for each in neighbors) for name in ("made", "throttled"))
    assert made > many * count * part
    assert throttled < share * made


def test_without_caution_who_shares_a_quota_is_throttled_much_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def throttled() -> int:
        neighbors = [Neighbor(Account(), "PutParameter", Quotas().puts / 3, seed) for seed in range(1, 7)]
        for neighbor in neighbors:
            neighbor.beside(export(100))
        return sum(each.throttled for each in neighbors)

    cautious = throttled()
    monkeypatch.setattr("strongref.aws.rate_limit._LONGEST_SERIES", -1)
    assert throttled() > 3 * cautious


@pytest.mark.parametrize("others", [0.0, 0.5, 0.8])
def test_concurrent_functions_share_a_quota_and_none_fails(others: float) -> None:
    account = Account(others)
    stacks = [stack_arn(f"network{number}", "eu-west-1") for number in range(6)]
    exported = account.measured(*[export(80, stack) for stack in stacks])
    assert exported <= 1.25 * account.quotas.least_seconds(account.admitted)
    importing = [take(stack_arn(f"web{number}"), f"network{number}") for number in range(6)]
    imported = account.measured(*importing)
    assert imported <= 1.25 * account.quotas.least_seconds(account.admitted)
    assert account.throttled


def test_callers_that_were_throttled_together_do_not_retry_together() -> None:
    """Ten that start at the same moment are throttled at the same moment: nothing but chance parts them."""
    account = Account()
    account.measured(*[export(5, stack_arn(f"network{number}", "eu-west-1")) for number in range(10)])
    together = Counter(at for _, at in account.throttled)
    began = min(together)
    assert together.pop(began) == 7  # ten at once, and three are a second's worth
    assert len(together) > 20
    # Of the three that got through, some may meet once more.
    assert sorted(together.values())[-2:] in ([1, 1], [1, 2], [1, 3])


REGIONS = ["us-east-1", "us-west-2", "eu-central-1", "ap-south-1"]


def test_the_regions_of_a_fan_out_are_written_side_by_side() -> None:
    """Each has quotas of its own, so four take hardly longer than one."""
    one, four = Account(), Account()
    alone = one.measured(export(200))
    assert four.measured(export(200, Region=REGIONS)) <= 1.1 * alone
    assert [four.stored(region) for region in REGIONS] == [one.stored()] * 4


def test_ten_thousand_values_in_a_fan_out_are_there_in_time_and_gone_in_time() -> None:
    account = Account()
    made = export(2500, Region=REGIONS)
    account.time.run(lambda: account.carry_out(made))
    assert account.invocations <= 2
    assert account.time.seconds <= 1.10 * account.quotas.least_seconds({"PutParameter": 2500}) < SERVICE_TIMEOUT
    gone = event(RequestType.DELETE, NETWORK, dict(made.properties), "x")
    account.time.run(lambda: account.carry_out(gone))
    assert [account.stored(region) for region in REGIONS] == [0] * 4


def test_ten_thousand_values_in_one_region_take_several_invocations_and_less_than_cloudformation_waits() -> None:
    account = Account()
    made = export(10_000)
    account.time.run(lambda: account.carry_out(made))
    assert account.invocations > 3
    assert account.time.seconds < SERVICE_TIMEOUT - MIN_SECONDS_LEFT
    began = account.time.seconds
    account.time.run(lambda: account.carry_out(event(RequestType.DELETE, NETWORK, dict(made.properties), "x")))
    assert account.invocations > 1
    assert account.time.seconds - began < SERVICE_TIMEOUT
    assert account.stored() == 0


@pytest.mark.parametrize(("starved", "count"), [("puts", 60), ("tags", 200), ("deletes", 500), ("reads", 500)])
def test_with_a_small_quota_the_work_continues_until_it_is_done(starved: str, count: int) -> None:
    """A tenth of what a quota is, and invocations of two minutes: each goes on where the one before it stopped."""
    account = Account(**{starved: getattr(Quotas(), starved) / 10})
    made = export(count)
    account.time.run(lambda: account.carry_out(made, 120))
    turns = account.invocations
    gone = replace(made, request_type=RequestType.DELETE, physical_id="x")
    account.time.run(lambda: account.carry_out(gone, 120))
    assert turns + account.invocations > 2
    assert account.stored() == 0


def test_without_a_limiter_a_quota_half_taken_is_asked_in_vain_most_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The guard taken out: calls at once, whatever was throttled."""
    paced, hurried = Account(0.5), Account(0.5)
    paced.measured(export(100))
    monkeypatch.setattr(RateLimiter, "take", lambda *_: Turn(0.0, 0))
    monkeypatch.setattr(RateLimiter, "is_valid", lambda *_: True)
    hurried.measured(export(100))
    assert len(paced.throttled) < 0.8 * sum(paced.admitted.values())
    assert len(hurried.throttled) > 1.5 * sum(hurried.admitted.values())
