"""Which actors meet: the cases that are walked through."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.support.abroad import OTHER, THIRD
from tests.support.builders import SCOPE
from tests.support.cloudformation.stacks import CLEANUP, DELETING, ROLLBACK, UPDATING
from tests.support.explorer.cast import (
    PAIR,
    PRODUCER,
    C,
    E,
    I,
    L,
    abroad,
    both_gone,
    both_there,
    changes,
    claimed,
    claimed_abroad,
    deleted,
    drop,
    drop_abroad,
    drop_both,
    gone,
    gone_abroad,
    gutted,
    held,
    key_goes,
    left,
    nothing,
    one_each,
    one_of_two,
    secret,
    there,
    third,
    trust_goes,
    twins,
    with_secret,
    zombie,
)
from tests.support.explorer.moves import Crashes
from tests.support.explorer.walk import Explorer, Report
from tests.support.explorer.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strongref.contract.names import ExportScope
    from strongref.contract.response import Response
    from tests.support.explorer.actors import Actor
    from tests.support.explorer.session import Session


ALL_ORDERS = bool(os.environ.get("STRONGREF_ALL_ORDERS"))
"""Whether calls side by side are turned round in all cases: for changes of what is made side by side."""


@dataclass(frozen=True)
class Case:
    """One beginning.

    Attributes:
        label: its name.
        actors: that meet.
        before: makes what was there before.
        dying: the names of the actors that may die.
        deaths: how many may die in one history; if given, an event of a dead actor may also be delivered again.
        last: drops everything at the end.
        scopes: where imports may find what they import.
    """

    label: str
    actors: Sequence[Actor]
    before: Callable[[World], None]
    dying: str = ""
    deaths: int = 0
    last: Callable[[Session], Response] = drop
    scopes: Sequence[ExportScope] = (SCOPE,)

    def explorer(self, *, reduced: bool = True, lag: int = 0) -> Explorer:
        """Walks through it, with reads that lag by up to so many ticks."""
        world = World(self.actors, {PRODUCER: UPDATING}, lag=lag)
        world.scopes = self.scopes
        self.before(world)
        world.settle()
        crashes = Crashes(frozenset(self.dying), self.deaths or len(self.dying), again=self.deaths > 0)
        explorer = Explorer(self.actors, world, self.last, crashes, reduced=reduced)
        explorer.moves.nodes.turns_round = self.turns_round
        return explorer

    def walked(self, capsys: pytest.CaptureFixture[str], *, lag: int = 0) -> Report:
        """What a walk through it found; says how many states there were."""
        report = self.explorer(lag=lag).walk()
        with capsys.disabled():  # to stderr: the stdout of a worker of pytest-xdist's goes nowhere
            sys.stderr.write(f"\nEvery order of calls, {lag} late: {report.states:,} states: {self.label}\n")
        return report

    @property
    def turns_round(self) -> bool:
        """Whether calls side by side of one region are turned round: only where two meet once, to save time.

        All cases turned round have seven times as many. They held when calls began to be made side by side.
        """
        once = len(self.actors) <= 2 and all(len(each.events) == 1 for each in self.actors)
        return ALL_ORDERS or (once and not self.dying and not self.label.startswith("key goes"))


def params(cases: Sequence[Case], *marks: pytest.MarkDecorator) -> list[object]:
    """The cases as the parameters of a test."""
    return [pytest.param(case, id=case.label, marks=marks) for case in cases]


DROPPED_TWICE = [changes("E", "v1", "drop"), changes("F", "v1", "drop")]
CHANGED_TWICE = [changes("E", "v1", "v2"), changes("F", "v1", "v2")]
ROLLED_BACK = [changes("E", "v1", "v2"), changes("F", "v2", "v1", begins=ROLLBACK)]
DROP_HANDED_OVER = [changes("E", "v1", "drop", hands_over_to="F"), changes("F", "v1", "drop")]
CHANGE_HANDED_OVER = [changes("E", "v1", "v2", hands_over_to="F"), changes("F", "v1", "v2")]

SMALL = [
    Case("there: change x import", [E("v2", update=True), I("I")], there),
    Case("there: drop x import", [E("drop", update=True), I("I")], there),
    Case("gone: import", [I("I")], gone),
    Case("gone: drop, restore x import", [E("drop", "v1"), I("I")], gone),
    Case("there: drop and restore x 2 imports", [E("drop", "v1"), I("I"), I("J", releases=True)], there),
    Case("there: change and back x 2 imports", [E("v2", "v1"), I("I"), I("J", releases=True)], there),
    Case("there: cleanup x 2 imports", [C(), I("I"), I("J")], there),
    Case("gone: drop x 2 imports", [E("drop"), I("I"), I("J")], gone),
    Case("gone: drop, change x 2 imports", [E("drop", "v2"), I("I"), I("J", releases=True)], gone),
    Case("gone: change; E and I may crash", [E("v2"), I("I"), I("J")], gone, "EI"),
    Case("there: change, rollback x import", [*ROLLED_BACK, I("I")], there),
    Case("left: zombie's change, the same again x import", [zombie("Z", "v1", "v2"), E("v1"), I("I")], left),
    Case("left: zombie's drop, the same again x import", [zombie("Z", "v1", "drop"), E("v1"), I("I")], left),
    Case("there: import twice x drop", [E("drop"), *twins("I", "J")], there),
    Case("gone: import twice x drop", [E("drop"), *twins("I", "J")], gone),
    Case("there: import handed over x drop and restore", [E("drop", "v1"), *twins("I", "J", hands_over=True)], there),
    Case("gone: import handed over x drop", [E("drop"), *twins("I", "J", hands_over=True)], gone),
    Case("claimed: cleanup x 2 imports; 2 may crash", [C(strong=True), I("I", undone=True), I("J")], claimed, "CIJ", 2),
]
"""Each takes a moment."""

LARGE = [
    Case("there: cleanup, change x 2 imports", [C(), E("v2"), I("I"), I("J")], there),
    Case(
        "there: cleanup, drop, restore; may crash", [C(), E("drop", "v1"), I("I"), I("J", releases=True)], there, "CE"
    ),
    Case("there: 2 exporters x import", [E("v2", "v3"), E("drop", "v1", name="F"), I("I")], there),
    Case(
        "there: 2 exporters, E may crash, 2 imports", [E("drop", "v2"), E("v1", name="F"), I("I"), I("J")], there, "E"
    ),
    # Of two that do the same, it is enough if one may crash: the other's deaths are the mirror image.
    Case("there: drop twice x 2 imports; one may crash", [*DROPPED_TWICE, I("I"), I("J")], there, "EI", 1),
    Case("there: change twice x 2 imports; one may crash", [*CHANGED_TWICE, I("I"), I("J")], there, "EI", 1),
    Case("there: change, rollback x 2 imports; one may crash", [*ROLLED_BACK, I("I"), I("J")], there, "EFI", 1),
    Case("there: drop handed over x 2 imports; one may crash", [*DROP_HANDED_OVER, I("I"), I("J")], there, "EFI", 1),
    Case(
        "there: change handed over x 2 imports; one may crash", [*CHANGE_HANDED_OVER, I("I"), I("J")], there, "EFI", 1
    ),
    Case(
        "left: zombie's drop, the same again x 2 imports; one may crash",
        [zombie("Z", "v1", "drop"), E("v1"), I("I"), I("J")],
        left,
        "ZEI",
        1,
    ),
    Case(
        "left: zombie's change, the same again x 2 imports; one may crash",
        [zombie("Z", "v1", "v2"), E("v1"), I("I"), I("J")],
        left,
        "ZEI",
        1,
    ),
    Case(
        "claimed: cleanup, drop x 2 imports; one may crash",
        [C(strong=True), E("drop"), I("I"), I("J")],
        claimed,
        "CEI",
        1,
    ),
    Case(
        "there: import handed over, change and back x another import",
        [E("v2", "v1"), *twins("I", "J", hands_over=True), I("K")],
        there,
    ),
    Case(
        "there: import handed over, drop x another import; one may crash",
        [E("drop"), *twins("I", "J", hands_over=True), I("K")],
        there,
        "EI",
        1,
    ),
]
"""Four actors, or many events: up to millions of states."""

CREATED = Case("nothing: create x import", [E("v1"), I("I")], nothing)
CREATED_AND_CHANGED = Case("nothing: create, change x import", [E("v1", "v2"), I("I")], nothing)
CREATED_TWICE = Case("nothing: 2 create x import", [E("v1"), E("v3", name="F"), I("I")], nothing)
DROPPED_BY_A_CREATE = Case("there: create that drops x import", [E("drop"), I("I")], there)

LATE_SMALL = [
    *(case for case in SMALL if case.label in {"there: change x import", "there: drop x import", "gone: import"}),
    *(case for case in SMALL if case.label in {"gone: drop, restore x import", "there: cleanup x 2 imports"}),
    CREATED,
    CREATED_AND_CHANGED,
    DROPPED_BY_A_CREATE,
    Case("nothing: create, may crash x import", [E("v1"), I("I")], nothing, "E", 1),
]
"""With reads that lag; each takes a moment."""

_LARGEST = {
    "there: drop and restore x 2 imports",
    "gone: drop, change x 2 imports",
    "there: import handed over x drop and restore",
}

LATE_LARGEST = [*(case for case in SMALL if case.label in _LARGEST), CREATED_TWICE]
"""With reads that lag: 37 million states together, and several GB of memory."""

LATE_LARGE = [
    *(case for case in SMALL if case not in LATE_SMALL + LATE_LARGEST),
    Case("nothing: create, cleanup x import", [E("v1"), C(), I("I")], nothing),
    Case("there: 2 exporters x import", [E("v2", update=True), E("drop", update=True, name="F"), I("I")], there),
    Case("nothing: create, drop, create x import", [E("v1", "drop", "v3"), I("I")], nothing),
    Case("nothing: create x change x import", [E("v1"), changes("F", "v1", "v2"), I("I")], nothing),
    Case("there: change handed over x import; one may crash", [*CHANGE_HANDED_OVER, I("I")], there, "EFI", 1),
    Case("there: drop handed over x import; one may crash", [*DROP_HANDED_OVER, I("I")], there, "EFI", 1),
    Case("there: drop twice x import; one may crash", [*DROPPED_TWICE, I("I")], there, "EI", 1),
]
"""With reads that lag: up to millions of states."""

HELD = [
    Case("held: leaves x import", [L(CLEANUP), I("I")], held),
    Case("held: leaves x 2 imports, one released", [L(CLEANUP), I("I"), I("J", releases=True)], held),
    Case("held: deleted x import", [L(DELETING), I("I")], held),
    Case("held: deleted x import, exports stay", [L(DELETING, at_once=False), I("I")], held),
    Case("held: leaves x import whose hold is gutted", [L(CLEANUP), I("I")], gutted),
    Case("held: leaves x import twice", [L(CLEANUP), *twins("I", "J")], held),
    Case("held: leaves x import handed over", [L(CLEANUP), *twins("I", "J", hands_over=True)], held),
    Case("held: leaves x import; both may crash", [L(CLEANUP), I("I", undone=True)], held, "LI", 2),
    Case("held: change and back x import", [E("v2", "v1", update=True), I("I")], held),
]
"""An Export names a CloudFormation export, which imports hold, and its producer leaves."""

PAIRS = [
    Case("pair, there: change x import", [E("v2", update=True, keys=PAIR), I("I", keys=PAIR)], both_there),
    Case("pair, there: drop x import", [E("drop", update=True, keys=PAIR), I("I", keys=PAIR)], both_there),
    Case("pair, there: one dropped x import", [E("v1", update=True), I("I", keys=PAIR)], both_there),
    Case("pair, gone: import", [I("I", keys=PAIR)], both_gone),
    Case("pair, gone: change x import", [E("v2", update=True, keys=PAIR), I("I", keys=PAIR)], both_gone),
    Case("pair, nothing: create x import", [E("v1", keys=PAIR), I("I", keys=PAIR)], nothing),
    Case("pair, there: cleanup x import", [C(), I("I", keys=PAIR)], both_there),
    Case("pair, there: import, released", [E("drop", keys=PAIR), I("I", releases=True, keys=PAIR)], both_there),
    Case("pair, there: drop x import; one may crash", [E("drop", keys=PAIR), I("I", keys=PAIR)], both_there, "EI", 1),
    Case("pair, gone: change x import; both may crash", [E("v2", keys=PAIR), I("I", keys=PAIR)], both_gone, "EI"),
]
"""Steps of several calls that do not depend on each other: in both orders, and with others in flight when one fails."""

_BOTH, _K = I("I", keys=PAIR), I("I")
_TWO = {
    "both create": ([one_of_two("E", "K=v1"), one_of_two("S", "L=v1"), _BOTH], nothing),
    "both create the same": ([one_of_two("E", "K=v1"), one_of_two("S", "K=v2"), _K], nothing),
    "one creates, one drops": ([one_of_two("E", "", "K=v1"), one_of_two("S", "L=v1"), _BOTH], there),
    "both drop": ([one_of_two("E", "", "K=v1"), one_of_two("S", "", "L=v1"), _BOTH], one_each),
    "a value moves": ([one_of_two("E", "", "K=v1"), one_of_two("S", "K=v1"), _K], there),
    "a value moves and changes": ([one_of_two("E", "", "K=v1"), one_of_two("S", "K=v2"), _K], there),
    "they swap": ([one_of_two("E", "L=v1", "K=v1"), one_of_two("S", "K=v1", "L=v1"), _BOTH], one_each),
}
TWO_EXPORTS = [
    Case(f"two Exports: {label} x import", actors, before, last=drop_both) for label, (actors, before) in _TWO.items()
]
"""Two Exports of a stack, for the same consumer."""

_WITH_KEY = [key_goes(), I("I")]
KEYS = [
    Case("key goes: create x import", [with_secret("v1"), *_WITH_KEY], nothing),
    Case("key goes: drop x import", [with_secret("drop", instead_of="v1"), *_WITH_KEY], secret),
    Case("key goes: drop x import of both", [with_secret("drop", instead_of="v1"), key_goes(), _BOTH], secret),
    Case("key goes: change x import", [with_secret("v2", instead_of="v1"), *_WITH_KEY], secret),
    Case("key goes: cleanup x import", [C(), *_WITH_KEY], secret),
]
"""The key of a secret goes at any time and comes back: its Export cannot read its own record meanwhile."""

_BACK = [with_secret("v2", instead_of="v1"), with_secret("v1", instead_of="v2", begins=ROLLBACK, name="F")]
LARGE_KEYS = [
    Case("key goes: change, rollback x import", [*_BACK, *_WITH_KEY], secret),
    Case(
        "key goes: drop x 2 imports", [with_secret("drop", instead_of="v1"), *_WITH_KEY, I("J", releases=True)], secret
    ),
]
"""The same: millions of states."""

_THERE, _FURTHER = f"@{OTHER}", f"@{THIRD}"
_V1, _V2 = f"v1{_THERE}", f"v2{_THERE}"
_CHANGE, _DROP = changes("E", _V1, _V2), changes("E", _V1, f"drop{_THERE}")
_I, _J = I("I", account=OTHER), I("J", account=OTHER, releases=True)
_CLEANUP = C(strong=True, account=OTHER)
_ABROAD = {
    "change": ([_CHANGE], abroad),
    "drop": ([_DROP], abroad),
    "deletion": ([deleted("E", _V1)], abroad),
    "move here": ([changes("E", f"v1{_FURTHER}", _V1)], third),
    "move on": ([changes("E", _V1, f"v1{_FURTHER}")], abroad),
    "gone, change": ([_CHANGE], gone_abroad),
    "creation": ([E(_V1)], nothing),
}
ABROAD = [
    Case(f"abroad: {label} x import", [*actors, _I], before, last=drop_abroad)
    for label, (actors, before) in _ABROAD.items()
]
"""An Export to another account, whose stacks cannot be asked about, and an import there, which asks about no others."""

ABROAD_DENIED = [
    Case(f"abroad: {label} x import; trust goes", [*actors, _I, trust_goes()], before, last=drop_abroad)
    for label, (actors, before) in _ABROAD.items()
]
"""The other account's trust goes at any call, and comes back."""

