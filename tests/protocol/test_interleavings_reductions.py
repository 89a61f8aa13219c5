"""What the explorer leaves out makes no difference: with and without it, the same is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.protocol import inspection
from strongref.protocol.claims import ClaimAttempt
from strongref.protocol.inspection import TagInspector
from strongref.protocol.published import RecordedExports
from tests.support.explorer.cases import BY_LABEL, Case, params
from tests.support.explorer.cast import C, E, I, changes, claimed, gone, there, twins

if TYPE_CHECKING:
    from tests.support.explorer.walk import Report


pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.slow]


CASES = [
    BY_LABEL["there: cleanup x 2 imports"],
    BY_LABEL["gone: drop x 2 imports"],
    BY_LABEL["there: drop and restore x 2 imports"],
    BY_LABEL["pair, there: drop x import; one may crash"],
    Case("change, one may crash", [E("v2"), I("I"), I("J")], there, "EI", 1),
    Case("gone, crash, undone", [E("drop"), I("I", undone=True)], gone, "EI", 2),
    Case("cleanup, one may crash", [C(strong=True), I("I")], claimed, "CI", 2),
    Case("import handed over", [E("drop"), *twins("I", "J", hands_over=True)], there),
    Case("import twice", [E("v2"), *twins("I", "J")], gone),
]
LONGEST = [
    Case("handed over", [changes("E", "v1", "v2", hands_over_to="F"), changes("F", "v1", "v2"), I("I")], there, "F", 1)
]


def both(case: Case) -> tuple[Report, Report]:
    return case.explorer(reduced=True).walk(), case.explorer(reduced=False).walk()


@pytest.mark.parametrize("case", [*params(CASES), *params(LONGEST, pytest.mark.deep)])
def test_reduced_or_not_the_same_outcomes_are_found(case: Case) -> None:
    reduced, whole = both(case)
    assert reduced.holds == whole.holds
    if whole.holds:
        assert (reduced.refused, reduced.succeeded) == (whole.refused, whole.succeeded)
        assert reduced.states < whole.states


@pytest.mark.parametrize(
    ("owner", "part", "without", "label"),
    [
        (ClaimAttempt, "_check_fences", lambda *_: None, "there: change x import"),
        (ClaimAttempt, "_check_unchanged", lambda *_: None, "there: cleanup x 2 imports"),
        (RecordedExports, "says", lambda *_: True, "gone: change; E and I may crash"),
        (TagInspector, "interpret", lambda *_, **__: {}, "there: drop x import"),
        (inspection, "is_stale", lambda *_: False, "gone: change; E and I may crash"),
    ],
    ids=["fence", "second read", "record", "claims", "stale claims"],
)
def test_what_goes_wrong_without_a_part_of_the_protocol_does_so_reduced_or_not(
    monkeypatch: pytest.MonkeyPatch, owner: type, part: str, without: object, label: str
) -> None:
    monkeypatch.setattr(owner, part, without)
    reduced, whole = both(BY_LABEL[label])
    assert not reduced.holds
    assert not whole.holds
