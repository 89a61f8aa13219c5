"""Values that are all there already: a tree of texts, lists and maps, as it came out of JSON or of variables. Pure."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from strongref_objects.errors import NothingToImportError
from strongref_objects.naming import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref_objects.naming import Path


def at(tree: Mapping[str, Any], path: Path, where: str, spell: Callable[[str], str] = str) -> Any:  # noqa: ANN401 (JSON)
    """What stands at a path.

    Args:
        tree: the values.
        path: the keys, as objects have them.
        where: the tree came from, for errors.
        spell: how a key is written in the tree.

    Raises:
        NothingToImportError: nothing does.
    """
    found: Any = tree
    for key in path:
        if not isinstance(found, dict) or spell(key) not in found:
            there = [each for each in found if isinstance(each, str)] if isinstance(found, dict) else []
            raise NothingToImportError(shown(path), where, get_close_matches(spell(key), there, 3))
        found = found[spell(key)]
    return found
