"""What a stack has exported so far: one name, one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.objects.errors import ExportedTwiceError, NameClashError
from strongref.objects.naming import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.objects.base import Target
    from strongref.objects.collecting import Leaf
    from strongref.objects.naming import Path
    from strongref.objects.writing import Plan


class Exported:
    """The names that are taken, by place: CloudFormation's exports, a consumer in a region, or a prefix."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._things: dict[tuple[str, str], dict[Path, object]] = {}
        self._written: dict[str, Path] = {}

    def has(self, place: str, name: str) -> bool:
        """Whether something of that name was exported there."""
        return (place, name) in self._things

    def add(self, name: str, leaves: Mapping[Path, Leaf], plan: Plan) -> None:
        """Have a thing written, unless it was before: the same thing twice is one.

        Args:
            name: the string's or object's.
            leaves: all that it consists of.
            plan: how it would be written.

        Raises:
            ExportedTwiceError: the name stands for something else already.
            NameClashError: it would be written as another name is.
        """
        thing: dict[Path, object] = {
            path: (leaf.many, self._target.canonical(leaf.value)) for path, leaf in leaves.items()
        }
        places = [place for place in plan.places if not self._is_there(place, name, thing)]
        if not places:
            return
        written = dict(self._written)
        for path, text in plan.written.items():
            if written.setdefault(text, path) != path:
                raise NameClashError(shown(written[text]), shown(path), text)
        plan.put()
        for place in places:
            self._things[place, name] = thing
        self._written = written

    def _is_there(self, place: str, name: str, thing: Mapping[Path, object]) -> bool:
        former = self._things.get((place, name))
        if former is None:
            return False
        if former == thing:
            return True
        keys = [path for path in {**former, **thing} if former.get(path) != thing.get(path)]
        raise ExportedTwiceError(name, [shown(path) for path in keys if len(path) > 1])
