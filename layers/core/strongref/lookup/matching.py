"""Whether a resource is the one that is looked for: its identifier, its properties and its tags. Pure.

No rule may match another resource's identifier: a part is compared as a whole, and of an ARN only the resource's own
name. If an ARN does not say whether its last segment is the whole name, the resource's name property decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from strongref.arns import Arn
from strongref.lookup.resource_types import SEPARATOR, ResourceType

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.lookup.query import LookupScope
    from strongref.untyped import AnyJson


class Match(IntEnum):
    """Whether an identifier belongs to a physical ID."""

    NO = 0
    IF_NAMED_SO = 1
    """Yes, if the resource's name property says so."""
    YES = 2


def match(
    resource_type: ResourceType, identifier: str, physical_id: str, known: Mapping[str, str], scope: LookupScope
) -> Match:
    """Whether an existing resource's identifier is that of the resource with a physical ID.

    An empty physical ID matches nothing, and neither does a resource that differs in one of the known properties.
    """
    parts = resource_type.parts(identifier)
    if not physical_id or not (parts is None or parts_agree(resource_type, parts, known, scope)):
        return Match.NO
    if identifier == physical_id:
        return Match.YES
    if parts is None:
        return Match.NO
    positions = unique_positions(resource_type, known)
    return max((_match_part(parts[position], physical_id) for position in positions), default=Match.NO)


def unique_positions(resource_type: ResourceType, known: Mapping[str, str]) -> list[int]:
    """The positions of the identifier whose value alone identifies the resource.

    These are the own part, and any other part if all the rest are known: siblings may share it.
    """
    unknown = {at for at, part in enumerate(resource_type.identifier) if part not in known}
    return [at for at in range(len(resource_type.identifier)) if at == resource_type.own or unknown <= {at}]


def parts_agree(
    resource_type: ResourceType, parts: tuple[str, ...], known: Mapping[str, str], scope: LookupScope
) -> bool:
    """Whether no part differs from the known properties."""
    named = zip(resource_type.identifier, parts, strict=True)
    return all(is_same_value(part, known[name], scope) for name, part in named if name in known)


def is_same_value(part: str, value: str, scope: LookupScope) -> bool:
    """Whether both stand for the same: they are equal, or one is the ARN with the other as its name."""
    if part == value:
        return True
    arn_of_part, arn_of_value = Arn.parse(part), Arn.parse(value)
    if arn_of_part and not arn_of_value:
        return arn_of_part.resource_id == value
    return bool(
        arn_of_value and not arn_of_part and arn_of_value.resource_id == part and scope.may_contain(arn_of_value)
    )


def is_answer(asked: str, got: str, scope: LookupScope) -> bool:
    """Whether the resource with one identifier is the answer to the other.

    Some services read only the name in an ARN, and answer with the caller's own resource for one of another account.
    """
    arns = {part: Arn.parse(part) for part in asked.split(SEPARATOR)}
    return all(arn is None or scope.may_contain(arn) or part in got.split(SEPARATOR) for part, arn in arns.items())


def _match_part(part: str, physical_id: str) -> Match:
    arn = Arn.parse(part)
    if physical_id == part or (arn and physical_id == arn.resource_id):
        return Match.YES
    return Match.IF_NAMED_SO if arn and physical_id == arn.last_segment else Match.NO


def differing_properties(resource: Resource, known: Mapping[str, str], scope: LookupScope) -> list[str]:
    """The known properties that differ from the resource's own.

    Properties that a resource does not have, or has as a list or a map, are not compared.
    """
    return [name for name, value in known.items() if not _agrees(_value_at(resource.properties, name), value, scope)]


def _value_at(properties: Mapping[str, Any], name: str) -> AnyJson:
    found: Any = properties
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _agrees(own: object, value: str, scope: LookupScope) -> bool:
    if isinstance(own, bool):
        return str(own).lower() == value.lower()
    if isinstance(own, int | float):
        return value in (str(own), f"{own:g}", f"{own:.1f}")
    return not isinstance(own, str) or is_same_value(own, value, scope)


def has_tags(resource: Resource, tags: Mapping[str, str]) -> bool:
    """Whether a resource has all of these tags among its properties."""
    own = resource.properties.get("Tags")
    if isinstance(own, list):
        own = {each.get("Key"): each.get("Value") for each in own if isinstance(each, Mapping)}
    return isinstance(own, Mapping) and all(own.get(key) == value for key, value in tags.items())


def misspelled(resource_type: ResourceType, names: Iterable[str]) -> tuple[str, str] | None:
    """A name that differs only in case from a property that the lookup needs, and the right spelling."""
    required = (value_of for alternative in resource_type.required_inputs for _, value_of in alternative)
    right = [*resource_type.identifier, *required]
    by_lower_case = {name.lower(): name for name in right}
    wrong = (name for name in names if name not in right and name.lower() in by_lower_case)
    return next(((name, by_lower_case[name.lower()]) for name in wrong), None)
