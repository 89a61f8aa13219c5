"""Manifests: files of documents in YAML or JSON, read, and written with other values in some places."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongref.errors import or_else
from strongref_manifests.errors import ManifestError
from strongref_manifests.text import json_reader, styles, yaml_reader
from strongref_manifests.text.nodes import Document, Parsed, Scalar, TextEdit, line_of, spliced
from strongref_manifests.tokens import FORMS
from strongref_toolkit.errors import os_problem
from strongref_toolkit.json_values import Json, keys_and_values

if TYPE_CHECKING:
    from pathlib import Path


_TOKEN = re.compile(rf"\$\{{(?:{'|'.join(FORMS)}):")

_TOKENS = re.compile(r"\$(?:\{|\\[\r\n])|\\(?:x|u00|U000000)(?:24|7b)", re.IGNORECASE)
"""Where a token or `$${` can be: `${`, also with a line break or an escape for one of the two in it."""

_MARKER = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
"""The beginning of a document; nothing else stands so at the beginning of a line (YAML 1.2.2, 9.1.2)."""


@dataclass(frozen=True, slots=True)
class Format:
    # reads a text, from a file's name (for errors) and its text; it raises `ManifestError` where the text is not of
    # this format
    parse: Callable[[str, str], Parsed]
    # a value in the style of the scalar of a text that it replaces, if possible; it raises `ResolveError` where no
    # such value can stand
    in_style: Callable[[Scalar, str, Json], str]
    in_one_line: Callable[[Scalar, str, Json], str]  # the same without regard to style: on one line, text in quotes
    quotes_mean_text: bool = True  # whether quotes are a choice; else everything that is no number has them


@dataclass(frozen=True, slots=True)
class Manifest:
    file: str  # its name, for people
    text: str
    format: Format  # how it is written
    parsed: Parsed  # what is in it

    def replaced(self, values: Mapping[Scalar, Json], written: Mapping[Scalar, str] | None = None) -> str:
        """The text with other values in some places, `written` so if given; without any, the text as it is.

        The result is read again to make sure: nothing else has changed, and the new values are read as they are.

        Raises:
            ResolveError: a value cannot be written in its place.
        """
        if not values:
            return self.text
        for known, write in ((written or {}, self.format.in_style), ({}, self.format.in_one_line)):
            new = {each: known.get(each) or write(each, self.text, value) for each, value in values.items()}
            text = spliced(self.text, (TextEdit(each.text_start, each.end, made) for each, made in new.items()))
            if self._reads(text, values):
                return text
        line = line_of(self.text, min(scalar.text_start for scalar in values))
        raise ManifestError(self.file, line, "values cannot be written there so that they are read again as they are")

    def _reads(self, text: str, values: Mapping[Scalar, Json]) -> bool:
        parsed = or_else(lambda: self.format.parse(self.file, text), None)
        becomes = (values.get(scalar, scalar.value) for scalar in self.parsed.scalars)
        wanted = [(type(each), each) for value in becomes for _, each in keys_and_values(value)]
        return parsed is not None and [(type(each.value), each.value) for each in parsed.scalars] == wanted


def read(file: str, data: bytes, form: Format | None = None, *, tokens_only: bool = False) -> Manifest:
    """A file's content; without a given form JSON if it begins as JSON does and can be read as such, else YAML.

    Where tokens alone matter, a file without any is not read any further, since YAML takes seconds for each MB, and
    nothing in such a file changes, whatever it is: JSON may have comments.

    Raises:
        ManifestError: it is not written so.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        failed = ManifestError(file, data.count(b"\n", 0, error.start) + 1, "it is not text in UTF-8")
    else:
        if form and tokens_only and not _TOKENS.search(text):
            return Manifest(file, text, form, Parsed(_unread_documents(text), []))
        if form:
            return Manifest(file, text, form, form.parse(file, text))
        if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
            try:
                return read(file, data, JSON)
            except ManifestError:
                pass  # YAML in brackets, or neither: then the error of YAML is reported
        return read(file, data, YAML, tokens_only=tokens_only)
    raise failed


def read_file(path: Path, *, tokens_only: bool = False) -> Manifest:
    """The content of a file that is named as its format is; otherwise as `read`.

    Raises:
        ManifestError: it is not written so, or the system does not let it be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ManifestError(str(path), None, os_problem(error)) from None
    return read(str(path), content, FORMATS[path.suffix.lower()], tokens_only=tokens_only)


def _unread_documents(text: str) -> list[Document]:
    """Those of a text in YAML whose content does not matter."""
    before, *others = _MARKER.split(text)
    first = [before] if re.search(r"^[^#%\s]", before.replace("\ufeff", ""), re.MULTILINE) else []
    return [Document(number) for number, _ in enumerate([*first, *others], 1)]


def _explain(text: str, at: int) -> str:
    """What may lie behind a problem of YAML."""
    if at and _TOKEN.match(text, at - 1):  # whose { began a map
        return '. Between brackets a token needs quotes, as in ["${cfn:STACK.OUTPUT}"]; with |typed it keeps its type'
    if any(begin in text and end in text for begin, end in (("{{", "}}"), ("{%", "%}"))):
        return ". It looks like a template: render it first, as in helm template … | strongref resolve -"
    return ""


YAML = Format(partial(yaml_reader.parse, explain=_explain), styles.in_style, styles.in_one_line)
JSON = Format(json_reader.parse, styles.in_one_line, styles.in_one_line, quotes_mean_text=False)

FORMATS = {".yaml": YAML, ".yml": YAML, ".json": JSON}
"""By the ending of a file's name."""
