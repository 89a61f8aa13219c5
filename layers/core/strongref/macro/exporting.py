"""Exports: what a resource's `Exports` says, made a `Custom::CrossRegionExport`, or all that is wrong with it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.errors import BadRequestError
from strongref.macro.base import came, is_function
from strongref.macro.errors import BadPropertyError, MissingKeyError, UnknownKeyError, WrongShapeError
from strongref.macro.walking import Slot
from strongref.properties import parse_account, parse_choice, parse_label, parse_region, parse_strings, parse_text
from strongref.request import OnChange
from strongref.values import check_levels, parse_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strongref.macro.base import Node, Path
    from strongref.macro.errors import TemplateError
    from strongref.macro.walking import Exporting

TYPE = "Custom::CrossRegionExport"
SERVICE_TOKEN = {"Fn::ImportValue": "strongref-exporter"}

AS, VALUES, SECURE = "As", "Values", "SecureKeys"
KEYS = ("Region", "Account", "Consumer", "OnChange", VALUES, SECURE, "Revision")
"""The exporter's properties."""


@dataclass(frozen=True, slots=True)
class Export:
    """One Export that is made.

    Attributes:
        at: where the resource's `Exports` says it.
        path: of the map that it is put into.
        resource: as it stands in a template; the values may have slots.
    """

    at: Path
    path: Path
    logical_id: str
    resource: dict[str, Node] = field(repr=False)


def exports(found: Exporting) -> tuple[list[Export], list[TemplateError]]:
    """The Exports that a resource asks for: one, or one for each item of a list."""
    at = (*found.path, found.logical_id, "Exports")
    several = isinstance(found.given, list)
    made, problems = [], []
    for number, given in enumerate(found.given if several else [found.given], start=1):
        where = (*at, number - 1) if several else at
        new = list(_problems(where, given))
        problems += new
        if not new:
            condition = {"Condition": found.condition} if found.condition else {}
            properties = {"ServiceToken": SERVICE_TOKEN, **_properties(given, found.logical_id)}
            resource = {"Type": TYPE, **condition, "Properties": properties}
            suffix = "" if number == 1 else str(number)
            made.append(Export(where, found.path, f"{found.logical_id}Exports{suffix}", resource))
    return made, problems


def _properties(given: Mapping[str, Node], logical_id: str) -> dict[str, Node]:
    """The exporter's properties: with `As` the values stand below that name, or are the resource itself."""
    properties = {key: value for key, value in given.items() if key != AS}
    if AS not in given:
        return properties
    whole = given.get(VALUES, {"Ref": logical_id})
    below = whole
    for level in reversed(_levels(given[AS])):
        below = {level: below}
    secure = {SECURE: [f"{given[AS]}.{each}" for each in given[SECURE]]} if SECURE in given else {}
    return {**properties, VALUES: below, **secure}


def _problems(path: Path, given: Node) -> Iterator[TemplateError]:
    if not isinstance(given, Mapping) or is_function(given):
        yield WrongShapeError(path, came(given), "a map with Values, or with the name to export it As, is needed")
        return
    yield from (UnknownKeyError((*path, key), (*KEYS, AS)) for key in given if key not in (*KEYS, AS))
    if AS not in given and VALUES not in given:
        yield MissingKeyError((*path, VALUES), "a map of names to values, or the name to export it As,")
    for key, rule in _RULES.items():
        if key in given and (key == AS or not is_function(given[key])):
            yield from _told((*path, key), rule, key, given[key])
    values = given.get(VALUES)
    if VALUES not in given or is_function(values) or (AS in given and not isinstance(values, Mapping)):
        return
    if not isinstance(values, Mapping):
        yield WrongShapeError((*path, VALUES), came(values), "a map of names to values is needed")
        return
    secure = given.get(SECURE, [])
    for name, value in values.items():
        yield from _told((*path, VALUES, name), _one_value, name, value)
    if isinstance(secure, list) and all(isinstance(each, str) for each in secure):
        keys = [each.replace(".", "/") for each in secure]
        yield from _told((*path, SECURE), lambda _, given: _secured(given, keys), SECURE, values)


def _told(path: Path, rule: Callable[[str, Node], object], key: str, given: Node) -> Iterator[TemplateError]:
    try:
        rule(key, given)
    except BadRequestError as error:
        below = error.prop.removeprefix(VALUES).split(".")[2:] if VALUES in path else []
        yield BadPropertyError((*path, *below), error.problem)


def _one_value(name: str, given: Node) -> None:
    parse_values(VALUES, {name: _sample(given)}, ())


def _secured(values: Mapping[str, Node], keys: list[str]) -> None:
    """Whether the secure keys are there. What is wrong with the values themselves is told of each."""
    try:
        parse_values(VALUES, _sample(values), keys)
    except BadRequestError as error:
        if error.prop == SECURE or "secure" in error.problem:
            raise


def _as(prop: str, given: Node) -> None:
    check_levels(prop, _levels(parse_text(prop, given)))


def _regions(prop: str, given: Node) -> None:
    for each in given if isinstance(given, list) else [given]:
        if not is_function(each):
            parse_region(prop, each)


def _strings(prop: str, given: Node) -> None:
    parse_strings(prop, given)


_RULES: Mapping[str, Callable[[str, Node], object]] = {
    "Region": _regions,
    "Account": lambda prop, given: parse_account(prop, str(given)),
    "Consumer": parse_label,
    "OnChange": lambda prop, given: parse_choice(prop, OnChange, given),
    SECURE: _strings,
    AS: _as,
}


def _levels(name: str) -> list[str]:
    return name.replace("/", ".").split(".")


def _sample(given: Node) -> Node:
    """A value as the exporter gets it, as far as that is known: any text where a function or an import stands."""
    if isinstance(given, Slot) or is_function(given):
        return "x"
    if isinstance(given, Mapping):
        return {key: _sample(below) for key, below in given.items()}
    if isinstance(given, list):
        return [_sample(item) for item in given]
    return "true" if given is True else "false" if given is False else str(given) if given is not None else None
