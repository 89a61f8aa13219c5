"""An Import without `From`, proven on the code: in every order of its calls and those of several producers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explorer.several import LARGE, SMALL

if TYPE_CHECKING:
    from tests.support.explorer.cases import Case

pytestmark = pytest.mark.usefixtures("quiet")

QUICK = {"a third x import", "taken over x import", "drop x import, released", "held: the other leaves x import"}
"""With the fast tests."""

DEEP = {"taken over x import", "a third x import; both may crash", "change of both x import"}
TOO_LARGE = {
    "taken over x 2 imports",
    "a third, drop x import; both may crash",
    "claimed: taken over x deletion, import",
}
"""With late reads: more than 60 million states."""
LONG = {"claimed: a third x rollback"}
"""Even without."""


def _mark(case: Case, lag: int) -> tuple[pytest.MarkDecorator, ...]:
    if case in LARGE or case.label in LONG or (lag and ("claimed" in case.label or case.label in DEEP)):
        return (pytest.mark.deep,)
    return () if case.label in QUICK and not lag else (pytest.mark.slow,)


@pytest.mark.parametrize(
    ("case", "lag"),
    [
        pytest.param(case, lag, id=f"{case.label}{', late reads' if lag else ''}", marks=_mark(case, lag))
        for case in (*SMALL, *LARGE)
        for lag in (0, 1)
        if not (lag and case.label in TOO_LARGE)
    ],
)
def test_no_reference_is_lost_and_no_name_comes_from_one_of_two(
    case: Case, lag: int, capsys: pytest.CaptureFixture[str]
) -> None:
    report = case.walked(capsys, lag=lag)
    assert (report.lost, report.torn, report.leftover) == (None, None, None)
    assert {f"{actor.name} " for actor in case.actors} <= report.succeeded  # in some order each of them gets through
