"""What an Export would publish: its properties, with values in the place of those that only the deployment knows.

There are three answers. In the best case every unknown value stays as it is stored, in the worst case it changes. In
the third case those that may disappear or get another type do so, which not even `OnChange: propagate` allows. What is
refused in all cases is refused; what is refused in some of them only is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED, Key, short_hash
from strongref.contract.properties import CLOUDFORMATIONS_OWN
from strongref.untyped import AnyJson
from strongref_cli.check.comparison import Comparison, because
from strongref_cli.check.unknown import ABSENT, Absent, Evaluated, Unknown, expression_of, sources_of
from strongref_cli.check.updates import Stays
from strongref_toolkit.cloudformation import NESTED_STACK
from strongref_toolkit.published_exports import value_or_map

if TYPE_CHECKING:
    from strongref.contract.values import Value
    from strongref_cli.check.stored import StoredStack
    from strongref_cli.check.version import StackVersion
    from strongref_toolkit.json_values import Json

Shape = type[object] | str | None
"""A type, or None for an absent value. For a type that only CloudFormation knows, text that tells it from others."""

_SHAPES: Mapping[str, Shape] = {
    **dict.fromkeys(("Fn::Base64", "Fn::GetStackOutput", "Fn::ImportValue", "Fn::Join", "Fn::Length"), str),
    **dict.fromkeys(("Fn::Cidr", "Fn::GetAZs", "Fn::Split"), list),
    "Fn::ToJsonString": str,
}


LATER, UNREAD = "(known after the deployment)", "(not read)"


class Case(Enum):
    BEST = "best"
    WORST = "worst"
    """Unknown values change, and differ from each other if they are computed in different ways."""
    LOSING = "losing"
    """Unknown values that may disappear or get another type do so. The others change."""


@dataclass(frozen=True, slots=True)
class WantedExport:
    """An Export's properties, ready for `ExportRequest.parse`."""

    cases: Mapping[Case, Mapping[str, object]] = field(default_factory=dict, repr=False)
    # the keys, or names of maps, whose values are unknown, and why
    unknown: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)  # likewise, of values that certainly change
    # a property that is unknown and decides everything, and why; none of the rest counts then
    undecided: tuple[str, str] | None = None

    @property
    def best(self) -> Mapping[str, object]:
        return self.cases.get(Case.BEST, {})


def reason_of(reasons: Mapping[str, str], key: Key) -> str:
    """Why something is said of a key, of these reasons by key or name of a map; empty if it is not."""
    return next((why for name, why in reasons.items() if key == name or key.startswith(f"{name}/") or not name), "")


def former_export(logical_id: str, comparison: Comparison, stored: StoredStack) -> Mapping[str, object] | None:
    """The properties of a deployed Export: what is not known of them is as it is stored. None if there is no such."""
    old = comparison.old
    if logical_id not in old.exports:
        return None
    given, unchanged = old.resources[logical_id].properties, replace(comparison, new=old, changes={})
    return wanted_export(logical_id, given, given, unchanged, stored).best


def wanted_export(
    logical_id: str, given: Evaluated, former: Evaluated, comparison: Comparison, stored: StoredStack
) -> WantedExport:
    """What an Export would publish, given its properties in the new template and in the old one.

    The former ones are empty for an Export that is created.
    """
    if not isinstance(given, Mapping):
        return WantedExport(undecided=("Properties", because(comparison, given)))
    old = former if isinstance(former, Mapping) else {}
    settings: dict[str, object] = {}
    for name, value in given.items():
        if name in CLOUDFORMATIONS_OWN or name == "Values":
            continue
        settled = value
        if sources_of(value):
            stays = name in old and comparison.stays(old[name], value) is Stays.YES
            settled = _stored_setting(logical_id, name, stored) if stays else None
            if settled is None:
                return WantedExport(undecided=(name, because(comparison, value)))
        if not isinstance(settled, Absent):
            settings[name] = settled
    if "Values" not in given:
        return WantedExport(dict.fromkeys(Case, settings))
    former_values, new_values = old.get("Values", ABSENT), given["Values"]
    if isinstance(new_values, Unknown) and not _stays(comparison, former_values, new_values):
        return WantedExport(undecided=("Values", because(comparison, new_values)))  # its keys are unknown
    values = _Values(comparison, stored, logical_id)
    cases = {case: {**settings, "Values": values.filled((), former_values, new_values, case)} for case in Case}
    return WantedExport(cases, values.unknown, values.changed)


def _stored_setting(logical_id: str, name: str, stored: StoredStack) -> AnyJson:
    """A property that is unknown and stays, as it is stored; None if that does not say."""
    places = stored.index[logical_id].places if logical_id in stored.index else frozenset()
    consumers = {place.consumer for place in places}
    accounts, regions = ({getattr(place, each) for place in places} for each in ("account", "region"))
    if name in ("Region", "Account") and len({each[:2] for each in places}) == len(accounts) * len(regions) > 0:
        return sorted(regions if name == "Region" else accounts)
    if name == "Consumer" and len(consumers) == 1 and SHARED not in consumers:
        return next(iter(consumers))
    if name == "Hold":
        return stored.hold(logical_id) or None
    return ABSENT if name == "Revision" else None


