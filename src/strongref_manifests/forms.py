"""What becomes of a token's value: it keeps its type, becomes text, or is a list whose items are joined. Pure.

A token in quotes is text, and a plain one keeps its type. In JSON and in programs, where all text has quotes, it keeps
its type, too. `|text`, `|typed` and `|join:SEPARATOR` at its end say otherwise.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from strongref_manifests.errors import TokenNotTextError
from strongref_manifests.tokens import tokens_in
from strongref_toolkit.json_values import mapping, type_text, values_in

if TYPE_CHECKING:
    from strongref_manifests.tokens import Token
    from strongref_toolkit.json_values import Json, Path

INSIDE = "stand inside a longer text"
AS_TEXT = "stand in quotes or with |text"
TEXT_ONLY = "stand where Kubernetes takes only text"
JOINED = "be joined"

_TEXT_PLACES = re.compile(
    r"""(?xs) (ConfigMap|Secret)\.(data|binaryData|stringData)\..* | (Storage|VolumeAttributes)Class\.parameters\..*
    | (Service|ReplicationController)\.spec\.selector\..*
    | .*\.(metadata\.(annotations|labels)|matchLabels|nodeSelector|volumeAttributes)\..*
    | .*\.(containers|initContainers|ephemeralContainers)\.\d+\.((args|command)\.\d+|env\.\d+\.value)
    | .*\.(httpHeaders|sysctls|tolerations)\.\d+\.value"""
)
"""A kind, and what in it is text by Kubernetes' API: its `map[string]string`, and text that is often a number."""


def formed(token: Token, value: Json, *, is_text: bool = False) -> Json:
    """A value in the form that its token asks for, by its quotes (`is_text`) or by itself.

    Raises:
        TokenNotTextError: it cannot be text; or of the joined text, nobody could tell its items.
    """
    form, _, given = (token.form or "").partition(":")
    if form == "join":
        separator = given or ","
        texts = [as_text(str(token), each, JOINED) for each in (value if isinstance(value, list) else [value])]
        if isinstance(value, list) and any(separator in each for each in texts):
            kind, fix = "a list with the separator in an item", "Write another separator, as in |join:;"
            raise TokenNotTextError(str(token), kind, JOINED, fix)
        return separator.join(texts)
    return as_text(str(token), value, AS_TEXT) if form == "text" or (is_text and not form) else value


def as_text(token: str, value: Json, why: str = INSIDE) -> str:
    """What a token's value is as text; `TokenNotTextError` if it is a list, a map or null."""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if not isinstance(value, str):
        raise not_text(token, value, why)
    return value


def not_text(token: str, value: Json, why: str) -> TokenNotTextError:
    """The error of a value where only text can stand; other tools' tokens have no forms."""
    mine = tokens_in(token) if why != JOINED else []
    form = "join:," if isinstance(value, list) else "text" if isinstance(value, bool | int | float) else ""
    fix = f"Write {replace(mine[0], form=form)}" if mine and form else "Name one part of it"
    fix += f", or {replace(mine[0], form='typed')} to keep its type" if mine and why == AS_TEXT else ""
    return TokenNotTextError(token, type_text(value), why, fix)


def needs_text(content: Json, path: Path, value: Json) -> bool:
    """Whether a value, or something in it, is no text although Kubernetes takes only text at its path in a document."""
    its = mapping(content)
    kind = str(its.get("kind", ""))
    if kind.endswith("List") and isinstance(its.get("items"), list) and path[:1] == ("items",) and len(path) > 1:
        item = mapping(its["items"][int(path[1])])
        return needs_text({"kind": kind.removesuffix("List"), **item}, path[2:], value)
    places = ((".".join(map(str, (kind, *at))), each) for at, each in values_in(value, path))
    return bool(kind) and any(_TEXT_PLACES.fullmatch(place) and not isinstance(each, str) for place, each in places)
