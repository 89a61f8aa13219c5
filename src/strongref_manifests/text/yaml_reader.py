"""Reads YAML: ruamel.yaml finds what is in a text, and where each part begins and ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scanner import Scanner

from strongref.macro.template import DEPTH_LIMIT
from strongref.untyped import Untyped
from strongref_manifests.errors import TOO_DEEP, ManifestError
from strongref_manifests.text.nodes import BLOCKS, Collection, Parsed, Scalar, TreeBuilder

if TYPE_CHECKING:
    from ruamel.yaml.tokens import ScalarToken

    from strongref_toolkit.json_values import Primitive

ALIASED_LIMIT = 20_000
"""Values that aliases stand for in a file. Each 100 characters of a text count as one more."""

_TEXT = 100


@dataclass(eq=False)
class BoundsError(ValueError):
    problem: str
    line: int


@dataclass(slots=True)
class _Size:
    """How large something is with what its aliases stand for."""

    values: int = 1
    levels: int = 0
    anchor: str | None = None

    def add(self, other: _Size) -> None:
        self.values += other.values
        self.levels = max(self.levels, other.levels + 1)


class BoundedScanner(Scanner):
    """Stops at brackets that are nested too deeply: the scanner reads ahead, and is slower with each level."""

    def fetch_flow_collection_start(self, *given: Any, **named: Any) -> None:
        if len(self.flow_context) > DEPTH_LIMIT:
            raise BoundsError(TOO_DEEP, self.reader.line + 1)
        super().fetch_flow_collection_start(*given, **named)


class _Bounds:
    """The sizes of what is around an event.

    Without bounds a file of some hundred characters fills the memory: ten aliases to ten aliases to … .
    """

    def __init__(self) -> None:
        self._around = [_Size()]
        self._anchors: dict[str, _Size] = {}
        self._aliased = 0

    def check(self, event: events.Event) -> str:
        """What is wrong with the next event; empty if nothing is."""
        size = None
        if isinstance(event, events.DocumentStartEvent):
            self._around, self._anchors = [_Size()], {}
        elif isinstance(event, events.CollectionStartEvent):
            self._around.append(_Size(anchor=event.anchor))
        elif isinstance(event, events.CollectionEndEvent):
            size = self._around.pop()
        elif isinstance(event, events.ScalarEvent):
            size = _Size(1 + len(event.value) // _TEXT, anchor=event.anchor)
        elif isinstance(event, events.AliasEvent):
            if any(each.anchor == event.anchor for each in self._around):
                return f"the alias *{event.anchor} stands within what it stands for; write it out"
            size = replace(self._anchors.get(event.anchor, _Size()), anchor=None)
            self._aliased += size.values
        if size:
            self._around[-1].add(size)
            self._anchors |= {size.anchor: size} if size.anchor else {}
        if self._aliased > ALIASED_LIMIT:
            text = f"{ALIASED_LIMIT:,} values or {ALIASED_LIMIT * _TEXT:,} characters"
            return f"its aliases stand for more than {text}; use fewer aliases of aliases"
        deep = len(self._around) - 1 + (size.levels if size else 0) > DEPTH_LIMIT
        return TOO_DEEP if deep else ""


def bounded(found: Iterable[events.Event]) -> Iterator[events.Event]:
    """The events of a text in YAML.

    Raises:
        BoundsError: it is nested too deeply, or its aliases stand for too much, or for what they stand in.
    """
    bounds = _Bounds()
    for event in found:
        if problem := bounds.check(event):
            raise BoundsError(problem, event.start_mark.line + 1)
        yield event


def check_bounds(text: str) -> None:
    """Check a text in YAML that is then read by a library. Errors as `bounded`."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = BoundedScanner
    for _ in bounded(yaml.parse(text)):
        pass


_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
"""The core schema's (YAML 1.2.2, 10.3.2); other numbers are read as text here, and are left alone either way."""


