"""Laptops whose clocks are wrong, in every order of calls: they decide about nobody's fences."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from strongref.contract.fence import Fence
from tests.support.explorer.cases import Case, params
from tests.support.explorer.cast import C, E, I, there

if TYPE_CHECKING:
    from strongref.contract.values import Parameter
    from tests.support.explorer.actors import Actor

pytestmark = pytest.mark.usefixtures("quiet")

AHEAD, BEHIND = 200.0, -200.0


def laptop(actor: Actor, off: float, *, trusts_itself: bool = False) -> Actor:
    """The same from a laptop: an import is a manifest set's claim, a cleanup `release`, and a change a repair."""
    return replace(actor, off=off, trusts_itself=trusts_itself)


def cases(off: float, *, trusts_itself: bool = False) -> list[Case]:
    def wrong(actor: Actor) -> Actor:
        return laptop(actor, off, trusts_itself=trusts_itself)

    return [
        Case(f"a change x a laptop's import, {off:+.0f} s", [E("v2", update=True), wrong(I("I"))], there),
        Case(f"a laptop's cleanup x import, {off:+.0f} s", [wrong(C()), I("I")], there),
        Case(f"a laptop's change x import, {off:+.0f} s", [wrong(E("v2", update=True)), I("I")], there),
        Case(f"a change x a laptop's cleanup x import, {off:+.0f} s", [E("v2"), wrong(C()), I("I")], there),
    ]


@pytest.mark.parametrize("case", params([*cases(AHEAD), *cases(BEHIND)]))
def test_no_reference_is_lost_by_a_laptop_whose_clock_is_wrong(case: Case) -> None:
    report = case.explorer().walk()
    assert report.holds
    assert {f"{actor.name} " for actor in case.actors} <= report.succeeded


def test_one_that_is_ahead_and_trusts_itself_deletes_the_fence_of_a_change() -> None:
    change, *_ = cases(AHEAD, trusts_itself=True)
    assert change.explorer().walk().lost


def test_one_that_is_behind_and_trusts_itself_harms_nobody_for_its_fence_has_a_length() -> None:
    assert all(case.explorer().walk().holds for case in cases(BEHIND, trusts_itself=True))


def test_without_a_length_its_fence_is_void(monkeypatch: pytest.MonkeyPatch) -> None:
    decode = Fence.decode

    def as_before(parameter: Parameter) -> Fence:
        return replace(decode(parameter), expires_at=datetime.fromisoformat(json.loads(parameter.text)["until"]))

    monkeypatch.setattr(Fence, "decode", as_before)
    _, cleanup, change, _ = cases(BEHIND, trusts_itself=True)
    assert cleanup.explorer().walk().lost
    assert change.explorer().walk().lost
