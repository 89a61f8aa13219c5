"""The objects of `strongref objects` by their types: ready ones, a caller's own, or what an object's names show."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from strongref.errors import StrongRefError
from strongref.text import some
from strongref_objects.types import READY, Declared
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    from strongref_objects.base import SerializationContext
    from strongref_objects.stored_objects import StoredObject

INDENT = "  "


def resolve_type(name: str | None) -> type[Declared] | None:
    """A ready type, or a class of a module; None without a name. Raises `UsageError`: there is no such type."""
    if name is None:
        return None
    module, colon, attribute = name.rpartition(":")
    if not colon:
        known = {each.lower(): each for each in READY}
        if name.lower() in known:
            return READY[known[name.lower()]]
        close = get_close_matches(name.lower(), known, 2) or known
        raise UsageError(f"--type must be a type such as {some([known[each] for each in close], 20)}, got {name[:60]}")
    sys.path.insert(0, "")  # As python -m does: the program's own modules are in the current folder.
    try:
        with redirect_stdout(sys.stderr):  # As in `write_object`.
            found = getattr(import_module(module), attribute, None)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a caller's module can raise anything)
        found, problem = None, f"{module[:100]} cannot be imported: {type(error).__name__}"
    else:
        problem = f"{name[:200]} must be a class with a method deserialize, as in package.module:Class"
    if not isinstance(found, type) or not callable(getattr(found, "deserialize", None)):
        raise UsageError(f"--type: {problem}")
    return cast("type[Declared]", found)


def write_object(stored: StoredObject, of: type[Declared] | None, ctx: SerializationContext) -> None:
    """Write an object to a context, as one of its type, or as the tree that its names show.

    Raises:
        UsageError: the type is a caller's own, and raises an error.
        StrongRefError: as its methods.
    """
    if of is None:
        _Tree(stored.tree).serialize(ctx)
        return
    try:
        with redirect_stdout(sys.stderr):  # A shell evaluates standard output, whatever a caller's module prints.
            found = of.deserialize(stored.read())
            if callable(getattr(found, "serialize", None)):
                found.serialize(ctx)
                return
            problem = "what it reads has no serialize"
    except StrongRefError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a caller's class can raise anything; its text can hold values)
        problem = f"it raised {type(error).__name__}"
    raise UsageError(f"--type: {of.__name__[:100]} cannot be used: {problem}")


class _Tree:
    """An object without a known type."""

    def __init__(self, tree: Mapping[str, Any]) -> None:
        self._tree = tree

    def serialize(self, ctx: SerializationContext) -> None:
        for key, value in self._tree.items():
            if isinstance(value, dict):
                ctx.write_object(key, _Tree(value))
            elif isinstance(value, list):
                ctx.write_string_list(key, value)
            else:
                ctx.write_string(key, value)


def printable_tree(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, dict | list):
            yield f"{indent}{key}:"
            below = f"{indent}{INDENT}"
            if isinstance(value, dict):
                yield from printable_tree(value, below)
            else:
                yield from (f"{below}- {_printable(item)}" for item in value)
        else:
            yield f"{indent}{key}: {_printable(value)}"


def _printable(value: str) -> str:
    """A value on one line: quoted if it has several lines, or control characters for a terminal."""
    return value if value.isprintable() else json.dumps(value)
