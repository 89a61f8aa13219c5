"""What becomes of a token's value: it keeps its type, becomes text, or is a list whose items are joined. Pure.

A token in quotes is text, and a plain one keeps its type. In JSON and in programs, where all text has quotes, it keeps
its type, too. `|text`, `|typed` and `|join:SEPARATOR` at its end say otherwise.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from strongref_manifests.errors import TokenNotTextError
from strongref_manifests.tokens import Token, tokens_in
from strongref_toolkit.json_values import Json, Path, mapping, path_text, type_text, values_in

INSIDE = "stand inside a longer text"
AS_TEXT = "stand in quotes or with |text"
TEXT_ONLY = "stand where Kubernetes takes only text"
JOINED = "be joined"

_TEXT_PLACES = re.compile(
    r"""(?xs) (?! .*\n(values|valuesObject)\n\D | .*\nopenAPIV3Schema\n) (
    (ConfigMap|Secret)\n(data|binaryData|stringData)\n[^\n]+ | (Storage|VolumeAttributes)Class\nparameters\n[^\n]+
    | (Service|ReplicationController)\nspec\nselector\n[^\n]+
    | .*\n(metadata\n(annotations|labels)|matchLabels|volumeAttributes)\n[^\n]+
    | .*\nnodeSelector\n(?!(matchLabels|matchExpressions|nodeSelectorTerms)\Z)[^\n]+
    | .*\n(containers|initContainers|ephemeralContainers)\n\d+\n((args|command)\n\d+|env\n\d+\nvalue)
    | .*\n(exec\ncommand|matchExpressions\n\d+\nvalues)\n\d+ | .*\n(httpHeaders|sysctls|tolerations)\n\d+\nvalue)"""
)
"""A kind, and what in it is text by Kubernetes' API: its `map[string]string`, and text that is often a number.

What stands below a chart's values or in a schema only looks like that.
"""


def formed(token: Token, value: Json, why: str = "") -> Json:
    """A value in the form that its token asks for; without one, as text if there is a reason `why`, such as `AS_TEXT`.

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
    return as_text(str(token), value, why or AS_TEXT) if form == "text" or (why and not form) else value


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
    fix = "Make it text where it comes from" if form == "text" else "Name one part of it"
    fix = f"Write {replace(mine[0], form=form)}" if mine and form else fix
    is_choice = mine and why == AS_TEXT and not mine[0].form
    fix += f", or {replace(mine[0], form='typed')} to keep its type" if is_choice else ""
    return TokenNotTextError(token, type_text(value), why, fix)


def is_text_only(content: Json, path: Path) -> bool:
    """Whether Kubernetes takes only text at a path in a document."""
    its = mapping(content)
    kind = str(its.get("kind", ""))
    if kind.endswith("List") and isinstance(its.get("items"), list) and path[:1] == ("items",) and len(path) > 1:
        item = mapping(its["items"][int(path[1])])
        return is_text_only({"kind": kind.removesuffix("List"), **item}, path[2:])
    return bool(kind and _TEXT_PLACES.fullmatch("\n".join(map(str, (kind, *path)))))


def wrong_there(token: str, value: Json, content: Json, path: Path) -> TokenNotTextError | None:
    """The error of a value that is no text, or has something in it that is none, where Kubernetes takes only text."""
    for at, each in values_in(value):
        if not isinstance(each, str) and is_text_only(content, (*path, *at)):
            kind = f"{type_text(value)} with {type_text(each)} at {path_text(at)}"
            inner = TokenNotTextError(token, kind, TEXT_ONLY, "Make that text where it comes from")
            return inner if at else not_text(token, value, TEXT_ONLY)
    return None
