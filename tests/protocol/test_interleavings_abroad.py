"""Exports to another account, proven on the code: in every order of calls, also where its trust goes and comes back.

The exporter's account cannot ask about the stacks there, and imports there ask about no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.protocol.claims import ClaimAttempt
from strongref.protocol.inspection import TagInspector
from tests.support.explorer.cases import ABROAD, ABROAD_DENIED, ABROAD_DENIED_ELSEWHERE, ABROAD_LARGE, Case
from tests.support.explorer.session import Session

if TYPE_CHECKING:
    from strongref.protocol.ports import StackInfo

pytestmark = pytest.mark.usefixtures("quiet")

BY_LABEL = {case.label: case for case in (*ABROAD, *ABROAD_DENIED, *ABROAD_DENIED_ELSEWHERE, *ABROAD_LARGE)}
DENIED = ("RoleDeniedError", "DeniedAbroadError", "OutOfReachError")
MAY_WRITE = {"OutOfReachError": {"fences"}}
"""Where an event that was denied may have written: what it finds behind a fence may show that it has to be refused."""

MOVES = [case for case in (*ABROAD, *ABROAD_DENIED, *ABROAD_DENIED_ELSEWHERE) if "move" in case.label]
SMALL = [case for case in (*ABROAD, *ABROAD_DENIED) if case not in MOVES]
QUICK = {"abroad: change x import; trust goes"}
"""With the fast tests."""

FIRST_MOVE = "abroad: move here x import; trust goes"


def _mark(case: Case, lag: int) -> tuple[pytest.MarkDecorator, ...]:
    if lag and case.label in QUICK:
        return ()
    if lag and case in SMALL and not case.label.startswith(("abroad: gone", "abroad: creation")):
        return (pytest.mark.slow,)
    if case in MOVES and lag and case not in ABROAD:
        return (pytest.mark.largest,)
    return (pytest.mark.slow if case.label == FIRST_MOVE and not lag else pytest.mark.deep,)


@pytest.mark.parametrize(
    ("case", "lag"),
    [
        pytest.param(case, lag, id=f"{case.label}{', late reads' if lag else ''}", marks=_mark(case, lag))
        for case in BY_LABEL.values()
        for lag in (0, 1)
        if not (lag and case in ABROAD_LARGE and ("move" in case.label or "2 imports; trust" in case.label))
    ],
)
def test_no_reference_there_is_lost_or_torn_and_what_is_denied_has_written_nothing(
    case: Case, lag: int, capsys: pytest.CaptureFixture[str]
) -> None:
    report = case.walked(capsys, lag=lag)
    assert (report.lost, report.torn, report.leftover) == (None, None, None)
    assert {f"{actor.name} " for actor in case.actors} <= report.succeeded  # in some order each of them gets through
    assert all(trees <= MAY_WRITE.get(ended.split()[-1], set()) for ended, trees in report.wrote.items()), report.wrote
    if "trust goes" in case.label:
        assert any(ended.startswith("E ") and ended.endswith(DENIED) for ended in report.refused)


def nowhere(session: Session, arn: str) -> StackInfo | None:
    """A stack of another account, which an account that asks about it does not find."""
    is_own = arn.split(":")[4] == session.account
    return session.ask(("stack", "by_arn", arn), lambda world: world.by_arn(arn)) if is_own else None


@pytest.mark.parametrize(
    ("owner", "part", "without"),
    [
        (ClaimAttempt, "_check_fences", lambda *_: None),
        (
            TagInspector,
            "_of_another_account",
            lambda inspector, tags, *_: inspector.unclaimed(tags["strongref:producer"]),
        ),
    ],
    ids=["fence", "claims"],
)
def test_without_a_part_of_the_protocol_a_reference_there_is_lost(
    monkeypatch: pytest.MonkeyPatch, owner: type, part: str, without: object
) -> None:
    monkeypatch.setattr(owner, part, without)
    assert BY_LABEL["abroad: change x import"].explorer().walk().lost


def test_if_an_account_asked_about_stacks_of_another_one_it_would_lose_a_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Session, "by_arn", nowhere)
    assert BY_LABEL["abroad: change x import"].explorer().walk().holds
    monkeypatch.setattr(TagInspector, "_of_another_account", TagInspector._value_tags)
    assert BY_LABEL["abroad: change x import"].explorer().walk().lost
