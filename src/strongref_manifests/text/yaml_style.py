"""Manifests in YAML, written: only the characters of a value that changes are replaced.

So comments, order, quotes, block styles, anchors, indentation and line ends stay as they are. What is written is read
as the very value that was meant by parsers of YAML 1.1 (as Kubernetes has) and 1.2: text that either might take for a
number, a boolean, a date or nothing is put in quotes.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from strongref_manifests.errors import TokenNotTextError

if TYPE_CHECKING:
    from strongref_manifests.text.documents import Spot
    from strongref_toolkit.json_values import Json

_UNQUOTED = re.compile(r"(?:[A-Za-z/]|[0-9][A-Za-z0-9_.:@+=-]*/)[A-Za-z0-9_./:@+=-]*(?<!:)")
"""Text that needs no quotes: names, paths, ARNs, images. Nothing with a slash in it is a number or a date."""

_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Read as something else than text, in any case of letters (YAML 1.1, types bool and null)."""

_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
"""What is not printable or breaks a line (YAML 1.2.2, 5.1; the separators in 1.1)."""

_HEADER = re.compile(r"([|>])([-+]?)([ \t]+#[^\n]*)?")
"""Of a block whose indentation is that of its first line."""


def written(spot: Spot, text: str, value: Json) -> str:
    """As `documents.Format.written`."""
    if not isinstance(value, str):
        return plainly(spot, text, value)
    raw = text[spot.start : spot.end]
    if spot.style in ("|", ">"):
        return _block(spot, raw, value) or plainly(spot, text, value)
    if spot.style == "'" and not _ESCAPED.search(value) and "\n" not in value:
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    if spot.style is None and _is_plain(value, flow=spot.flow):
        return value
    return plainly(spot, text, value)


def plainly(spot: Spot, text: str, value: Json) -> str:
    """As `documents.Format.plainly`.

    Raises:
        NotTextError: a list, a map or nothing stands behind a tag, which would make something else of it.
    """
    if spot.tagged and not isinstance(value, str):
        value = _as_text(spot, value)
    raw = text[spot.start : spot.end]
    if spot.style not in ("|", ">"):
        return flow(value)
    header = _HEADER.match(raw)  # its comment stays, and so do the ends of the block's last lines
    comment = header[3] if header and header[3] else ""
    return f"{flow(value)}{comment}{raw[len(raw.rstrip()) :]}"


def flow(value: Json) -> str:
    """A value on one line, as YAML and, but for what only YAML has to escape, as JSON."""
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


def _as_text(spot: Spot, value: Json) -> str:
    if not spot.text_only or not isinstance(value, bool | int | float):
        came = "a list" if isinstance(value, list) else "a map" if isinstance(value, dict) else "no text"
        raise TokenNotTextError(str(spot.value), came, "behind a tag")
    return json.dumps(value)


def _is_plain(value: str, *, flow: bool) -> bool:
    return bool(_UNQUOTED.fullmatch(value)) and value.lower() not in _WORDS and not (flow and ":" in value)


def _block(spot: Spot, raw: str, value: str) -> str | None:
    """A block with other text in it; None where that text cannot be a block like it.

    It cannot if its first line begins, or its last one ends, with white space, if it ends with more or fewer lines that
    are empty, or if something in it is to be escaped.
    """
    line_end = "\r\n" if "\r\n" in raw else "\n"
    header, _, body = raw.partition(line_end)
    style = _HEADER.fullmatch(header)
    content = value.rstrip("\n")
    if not style or not content or content[0].isspace() or content[-1].isspace() or _ESCAPED.search(value):
        return None
    former = str(spot.value)
    if len(value) - len(content) != len(former) - len(former.rstrip("\n")):
        return None
    if style[1] == ">":
        if re.search(r"\n[ \t]", content):  # such lines are not folded
            return None
        content = re.sub("\n+", lambda found: f"{found[0]}\n", content)
    first = next(line for line in body.split(line_end) if line.strip())
    indent = first[: len(first) - len(first.lstrip(" "))]
    lines = [f"{indent}{line}" if line else "" for line in content.split("\n")]
    return line_end.join([header, *lines]) + body[len(body.rstrip()) :]
