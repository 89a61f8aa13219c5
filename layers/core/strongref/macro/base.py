"""What changes in a template, and where: decided once, carried out on plain data or on a file's text. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to something, from the template's top."""

Node: TypeAlias = Any
"""Whatever a template may hold: JSON's types, functions in their long forms."""

Template: TypeAlias = Mapping[str, Node]

MACRO = "StrongRef"
"""The macro's name, as templates have it."""

IF = "Fn::If"
NO_VALUE = {"Ref": "AWS::NoValue"}
FOR_EACH = "Fn::ForEach::"

_READABLE = 40
"""Characters of a name in a logical id: an answer has the logical id in it twice."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A property in the place of a reference.

    Attributes:
        path: of the map that it stands in.
        key: of the reference, as in `TargetGroupArnRef`.
        becomes: the property's name.
        value: of the property.
    """

    path: Path
    key: str
    becomes: str
    value: Node = field(repr=False)


@dataclass(frozen=True, slots=True)
class Removal:
    """A key that is taken out, with what is below it.

    Attributes:
        path: of the map that it stands in.
        key: of that map.
    """

    path: Path
    key: str


@dataclass(frozen=True, slots=True)
class Addition:
    """Something that is put at a map's end.

    Attributes:
        path: of the map, which is made if there is none.
        key: the new one, as in a resource's logical id.
        value: what stands below it.
        origins: where the template asks for it.
    """

    path: Path
    key: str
    value: Node = field(repr=False)
    origins: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """All that changes in a template."""

    replacements: tuple[Replacement, ...] = ()
    removals: tuple[Removal, ...] = ()
    additions: tuple[Addition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.replacements or self.removals or self.additions)

    def apply(self, template: Template) -> dict[str, Node]:
        """The template with these changes, its order kept; what does not change is shared with it."""
        missing: Template = {
            str(each.path[0]): {} for each in self.additions if each.path and not template.get(str(each.path[0]))
        }
        changed: dict[str, Node] = self.rebuilt({**template, **missing})
        return changed

    def rebuilt(self, node: Node) -> Node:
        """The same for any part of one, which the paths begin at."""
        replaced = {(each.path, each.key): each for each in self.replacements}
        removed = {(each.path, each.key) for each in self.removals}
        added: dict[Path, dict[str, Node]] = {}
        for each in self.additions:
            added.setdefault(each.path, {})[each.key] = each.value
        changed = [*(path for path, _ in replaced), *(path for path, _ in removed), *added]
        touched = {path[:end] for path in changed for end in range(len(path) + 1)}

        def rebuild(node: Node, path: Path) -> Node:
            if path not in touched:
                return node
            if isinstance(node, list):
                return [rebuild(item, (*path, number)) for number, item in enumerate(node)]
            result: dict[str, Node] = {}
            for key, value in node.items():
                if (path, key) in removed:
                    continue
                change = replaced.get((path, key))
                result |= {change.becomes: change.value} if change else {key: rebuild(value, (*path, key))}
            return result | added.get(path, {})

        return rebuild(node, ())


def is_function(node: Node) -> bool:
    """Whether this is a function of CloudFormation, in its long form."""
    if not isinstance(node, Mapping) or len(node) != 1:
        return False
    (name,) = node
    return name in ("Ref", "Condition") or (isinstance(name, str) and name.startswith("Fn::"))


def came(node: Node) -> str:
    """What came, in a word: a value may be secret."""
    if is_function(node):
        return "a function"
    names = {dict: "a map", list: "a list", str: "text", type(None): "nothing", bool: "a boolean"}
    return names.get(type(node), "a number")


def made_id(kind: str, named: Node, told: str) -> str:
    """A logical id that people can tell, and that is the same for the same thing and for no other.

    Args:
        kind: how it begins.
        named: what is readable of it; of a reference, what it refers to.
        told: all that makes the thing what it is.
    """
    if isinstance(named, Mapping):
        named = named.get("Ref", "")
    text = re.sub(r"[^A-Za-z0-9]", "", str(named).title() if str(named).islower() else str(named))
    return f"{kind}{text[:1].upper()}{text[1:_READABLE]}{sha256(told.encode()).hexdigest()[:8]}"
