"""The `Exports` of a resource, checked: what it exports and to which target, or all of its problems. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from strongref.contract.properties import parse_account, parse_region, parse_text
from strongref.contract.requests import EXPORT_PROPERTIES
from strongref.contract.values import check_levels, levels, parse_values
from strongref.errors import BadRequestError
from strongref.macro.errors import (
    BadPropertyError,
    LoopTextError,
    MissingKeyError,
    SameInLoopError,
    TemplateError,
    UnknownKeyError,
    WrongShapeError,
)
from strongref.macro.loops import in_sub, mentions, unreplaced
from strongref.macro.references import as_sent
from strongref.macro.scan import ImportPlaceholder, ResourceExports
from strongref.macro.template import Node, Path, SharedProperties, described, entries_in, is_function

AS, VALUES, SECURE = "As", "Values", "SecureKeys"
NAMES = (AS, SECURE)
"""Keys whose values must be known before the template is deployed."""
TARGET_KEYS = ("Region", "Account", "Consumer")
OPTIONS = ("OnChange", "Revision")
KEYS = (*TARGET_KEYS, VALUES, SECURE, *OPTIONS)
"""The exporter's properties."""

_SUB_HINT = "use !Sub or !Ref. Names of values cannot depend on it; Region, Account and Consumer can"


@dataclass(frozen=True, slots=True)
class ExportPart:
    """What one `Exports`, or one item of it, adds to the Export of a target."""

    at: Path  # its path
    found: ResourceExports  # the resource's `Exports`
    target: SharedProperties  # `Region`, `Account` and `Consumer`: lists sorted, a single item as text
    values: Node = field(repr=False)  # the exporter's, which may have imported values
    secure: tuple[str, ...] = ()  # keys of secure values
    # the exporter's properties that apply to the whole Export
    options: Mapping[str, Node] = field(default_factory=dict)
    of_writer: bool = False  # whether it is what a Writer of the CDK writes, which follows the Export


def export_parts(found: ResourceExports) -> tuple[list[ExportPart], list[TemplateError]]:
    """What a resource exports: one part, or one for each item of a list; and all problems."""
    resource = (*found.path, found.logical_id)
    at = (*resource, "Exports")
    several = isinstance(found.given, list)
    problems = list(_unreplaced((*resource, "Condition"), found.condition, found.loops, "use one condition for all"))
    wrong = [each for each in found.loops if f"&{{{each}}}" in found.logical_id]
    problems += [LoopTextError(resource, each, "write $ in place of &, as !Sub needs it") for each in wrong]
    made = []
    for number, written in enumerate(found.given if several else [found.given]):
        where = (*at, number) if several else at
        given = in_sub(written, found.loops)
        new = [*_unreplaced(where, given, found.loops, _SUB_HINT), *_imported(where, given)]
        new = new or list(_problems(where, given, found.loops))
        problems += new
        if not new:
            prefix = f"{given[AS]}." if AS in given else ""
            secure = tuple(f"{prefix}{each}" for each in given.get(SECURE, []))
            options = {key: as_sent(given[key]) for key in OPTIONS if key in given}
            made.append(ExportPart(where, found, _target(given), _values(given, found), secure, options))
    return made, problems


def _target(given: Mapping[str, Node]) -> SharedProperties:
    target = {key: as_sent(given[key]) for key in TARGET_KEYS if key in given}
    for key in ("Region", "Account"):
        if isinstance(target.get(key), list):
            different = {json.dumps(each, sort_keys=True): each for each in map(as_sent, target[key])}
            places = [different[text] for text in sorted(different)]
            single = len(places) == 1 and isinstance(places[0], str)
            target[key] = places[0] if single else places
    return SharedProperties.of(target)


def _values(given: Mapping[str, Node], found: ResourceExports) -> Node:
    """With `As`, the values are below that name, or are the resource's `Ref`."""
    if AS not in given:
        return given[VALUES]
    return _below(levels(given[AS]), given.get(VALUES, in_sub({"Ref": found.logical_id}, found.loops)))


def _below(above: Sequence[str], node: Node) -> Node:
    for level in reversed(above):
        node = {level: node}
    return node


