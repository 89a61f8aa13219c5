"""Writes values into YAML and JSON, in the style of the text that they replace.

Comments, order, quotes, block styles, anchors, indentation and line ends stay as they are. YAML 1.1 (Kubernetes) and
YAML 1.2 read every value as the same: text that either takes for a number, a boolean, a date or null is quoted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from strongref_manifests.errors import BadTokenError
from strongref_manifests.forms import not_text
from strongref_manifests.text.nodes import BLOCKS, Scalar, line_break
from strongref_manifests.tokens import Part, Token, parse, tokens_in

if TYPE_CHECKING:
    from strongref_toolkit.json_values import Json

_UNQUOTED = re.compile(r"(?:[A-Za-z/]|[0-9][A-Za-z0-9_.:@+=-]*/)[A-Za-z0-9_./:@+=-]*(?<!:)")
"""Text that needs no quotes: names, paths, ARNs, images. Nothing with a slash in it is a number or a date."""

NOT_TEXT = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that without quotes are not text, in any case of letters (YAML 1.1, types bool and null)."""

_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
"""Characters that are not printable or break a line (YAML 1.2.2, 5.1; the separators in 1.1)."""

_IN_LINE = re.compile(rf"{_ESCAPED.pattern}|\n")
_NOT_PLAIN = re.compile(rf"{_IN_LINE.pattern}|\t|:(?:\s|\Z)|(?:\A|\s)#")
_WORDS = re.compile(r"[A-Za-z/]\S*\s")
"""How text without quotes begins that no reader of YAML takes for anything but text."""

_HEADER = re.compile(r"[|>][-+]?(?P<indent>[1-9]?)[-+]?(?P<comment>(?:[ \t]+#[^\r\n]*)?)")
"""The header of a block; without a number, its indentation is that of its first line."""


def in_style(scalar: Scalar, text: str, value: Json) -> str:
    """A value in the style of the scalar of a text that it replaces, if that can hold it. Errors as `in_one_line`."""
    if isinstance(value, str) and scalar.style is None and is_plain(value, in_brackets=scalar.flow):
        return value
    return in_one_line(scalar, text, value)


def in_one_line(scalar: Scalar, text: str, value: Json) -> str:
    """A value without regard to style: on one line, text in double quotes.

    Raises:
        TokenNotTextError: what is no text stands behind a tag, which would make something else of it.
    """
    if scalar.tag is not None and not isinstance(value, str):
        raise not_text(str(scalar.value), value, "stand behind a tag")
    if scalar.style not in BLOCKS:
        return flow(value)
    raw = text[scalar.text_start : scalar.end]
    header = _HEADER.match(raw)  # its comment stays, and so do the ends of the block's last lines
    return f"{flow(value)}{header['comment'] if header else ''}{raw[len(raw.rstrip()) :]}"


def flow(value: Json) -> str:
    """A value on one line of YAML, which is JSON too."""
    if isinstance(value, str):
        return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    if isinstance(value, dict):
        return f"{{{', '.join(f'{flow(key)}: {flow(below)}' for key, below in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(flow(item) for item in value)}]"
    if isinstance(value, float):
        digits, exponent, power = json.dumps(value).partition("e")
        # YAML 1.1 reads a number with an exponent as text, unless it has a point, and the exponent a sign.
        return f"{digits}{'' if '.' in digits or not exponent else '.0'}{exponent}{power}"
    return json.dumps(value)


def is_plain(value: str, *, in_brackets: bool = False) -> bool:
    """Whether text needs no quotes, for no reader of YAML."""
    return bool(_UNQUOTED.fullmatch(value)) and value.lower() not in NOT_TEXT and not (in_brackets and ":" in value)


def in_place(scalar: Scalar, text: str, filled: Callable[[Iterable[Part], Callable[[str], str]], str]) -> str | None:
    """A scalar of a text with its tokens `filled` in, and all other characters as they are.

    None where that might be read as something else: if a token is written with escapes, or if a value breaks a line
    where none may be added, must be escaped in a style without escapes, or has white space at an end, or nothing in it,
    where lines are folded or a block begins or ends.
    """
    raw, style = text[scalar.text_start : scalar.end], scalar.style
    end = line_break(raw)
    header, _, body = raw.partition(end) if style in BLOCKS else ("", "", raw)
    indent = re.sub(r"(?:[ \t]*\r?\n)*( *).*", r"\1", body, flags=re.DOTALL)
    indented = _HEADER.fullmatch(header)
    in_block = _ESCAPED if indented and not indented["indent"] else _IN_LINE
    unfit = {'"': None, "|": in_block, None: _NOT_PLAIN}.get(style, _IN_LINE)
    is_exact = style == "|" or (style in ("'", '"') and "\n" not in body)

    def written(value: str) -> str:
        if not (is_exact or (value and value == value.strip())) or (unfit and unfit.search(value)):
            raise ValueError
        if style == '"':
            return flow(value)[1:-1]
        quoted = value.replace("'", "''") if style == "'" else value
        return re.sub("\n(?!\n)", f"\n{indent}", quoted).replace("\n", end)

    try:
        parts = parse(body)
        is_same = [each for each in parts if isinstance(each, Token)] == tokens_in(scalar.text)
        result = filled(parts, written) if is_same and (style or _WORDS.match(raw)) else ""
    except (BadTokenError, ValueError):
        return None
    if not header:
        return result or None
    before, after = len(body) - len(body.lstrip()), len(body) - len(body.rstrip())
    inner = result[before : len(result) - after]
    return f"{header}{end}{result}" if inner[:1].strip() and inner.rpartition("\n")[2].strip() else None
