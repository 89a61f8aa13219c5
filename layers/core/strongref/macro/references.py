"""References: which maps of a template are references, and what each refers to. Pure.

A reference is a map with `From`, under a key that ends in `Ref` or `Refs`, or in the arguments of a function. AWS has
properties of its own that end so, and none of them holds such a map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from strongref.contract.properties import Parser, Property
from strongref.contract.requests import FROM_KEYS as PRODUCER_KEYS
from strongref.contract.requests import IMPORT_PROPERTIES
from strongref.contract.values import check_levels, levels
from strongref.errors import BadRequestError
from strongref.macro import errors
from strongref.macro.template import IF, Node, Path, SharedProperties, described, entries_in, is_function

if TYPE_CHECKING:
    from strongref.macro.errors import TemplateError

ONE, MANY = "Ref", "Refs"
FROM = "From"
NAME = "Name"
FROM_KEYS = (*PRODUCER_KEYS, NAME)
OPTIONS = ("Shared", "Strength", "Consumer", "Revision")
"""The importer's properties that a reference may have next to `From`."""

_BRANCHES = 3
_NOTHING = (None, "")


@dataclass(frozen=True, slots=True)
class TemplateReference:
    source: SharedProperties  # where its value comes from, and how: the importer's properties without `Names`
    name: str  # of the export, with dots between levels


def stem(key: object) -> tuple[str, bool] | None:
    """The property that a reference's key stands for, and whether it is a list of references; None for other keys."""
    for suffix in (MANY, ONE):
        if isinstance(key, str) and key.endswith(suffix) and len(key) > len(suffix):
            return key.removesuffix(suffix), suffix == MANY
    return None


def branches(node: Node) -> tuple[object, Node, Node] | None:
    """The condition of an `Fn::If`, and its values if the condition holds and if not."""
    given = node.get(IF) if is_function(node) else None
    return (given[0], given[1], given[2]) if isinstance(given, list) and len(given) == _BRANCHES else None


def is_reference(node: Node) -> bool:
    """Whether this is a reference, or a list or a function with one."""
    if isinstance(node, list):
        return any(map(is_reference, node))
    if choice := branches(node):
        return is_reference(choice[1]) or is_reference(choice[2])
    if is_function(node):
        return any(is_whole(each) or (stem(at[-1]) and is_reference(each)) for at, each in entries_in(node))
    return isinstance(node, Mapping) and (FROM in node or _misspelled_from(node) is not None or _has_no_from(node))


def is_whole(node: Node) -> bool:
    """Whether this is a reference under any key: it says both the stack and the name."""
    return isinstance(node, Mapping) and {"stack", "name"} <= {str(key).lower() for key in _origin(node)}


def is_argument(node: Node) -> bool:
    """Whether this argument of a function is a reference, which may be wrong."""
    if not isinstance(node, Mapping) or not set(node) <= {FROM, *OPTIONS}:
        return is_whole(node)
    return bool({"Stack", NAME} & set(_origin(node)))


def _origin(node: Mapping[str, Node]) -> Mapping[str, Node]:
    found = node.get(FROM if FROM in node else str(_misspelled_from(node)))
    return found if isinstance(found, Mapping) else {}


def parse(path: Path, given: Mapping[str, Node]) -> tuple[TemplateReference | None, list[TemplateError]]:
    """The reference, or all of its problems."""
    problems = list(_problems(path, given))
    if problems:
        return None, problems
    origin = given[FROM]
    producer = {key: as_sent(origin[key]) for key in FROM_KEYS if key in origin and key != NAME}
    options = {key: as_sent(given[key]) for key in OPTIONS if key in given}
    return TemplateReference(SharedProperties.of({FROM: producer, **options}), ".".join(levels(origin[NAME]))), []


def _problems(path: Path, given: Mapping[str, Node]) -> Iterator[TemplateError]:
    if _has_no_from(given):
        yield errors.MissingKeyError((*path, FROM), "the map From around Stack and Name")
        return
    wrong = _misspelled_from(given)
    unknown = [wrong] if wrong is not None else [key for key in given if key not in (FROM, *OPTIONS)]
    yield from (errors.UnknownKeyError((*path, key), (FROM, *OPTIONS)) for key in unknown)
    if wrong is None:
        yield from _problems_of_origin((*path, FROM), given[FROM])
    yield from _ruled(path, given, OPTIONS)
    if as_sent(given.get("Shared")) == "true" and "Consumer" in given:
        problem = "cannot be combined with Shared: true; remove one of the two"
        yield errors.BadPropertyError((*path, "Consumer"), problem)


def _problems_of_origin(path: Path, origin: Node) -> Iterator[TemplateError]:
    if not isinstance(origin, Mapping) or is_function(origin):
        expected = "a map with Stack and Name, and with Region and Account if they differ"
        yield errors.WrongShapeError(path, described(origin), expected)
        return
    yield from (errors.UnknownKeyError((*path, key), FROM_KEYS) for key in origin if key not in FROM_KEYS)
    if origin.get("Stack") in _NOTHING:
        yield errors.MissingKeyError((*path, "Stack"), "the exporting stack's name")
    if not isinstance(origin.get(NAME), str) or not origin[NAME]:
        yield errors.MissingExportNameError((*path, NAME))
    yield from _ruled(path, {key: value for key, value in origin.items() if value not in _NOTHING}, FROM_KEYS)


def _ruled(path: Path, given: Mapping[str, Node], keys: Iterable[str]) -> Iterator[TemplateError]:
    """What the importer would refuse. The values of functions are not known here."""
    for key in keys:
        if key in given and not is_function(given[key]):
            yield from refused((*path, key), _RULES[key].parse, given[key])


def refused(path: Path, parse: Parser, given: Node) -> Iterator[TemplateError]:
    """Why a parser refuses a property, whose name the path ends with; nothing if it does not."""
    try:
        parse(str(path[-1]), as_sent(given))
    except BadRequestError as error:
        yield errors.BadPropertyError(path, error.problem)


def _name(prop: str, given: object) -> None:
    if isinstance(given, str):  # Otherwise it was reported as missing.
        check_levels(prop, levels(given))


_RULES = {**PRODUCER_KEYS, **IMPORT_PROPERTIES, NAME: Property(_name)}


def as_sent(given: Node) -> Node:
    """A value as CloudFormation sends it: every scalar as text."""
    if isinstance(given, bool):
        return "true" if given else "false"
    return str(given) if isinstance(given, int | float) else given


def _misspelled_from(node: Mapping[str, Node]) -> str | None:
    """The key that is meant to be `From`: ACK writes it in lower case, and people misspell it.

    A Kubernetes manifest in a template may have ACK's own references, whose lower-case `from` never has a stack.
    """
    if FROM in node:
        return None
    for key, value in node.items():
        ours = isinstance(value, Mapping) and not is_function(value) and {each.lower() for each in map(str, value)}
        distinctive = {"stack"} if key == "from" else {"stack", "name"}
        if ours and ours & distinctive and get_close_matches(str(key).lower(), [FROM.lower()], 1, 0.75):
            return str(key)
    return None


def _has_no_from(node: Mapping[str, Node]) -> bool:
    """Whether the keys of `From` are there without `From` around them."""
    return {"Stack", NAME} <= set(node) <= set(FROM_KEYS)
