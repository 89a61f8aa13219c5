"""The janitor's handler: it continues by itself, counts its findings, and reports defects without their texts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.continuation import CONTINUATION_FIELD, MAX_INVOCATIONS
from strongref.contract.names import Site
from strongref.errors import InternalError, OutOfTimeError, ReinvokeError, StoreError, StrongRefError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor import JanitorProgress
from strongref.runtime.schedule import JanitorUnfinishedError, ScheduledFunction
from tests.support.response_server import FUNCTION, FakeContext

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.protocol.janitor import Checkpoint
    from strongref.protocol.time import Clock

OUT_OF_TIME = OutOfTimeError("ListTagsForResource", "OutOfTime", "/strongref/exports/web/a", "us-east-1")
EVENT = {"detail-type": "Scheduled Event"}
ORPHAN = Finding(FindingType.ORPHANED, "/strongref/exports/web/1/eu-west-1/network/A")
FOREIGN = Finding(FindingType.FOREIGN, "/strongref/exports/web/1/eu-west-1/network/B")


class Rounds:
    """A janitor that finds this, and then meets an error, if there is one."""

    def __init__(self, *tended: JanitorProgress, error: Exception | None = None) -> None:
        self.tended = tended
        self.error = error
        self.after: Checkpoint | None = None
        self.where: tuple[str, str] | None = None
        self.skips = self.only_abroad = False

    def made(self, account: str, region: str, clock: Clock) -> Any:
        assert clock.remaining() > 0
        self.where = account, region
        return self

    def tend(self, _clock: Clock, after: Checkpoint, *, skip: bool, only_abroad: bool) -> Iterator[JanitorProgress]:
        self.after, self.skips, self.only_abroad = after, skip, only_abroad
        yield from self.tended
        if self.error:
            raise self.error


class Lambda:
    """Takes events for other invocations."""

    def __init__(self) -> None:
        self.invoked: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, function: str, event: Mapping[str, Any], _left: StrongRefError, _clock: Clock) -> None:
        self.invoked.append((function, json.loads(json.dumps(event))))


def counts(capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    """What the embedded metrics in the output count."""
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    (line,) = lines
    metrics = line["_aws"]["CloudWatchMetrics"][0]
    assert (metrics["Namespace"], metrics["Dimensions"]) == ("StrongRef", [["service"]])
    return {metric["Name"]: line[metric["Name"]][0] for metric in metrics["Metrics"]}


def test_it_checks_the_functions_own_region_and_counts_its_findings(capsys: pytest.CaptureFixture[str]) -> None:
    rounds, other = (
        Rounds(JanitorProgress(("a", "A"), 5, (ORPHAN,)), JanitorProgress(("b", "B"), 7, (ORPHAN, FOREIGN))),
        Lambda(),
    )
    ScheduledFunction(rounds.made, other)(EVENT, FakeContext())
    assert rounds.where == ("111111111111", "us-east-1")
    assert rounds.after == ("", "")
    assert counts(capsys) == {"Values": 12, "Orphaned": 2, "Foreign": 1, "RepairsMade": 2, "FindingsReported": 1}
    assert other.invoked == []


def test_a_run_without_findings_emits_zeros_that_end_an_alarm(capsys: pytest.CaptureFixture[str]) -> None:
    ScheduledFunction(Rounds().made, Lambda())(EVENT, FakeContext())
    assert counts(capsys) == {"RepairsMade": 0, "FindingsReported": 0}


def test_out_of_time_it_continues_from_there_in_another_invocation(capsys: pytest.CaptureFixture[str]) -> None:
    other = Lambda()
    first = Rounds(JanitorProgress(("a", "A"), 5, (FOREIGN,)), error=OUT_OF_TIME)
    ScheduledFunction(first.made, other)(EVENT, FakeContext())
    assert counts(capsys) == {"Values": 5, "Foreign": 1, "RepairsMade": 0, "FindingsReported": 1}
    assert other.invoked == [(FUNCTION, {CONTINUATION_FIELD: {"Turn": 2, "After": ["a", "A"]}})]
    second = Rounds()
    ScheduledFunction(second.made, other)(other.invoked[0][1], FakeContext())
    assert second.after == ("a", "A")


def test_limited_to_other_accounts_it_counts_only_what_it_repaired(capsys: pytest.CaptureFixture[str]) -> None:
    """It would count the rest every quarter of an hour."""
    rounds = Rounds(JanitorProgress(("a", "A"), 5, (ORPHAN, replace(FOREIGN, site=Site("us-east-1", "2")))))
    answer = ScheduledFunction(rounds.made, Lambda())({"Only": "abroad"}, FakeContext())
    assert rounds.only_abroad
    assert counts(capsys) == {"Orphaned": 1, "RepairsMade": 1, "FindingsReported": 0}
    assert answer["Continues"] is False
    assert [(each["Kind"], each["Region"], each["Account"]) for each in answer["Findings"]] == [
        ("orphaned", "", ""),
        ("foreign", "us-east-1", "2"),
    ]


def test_a_limited_run_stays_limited_when_it_is_continued() -> None:
    other = Lambda()
    event = {"Only": "abroad"}
    answer = ScheduledFunction(Rounds(error=OUT_OF_TIME).made, other)(event, FakeContext())
    assert answer == {"Findings": [], "Continues": True}
    assert other.invoked == [(FUNCTION, {**event, CONTINUATION_FIELD: {"Turn": 2, "After": ["", ""]}})]


def test_an_invocation_that_gets_nothing_done_a_second_time_leaves_the_next_part_out() -> None:
    other = Lambda()
    event: Mapping[str, Any] = {}
    for turn, skips in ((2, None), (3, True), (4, True)):
        ScheduledFunction(Rounds(JanitorProgress(("", ""), 0, ()), error=OUT_OF_TIME).made, other)(event, FakeContext())
        event = dict(other.invoked[-1][1])
        assert event[CONTINUATION_FIELD].get("Skip") is skips
        assert event[CONTINUATION_FIELD]["Turn"] == turn
    rounds = Rounds(JanitorProgress(("a", "A"), 0, ()), error=OUT_OF_TIME)
    ScheduledFunction(rounds.made, other)(event, FakeContext())
    assert rounds.skips
    assert other.invoked[-1][1] == {CONTINUATION_FIELD: {"Turn": 5, "After": ["a", "A"]}}


def test_too_many_invocations_are_an_error() -> None:
    other = Lambda()
    event = {CONTINUATION_FIELD: {"Turn": MAX_INVOCATIONS, "After": ["a", "A"]}}
    with pytest.raises(JanitorUnfinishedError, match=f"in {MAX_INVOCATIONS} invocations: Timed out"):
        ScheduledFunction(Rounds(error=OUT_OF_TIME).made, other)(event, FakeContext())
    assert other.invoked == []


@pytest.mark.parametrize("error", [StoreError("GetParametersByPath", "AccessDenied", "/strongref", "us-east-1")])
def test_a_failure_is_raised_for_lambda_to_count(error: StrongRefError) -> None:
    with pytest.raises(type(error)) as raised:
        ScheduledFunction(Rounds(error=error).made, Lambda())(EVENT, FakeContext())
    assert raised.value is error


def test_a_failed_reinvocation_is_raised_too() -> None:
    def refuse(_function: str, _event: object, left: StrongRefError, _clock: Clock) -> None:
        raise ReinvokeError("AccessDeniedException", left)

    with pytest.raises(ReinvokeError):
        ScheduledFunction(Rounds(error=OUT_OF_TIME).made, refuse)(EVENT, FakeContext())


def test_only_the_type_of_a_defect_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InternalError) as raised:
        ScheduledFunction(Rounds(error=ValueError("s3cret")).made, Lambda())(EVENT, FakeContext())
    assert "s3cret" not in f"{raised.value!r}{raised.value}{capsys.readouterr()}"
    assert raised.value.__suppress_context__
