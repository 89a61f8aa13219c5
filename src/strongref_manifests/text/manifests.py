"""Manifests: files of documents in YAML or JSON, read, and written with other values in some places."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref_manifests.errors import ManifestError
from strongref_manifests.text import json_text, yaml_style, yaml_text
from strongref_manifests.text.documents import Document, Format, Parsed, spliced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref_manifests.text.documents import Spot
    from strongref_toolkit.json_values import Json

YAML = Format(yaml_text.parse, yaml_style.written, yaml_style.plainly)
JSON = Format(json_text.parse, json_text.written, json_text.plainly)

FORMATS = {".yaml": YAML, ".yml": YAML, ".json": JSON}
"""By the ending of a file's name."""

_TOKENS = re.compile(r"\$(?:\{|\\[\r\n])|\\(?:x|u00|U000000)(?:24|7b)", re.IGNORECASE)
"""Where a token or `$${` can be: `${`, also with a line break or an escape for one of the two in it."""

_MARKER = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
"""The beginning of a document; nothing else stands so at the beginning of a line (YAML 1.2.2, 9.1.2)."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A file, read.

    Attributes:
        file: its name, for people.
        text: all of it.
        format: how it is written.
        parsed: what is in it.
    """

    file: str
    text: str
    format: Format
    parsed: Parsed

    def replaced(self, values: Mapping[Spot, Json]) -> str:
        """The text with other values in some spots; without any, the text as it is.

        It is read again before it is given away: nothing else has changed, and the new values are read as they are.

        Raises:
            ResolveError: a value cannot be written where it is to stand.
        """
        if not values:
            return self.text
        for write in (self.format.written, self.format.plainly):
            text = spliced(self.text, {spot: write(spot, self.text, value) for spot, value in values.items()})
            if self._reads(text, values):
                return text
        line = self.text.count("\n", 0, min(spot.start for spot in values)) + 1
        raise ManifestError(self.file, line, "values cannot be written there so that they are read again as they are")

    def _reads(self, text: str, values: Mapping[Spot, Json]) -> bool:
        try:
            parsed = self.format.parse(self.file, text)
        except ManifestError:
            return False
        wanted: list[Json] = []
        for spot in self.parsed.spots:
            if spot in values:
                value = values[spot]
                wanted += [json.dumps(value)] if spot.text_only and _is_number(value) else _leaves(value)
            else:
                wanted.append(spot.value)
        found = [spot.value for spot in parsed.spots]
        return [(type(each), each) for each in found] == [(type(each), each) for each in wanted]


def read(file: str, data: bytes, form: Format | None = None, *, tokens_only: bool = False) -> Manifest:
    """A file's content.

    Args:
        file: its name, for people.
        data: all of it.
        form: how it is written; by default JSON if it begins as JSON does and can be read as such, else YAML.
        tokens_only: whether it is only for our own tokens' sake: YAML without any is not looked into any further, since
            that takes seconds for each MB, and nothing in such a file changes, whatever it is.

    Raises:
        ManifestError: it is not written so.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        failed = ManifestError(file, data.count(b"\n", 0, error.start) + 1, "it is no text in UTF-8")
    else:
        if form is YAML and tokens_only and not _TOKENS.search(text):
            return Manifest(file, text, form, Parsed(_documents(text), ()))
        if form:
            return Manifest(file, text, form, form.parse(file, text))
        if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
            try:
                return read(file, data, JSON)
            except ManifestError:
                pass  # YAML in brackets, or neither: then its error is told
        return read(file, data, YAML, tokens_only=tokens_only)
    raise failed


def _documents(text: str) -> list[Document]:
    """Those of a text in YAML whose content does not matter."""
    before, *others = _MARKER.split(text)
    first = [before] if re.search(r"^[^#%\s]", before.replace("\ufeff", ""), re.MULTILINE) else []
    return [Document(number, None) for number, _ in enumerate([*first, *others], 1)]


def _is_number(value: Json) -> bool:
    return isinstance(value, bool | int | float)


def _leaves(value: Json) -> Iterator[Json]:
    """The single values of a value, and its keys, in the order in which they are written."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from _leaves(below)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
