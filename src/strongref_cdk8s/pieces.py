"""Text in pieces: which parts are fetched values, and which may still hold tokens. Pure.

cdk8s passes what a resolver returned to all resolvers again, that one first. A fetched value must not be read for
tokens then: anyone who can set the value could have any other value written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Piece(NamedTuple):
    text: str  # the piece
    # the resolvers that have read it for tokens; None for a fetched value, which none may read
    done: frozenset[object] | None = frozenset()

    def is_open_to(self, resolver: object) -> bool:
        return self.done is not None and resolver not in self.done


Text: TypeAlias = "tuple[Piece, ...]"


def text_of(pieces: Iterable[Piece]) -> str:
    """The whole text."""
    return "".join(piece.text for piece in pieces)


def with_values(pieces: Text, resolver: object, split: Callable[[str], Iterable[Piece]]) -> Text:
    """A text with the pieces split that are open to a resolver; the parts are not open to it any more."""
    made: list[Piece] = []
    for piece in pieces:
        if piece.done is None or resolver in piece.done:
            made.append(piece)
            continue
        done = piece.done | {resolver}
        made += [part if part.done is None else Piece(part.text, done) for part in split(piece.text)]
    return tuple(made)
