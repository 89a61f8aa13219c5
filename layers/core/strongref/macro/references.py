"""References: which maps of a template are some, and what each refers to. Pure.

Their shape tells them: a map with `From`, under a key that ends in `Ref` or `Refs`. AWS has properties of its own that
end so, and none of them has such a map below it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from strongref.contract.properties import (
    parse_account,
    parse_boolean,
    parse_choice,
    parse_label,
    parse_region,
    parse_stack,
)
from strongref.contract.requests import Strength
from strongref.contract.values import check_levels, levels
from strongref.errors import BadRequestError
from strongref.macro.base import IF, came, is_function
from strongref.macro.errors import (
    BadPropertyError,
    EmptyReferenceError,
    MissingKeyError,
    UnknownKeyError,
    WrongShapeError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from strongref.macro.base import Node, Path
    from strongref.macro.errors import TemplateError

ONE, MANY = "Ref", "Refs"
FROM = "From"
NAME = "Name"
FROM_KEYS = ("Stack", "Region", "Account", NAME)
OPTIONS = ("Shared", "Strength", "Consumer", "Revision")
"""Of the importer's properties, what may stand beside `From`."""

_BRANCHES = 3
_NOTHING = (None, "")


@dataclass(frozen=True, slots=True)
class Source:
    """From whom something is imported, and how: what several references may have in common.

    Attributes:
        text: the importer's properties but for `Names`, as JSON.
    """

    text: str

    @classmethod
    def of(cls, properties: Mapping[str, Node]) -> Source:
        return cls(json.dumps(properties, separators=(",", ":")))

    @property
    def properties(self) -> dict[str, Node]:
        """The same as they stand in a template."""
        read: dict[str, Node] = json.loads(self.text)
        return read


@dataclass(frozen=True, slots=True)
class Reference:
    """What one reference refers to.

    Attributes:
        source: where it comes from.
        name: of the export, with dots between levels.
    """

    source: Source
    name: str


def stem(key: object) -> tuple[str, bool] | None:
    """The property that a reference's key stands for, and whether it is a list of references; None for other keys."""
    for suffix in (MANY, ONE):
        if isinstance(key, str) and key.endswith(suffix) and len(key) > len(suffix):
            return key.removesuffix(suffix), suffix == MANY
    return None


def branches(node: Node) -> tuple[object, Node, Node] | None:
    """The condition of a function `Fn::If`, and what it gives where that holds, and where it does not."""
    given = node.get(IF) if is_function(node) else None
    return (given[0], given[1], given[2]) if isinstance(given, list) and len(given) == _BRANCHES else None


def is_reference(node: Node) -> bool:
    """Whether this is a reference, a list with one, or a choice between some."""
    if isinstance(node, list):
        return any(is_reference(item) for item in node)
    if choice := branches(node):
        return is_reference(choice[1]) or is_reference(choice[2])
    return isinstance(node, Mapping) and (FROM in node or _misspelt(node) is not None or _has_no_from(node))


def parse(path: Path, given: Mapping[str, Node]) -> tuple[Reference | None, list[TemplateError]]:
    """What a reference refers to, or all that is wrong with it."""
    problems = list(_problems(path, given))
    if problems:
        return None, problems
    origin = given[FROM]
    told = {key: plain(origin[key]) for key in FROM_KEYS if key in origin and key != NAME}
    how = {key: plain(given[key]) for key in OPTIONS if key in given}
    return Reference(Source.of({FROM: told, **how}), ".".join(levels(origin[NAME]))), []


def _problems(path: Path, given: Mapping[str, Node]) -> Iterator[TemplateError]:
    if _has_no_from(given):
        yield MissingKeyError((*path, FROM), "the map From around Stack and Name")
        return
    wrong = _misspelt(given)
    unknown = [wrong] if wrong is not None else [key for key in given if key not in (FROM, *OPTIONS)]
    yield from (UnknownKeyError((*path, key), (FROM, *OPTIONS)) for key in unknown)
    if wrong is None:
        yield from _problems_of_origin((*path, FROM), given[FROM])
    yield from _ruled(path, given, OPTIONS)
    if plain(given.get("Shared")) == "true" and "Consumer" in given:
        yield BadPropertyError((*path, "Consumer"), "it has no meaning with Shared: true; leave one of the two out")


def _problems_of_origin(path: Path, origin: Node) -> Iterator[TemplateError]:
    if not isinstance(origin, Mapping) or is_function(origin):
        wanted = "a map with Stack and Name, and where they differ Region and Account, is needed"
        yield WrongShapeError(path, came(origin), wanted)
        return
    yield from (UnknownKeyError((*path, key), FROM_KEYS) for key in origin if key not in FROM_KEYS)
    if origin.get("Stack") in _NOTHING:
        yield MissingKeyError((*path, "Stack"), "the exporting stack's name")
    if not isinstance(origin.get(NAME), str) or not origin[NAME]:
        yield EmptyReferenceError((*path, NAME))
    yield from _ruled(path, {key: value for key, value in origin.items() if value not in _NOTHING}, FROM_KEYS)


def _ruled(path: Path, given: Mapping[str, Node], keys: Iterable[str]) -> Iterator[TemplateError]:
    """What the importer would not take; a function's value is not known before the importer has it."""
    for key in keys:
        if key in given and not is_function(given[key]):
            try:
                _RULES[key](key, plain(given[key]))
            except BadRequestError as error:
                yield BadPropertyError((*path, key), error.problem)


def _name(prop: str, given: object) -> None:
    if isinstance(given, str):  # else it has been told as missing
        check_levels(prop, levels(given))


def _text(prop: str, given: object) -> None:
    if not isinstance(given, str):
        raise BadRequestError(prop, f"text is needed, {came(given)} came")


_RULES: Mapping[str, Callable[[str, object], object]] = {
    "Stack": parse_stack,
    NAME: _name,
    "Region": parse_region,
    "Account": parse_account,
    "Shared": parse_boolean,
    "Strength": lambda prop, given: parse_choice(prop, Strength, given),
    "Consumer": parse_label,
    "Revision": _text,
}


def plain(given: Node) -> Node:
    """As CloudFormation sends it to the importer: every scalar as text."""
    if isinstance(given, bool):
        return "true" if given else "false"
    return str(given) if isinstance(given, int | float) else given


def _misspelt(node: Mapping[str, Node]) -> str | None:
    """The key that was meant to be `From`: ACK writes it small, and there are slips of the pen.

    A Kubernetes manifest in a template may have references of ACK's own, whose small `from` never has a stack.
    """
    if FROM in node:
        return None
    for key, below in node.items():
        ours = isinstance(below, Mapping) and not is_function(below) and {each.lower() for each in map(str, below)}
        telling = {"stack"} if key == "from" else {"stack", "name"}
        if ours and ours & telling and get_close_matches(str(key).lower(), [FROM.lower()], 1, 0.75):
            return str(key)
    return None


def _has_no_from(node: Mapping[str, Node]) -> bool:
    """Whether what belongs below `From` stands there without it."""
    return {"Stack", NAME} <= set(node) <= set(FROM_KEYS)
