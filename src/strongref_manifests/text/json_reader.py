"""Reads JSON: one document, or several after each other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from strongref.macro.template import DEPTH_LIMIT
from strongref_manifests.errors import TOO_DEEP, ManifestError
from strongref_manifests.text.nodes import Collection, Parsed, Scalar, TreeBuilder, line_of

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s{}\[\],:"]+')
"""What has a meaning of its own: commas and colons have none in text that is known to be JSON."""
_BEGINNING = re.compile(r"[^ \t\r\n\ufeff]")


def parse(file: str, text: str) -> Parsed:
    """The documents of a text. Raises `ManifestError` if it is not JSON, or a map has a key twice."""
    builder = TreeBuilder(file, text)
    for start, end in _documents(file, text):
        builder.begin_document(start)
        for token in _TOKEN.finditer(text, start, end):
            _add(builder, token[0], token.start(), token.end())
    return builder.parsed


def _add(builder: TreeBuilder, mark: str, start: int, end: int) -> None:
    if mark in "{[":
        if builder.depth == DEPTH_LIMIT:
            raise ManifestError(builder.file, line_of(builder.text, start), TOO_DEEP)
        builder.add(Collection(value={} if mark == "{" else [], start=start, end=end, brackets=True))
    elif mark in "}]":
        builder.close(end)
    else:
        value = json.loads(mark)
        is_text = isinstance(value, str)
        text, style = (value, '"') if is_text else (mark, None)
        builder.add(Scalar(value=value, start=start, end=end, text=text, text_start=start, style=style), text)


def _documents(file: str, text: str) -> Iterator[tuple[int, int]]:
    """Where each document begins and ends."""
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    at = 0
    while beginning := _BEGINNING.search(text, at):
        start = beginning.start()
        try:
            _, at = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            failed = ManifestError(file, error.lineno, f"{error.msg}; correct the JSON there")
        except RecursionError:
            failed = ManifestError(file, None, TOO_DEEP)
        except ValueError:
            problem = "it has a number that JSON does not know, or that is too long to be read"
            failed = ManifestError(file, None, problem)
        else:
            yield start, at
            continue
        raise failed


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