ABROAD_DENIED_ELSEWHERE = [
    Case(
        f"abroad: {label} x import; the other's trust goes", [*actors, _I, trust_goes(THIRD)], before, last=drop_abroad
    )
    for label, (actors, before) in _ABROAD.items()
    if label.startswith("move")
]

ABROAD_LARGE = [
    *(
        Case(f"abroad: {label} x 2 imports", [*actors, _I, _J], before, last=drop_abroad)
        for label, (actors, before) in _ABROAD.items()
    ),
    *(
        Case(f"abroad: {label} x 2 imports; trust goes", [*actors, _I, _J, trust_goes()], before, last=drop_abroad)
        for label, (actors, before) in _ABROAD.items()
    ),
    *(
        Case(f"abroad: {label} x import; may crash", [*actors, _I], before, "EI", 1, last=drop_abroad)
        for label, (actors, before) in _ABROAD.items()
    ),
    *(
        Case(
            f"abroad: {label} x import; trust goes, may crash",
            [*actors, _I, trust_goes()],
            before,
            "EI",
            1,
            last=drop_abroad,
        )
        for label, (actors, before) in _ABROAD.items()
    ),
    *(
        Case(f"abroad: {label} x cleanup", [*actors, _CLEANUP, _I], claimed_abroad, last=drop_abroad)
        for label, (actors, before) in _ABROAD.items()
        if before is abroad
    ),
    *(
        Case(
            f"abroad: {label} x cleanup; trust goes",
            [*actors, _CLEANUP, trust_goes()],
            claimed_abroad,
            last=drop_abroad,
        )
        for label, (actors, before) in _ABROAD.items()
        if before is abroad
    ),
]

LATE_PAIRS = [case for case in PAIRS if case.label in {"pair, nothing: create x import", "pair, there: drop x import"}]

BY_LABEL = {case.label: case for case in SMALL + LARGE + HELD + PAIRS + TWO_EXPORTS + KEYS}
