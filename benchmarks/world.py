"""Two stacks and their custom resources, played as CloudFormation plays them, on a local service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any

from benchmarks.processes import EVENT_SECONDS, Process, TimedOutError
from benchmarks.sides import CONSUMER, EU, PRODUCER, US, Properties, Side
from strongref.aws.rate_limit import RateLimits
from strongref.protocol.lag import VARIABLE
from tests.support.local_ssm.control import LocalSsm
from tests.support.local_ssm.service import ACCOUNT

UNLIMITED = 1_000_000
LIMITS = [field.name.upper() for field in fields(RateLimits)]

_HOME = {"exports": (PRODUCER, EU, "Exports"), "imports": (CONSUMER, US, "Imports")}
_STATUS = {"Create": "CREATE_IN_PROGRESS", "Update": "UPDATE_IN_PROGRESS", "Delete": "DELETE_IN_PROGRESS"}
_CLEANING = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"


def rates(*, paced: bool = True) -> dict[str, str]:
    """What our functions are set to: nothing, as installed; or limits that they never reach.

    They wait for no reads that lag: tests/protocol/test_waits.py has that.
    """
    limits = {} if paced else {f"STRONGREF_{name}_PER_SECOND": str(UNLIMITED) for name in LIMITS}
    return {VARIABLE: "0"} | limits


@dataclass(frozen=True)
class Outcome:
    """What came of an event."""

    status: str  # of the answer, as in SUCCESS; of no answer, `TIMED OUT` or `NO ANSWER`
    reason: str  # the answer's, its first line
    counts: dict[str, int]  # the calls that were carried out, by action
    throttled: dict[str, int]  # those that were not
    seconds: float  # that the handler took, until it had answered, all invocations together
    cpu_seconds: float  # of a processor's time in them
    peak_kb: int  # the most memory in use

    @property
    def calls(self) -> int:
        return sum(self.counts.values())

    @property
    def done(self) -> bool:
        return self.status == "SUCCESS"


class World(AbstractContextManager["World"]):
    """One side's functions on a service of their own, and what CloudFormation knows of the two stacks."""

    def __init__(self, side: Side, environment: Mapping[str, str]) -> None:
        self.side = side
        self.service = LocalSsm.start()  # what the functions call
        self.environment = environment  # of those that are started from now on
        self._processes: dict[str, Process] = {}
        self._properties: dict[str, Properties] = {}
        self._physical: dict[str, str] = {}
        self._tokens = count(1)

    def __exit__(self, *_: object) -> None:
        self.cool()
        self.service.stop()

    def cool(self) -> None:
        """End the functions; the next event starts them anew."""
        for process in self._processes.values():
            process.stop()
        self._processes.clear()

    def forget(self) -> None:
        """As if nothing had ever been deployed."""
        self.service.clear()
        self._properties.clear()
        self._physical.clear()

    def warm(self, what: str) -> Process:
        """The function of `exports` or `imports`, started if it is not running."""
        if what not in self._processes:
            environment = {**self.service.env(_HOME[what][1]), **self.environment}
            self._processes[what] = self.side.start(what, environment)
        return self._processes[what]

    def create(self, what: str, properties: Properties) -> Outcome:
        return self._put(what, "Create", properties)

    def update(self, what: str, properties: Properties) -> Outcome:
        """An Update; and, if that replaces the resource, the Delete of the former one, counted together."""
        former, before = self._physical[what], self._properties[what]
        outcome = self._put(what, "Update", properties)
        if not outcome.done or self._physical[what] == former:
            return outcome
        cleaned = self._send(what, "Delete", before, physical=former, status=_CLEANING)
        return _together(outcome, cleaned)

    def delete(self, what: str, *, with_stack: bool = True) -> Outcome:
        """Delete a resource: because its stack is deleted, or because it was taken out of the template."""
        status = _STATUS["Delete"] if with_stack else _CLEANING
        outcome = self._send(what, "Delete", self._properties[what], physical=self._physical[what], status=status)
        if outcome.done:
            del self._properties[what], self._physical[what]
        return outcome

    def _put(self, what: str, request_type: str, properties: Properties) -> Outcome:
        old = self._properties.get(what)
        outcome = self._send(what, request_type, properties, old=old, physical=self._physical.get(what))
        if outcome.done:
            self._properties[what] = properties
        return outcome

    def _send(  # noqa: PLR0913 (what an event is made of)
        self,
        what: str,
        request_type: str,
        properties: Properties,
        *,
        old: Properties | None = None,
        physical: str | None = None,
        status: str = "",
    ) -> Outcome:
        name, region, logical_id = _HOME[what]
        process = self.warm(what)
        token = {"ServiceToken": f"arn:aws:lambda:{region}:{ACCOUNT}:function:{what}"}
        event: dict[str, Any] = {
            **token,
            "RequestType": request_type,
            "ResponseURL": self.service.answer_url,
            "StackId": _arn(name, region),
            "RequestId": f"request-{next(self._tokens)}",
            "LogicalResourceId": logical_id,
            "ResourceType": f"Custom::{what}",
            "ResourceProperties": token | properties,
        }
        if physical:
            event["PhysicalResourceId"] = physical
        if request_type == "Update":
            event["OldResourceProperties"] = token | (old or {})
        self._tell_stacks(name, status, request_type, physical)
        self.service.reset()
        outcome, answer = self._invoke(process, event)
        if request_type != "Delete" and outcome.done:
            self._physical[what] = answer["PhysicalResourceId"]
        return outcome

    def _invoke(self, process: Process, event: Mapping[str, Any]) -> tuple[Outcome, dict[str, Any]]:
        """Until there is an answer; a function that hands over to another invocation gets that one, too."""
        pending, taken, peak, seconds, cpu = [event], 0, 0, 0.0, 0.0
        timed_out = False
        while pending and not timed_out:
            try:
                ran = process.send(pending.pop(), EVENT_SECONDS)
                peak, seconds, cpu = ran.peak_kb, seconds + ran.seconds, cpu + ran.cpu_seconds
            except TimedOutError:
                timed_out, seconds = True, seconds + EVENT_SECONDS
                self.cool()
            state = self.service.state()
            pending += [each["event"] for each in state.invocations[taken:]]
            taken = len(state.invocations)
        answer = state.answers[-1] if state.answers else {}
        status = answer.get("Status") or ("TIMED OUT" if timed_out else "NO ANSWER")
        reason = str(answer.get("Reason") or "").strip().partition("\n")[0]
        return Outcome(status, reason, state.counts, state.throttled, seconds, cpu, peak), answer

    def _tell_stacks(self, at_work: str, status: str, request_type: str, physical: str | None) -> None:
        in_progress = _STATUS[request_type]
        stacks = []
        for what, (name, region, logical_id) in _HOME.items():
            # While what was replaced is deleted, the resource itself is at rest.
            asked = name == at_work and physical == self._physical.get(what)
            resource = {
                "LogicalResourceId": logical_id,
                "PhysicalResourceId": self._physical.get(what, ""),
                "ResourceType": f"Custom::{what}",
                "ResourceStatus": in_progress if asked else "UPDATE_COMPLETE",
            }
            stacks.append(
                {
                    "StackId": _arn(name, region),
                    "StackName": name,
                    "StackStatus": (status or in_progress) if name == at_work else "UPDATE_COMPLETE",
                    "Resources": [resource] if what in self._physical or asked else [],
                }
            )
        self.service.stacks(stacks)


def _arn(name: str, region: str) -> str:
    return f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{name}/6e1b0a20-da77-11e4-9c0a-1234567db123"


def _together(first: Outcome, second: Outcome) -> Outcome:
    return replace(
        second,
        counts=Counter(first.counts) + Counter(second.counts),
        throttled=Counter(first.throttled) + Counter(second.throttled),
        seconds=first.seconds + second.seconds,
        cpu_seconds=first.cpu_seconds + second.cpu_seconds,
        peak_kb=max(first.peak_kb, second.peak_kb),
    )
