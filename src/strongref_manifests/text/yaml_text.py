"""Manifests in YAML, read: what ruamel.yaml finds in a text, and where each value stands in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
)
from ruamel.yaml.scanner import Scanner

from strongref_manifests.errors import ManifestError
from strongref_manifests.text.documents import Document, Parsed, Spot
from strongref_manifests.tokens import FORMS

if TYPE_CHECKING:
    from ruamel.yaml.events import Event
    from ruamel.yaml.tokens import ScalarToken

    from strongref_toolkit.json_values import (
        Json,
        Primitive,
    )

_STR = "tag:yaml.org,2002:str"

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
"""The core schema's (YAML 1.2.2, 10.3.2); other numbers are read as text here, and are left alone either way."""

_TOKEN = re.compile(rf"\$\{{(?:{'|'.join(FORMS)}):")


class _Recording(Scanner):
    """A scanner that takes down, by its end, where each scalar's own text begins: an event begins with its tag.

    It takes tabs for white space where Kubernetes' reader does: behind something on the same line, not before a key.
    """

    def __init__(self, begins: dict[int, int], loader: Any = None) -> None:  # noqa: ANN401 (as ruamel.yaml)
        super().__init__(loader)
        self._begins = begins

    def scan_plain(self) -> Any:  # noqa: ANN401
        return self._record(super().scan_plain())

    def scan_flow_scalar(self, style: Any) -> Any:  # noqa: ANN401
        return self._record(super().scan_flow_scalar(style))

    def scan_block_scalar(self, style: Any, rt: bool | None = False) -> Any:  # noqa: ANN401
        return self._record(super().scan_block_scalar(style, rt=rt))

    def scan_to_next_token(self) -> None:
        super().scan_to_next_token()
        while self.reader.peek() == "\t" and not self.allow_simple_key:
            self.reader.forward()
            super().scan_to_next_token()

    def scan_plain_spaces(self, indent: Any, start_mark: Any) -> Any:  # noqa: ANN401
        length = 0
        while self.reader.peek(length) in " \t":
            length += 1
        blank: str = self.reader.prefix(length)
        if "\t" not in blank:
            return super().scan_plain_spaces(indent, start_mark)
        self.reader.forward(length)
        if self.reader.peek() in "\r\n\x85\u2028\u2029":
            return super().scan_plain_spaces(indent, start_mark)
        return [blank]

    def _record(self, token: ScalarToken) -> ScalarToken:
        self._begins[token.end_mark.index] = token.start_mark.index
        return token


@dataclass(slots=True)
class _Collection:
    """A map or a list that is being read.

    Attributes:
        content: what has been read of it.
        path: the keys and positions that lead to it.
        flow: it is written between brackets.
        in_key: it is, or stands in, a key.
        key: of a map, the key whose value comes next; None where a key does.
    """

    content: dict[str, Json] | list[Json]
    path: tuple[str | int, ...]
    flow: bool
    in_key: bool
    key: str | None = None

    @property
    def key_is_next(self) -> bool:
        return isinstance(self.content, dict) and self.key is None

    def next_path(self) -> tuple[str | int, ...]:
        """What leads to the value that comes next."""
        return (*self.path, len(self.content) if isinstance(self.content, list) else self.key or "")

    def take(self, value: Json) -> None:
        """A value that has come."""
        if isinstance(self.content, list):
            self.content.append(value)
        else:
            self.content[self.key or ""] = value
            self.key = None


