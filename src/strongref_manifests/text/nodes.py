"""Documents as text and as trees: every node knows the characters that it spans. Edits replace spans, the rest stays.

A reader of a format (`yaml_reader`, `json_reader`) tells a `TreeBuilder` what it finds, in the order of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from strongref_manifests.errors import ManifestError
from strongref_toolkit.json_values import Json, Path, Primitive, mapping

COMMENT = re.compile(r"(?:(?<=\s)|\A)#[^\r\n]*")

BLOCKS = ("|", ">")
"""Styles of text that stands on lines of its own."""

COMPLEX = "?"
"""The name of a key that is a map or a list."""

MERGE = "<<"

STR = "tag:yaml.org,2002:str"

_INDICATOR = re.compile(r"(?:\s|(?<=\s)#[^\r\n]*)*[-:?]")
"""What stands before a value that is left out: `-` of a list, `:` of a map."""


@dataclass(eq=False, slots=True, kw_only=True)
class Node:
    """A value or a key in a text."""

    value: Json = field(repr=False)  # what it is read as. An anchor and its aliases share one object
    start: int  # where it begins, in characters, with its tag and its anchor
    end: int  # where its own text ends; the lines that follow a block are not part of it
    tag: str | None = None  # its tag, if it has one
    document: int = 0  # the number of its document, from 1
    path: Path = ()  # what leads to it; of a key, what leads to its map, and its name
    flow: bool = False  # whether it stands between brackets, where less may be written without quotes
    is_key: bool = False  # whether it is a key or stands in one
    aliased: bool = False  # whether an alias stands for it elsewhere


@dataclass(eq=False, slots=True, kw_only=True)
class Scalar(Node):
    value: Primitive = field(repr=False)
    text: str = field(repr=False)  # its text, without quotes
    text_start: int  # where that begins, behind its tag and its anchor
    style: str | None = None  # a quotation mark, `|` or `>`; None for plain text

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written, as behind the key in `a:`."""
        return not self.text and self.style is None

    @property
    def text_only(self) -> bool:
        """Whether its tag says that it is text."""
        return self.tag == STR


@dataclass(eq=False, slots=True, kw_only=True)
class Alias(Node):
    """The place of a value that is written elsewhere."""

    target: Node = field(repr=False)  # that value


class Entry(NamedTuple):
    """A key with its value, or an item of a list."""

    key: Node | None
    node: Node

    @property
    def start(self) -> int:
        return (self.key or self.node).start

    @property
    def end(self) -> int:
        return self.node.end

    @property
    def flow(self) -> bool:
        return self.node.flow


@dataclass(eq=False, slots=True, kw_only=True)
class Collection(Node):
    """A map or a list."""

    brackets: bool  # whether it is written between brackets
    entries: list[Entry] = field(default_factory=list, repr=False)  # what is in it, in the order of the text
    pending: tuple[Node, str] | None = None  # while it is read, a key without its value, and that key's name


def entries_of(node: Node) -> list[Entry]:
    """What stands directly in a map or a list, also if an alias stands for it; nothing in anything else."""
    if isinstance(node, Alias):
        node = node.target
    return node.entries if isinstance(node, Collection) else []


def merged(value: Json) -> Json:
    """A value from YAML with what its merge keys stand for."""
    if isinstance(value, list):
        return [merged(each) for each in value]
    if not isinstance(value, dict):
        return value
    given = merged(value.get(MERGE))
    above = [mapping(each) for each in (given if isinstance(given, list) else [given])]
    found = {key: each for those in reversed(above) for key, each in those.items()}
    return found | {key: merged(each) for key, each in value.items() if key != MERGE}


def scalars_in(*nodes: Node | None) -> Iterator[Scalar]:
    """The keys and values in some nodes that have text, in their order."""
    for node in nodes:
        if isinstance(node, Scalar) and not node.is_empty:
            yield node
        elif isinstance(node, Collection):
            for entry in node.entries:
                yield from scalars_in(*entry)


@dataclass(slots=True)
class Document:
    number: int  # from 1
    start: int = 0  # where it begins
    root: Node | None = None  # all that is in it; None if it was not looked into

    @property
    def content(self) -> Json:
        """What a reader of the file finds in it."""
        return self.root.value if self.root else None

    def entry(self, path: Path) -> Entry | None:
        """The entry that a path leads to; None if there is none, or if it is behind an alias."""
        found = Entry(None, self.root) if self.root else None
        for step in path:
            if not found or not isinstance(found.node, Collection):
                return None
            found = next((each for each in found.node.entries if each.node.path[-1] == step), None)
        return found


