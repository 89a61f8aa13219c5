"""Manifests in JSON: one document, or several after each other. What changes is replaced, all the rest stays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref_manifests.errors import ManifestError
from strongref_manifests.text.documents import Document, Parsed, Spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref_toolkit.json_values import Json

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")


def parse(file: str, text: str) -> Parsed:
    """As `documents.Format.parse`."""
    documents: list[Document] = []
    spots: list[Spot] = []
    for start, end, content in _documents(file, text):
        documents.append(Document(len(documents) + 1, content))
        spots += _spots(file, text, start, end, len(documents))
    return Parsed(documents, spots)


def written(_spot: Spot, _text: str, value: Json) -> str:
    """As `documents.Format.written`: there is only one style."""
    plain = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if re.search("[\ud800-\udfff]", plain) else plain


plainly = written


def _documents(file: str, text: str) -> Iterator[tuple[int, int, Json]]:
    """Where each one begins and ends, and what is in it."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    at = _after_space(text, 0)
    while True:
        try:
            content, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            failed = ManifestError(file, error.lineno, error.msg)
        except RecursionError:
            failed = ManifestError(file, None, "it is nested too deeply")
        except ValueError:
            failed = ManifestError(
                file, None, "it has a number that JSON does not know, or that is too long to be read"
            )
        else:
            yield at, end, content
            at = _after_space(text, end)
            if at == len(text):
                return
            continue
        raise failed


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


@dataclass(slots=True)
class _Collection:
    """A map or a list that is being walked through: what leads to it, and to what comes next in it."""

    path: tuple[str | int, ...]
    step: str | int | None
    keys: set[str] = field(default_factory=set)

    @property
    def key_is_next(self) -> bool:
        return self.step is None

    def next_path(self) -> tuple[str | int, ...]:
        return self.path if self.step is None else (*self.path, self.step)

    def go_on(self) -> None:
        """Past a comma."""
        self.step = self.step + 1 if isinstance(self.step, int) else None


def _spots(file: str, text: str, start: int, end: int, document: int) -> Iterator[Spot]:
    """Where the keys and values of a document are, whose JSON is known to be right."""
    opened: list[_Collection] = []
    for token in _TOKEN.finditer(text, start, end):
        mark = token[0]
        if mark in "{[":
            path = opened[-1].next_path() if opened else ()
            opened.append(_Collection(path, None if mark == "{" else 0))
        elif mark in "}]":
            opened.pop()
        elif mark == ",":
            opened[-1].go_on()
        elif mark != ":":
            value = json.loads(mark)
            is_key = bool(opened) and opened[-1].key_is_next
            if is_key:
                _take_key(file, text, token.start(), opened[-1], value)
            path = opened[-1].next_path() if opened else ()
            yield Spot(document, path, value, token.start(), token.end(), is_key=is_key, style=mark[0])


def _take_key(file: str, text: str, at: int, collection: _Collection, key: str) -> None:
    if key in collection.keys:
        raise ManifestError(file, text.count("\n", 0, at) + 1, f"the key {key} stands twice in one map")
    collection.keys.add(key)
    collection.step = key
