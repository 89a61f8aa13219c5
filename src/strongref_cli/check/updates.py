"""What an update does to one resource, and to its attributes, by what its type says. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from strongref_cli.check.unknown import ABSENT, Absent, Evaluated, Unknown, expression_of
from strongref_toolkit.json_values import is_within

if TYPE_CHECKING:
    from strongref_cli.check.resource_types import Path, UpdateRules

_ITEM = "*"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_UNIQUE = {"arn", "id", "identifier", "ip"}
_NAMING = {"arn", "id", "name"}
"""Words that names of attributes and of properties share without a relation."""
_VOLATILE = {
    *("at", "capacity", "count", "date", "entries", "hash", "latest", "modification", "modified", "number", "outputs"),
    *("progress", "public", "revision", "state", "status", "time", "token", "updated", "version"),
}
"""Words in the names of attributes that may change with any update."""


class ResourceChange(StrEnum):
    """What a change set says about a resource. It does not list one that stays as it is."""

    ADDED = "added"
    REMOVED = "removed"
    KEPT = "kept"
    """Changed in place: its physical ID stays."""
    REPLACED = "replaced"
    MAYBE_REPLACED = "maybe replaced"
    NOTHING = "nothing"
    """It stays as it is, or it is a nested stack in which nothing changes."""


class Stays(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class PropertyChange(NamedTuple):
    path: Path
    certain: bool


class Update(NamedTuple):
    """What an update does to a resource of both versions."""

    change: ResourceChange
    differences: Sequence[PropertyChange] = ()
    kind: UpdateRules | None = None  # None if its schema is not known
    given: Evaluated = None  # the new properties

    @classmethod
    def of(cls, kind: UpdateRules | None, given: Evaluated, differences: Sequence[PropertyChange]) -> Update:
        """Find out, given all that differs between its properties."""
        found = cls(ResourceChange.MAYBE_REPLACED, differences, kind, given)
        if kind is None:
            return found
        if any(each.certain and is_within(each.path, kind.create_only) for each in differences):
            return found._replace(change=ResourceChange.REPLACED)
        if not kind.updates or found.causes:
            return found
        return found._replace(change=ResourceChange.KEPT)

    @property
    def causes(self) -> list[str]:
        """The names of the properties that replace the resource, or may, sorted."""
        replacing = (self.kind.create_only | self.kind.may_replace) if self.kind else frozenset()
        found = [each.path for each in self.differences if any(_touches(each.path, path) for path in replacing)]
        return sorted({".".join(name for name in path if name != _ITEM) or "Properties" for path in found})

    def attribute(self, name: str) -> Stays:
        """Whether an attribute, or `Ref` if the name is empty, stays the same."""
        path, kind = tuple(name.split(".")) if name else (), self.kind
        if kind and path and path[0] in kind.properties and not is_within(path, kind.computed):
            found = [each for each in self.differences if _touches(each.path, path)]
            if found or _is_given(self.given, path):  # It is a property: it follows no other one.
                is_other = any(each.certain and each.path == path for each in found)
                return Stays.NO if is_other else Stays.UNKNOWN if found else Stays.YES
        match self.change:
            case ResourceChange.NOTHING:
                return Stays.YES
            case ResourceChange.KEPT:
                return Stays.YES if not path or (kind and self._outlasts(kind, path)) else Stays.UNKNOWN
            case ResourceChange.REPLACED if not path or (kind and _identifies(kind, path)):
                return Stays.UNKNOWN if kind and self.differences and self._may_have_same_name(kind, path) else Stays.NO
        return Stays.UNKNOWN

    def _outlasts(self, kind: UpdateRules, path: Path) -> bool:
        """Whether an attribute of a resource that is changed in place stays as it is."""
        if all(each.path[: len(kind.tags)] == kind.tags for each in self.differences) or _identifies(kind, path):
            return True
        # `RepositoryUri` of a repository has nothing to do with its `RepositoryPolicyText`.
        unrelated = _NAMING | _words([kind.name.rpartition("::")[2]])
        changing = _words(name for each in self.differences for name in each.path)
        return not _words(path) & (_VOLATILE | changing - unrelated)

    def _may_have_same_name(self, kind: UpdateRules, attribute: Path) -> bool:
        """Whether a replaced resource may get the name that it has. CloudFormation refuses that, if it is all of it."""
        if attribute or len(kind.identifiers) <= 1:
            return all(path not in kind.computed and self._keeps(path) for path in kind.identifiers)
        if not kind.own or kind.own in kind.computed:
            return not tells_apart(kind, attribute)
        return any(self._keeps(path) for path in (kind.own, *kind.create_only) if path[-1] == kind.own[-1])

    def _keeps(self, path: Path) -> bool:
        """Whether a property is given and does not change."""
        return _is_given(self.given, path) and not any(_touches(each.path, path) for each in self.differences)


def differences(
    old: Evaluated | Absent, new: Evaluated | Absent, stays: Callable[[Evaluated, Evaluated], Stays], path: Path = ()
) -> Iterator[PropertyChange]:
    """The properties in which a resource differs, or may, as deep as they can be told apart."""
    if isinstance(old, Absent | Mapping) and isinstance(new, Absent | Mapping) and (old or new):
        before, after = ({} if isinstance(each, Absent) else each for each in (old, new))
        for key in {**before, **after}:
            yield from differences(before.get(key, ABSENT), after.get(key, ABSENT), stays, (*path, str(key)))
    elif isinstance(old, Absent) or isinstance(new, Absent):
        yield PropertyChange(path, certain=not any(isinstance(each, Unknown) and each.optional for each in (old, new)))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        found = [each for pair in zip(old, new, strict=True) for each in differences(*pair, stays, (*path, _ITEM))]
        if found and _sorted(old) == _sorted(new):
            found = [PropertyChange(path, certain=False)]  # The order may not matter.
        yield from found
    elif (found_out := stays(old, new)) is not Stays.YES:
        is_file = isinstance(old, Mapping) and isinstance(new, str)  # which is uploaded, and may be the same
        yield PropertyChange(path, certain=found_out is Stays.NO and not is_file)


def _sorted(items: list[Evaluated]) -> list[str]:
    return sorted(json.dumps(expression_of(each), sort_keys=True) for each in items)


def _touches(path: Path, other: Path) -> bool:
    """Whether one of two paths leads to the other, or to a part of it."""
    return all(left == right for left, right in zip(path, other, strict=False))


def _is_given(properties: Evaluated, path: Path) -> bool:
    for name in path:
        if not isinstance(properties, Mapping) or name not in properties:
            return False
        properties = properties[name]
    return True


def tells_apart(kind: UpdateRules, path: Path) -> bool:
    """Whether two resources of a type never have the same `Ref`, or the same value of an attribute.

    Of an identifier that has several parts, `Ref` may be the own one alone: the name that a stage has in its API.
    """
    if path:
        return _identifies(kind, path)
    return len(kind.identifiers) == 1 or (kind.own in kind.computed and _is_unique(kind.own))


def _identifies(kind: UpdateRules, path: Path) -> bool:
    """Whether an attribute is `Ref`, or names this resource alone: an identifier, `Arn`, or `TopicArn` of a topic."""
    if not path or kind.identifiers == {path} or (path in kind.identifiers and _is_unique(path)):
        return True
    own = _WORD.findall(kind.name.rpartition("::")[2])
    names = {"".join(own[at:]).lower() for at in range(len(own) + 1)}  # a security group is a group as well
    return len(path) == 1 and any(path[0].lower() in (f"{each}arn", f"{each}id") for each in names)


def _is_unique(path: Path) -> bool:
    """Whether something is made up by the service, by its name."""
    return str(_WORD.findall(path[-1])[-1]).lower() in _UNIQUE


def _words(names: Iterable[str]) -> set[str]:
    return {word.lower() for name in names for word in _WORD.findall(name)}
