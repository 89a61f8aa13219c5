"""Text in pieces: what of it is a value already, and what may still hold tokens. Pure.

cdk8s gives what a resolver puts in a value's place to all resolvers again, the same one first. So it has to be known
what is a value that was fetched, and is not to be read for tokens: whoever could set it could have any other written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from strongref_toolkit.json_values import Json


class Piece(NamedTuple):
    """A piece of a text.

    Attributes:
        text: it.
        done: who need not look at it again; None where nobody is to.
    """

    text: str
    done: frozenset[object] | None = frozenset()

    def is_open_to(self, who: object) -> bool:
        return self.done is not None and who not in self.done


Text: TypeAlias = "tuple[Piece, ...]"


def text_of(pieces: Iterable[Piece]) -> str:
    """The whole text."""
    return "".join(piece.text for piece in pieces)


def with_values(pieces: Text, who: object, split: Callable[[str], Iterable[Piece]]) -> Text:
    """A text with its open pieces split: what comes out open has been seen by who splits it."""
    made: list[Piece] = []
    for piece in pieces:
        if piece.done is None or who in piece.done:
            made.append(piece)
        else:
            made += [part if part.done is None else Piece(part.text, piece.done | {who}) for part in split(piece.text)]
    return tuple(made)


def leaves(value: Json, path: tuple[str, ...] = ()) -> Iterable[tuple[tuple[str, ...], str]]:
    """Every text in a value, and the keys that lead to it, as cdk8s counts them: positions are text, too."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from leaves(below, (*path, str(number)))