class _PositionScanner(BoundedScanner):
    """A scanner that records, by its end, where each scalar's own text begins: an event begins with its tag.

    It accepts tabs where Kubernetes does: behind something on the same line, not before a key.
    """

    def __init__(self, text_starts: dict[int, int], loader: Untyped = None) -> None:
        super().__init__(loader)
        self._text_starts = text_starts

    def scan_plain(self) -> Untyped:
        return self._record(super().scan_plain())

    def scan_flow_scalar(self, style: Untyped) -> Untyped:
        return self._record(super().scan_flow_scalar(style))

    def scan_block_scalar(self, style: Untyped, rt: bool | None = False) -> Untyped:
        return self._record(super().scan_block_scalar(style, rt=rt))

    def scan_to_next_token(self) -> None:
        super().scan_to_next_token()
        while self.reader.peek() == "\t" and not self.allow_simple_key:
            self.reader.forward()
            super().scan_to_next_token()

    def scan_plain_spaces(self, indent: Untyped, start_mark: Untyped) -> Untyped:
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
        self._text_starts[token.end_mark.index] = token.start_mark.index
        return token


def parse(file: str, text: str, explain: Callable[[str, int], str] = lambda _text, _at: "") -> Parsed:
    """The documents of a text. What may lie behind a problem at a character, `explain` adds to the problem's sentence.

    Raises:
        ManifestError: it is not YAML, or a map has a key twice, or it exceeds a bound.
    """
    yaml = YAML(typ="safe", pure=True)
    text_starts: dict[int, int] = {}
    yaml.Scanner = partial(_PositionScanner, text_starts)
    builder = TreeBuilder(file, text)
    try:
        for event in bounded(yaml.parse(text)):
            _add(builder, event, text, text_starts)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(str(error.problem or error.context or "it is not YAML").split())
        why = ": there is a tab; write spaces" if "'\\t'" in problem else explain(text, mark.index if mark else 0)
        failed = ManifestError(file, mark.line + 1 if mark else None, f"{problem}{why or '; correct the YAML there'}")
    except BoundsError as error:
        failed = ManifestError(file, error.line, error.problem)
    except (YAMLError, ValueError) as error:  # a character that YAML does not allow; a %YAML line that is none
        failed = ManifestError(file, None, f"it is not YAML ({type(error).__name__}){explain(text, 0)}")
    else:
        return builder.parsed
    raise failed


def _add(builder: TreeBuilder, event: events.Event, text: str, text_starts: dict[int, int]) -> None:
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, events.ScalarEvent):
        text_start = text_starts[end] if event.value or event.style else end
        value = event.value if event.style is not None or event.tag is not None else plain_value(event.value)
        node = Scalar(
            value=value,
            start=start,
            end=_block_end(text, text_start, end, event.value) if event.style in BLOCKS else end,
            tag=event.tag,
            text=event.value,
            text_start=text_start,
            style=event.style,
        )
        builder.add(node, event.value, event.anchor)
    elif isinstance(event, events.CollectionStartEvent):
        content: dict[str, Any] | list[Any] = {} if isinstance(event, events.MappingStartEvent) else []
        brackets = bool(event.flow_style)
        opened = Collection(value=content, start=start, end=end, tag=event.tag, brackets=brackets)
        builder.add(opened, anchor=event.anchor)
    elif isinstance(event, events.CollectionEndEvent):
        builder.close(end)
    elif isinstance(event, events.AliasEvent):
        builder.add_alias(event.anchor, start, end)
    elif isinstance(event, events.DocumentStartEvent):
        builder.begin_document(start)


def _block_end(text: str, start: int, end: int, value: str) -> int:
    """Where a block of text ends: YAML counts all empty lines behind it as its own, and only `|+` keeps them."""
    if value.endswith("\n\n") and text[end - 1] == "\n":
        return end - 1
    return start + len(text[start:end].rstrip())


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
