"""Lists where a channel has only text: their items joined by commas. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from strongref_objects.errors import BadValueError
from strongref_objects.naming import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strongref_objects.base import Text, TextList
    from strongref_objects.naming import Path

COMMA = ","


def joined(path: Path, value: TextList, is_unresolved: Callable[[object], bool]) -> Text:
    """A list as one text, or what stands for it.

    Args:
        path: of the list, for errors.
        value: the items, or what stands for all of them.
        is_unresolved: tells what stands for a value.

    Raises:
        BadValueError: there is no item, or one that could not be told apart again.
    """
    if isinstance(value, Mapping):
        return {"Fn::Join": [COMMA, value]}
    check_items(path, value, is_unresolved)
    if any(is_unresolved(item) for item in value):
        return {"Fn::Join": [COMMA, list(value)]}
    return COMMA.join(cast("Sequence[str]", value))


def check_items(path: Path, items: Sequence[Text], is_unresolved: Callable[[object], bool]) -> None:
    """Raises `BadValueError` if there is no item, or one that could not be told apart again once they are joined."""
    if not items:
        raise BadValueError(
            shown(path), "it is an empty list, which joined by commas would be one empty item; leave it out"
        )
    for number, item in enumerate(items, start=1):
        if is_unresolved(item):
            continue
        if not item:
            raise BadValueError(
                shown(path), f"its item {number} is empty, which a list joined by commas cannot hold; leave it out"
            )
        if COMMA in item:
            raise BadValueError(
                shown(path),
                f"its item {number} holds a comma, which parts the items of a list; make them parts of an object",
            )


def split(text: str) -> list[str]:
    """The items of a list that was joined."""
    return text.split(COMMA)
