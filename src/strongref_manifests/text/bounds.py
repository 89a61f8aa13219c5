"""How much a file may hold beyond its text: levels of maps and lists, and values that YAML's aliases repeat.

Without bounds a file of some hundred characters fills the memory: ten aliases to ten aliases to … .
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, DocumentStartEvent, ScalarEvent
from ruamel.yaml.scanner import Scanner

from strongref.macro.template import DEPTH_LIMIT
from strongref_manifests.errors import TOO_DEEP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ruamel.yaml.events import Event

ALIASED_LIMIT = 20_000
"""Values that aliases stand for in a file. Each 100 characters of a text count as one more."""

_TEXT = 100


@dataclass(eq=False)
class BoundsError(ValueError):
    """A file exceeds a bound."""

    problem: str
    line: int


@dataclass(slots=True)
class _Size:
    """How large something is with what its aliases stand for."""

    values: int = 1
    levels: int = 0
    anchor: str | None = None

    def add(self, other: _Size) -> None:
        self.values += other.values
        self.levels = max(self.levels, other.levels + 1)


class BoundedScanner(Scanner):
    """Stops at brackets that are nested too deeply: the scanner reads ahead, and is slower with each level."""

    def fetch_flow_collection_start(self, *given: Any, **named: Any) -> None:
        if len(self.flow_context) > DEPTH_LIMIT:
            raise BoundsError(TOO_DEEP, self.reader.line + 1)
        super().fetch_flow_collection_start(*given, **named)


class _Bounds:
    """The sizes of what is around an event."""

    def __init__(self) -> None:
        self._around = [_Size()]
        self._anchors: dict[str, _Size] = {}
        self._aliased = 0

    def check(self, event: Event) -> str:
        """What is wrong with the next event; empty if nothing is."""
        size = None
        if isinstance(event, DocumentStartEvent):
            self._around, self._anchors = [_Size()], {}
        elif isinstance(event, CollectionStartEvent):
            self._around.append(_Size(anchor=event.anchor))
        elif isinstance(event, CollectionEndEvent):
            size = self._around.pop()
        elif isinstance(event, ScalarEvent):
            size = _Size(1 + len(event.value) // _TEXT, anchor=event.anchor)
        elif isinstance(event, AliasEvent):
            if any(each.anchor == event.anchor for each in self._around):
                return f"the alias *{event.anchor} stands within what it stands for; write it out"
            size = replace(self._anchors.get(event.anchor, _Size()), anchor=None)
            self._aliased += size.values
        if size:
            self._around[-1].add(size)
            self._anchors |= {size.anchor: size} if size.anchor else {}
        if self._aliased > ALIASED_LIMIT:
            text = f"{ALIASED_LIMIT:,} values or {ALIASED_LIMIT * _TEXT:,} characters"
            return f"its aliases stand for more than {text}; use fewer aliases of aliases"
        deep = len(self._around) - 1 + (size.levels if size else 0) > DEPTH_LIMIT
        return TOO_DEEP if deep else ""


def bounded(events: Iterable[Event]) -> Iterator[Event]:
    """The events of a text in YAML.

    Raises:
        BoundsError: it is nested too deeply, or its aliases stand for too much, or for what they stand in.
    """
    bounds = _Bounds()
    for event in events:
        if problem := bounds.check(event):
            raise BoundsError(problem, event.start_mark.line + 1)
        yield event


def check_bounds(text: str) -> None:
    """Check a text in YAML that is then read by a library. Errors as `bounded`."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = BoundedScanner
    for _ in bounded(yaml.parse(text)):
        pass