def _problems(path: Path, given: Node, loops: tuple[str, ...]) -> Iterator[TemplateError]:
    if not isinstance(given, Mapping) or is_function(given):
        yield WrongShapeError(path, described(given), "a map with Values, or with the name to export it As")
        return
    yield from (UnknownKeyError((*path, key), (*KEYS, AS)) for key in given if key not in (*KEYS, AS))
    if AS not in given and VALUES not in given:
        yield MissingKeyError((*path, VALUES), "a map of names to values, or the name to export it As,")
    for key, rule in _RULES.items():
        if key in given and (key in NAMES or not is_function(given[key])):
            yield from _check((*path, key), rule, key, given[key])
    values = given.get(VALUES)
    yield from _same_in_every_iteration(path, given, loops)
    if VALUES not in given or is_function(values) or (AS in given and not isinstance(values, Mapping)):
        return
    if not isinstance(values, Mapping):
        yield WrongShapeError((*path, VALUES), described(values), "a map of names to values")
        return
    if AS in given and not values:
        yield BadPropertyError((*path, VALUES), "must not be empty; remove it or add a value")
    above = levels(given[AS]) if AS in given and not list(_check(path, _RULES[AS], AS, given[AS])) else []
    for name, value in values.items():
        yield from _check((*path, VALUES, name), partial(_one_value, above), name, value, len(above))
    secure = given.get(SECURE, [])
    if isinstance(secure, list) and all(isinstance(each, str) for each in secure):
        keys = [each.replace(".", "/") for each in secure]
        yield from _check((*path, SECURE), lambda _, given: _secured(given, keys), SECURE, values)


def _imported(path: Path, given: Node) -> Iterator[TemplateError]:
    """What must be known before anything is imported."""
    for key in given if isinstance(given, Mapping) else ():
        if key in _RULES and any(isinstance(each, ImportPlaceholder) for _, each in entries_in([given[key]])):
            yield BadPropertyError((*path, key), "must not be an imported value; write it out")


def _unreplaced(path: Path, node: Node, loops: tuple[str, ...], hint: str) -> Iterator[TemplateError]:
    """Where a variable would stay as it is, and be exported so."""
    for variable in loops:
        yield from (LoopTextError((*path, *below), variable, hint) for below in unreplaced(node, variable))


def _same_in_every_iteration(path: Path, given: Mapping[str, Node], loops: tuple[str, ...]) -> Iterator[TemplateError]:
    """In a loop, each iteration must export to another target, unless a function gives the names."""
    if is_function(given.get(VALUES)) and AS not in given:
        return
    target = [given.get(key) for key in TARGET_KEYS]
    yield from (SameInLoopError(path, variable) for variable in loops if not mentions(target, variable))


def _check(
    path: Path, rule: Callable[[str, Node], object], key: str, given: Node, above: int = 0
) -> Iterator[TemplateError]:
    """`above` is how many levels of the name are not in the path."""
    try:
        rule(key, given)
    except BadRequestError as error:
        below = error.prop.removeprefix(VALUES).split(".")[2 + above :] if VALUES in path else []
        yield BadPropertyError((*path, *below), error.problem)


def _one_value(above: Sequence[str], name: str, given: Node) -> None:
    parse_values(VALUES, _below(above, {name: _sample(given)}), ())


def _secured(values: Mapping[str, Node], keys: list[str]) -> None:
    """Check that the secure keys exist. Problems of the values themselves are found one by one."""
    try:
        parse_values(VALUES, _sample(values), keys)
    except BadRequestError as error:
        if error.prop == SECURE or "secure" in error.problem:
            raise


def _several(parse: Callable[[str, object], str], prop: str, given: Node) -> None:
    """Check one of something, or a list of them."""
    if given == []:
        raise BadRequestError(prop, f"must not be an empty list; omit it for the stack's own {prop.lower()}")
    for each in given if isinstance(given, list) else [given]:
        if not is_function(each):
            parse(prop, as_sent(each))


_RULES: Mapping[str, Callable[[str, Node], object]] = {
    "Region": partial(_several, parse_region),
    "Account": partial(_several, parse_account),
    **{key: EXPORT_PROPERTIES[key].parse for key in ("Consumer", "OnChange", SECURE)},
    AS: lambda prop, given: check_levels(prop, levels(parse_text(prop, given))),
}


def _sample(given: Node) -> Node:
    """A value as the exporter gets it, with some text in place of what only CloudFormation knows."""
    if isinstance(given, ImportPlaceholder) or is_function(given) or (isinstance(given, str) and "{{resolve:" in given):
        return "x"
    if isinstance(given, Mapping):
        return {key: _sample(below) for key, below in given.items()}
    if isinstance(given, list):
        return [_sample(item) for item in given]
    return "true" if given is True else "false" if given is False else str(given) if given is not None else None
