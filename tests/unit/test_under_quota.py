"""Under SSM's quotas, with others at work in the same account: slower, and never failed.

Time is virtual, the quotas are the model's, all else is the real code.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from strongref.event import Event, RequestType
from strongref.exports import Exports
from strongref.imports import Imports
from strongref.limiter import Limiter, Rates
from strongref.patience import Patience
from strongref.ports import Ports, StackInfo
from strongref.store import SsmStore
from tests.support.builders import stack_arn
from tests.support.fake_ssm import FakeSsm, error
from tests.support.quota import Quotas
from tests.support.virtual_time import VirtualClock, VirtualTime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.answer import Answer
    from strongref.ports import Clock

ACCOUNT, REGION = "111111111111", "us-east-1"
NETWORK, WEB = stack_arn("network", "eu-west-1"), stack_arn("web")
LATENCY = 0.03
"""Seconds of each call: about what SSM takes."""

Properties = dict[str, Any]


class Account:
    """A region's Parameter Store with quotas, and functions that work there at the same time."""

    def __init__(self, others: float = 0.0, seed: int = 1) -> None:
        self.time = VirtualTime()
        self.quotas = Quotas(others=others, seed=seed)
        self.admitted: Counter[str] = Counter()
        self.throttled: list[tuple[str, float]] = []
        self.ssm = FakeSsm(REGION, ACCOUNT, before_call=self._call)

    def _call(self, action: str, _request: object) -> None:
        self.time.sleep(LATENCY)
        if self.quotas.admit(action, ACCOUNT, REGION, self.time.seconds):
            self.admitted[action] += 1
        else:
            self.throttled.append((action, self.time.seconds))
            raise error("ThrottlingException", "Rate exceeded", action)

    def send(self, event: Event, seed: int = 1) -> Answer:
        """Have a function of its own carry an event out, as in an invocation of fifteen minutes."""
        chance = random.Random(seed).random  # noqa: S311 (jitter)
        limiter = Limiter(Rates())
        ports = Ports(
            stores=lambda region, clock: SsmStore(self.ssm.as_client(), region, limiter, clock, chance),
            stacks=_Stacks(),
            patience=Patience(120, 2, chance),
            token=lambda: f"token{seed}",
        )
        clock: Clock = VirtualClock.lasting(self.time, 885)
        return (Imports(ports) if "From" in event.properties else Exports(ports)).handle(event, clock)

    def measured(self, *events: Event) -> float:
        """Seconds until functions that work side by side are done with these events."""
        began = self.time.seconds
        self.admitted.clear()
        self.time.run(*[partial(self.send, event, seed) for seed, event in enumerate(events)])
        return self.time.seconds - began


class _Stacks:
    """All of the stacks exist, and are at work."""

    def by_arn(self, arn: str) -> StackInfo | None:
        return StackInfo(arn, arn.split("/")[1], "UPDATE_IN_PROGRESS", arn)

    def by_name(self, name: str, region: str) -> StackInfo | None:
        return self.by_arn(stack_arn(name, region))

    def physical_ids(self, _arn: str) -> frozenset[str]:
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


@pytest.mark.parametrize("others", [0.0, 0.5])
def test_a_thousand_exports_and_imports_take_hardly_longer_than_the_quota_makes_them(others: float) -> None:
    account = Account(others)
    exported = account.measured(export(1000))
    assert exported <= 1.10 * account.quotas.least_seconds({"PutParameter": 1000})
    imported = account.measured(take())
    assert imported <= 1.10 * account.quotas.least_seconds({"AddTagsToResource": 1000})


@pytest.mark.parametrize("others", [0.0, 0.5, 0.8])
def test_many_at_once_share_a_quota_and_none_fails(others: float) -> None:
    account = Account(others)
    stacks = [stack_arn(f"network{number}", "eu-west-1") for number in range(6)]
    exported = account.measured(*[export(30, stack) for stack in stacks])
    assert exported <= 1.25 * account.quotas.least_seconds(account.admitted)
    importing = [take(stack_arn(f"web{number}"), f"network{number}") for number in range(6)]
    imported = account.measured(*importing)
    assert imported <= 1.25 * account.quotas.least_seconds(account.admitted)
    assert account.throttled


def test_who_was_throttled_together_does_not_come_back_together() -> None:
    """Ten that start at the same moment are throttled at the same moment: nothing but chance parts them."""
    account = Account()
    account.measured(*[export(5, stack_arn(f"network{number}", "eu-west-1")) for number in range(10)])
    together = Counter(at for _, at in account.throttled)
    began = min(together)
    assert together.pop(began) == 7  # ten at once, and three are a second's worth
    assert len(together) > 20
    assert sorted(together.values())[-2:] in ([1, 1], [1, 2])  # of the three that got through, two meet once more


def test_without_a_limiter_a_quota_half_taken_is_asked_in_vain_most_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The guard taken out: calls at once, whatever was throttled."""
    paced, hurried = Account(0.5), Account(0.5)
    paced.measured(export(100))
    monkeypatch.setattr(Limiter, "take", lambda *_: 0.0)
    hurried.measured(export(100))
    assert len(paced.throttled) < 0.8 * sum(paced.admitted.values())
    assert len(hurried.throttled) > 1.5 * sum(hurried.admitted.values())
