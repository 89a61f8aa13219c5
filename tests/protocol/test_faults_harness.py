"""The faults' harness itself: that it finds what is broken on purpose."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from strongref.protocol import imports
from strongref.protocol.fences import OwnFence
from strongref.runtime import delivery
from tests.support.fake_ssm import FakeSsm
from tests.support.faults.exporting import EXPORTING
from tests.support.faults.fake_time import MOST_LOOKS, FakeTime, SpinningError
from tests.support.faults.fault_types import ANSWER, FAULTS
from tests.support.faults.importing import IMPORTING
from tests.support.faults.tally import ACTIONS, missing, table, tally
from tests.support.faults.trial import trial
from tests.support.faults.wire import ProcessKilledError, Wire
from tests.support.invariants import EXPORTS

if TYPE_CHECKING:
    from strongref.errors import StrongRefError
    from tests.support.faults.scenario import Scenario

SCENARIOS = {scenario.name: scenario for scenario in (*EXPORTING, *IMPORTING)}
FAULT = {fault.name: fault for fault in FAULTS}
CREATE = SCENARIOS["export: create"]


def found(scenario: Scenario, *faults: str) -> str:
    """Everything that is found with some faults, and where nothing goes wrong."""
    with trial(scenario) as trying:
        points = [point for fault in faults for point in trying.points(FAULT[fault])]
        return "\n".join(trying.flaws + [problem for point in points for problem in trying.problems(point)])


def test_a_claimed_value_that_is_changed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongref.protocol.planner._in_use", lambda *_: ())
    assert "/network/A') is lost: it has another value" in found(
        SCENARIOS["export: update would change a claimed value"]
    )


def test_a_value_that_is_gone_and_a_programs_parameter_that_is_touched_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delete = FakeSsm.delete_parameters

    def delete_all_values(self: FakeSsm, **request: Any) -> dict[str, Any]:
        if any(name.startswith(EXPORTS) for name in request["Names"]):
            self.restore(frozenset())
        return delete(self, **request)

    monkeypatch.setattr(FakeSsm, "delete_parameters", delete_all_values)
    problems = found(SCENARIOS["export: update adds, changes and drops"])
    assert "/network/A') is lost: it is gone" in problems
    assert "/network/Theirs') was touched" in problems


def test_a_claim_that_is_taken_off_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    remove_tags = FakeSsm.remove_tags_from_resource

    def remove_all(self: FakeSsm, **request: Any) -> dict[str, Any]:
        listed = self.list_tags_for_resource(**{key: request[key] for key in ("ResourceType", "ResourceId")})
        return remove_tags(self, **request | {"TagKeys": [tag["Key"] for tag in listed["TagList"]]})

    monkeypatch.setattr(FakeSsm, "remove_tags_from_resource", remove_all)
    assert "/network/A') is lost: its claim is gone" in found(SCENARIOS["import: delete in the cleanup"])


def test_a_value_that_is_printed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    put = FakeSsm.put_parameter

    def tell(self: FakeSsm, **request: Any) -> dict[str, Any]:
        sys.stdout.write(f"{request}\n")
        return put(self, **request)

    monkeypatch.setattr(FakeSsm, "put_parameter", tell)
    assert "a secret is printed" in found(CREATE)


def test_a_fence_that_is_left_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OwnFence, "take_away", lambda *_: None)
    assert "leftover: /strongref/fences/" in found(CREATE)


def test_what_a_failed_create_leaves_behind_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def finished(error: StrongRefError, _physical_id: str) -> StrongRefError:
        return error

    monkeypatch.setattr("strongref.protocol.exports.PartialCreateError", finished)
    assert "in the end: /strongref/exports/" in found(CREATE, "denied")


def test_claims_that_a_failed_import_leaves_behind_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "PartialCreateError", lambda error, _physical_id: error)
    assert "in the end: /strongref/exports/" in found(replace(SCENARIOS["import: create"], strands=False), "denied")


def test_an_event_that_is_not_answered_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongref.runtime.custom_resource.deliver", lambda *_: None)
    assert "nobody answers" in found(CREATE)


def test_a_second_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def deliver(url: str, body: bytes, clock: Any) -> None:
        delivery.deliver(url, body, clock)
        delivery.deliver(url, body.replace(b"SUCCESS", b"FAILED"), clock)

    monkeypatch.setattr("strongref.runtime.custom_resource.deliver", deliver)
    assert "there are several answers" in found(CREATE)


@pytest.mark.parametrize(("fault", "effects"), [("killed before", []), ("killed after", ["struck"])])
def test_who_was_killed_does_nothing_any_more(fault: str, effects: list[str]) -> None:
    wire, done = Wire(FakeTime(), FAULT[fault], at=0), list[str]()
    wire.begin(900)
    with pytest.raises(ProcessKilledError):
        wire.call("PutParameter", {}, lambda: done.append("struck"), lambda _: None)
    with pytest.raises(ProcessKilledError):
        wire.call("DeleteParameters", {}, lambda: done.append("cleanup"), lambda _: None)
    assert done == effects


def test_lambda_kills_who_uses_up_the_time() -> None:
    time = FakeTime()
    wire = Wire(time)
    wire.begin(10)
    time.sleep(10)
    with pytest.raises(ProcessKilledError):
        wire.call("PutParameter", {}, lambda: None, lambda _: None)


def test_a_loop_in_which_no_time_passes_is_found() -> None:
    time = FakeTime()
    for _ in range(MOST_LOOKS):
        time.monotonic()
    with pytest.raises(SpinningError):
        time.monotonic()
    assert time.spins


def test_a_kind_of_call_that_is_never_hit_is_found() -> None:
    with trial(CREATE) as trying:
        counted = tally(trying.all_points())
    assert "RemoveTagsFromResource: never denied" in missing(counted)
    assert not [each for each in missing(counted) if each.startswith("PutParameter:")]
    assert counted[ANSWER, "killed after"] == 1
    assert f"{counted.total()} points" in table(counted)


def test_a_kind_of_call_that_nobody_thought_of_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    known = tuple(action for action in ACTIONS if action != "PutParameter")
    monkeypatch.setattr("tests.support.faults.tally.ACTIONS", known)
    with trial(CREATE) as trying:
        assert "PutParameter: not known" in missing(tally(trying.all_points()))
