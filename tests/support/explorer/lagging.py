"""A Parameter Store whose reads may lag: a read returns what was stored at some time in the last few ticks.

Each parameter is read for itself, and a caller's own writes are no exception. Writes apply to what is stored. Time
passes in ticks, between any two calls, as often as the explorer likes.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from tests.support.fake_ssm import FakeSsm, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Past = frozenset[tuple[str, frozenset[tuple[Slot, int]]]]
"""By name, what may still be read: what it was, and how many ticks ago it was superseded."""

NOTHING = Slot(0, None)


class LaggingSsm(FakeSsm):
    """A store that remembers, for `lag` ticks, what was stored before."""

    def __init__(self, region: str, account: str, lag: int) -> None:
        super().__init__(region, account)
        self.lag = lag
        self._past: dict[str, dict[Slot, int]] = {}

    @property
    def past(self) -> Past:
        return frozenset((name, frozenset(old.items())) for name, old in self._past.items())

    @past.setter
    def past(self, past: Past) -> None:
        self._past = {name: dict(old) for name, old in past}

    def tick(self) -> None:
        """Time passes."""
        for name, old in list(self._past.items()):
            self._keep(name, {slot: age + 1 for slot, age in old.items() if age < self.lag})

    def normalize(self, names: Callable[[str], bool], change: Callable[[Slot], Slot]) -> None:
        """Make past slots of these names equal that differ in nothing that is read."""
        for name, old in [each for each in self._past.items() if names(each[0])]:
            current = self._slots.get(name, NOTHING)
            kept: dict[Slot, int] = {}
            for slot, age in old.items():
                changed = change(slot)
                if changed != current:
                    kept[changed] = min(age, kept.get(changed, age))
            self._keep(name, kept)

    def readings(self, method: str, request: dict[str, Any], perform: Callable[[], Any]) -> Iterator[Any]:
        """Every answer that a read may get; an error is yielded like an answer."""
        names = [name for name in self._past if is_read(name, method, request)]
        now = {name: self._slots.get(name, NOTHING) for name in names}
        for chosen in product(*([now[name], *self._past[name]] for name in names)):
            self._slots.update(zip(names, chosen, strict=True))
            yield perform()
        self._slots.update(now)

    def _set(self, name: str, slot: Slot) -> None:
        before = self._slots.get(name, NOTHING)
        super()._set(name, slot)
        if self.lag and before != slot:
            old = {**self._past.get(name, {}), before: 0}
            old.pop(slot, None)
            self._keep(name, old)

    def _keep(self, name: str, old: dict[Slot, int]) -> None:
        if old:
            self._past[name] = old
        else:
            self._past.pop(name, None)


def is_read(name: str, method: str, request: dict[str, Any]) -> bool:
    """Whether a call of an SSM client reads a parameter of that name."""
    if method == "get_parameters_by_path":
        return name.startswith(request["Path"].rstrip("/") + "/")
    if method == "get_parameters":
        return name in request["Names"]
    return method == "list_tags_for_resource" and name == request["ResourceId"]