class Parsed(NamedTuple):
    """What is in a text: its documents, and their keys and values that have text, in its order."""

    documents: list[Document]
    scalars: list[Scalar]


class TreeBuilder:
    """Makes trees of what a reader finds in a text."""

    def __init__(self, file: str, text: str) -> None:
        self.parsed = Parsed([], [])
        self.file = file
        self.text = text
        self._open: list[Collection] = []
        self._anchors: dict[str, Node] = {}
        self._at = 0

    @property
    def depth(self) -> int:
        """How many maps and lists are open."""
        return len(self._open)

    def begin_document(self, start: int) -> None:
        self.parsed.documents.append(Document(len(self.parsed.documents) + 1, start))
        self._anchors = {}

    def add(self, node: Node, name: str = COMPLEX, anchor: str | None = None) -> None:
        """Put a node where the next one belongs, under its name if it is a key; a map or list stays open up to `close`.

        Raises:
            ManifestError: a map has this key already.
        """
        node.document = len(self.parsed.documents)
        if anchor:
            self._anchors[anchor] = node
        elif isinstance(node, Scalar) and node.is_empty and not node.tag:
            self._move_back(node)
        if self._open:
            self._add_to(self._open[-1], node, name)
        else:
            self.parsed.documents[-1].root = node
        self._at = node.end
        if isinstance(node, Collection):
            self._open.append(node)
        elif isinstance(node, Scalar) and not node.is_empty:
            self.parsed.scalars.append(node)

    def add_alias(self, anchor: str, start: int, end: int) -> None:
        """Put a node there that stands for another one; `ManifestError` if there is no such anchor."""
        target = self._anchors.get(anchor)
        if not target:
            raise self._error(start, f"no anchor {anchor} stands before the alias *{anchor}")
        target.aliased = True
        self.add(Alias(value=target.value, start=start, end=end, target=target), f"*{anchor}")

    def close(self, end: int) -> None:
        """End the innermost map or list; one without brackets ends with the last thing in it."""
        closed = self._open.pop()
        closed.end = end if closed.brackets or not closed.entries else closed.entries[-1].end
        self._at = closed.end

    def _move_back(self, empty: Scalar) -> None:
        """Let a value that is left out end where it could have begun; readers find it where the next thing begins."""
        found = _INDICATOR.match(self.text, self._at)
        empty.start = empty.text_start = empty.end = min(empty.end, found.end() if found else self._at)

    def _add_to(self, above: Collection, node: Node, name: str) -> None:
        node.flow = above.flow or above.brackets
        node.is_key = above.is_key
        if isinstance(above.value, list):
            node.path = (*above.path, len(above.value))
            above.value.append(node.value)
            above.entries.append(Entry(None, node))
        elif isinstance(above.value, dict) and above.pending:
            key, name = above.pending
            node.path = (*above.path, name)
            above.value[name] = node.value
            above.entries.append(Entry(key, node))
            above.pending = None
        elif isinstance(above.value, dict):
            if name in above.value and name not in (COMPLEX, MERGE):
                raise self._error(node.start, f"the key {name} stands twice in one map")
            node.path = (*above.path, name)
            node.is_key = True
            above.pending = node, name

    def _error(self, at: int, problem: str) -> ManifestError:
        return ManifestError(self.file, line_of(self.text, at), problem)


class TextEdit(NamedTuple):
    """What stands in the place of some characters from now on."""

    start: int
    end: int
    text: str


def spliced(text: str, edits: Iterable[TextEdit]) -> str:
    """A text with edits made, which do not overlap; all the rest as it was, character by character."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def comments_between(text: str, start: int, end: int, scalars: Iterable[Scalar]) -> list[str]:
    """The comments of a part of a text, around the scalars in it and behind the headers of blocks."""
    found: list[str] = []
    at = start
    for scalar in scalars:
        found += COMMENT.findall(text[at : scalar.text_start])
        if scalar.style in BLOCKS:
            found += COMMENT.findall(text[scalar.text_start : scalar.end].partition("\n")[0])
        at = scalar.end
    found += COMMENT.findall(text[at:end])
    return [comment.rstrip() for comment in found]


def line_of(text: str, at: int) -> int:
    """The number of the line that a character stands on, from 1."""
    return text.count("\n", 0, at) + 1


def line_break(text: str) -> str:
    """The line break that a text is written with."""
    return "\r\n" if "\r\n" in text else "\n"
