"""Writes values into YAML and JSON, in the style of the text that they replace.

Comments, order, quotes, block styles, anchors, indentation and line ends stay as they are. YAML 1.1 (Kubernetes) and
YAML 1.2 read every value as the same: text that either takes for a number, a boolean, a date or null is quoted.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from strongref_manifests.errors import TokenNotTextError
from strongref_manifests.text.nodes import BLOCKS, Scalar, line_break

if TYPE_CHECKING:
    from strongref_toolkit.json_values import Json

_UNQUOTED = re.compile(r"(?:[A-Za-z/]|[0-9][A-Za-z0-9_.:@+=-]*/)[A-Za-z0-9_./:@+=-]*(?<!:)")
"""Text that needs no quotes: names, paths, ARNs, images. Nothing with a slash in it is a number or a date."""

NOT_TEXT = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that without quotes are not text, in any case of letters (YAML 1.1, types bool and null)."""

_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
"""Characters that are not printable or break a line (YAML 1.2.2, 5.1; the separators in 1.1)."""

_HEADER = re.compile(r"([|>])([-+]?)([ \t]+#[^\n]*)?")
"""The header of a block whose indentation is that of its first line."""


def in_style(scalar: Scalar, text: str, value: Json) -> str:
    """A value in the style of the scalar of a text that it replaces, if that can hold it. Errors as `in_one_line`."""
    if isinstance(value, str):
        if scalar.style in BLOCKS:
            return _block(scalar, text, value) or in_one_line(scalar, text, value)
        if scalar.style == "'" and not _ESCAPED.search(value) and "\n" not in value:
            quoted = value.replace("'", "''")
            return f"'{quoted}'"
        if scalar.style is None and _is_plain(value, in_brackets=scalar.flow):
            return value
    return in_one_line(scalar, text, value)


def in_one_line(scalar: Scalar, text: str, value: Json) -> str:
    """A value without regard to style: on one line, text in double quotes.

    Raises:
        TokenNotTextError: a list, a map or null stands behind a tag, which would make something else of it.
    """
    if scalar.tag is not None and not isinstance(value, str):
        if not scalar.text_only or not isinstance(value, bool | int | float):
            kind = "a list" if isinstance(value, list) else "a map" if isinstance(value, dict) else "no text"
            raise TokenNotTextError(str(scalar.value), kind, "behind a tag")
        value = json.dumps(value)
    if scalar.style not in BLOCKS:
        return flow(value)
    raw = text[scalar.text_start : scalar.end]
    header = _HEADER.match(raw)  # its comment stays, and so do the ends of the block's last lines
    comment = header[3] if header and header[3] else ""
    return f"{flow(value)}{comment}{raw[len(raw.rstrip()) :]}"


def in_json(_scalar: Scalar, _text: str, value: Json) -> str:
    """A value in JSON, which has only one style."""
    written = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if re.search("[\ud800-\udfff]", written) else written


def flow(value: Json) -> str:
    """A value on one line of YAML: like JSON, apart from what only YAML must escape."""
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


def _is_plain(value: str, *, in_brackets: bool) -> bool:
    return bool(_UNQUOTED.fullmatch(value)) and value.lower() not in NOT_TEXT and not (in_brackets and ":" in value)


def _block(scalar: Scalar, text: str, value: str) -> str | None:
    """A block with other text in it; None where that text cannot be a block like it.

    It cannot be if its first line begins, or its last one ends, with white space, if it ends with more or fewer empty
    lines, or if something in it must be escaped.
    """
    raw = text[scalar.text_start : scalar.end]
    line_end = line_break(raw)
    header, _, body = raw.partition(line_end)
    style = _HEADER.fullmatch(header)
    content = value.rstrip("\n")
    if not style or not content or content[0].isspace() or content[-1].isspace() or _ESCAPED.search(value):
        return None
    if len(value) - len(content) != len(scalar.text) - len(scalar.text.rstrip("\n")):
        return None
    if style[1] == ">":
        if re.search(r"\n[ \t]", content):  # such lines are not folded
            return None
        content = re.sub("\n+", lambda found: f"{found[0]}\n", content)
    first = next(line for line in body.split(line_end) if line.strip())
    indent = first[: len(first) - len(first.lstrip(" "))]
    lines = [f"{indent}{line}" if line else "" for line in content.split("\n")]
    return line_end.join([header, *lines]) + body[len(body.rstrip()) :]