@dataclass(slots=True)
class _Reading:
    """A file at being read, event by event."""

    file: str
    text: str
    begins: dict[int, int]
    documents: list[Document] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    _open: list[_Collection] = field(default_factory=list)
    _anchors: dict[str, Json] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        if isinstance(event, DocumentStartEvent):
            self._anchors = {}
            self.documents.append(Document(len(self.documents) + 1, None))
        elif isinstance(event, AliasEvent):
            self._alias(event)
        elif isinstance(event, ScalarEvent):
            self._scalar(event)
        elif isinstance(event, CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, CollectionEndEvent):
            self._open.pop()

    def _alias(self, event: AliasEvent) -> None:
        name = event.anchor
        if name not in self._anchors:
            raise ManifestError(
                self.file, event.start_mark.line + 1, f"no anchor {name} stands before the alias *{name}"
            )
        self._place(self._anchors[name], f"*{name}", event)

    def _scalar(self, event: ScalarEvent) -> None:
        value = _read(event)
        start = self.begins.get(event.end_mark.index) if event.value or event.style else None
        collection = self._open[-1] if self._open else None
        is_key = collection is not None and collection.key_is_next
        path = (
            (*collection.path, event.value) if collection and is_key else collection.next_path() if collection else ()
        )
        if start is not None:
            self.spots.append(
                Spot(
                    len(self.documents),
                    path,
                    value,
                    start,
                    event.end_mark.index,
                    is_key=is_key or (collection is not None and collection.in_key),
                    style=event.style,
                    text_only=event.tag == _STR,
                    tagged=event.tag is not None,
                    flow=collection is not None and collection.flow,
                )
            )
        if event.anchor:
            self._anchors[event.anchor] = value
        self._place(value, event.value, event)

    def _begin(self, event: CollectionStartEvent) -> None:
        above = self._open[-1] if self._open else None
        is_key = above is not None and above.key_is_next
        path = (*above.path, "?") if above and is_key else above.next_path() if above else ()
        content: dict[str, Json] | list[Json] = {} if isinstance(event, MappingStartEvent) else []
        if event.anchor:
            self._anchors[event.anchor] = content
        self._place(content, "?", event)
        flow = bool(event.flow_style) or (above is not None and above.flow)
        self._open.append(_Collection(content, path, flow, is_key or (above is not None and above.in_key)))

    def _place(self, value: Json, as_key: str, event: Event) -> None:
        if not self._open:
            self.documents[-1] = Document(len(self.documents), value)
            return
        collection = self._open[-1]
        if not collection.key_is_next:
            collection.take(value)
            return
        if as_key in collection.content and as_key not in ("?", "<<"):
            raise ManifestError(self.file, event.start_mark.line + 1, f"the key {as_key} stands twice in one map")
        collection.key = as_key


def parse(file: str, text: str) -> Parsed:
    """As `documents.Format.parse`."""
    yaml = YAML(typ="safe", pure=True)
    begins: dict[int, int] = {}
    yaml.Scanner = partial(_Recording, begins)
    reading = _Reading(file, text, begins)
    try:
        for event in yaml.parse(text):
            reading.take(event)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "it is no YAML"
        failed = ManifestError(
            file, mark.line + 1 if mark else None, _explained(str(problem), text, mark.index if mark else 0)
        )
    except (YAMLError, ValueError) as error:  # a character that YAML does not allow; a %YAML line that is none
        failed = ManifestError(file, None, _explained(f"it is no YAML ({type(error).__name__})", text))
    else:
        return Parsed(reading.documents, reading.spots)
    raise failed


def _explained(problem: str, text: str, at: int = 0) -> str:
    """A problem at a place of a text, and what may lie behind it."""
    problem = " ".join(problem.split())
    if "'\\t'" in problem:
        return f"{problem}: there is a tab; write spaces"
    if at and _TOKEN.match(text, at - 1):  # whose { began a map
        return f'{problem}. Between brackets a token needs quotes, as in ["${{cfn:STACK.OUTPUT}}"]'
    if "{{" in text and "}}" in text:
        return f"{problem}. It looks like a template: render it first, as in helm template … | strongref resolve -"
    return problem


def _read(event: ScalarEvent) -> Primitive:
    """A scalar's value, by the core schema."""
    text: str = event.value
    return text if event.style is not None or event.tag is not None else plain_value(text)


def plain_value(text: str) -> Primitive:
    """What text without quotes and without a tag is, by the core schema."""
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    try:
        if _INTEGER.fullmatch(text):
            return int(text)
        return float(text) if _FLOAT.fullmatch(text) else text
    except ValueError:  # more digits than Python reads
        return text
