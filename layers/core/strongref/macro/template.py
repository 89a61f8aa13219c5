"""Templates as plain data: functions and logical IDs. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to something, from the template's top."""

Node: TypeAlias = Any
"""A value in a template: JSON's types, functions in their long forms."""

Template: TypeAlias = Mapping[str, Node]

MACRO = "StrongRef"
"""The macro's name in templates."""

DEPTH_LIMIT = 200
"""Levels of maps and lists that a template, a manifest or a state may have. Python recurses 1,000 times."""

RESOURCES = "Resources"
IF = "Fn::If"
GET_ATT = "Fn::GetAtt"
TRANSFORM = "Fn::Transform"
NO_VALUE = {"Ref": "AWS::NoValue"}

_READABLE = 40
"""Characters of a name in a logical ID: a response has the logical ID in it twice."""


@dataclass(frozen=True, slots=True)
class SharedProperties:
    """Properties of an Import or an Export that several references, or the exports of several resources, share."""

    text: str  # as JSON, which makes them comparable and hashable

    @classmethod
    def of(cls, properties: Mapping[str, Node]) -> SharedProperties:
        return cls(json.dumps(properties, separators=(",", ":")))

    @property
    def properties(self) -> dict[str, Node]:
        read: dict[str, Node] = json.loads(self.text)
        return read


def is_function(node: Node) -> bool:
    """Whether this is a function of CloudFormation, in its long form."""
    if not isinstance(node, Mapping) or len(node) != 1:
        return False
    (name,) = node
    return name in ("Ref", "Condition") or (isinstance(name, str) and name.startswith("Fn::"))


def mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """A value with a change of everything in it that is neither a map nor a list."""
    if isinstance(node, Mapping):
        return {key: mapped(below, change) for key, below in node.items()}
    return [mapped(item, change) for item in node] if isinstance(node, list) else change(node)


def value_at(node: Node, *keys: str | int) -> Node:
    """What these keys lead to; None if there is nothing."""
    for key in keys:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def entries_in(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Everything in a value, in the order in which it is written, with the path that leads to it."""
    steps = node.items() if isinstance(node, Mapping) else enumerate(node) if isinstance(node, list) else ()
    for step, inside in steps:
        yield (*path, step), inside
        yield from entries_in(inside, (*path, step))


def too_deep(node: Node) -> Path | None:
    """The path of something below more than `DEPTH_LIMIT` levels of maps and lists; None if nothing is."""
    left: list[tuple[Path, Node]] = [((), node)]
    while left:
        path, node = left.pop()
        if len(path) >= DEPTH_LIMIT:
            return path
        if isinstance(node, Mapping | list):
            items = node.items() if isinstance(node, Mapping) else enumerate(node)
            left += (((*path, step), below) for step, below in items if isinstance(below, Mapping | list))
    return None


def described(node: Node) -> str:
    """What a value is, in a word: the value itself may be secret."""
    if is_function(node):
        return "a function"
    names = {dict: "a map", list: "a list", str: "text", type(None): "nothing", bool: "a boolean"}
    return names.get(type(node), "a number")


def make_id(kind: str, named: Node, identity: str) -> str:
    """A readable logical ID that is stable, and unique to the identity: all that makes the resource what it is.

    Of a function `Ref`, the readable part is what it refers to.
    """
    if isinstance(named, Mapping):
        named = named.get("Ref", "")
    text = re.sub(r"[^A-Za-z0-9]", "", str(named).title() if str(named).islower() else str(named))
    return f"{kind}{text[:1].upper()}{text[1:_READABLE]}{sha256(identity.encode()).hexdigest()[:8]}"
