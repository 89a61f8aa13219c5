"""A manifest as text with values in it: where each one stands, and what it is written as."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from strongref_toolkit.json_values import (
        Json,
        Primitive,
    )


@dataclass(frozen=True, slots=True)
class Document:
    """One of a file's documents.

    Attributes:
        number: from 1.
        content: all of it, as a reader of the file would have it. An anchor and its aliases are one object.
    """

    number: int
    content: Json = field(repr=False)


@dataclass(frozen=True, slots=True)
class Spot:
    """A value, or a key, as it is written.

    Attributes:
        document: the number of the document that it stands in.
        key: the keys and positions that lead to it; of a key, those that lead to its map, and itself.
        value: what it is read as.
        start: where it begins in the text, in characters.
        end: where it ends.
        is_key: whether it is a key.
        style: how it is written: None for plain text, a quotation mark, `|` or `>`.
        text_only: its tag says that it is text.
        tagged: it has a tag.
        flow: it stands between brackets, where less may be written without quotes.
    """

    document: int
    key: tuple[str | int, ...]
    value: Primitive = field(repr=False)
    start: int
    end: int
    is_key: bool = False
    style: str | None = None
    text_only: bool = False
    tagged: bool = False
    flow: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """What is in a text."""

    documents: Sequence[Document]
    spots: Sequence[Spot]


@dataclass(frozen=True, slots=True)
class Format:
    """How manifests are written.

    Attributes:
        parse: where everything is, from a file's name (for errors) and its text; it raises `ManifestError` where the
            text is not of this format.
        written: what is to stand in the place of a spot of a text, so that it is read as another value, in the style
            that it is written in if possible; it raises `ResolveError` where no such value can stand.
        plainly: the same without regard to style: on one line, text in quotes.
    """

    parse: Callable[[str, str], Parsed]
    written: Callable[[Spot, str, Json], str]
    plainly: Callable[[Spot, str, Json], str]


def spliced(text: str, pieces: Mapping[Spot, str]) -> str:
    """A text with something else in the place of some spots; all the rest as it was, character by character."""
    parts: list[str] = []
    at = 0
    for spot in sorted(pieces, key=lambda each: each.start):
        parts += [text[at : spot.start], pieces[spot]]
        at = spot.end
    return "".join([*parts, text[at:]])
