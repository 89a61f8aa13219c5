"""What a channel writes for an object, planned and checked before anything is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from strongref.contract.values import parse_values
from strongref.errors import BadRequestError
from strongref_objects.base import Target, Text, errors
from strongref_objects.base.names import Path, item_path, shown
from strongref_objects.base.values import LAZY, Leaf


@dataclass(frozen=True, slots=True)
class WritePlan:
    """What a channel writes for some values. Planning raises `ObjectError` if it cannot carry a name or a value."""

    namespaces: tuple[str, ...]  # where a name must be unique: for two regions, there are two
    written: Mapping[Path, str]  # what each value is called, if different names could be written as one
    put: Callable[[], None]  # writes everything to the template


def check_free(target: Target, logical_id: str, purpose: str) -> None:
    """Raises `LogicalIdTakenError` if the template uses a logical ID for something of its own."""
    if target.has(logical_id):
        raise errors.LogicalIdTakenError(logical_id, target.name, purpose)


def check_storable(target: Target, path: Path, leaf: Leaf) -> None:
    """Raises `BadValueError` if Parameter Store cannot hold a value, as far as the value is known."""
    known: object = None
    if isinstance(leaf.value, str) and not target.is_unresolved(leaf.value):
        known = leaf.value
    elif leaf.is_list and isinstance(leaf.value, list):
        items = [item for item in leaf.value if not target.is_unresolved(item)]
        known = items if items or not leaf.value else None
    if known is None:
        return
    try:
        parse_values("", {path[-1]: known}, ())
    except BadRequestError as error:
        raise errors.BadValueError(shown(path), f"it {error.problem}") from None


def with_items(target: Target, leaves: Mapping[Path, Leaf]) -> dict[Path, Leaf]:
    """The values, and each item of a list as a value of its own.

    So imports hold the items that they use, and the list can grow. An item is identified by what it is in the template,
    as a subnet by its logical ID: items can be added anywhere. A list that is one function has no items here.
    """
    found = dict(leaves)
    for path, leaf in leaves.items():
        items = target.canonical(leaf.value) if leaf.is_list and leaf.is_held else None
        if not isinstance(items, list) or len(items) != len(leaf.value):
            continue
        for item, canonical in zip(cast("Sequence[Text]", leaf.value), items, strict=True):
            identity = json.dumps(canonical, sort_keys=True)
            if canonical and LAZY not in identity:  # A lazy value has another identity in each run.
                found.setdefault(item_path(path, identity), Leaf(item, is_list=False, description=leaf.description))
    return found


class ExportedNames:
    """The names that one template exports and imports.

    A name is unique in its namespace: CloudFormation's exports, a consumer in a region, or a prefix. So is what a value
    is called there: the name of its export, or its parameter's.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._things: dict[tuple[str, str], dict[Path, object]] = {}
        self._written: dict[str, Path] = {}
        self._imported: set[str] = set()

    @contextmanager
    def importing(self, path: Path, written: str) -> Iterator[str]:
        """Import a value by what it is called; unless that fails, the template can no longer export it.

        Raises:
            OwnExportError: the template exports it.
        """
        if written in self._written:
            raise errors.OwnExportError(shown(path), self._target.name)
        yield written
        self._imported.add(written)

    def add(self, name: str, leaves: Mapping[Path, Leaf], plan: WritePlan) -> None:
        """Write a string or object with all of its values, unless the same was written before.

        Raises:
            ExportedTwiceError: the name stands for something else.
            NameClashError: a value would have the same written name as another one, or a name below it.
            OwnExportError: the template imports it.
        """
        thing: dict[Path, object] = {
            path: (leaf.is_list, self._target.canonical(leaf.value)) for path, leaf in leaves.items()
        }
        namespaces = [each for each in plan.namespaces if not self._has(each, name, thing)]
        if not namespaces:
            return
        written = dict(self._written)
        for path, text in plan.written.items():
            if text in self._imported:
                raise errors.OwnExportError(shown(path), self._target.name)
            if written.setdefault(text, path) != path:
                raise errors.NameClashError(shown(written[text]), shown(path), text)
        _check_levels(written)
        plan.put()
        for namespace in namespaces:
            self._things[namespace, name] = thing
        self._written = written

    def _has(self, namespace: str, name: str, thing: Mapping[Path, object]) -> bool:
        former = self._things.get((namespace, name))
        if former is None:
            return False
        if former == thing:
            return True
        keys = [path for path in {**former, **thing} if former.get(path) != thing.get(path)]
        raise errors.ExportedTwiceError(name, [shown(path) for path in keys if len(path) > 1])


def _check_levels(written: Mapping[str, Path]) -> None:
    """Raises `NameClashError` for a name below that of a value: levels of names are those of an object's parts."""
    for text, path in written.items():
        above = text
        while "/" in above.lstrip("/"):
            above = above.rpartition("/")[0]
            if above in written:
                raise errors.NameClashError(shown(written[above]), shown(path), f"{above}, or below it")
