"""Holds, proven on the code: an import and a producer that leaves, in every order of their calls."""

from __future__ import annotations

import pytest

from strongref.protocol.claims import ClaimAttempt
from strongref.protocol.hold_keeper import HoldKeeper
from tests.support.explorer.cases import BY_LABEL, HELD, Case, params

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.slow]


@pytest.mark.parametrize("lag", [0, 1, pytest.param(2, marks=pytest.mark.deep)])
@pytest.mark.parametrize("case", params(HELD))
def test_no_import_succeeds_on_an_export_that_is_going(case: Case, lag: int) -> None:
    """Nor is anything lost, torn or left over, with crashes and with reads that lag: see `explorer.verdicts`."""
    report = case.explorer(lag=lag).walk()
    assert (report.lost, report.torn, report.leftover) == (None, None, None)
    assert {f"{actor.name} " for actor in case.actors} <= report.succeeded  # in some order each of them gets through
    assert report.states > 100


@pytest.mark.parametrize(
    ("owner", "part", "without", "label"),
    [
        (ClaimAttempt, "_hold", lambda *_: None, "held: leaves x import"),
        (HoldKeeper, "is_effective", lambda *_: True, "held: deleted x import, exports stay"),
    ],
    ids=["the hold", "the last look"],
)
def test_without_any_one_part_an_import_succeeds_on_an_export_that_is_going(
    monkeypatch: pytest.MonkeyPatch, owner: type, part: str, without: object, label: str
) -> None:
    if part == "_hold":  # the last look would find that there is none
        monkeypatch.setattr(ClaimAttempt, "_check_hold", lambda *_: None)
    monkeypatch.setattr(owner, part, without)
    assert BY_LABEL[label].explorer().walk().lost


def test_reduced_and_whole_walks_find_the_same() -> None:
    for label in ("held: leaves x import", "held: deleted x import, exports stay"):
        reports = [BY_LABEL[label].explorer(reduced=reduced).walk() for reduced in (True, False)]
        assert reports[0].succeeded == reports[1].succeeded
        assert reports[0].refused == reports[1].refused
        assert all(report.holds for report in reports)