def _stays(comparison: Comparison, old: Evaluated | Absent, new: Evaluated) -> bool:
    return not isinstance(old, Absent) and comparison.stays(old, new) is Stays.YES


class _Values:
    """The values of one Export, with stored values or placeholders for those that are unknown."""

    def __init__(self, comparison: Comparison, stored: StoredStack, logical_id: str) -> None:
        self._comparison = comparison
        self._own = stored.recorded(logical_id)
        self._known = stored.published_by_others(logical_id) | self._own
        self.unknown: dict[str, str] = {}
        self.changed: dict[str, str] = {}

    def filled(self, path: tuple[str, ...], old: Evaluated | Absent, new: Evaluated, case: Case) -> AnyJson:
        if isinstance(new, Mapping):
            below = old if isinstance(old, Mapping) else {}
            found = ((key, self.filled((*path, key), below.get(key, ABSENT), each, case)) for key, each in new.items())
            return {key: each for key, each in found if each is not ABSENT}
        if not sources_of(new):
            return new
        name = "/".join(path)
        stays, stored = self._settled(path, old, new)
        if stays is Stays.YES and (stored is not None or not path):
            return stored or {}  # It may publish nothing at all.
        if stays is Stays.NO:
            self.changed[name] = because(self._comparison, new)
        if stays is Stays.UNKNOWN:
            self.unknown[name] = because(self._comparison, new)
            if stored is not None and case is Case.BEST:
                return stored
            if case is Case.LOSING and not self._keeps_shape(old, new, stored):
                return ABSENT
        return self._other(name, new, case)

    def _settled(self, path: tuple[str, ...], old: Evaluated | Absent, new: Evaluated) -> tuple[Stays, Any]:
        """Whether a value stays the same, and what is stored under its name."""
        name = "/".join(path)
        if isinstance(old, Absent):
            stored = self._stored(name, self._known)
            moves = stored is not None and self._is_from_another(path, new)
            return Stays.YES if moves else Stays.UNKNOWN, stored
        stays = self._comparison.stays(old, new)
        return stays, self._stored(name, self._own if stays is Stays.YES else self._known)

    def _is_from_another(self, path: tuple[str, ...], new: Evaluated) -> bool:
        """Whether another Export has the same value under this name: it is renamed, or the value moves."""
        old = self._comparison.old
        for each in old.exports:
            former: Any = old.resources[each].properties
            for level in ("Values", *path):
                former = former.get(level, ABSENT) if isinstance(former, Mapping) else ABSENT
            if _stays(self._comparison, former, new):
                return True
        return False

    def _stored(self, name: str, values: Mapping[Key, Value]) -> AnyJson:
        """What is stored under a name: a value, or a map of them; None if nothing is."""
        return value_or_map(values, name) or None

    def _other(self, name: str, new: Evaluated, case: Case) -> AnyJson:
        """A value that is not stored, of the type of the one that is, so that only the value counts as changed."""
        if isinstance(new, list):
            return [_placeholder(item, case) if sources_of(item) else item for item in new]
        return _in_shape_of(self._stored(name, self._known), _placeholder(new, case))

    def _keeps_shape(self, old: Evaluated | Absent, new: Evaluated, stored: object) -> bool:
        """Whether a value that changes stays present, of the type that it is stored with, as attributes return it."""
        former, shapes = _shapes_of(old, self._comparison.old), _shapes_of(new, self._comparison.new)
        if len(shapes) > 1 or dict in shapes or None in shapes:
            return False
        return shapes == former or (shapes == {type(stored)} and UNREAD not in str(stored))


def _placeholder(value: Evaluated, case: Case) -> str:
    """Stands for a value that differs from every stored one. Those of one expression are equal; in the best case, all.

    It is never shown.
    """
    if case is Case.BEST:
        return LATER
    return f"{LATER} {short_hash(json.dumps(expression_of(value), sort_keys=True))}"


def _in_shape_of(stored: object, text: str) -> AnyJson:
    if isinstance(stored, Mapping):
        return {key: _in_shape_of(below, text) for key, below in stored.items()}
    return [text] if isinstance(stored, list) else text


def _shapes_of(value: Evaluated | Absent, version: StackVersion) -> set[Shape]:
    return {None} if isinstance(value, Absent) else _shapes(expression_of(value), version)


def _shapes(expression: Json, version: StackVersion) -> set[Shape]:
    """The shapes that a value may have, given its expression."""
    match expression:
        case None:
            return {None}
        case {"?": unknown}:
            return _unknown_shapes(unknown, version)
        case Mapping():
            return {dict}
        case list():
            return {list}
    return {str}


def _unknown_shapes(expression: Json, version: StackVersion) -> set[Shape]:
    match expression:
        case {"Fn::If": [_, *branches]}:
            return set[Shape]().union(*(_shapes(each, version) for each in branches))
        case {"Ref": str(name)} if name in version.resources:
            return {str}
        case {"Fn::GetAtt": [str(name), str(attribute)]} if name in version.resources:
            kind = version.resources[name].type
            # Custom resources decide by themselves.
            return {str if kind == NESTED_STACK else f"{kind if kind.startswith('AWS::') else name}.{attribute}"}
        case Mapping() if len(expression) == 1 and (function := next(iter(expression))) in _SHAPES:
            return {_SHAPES[str(function)]}
        case str():
            return {str}
    return {json.dumps(expression, sort_keys=True)}
