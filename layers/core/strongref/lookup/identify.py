"""From a physical ID to a primary identifier: which rule holds. Pure; `finder` makes the calls.

1. The type's own rule in `overrides.STRATEGIES`.
2. A single identifier that is an ARN: the physical ID, if that is an ARN; otherwise the physical ID is its name.
3. Any other single identifier: the physical ID.
4. A composite identifier: joined from the physical ID and known properties, or searched in a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from strongref.arns import Arn, is_arn
from strongref.lookup.errors import MissingPropertyError
from strongref.lookup.matching import parts_agree, unique_positions
from strongref.lookup.overrides import STRATEGIES, Candidates, Identifier, Interpreted, NameSearch
from strongref.lookup.query import LookupScope
from strongref.lookup.resource_types import SEPARATOR, ResourceType, resource_type_of


@dataclass(frozen=True, slots=True)
class ListSearch:
    """A search in the list of all resources."""

    physical_id: str  # matches the identifier
    likely: str | None = None  # a possible identifier, to read before the search


Interpretation: TypeAlias = Interpreted | ListSearch


def interpret(
    resource_type: ResourceType, physical_id: str, known: Mapping[str, str], scope: LookupScope
) -> Interpretation:
    """How a physical ID leads to an identifier.

    Raises:
        MissingPropertyError: the physical ID and the known properties are ambiguous.
    """
    interpreted = by_override(resource_type, physical_id, known)
    if isinstance(interpreted, Candidates | Identifier) and _loses_region(physical_id, interpreted, scope):
        return Candidates((physical_id,), {})
    if interpreted is not None:
        return interpreted
    if resource_type.is_composite:
        return _interpret_composite(resource_type, physical_id, known, scope)
    is_name = resource_type.is_arn and not is_arn(physical_id)
    return ListSearch(physical_id) if is_name else Identifier(physical_id)


def is_unambiguous(type_name: str, physical_id: str) -> bool:
    """Whether a physical ID alone identifies a resource of a type; raises `UnknownTypeError`."""
    resource_type = resource_type_of(type_name)
    interpreted = by_override(resource_type, physical_id, {})
    if interpreted is not None:
        return not isinstance(interpreted, NameSearch)
    return not resource_type.is_composite or is_whole(resource_type, physical_id, {}, LookupScope(""))


def by_override(resource_type: ResourceType, physical_id: str, known: Mapping[str, str]) -> Interpreted | None:
    """What a physical ID is by the rule of its type; None if the type has none."""
    rule = STRATEGIES.get(resource_type.type_name, {}).get(resource_type.identifier[0])
    return rule(physical_id, known) if rule else None


def _loses_region(physical_id: str, interpreted: Candidates | Identifier, scope: LookupScope) -> bool:
    """Whether an ARN from elsewhere became an identifier without its region: a resource here may have the same."""
    arn, is_kept = Arn.parse(physical_id), isinstance(interpreted, Identifier) and is_arn(interpreted.text)
    return arn is not None and not scope.may_contain(arn) and not is_kept


def _interpret_composite(
    resource_type: ResourceType, physical_id: str, known: Mapping[str, str], scope: LookupScope
) -> Interpretation:
    if is_whole(resource_type, physical_id, known, scope):
        return Candidates((physical_id,), {})
    if not unique_positions(resource_type, known):
        missing = [part for part in resource_type.identifier if part not in known]
        raise MissingPropertyError(resource_type.type_name, missing, resource_type.identifier)
    return ListSearch(physical_id, join_parts(resource_type, physical_id, known))


def is_whole(resource_type: ResourceType, physical_id: str, known: Mapping[str, str], scope: LookupScope) -> bool:
    """Whether a physical ID is the whole composite identifier already: it has as many parts, and they agree.

    A part may be empty, as the base path of an `AWS::ApiGateway::BasePathMapping`; not all of them.
    """
    parts = resource_type.parts(physical_id)
    return parts is not None and any(parts) and parts_agree(resource_type, parts, known, scope)


def join_parts(resource_type: ResourceType, physical_id: str, known: Mapping[str, str]) -> str | None:
    """The identifier, if the physical ID is its only part that is not known; otherwise None."""
    missing = [part for part in resource_type.identifier if part not in known]
    if len(missing) > 1 or (not missing and physical_id not in (known[part] for part in resource_type.identifier)):
        return None
    if missing and missing != [resource_type.own_part] and known.get(resource_type.own_part or "") == physical_id:
        return None  # It is the resource's own part, which is known, and not its parent's, which is not.
    parts = [known.get(part, physical_id) for part in resource_type.identifier]
    # Parts with separators in them could be those of another resource, joined in another way.
    return None if any(SEPARATOR in part for part in parts) else SEPARATOR.join(parts)
