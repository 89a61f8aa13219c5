"""What a stack has exported so far: one name, one thing; and what it imports, which is something else."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from strongref_objects.errors import ExportedTwiceError, NameClashError, OwnExportError
from strongref_objects.naming import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref_objects.base import Target
    from strongref_objects.collecting import Leaf
    from strongref_objects.naming import Path
    from strongref_objects.writing import Plan


class Exported:
    """The names that are taken, by place: CloudFormation's exports, a consumer in a region, or a prefix.

    What a value is called there is taken too: the name of its export, or its parameter's.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._things: dict[tuple[str, str], dict[Path, object]] = {}
        self._written: dict[str, Path] = {}
        self._imported: set[str] = set()

    @contextmanager
    def importing(self, path: Path, written: str) -> Iterator[str]:
        """While a value is imported, which from then on is not exported any more; but for one that fails.

        Args:
            path: the value's.
            written: what it is called, which is given on.

        Raises:
            OwnExportError: it is exported already.
        """
        if written in self._written:
            raise OwnExportError(shown(path), self._target.name)
        yield written
        self._imported.add(written)

    def add(self, name: str, leaves: Mapping[Path, Leaf], plan: Plan) -> None:
        """Have a thing written, unless it was before: the same thing twice is one.

        Args:
            name: the string's or object's.
            leaves: all that it consists of.
            plan: how it would be written.

        Raises:
            ExportedTwiceError: the name stands for something else already.
            NameClashError: it would be written as another name is, or below it.
            OwnExportError: it is imported.
        """
        thing: dict[Path, object] = {
            path: (leaf.many, self._target.canonical(leaf.value)) for path, leaf in leaves.items()
        }
        places = [place for place in plan.places if not self._is_there(place, name, thing)]
        if not places:
            return
        written = dict(self._written)
        for path, text in plan.written.items():
            if text in self._imported:
                raise OwnExportError(shown(path), self._target.name)
            if written.setdefault(text, path) != path:
                raise NameClashError(shown(written[text]), shown(path), text)
        _check_levels(written)
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


def _check_levels(written: Mapping[str, Path]) -> None:
    """Below the name of a value there is no other one: what is below a name is an object's, if names have levels.

    Raises:
        NameClashError: there is.
    """
    for text, path in written.items():
        above = text
        while "/" in above.lstrip("/"):
            above = above.rpartition("/")[0]
            if above in written:
                raise NameClashError(shown(written[above]), shown(path), f"{above}, or below it")
