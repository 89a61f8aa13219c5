"""Finds resources of a type by their ARNs: for lookups by ARN, and by tags, since the tagging API returns ARNs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.arns import Arn
from strongref.aws.errors import CloudControlError, UnsupportedError
from strongref.lookup import arn_formats
from strongref.lookup.errors import TooManyError, UnrelatedArnError
from strongref.lookup.identify import by_override
from strongref.lookup.matching import is_answer, parts_agree
from strongref.lookup.overrides import Candidates

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.lookup.query import LookupScope
    from strongref.lookup.reader import ResourceReader
    from strongref.lookup.resource_types import ResourceType
    from strongref.untyped import AnyJson

MAX_READS = 100
"""Resources that one lookup reads one by one: half a minute at its rate limit."""


@dataclass(eq=False)
class ArnSearch:
    """The resources of one lookup, and what their ARNs and other properties are."""

    reader: ResourceReader  # makes the calls
    resource_type: ResourceType  # of all of them
    known: Mapping[str, str]  # properties that must match
    scope: LookupScope  # where the resources are
    description: str  # what is looked for, in words
    # of the calls for resources that may exist: a lookup reports it only if it finds nothing
    first_error: CloudControlError | UnsupportedError | None = field(default=None, init=False)

    def get(self, identifier: str) -> Resource | None:
        """The resource; None if it does not exist here or the call failed."""
        try:
            found = self.reader.get_if_exists(self.resource_type.type_name, identifier)
        except (CloudControlError, UnsupportedError) as error:
            self.first_error = self.first_error or error
            return None
        return found if found and is_answer(identifier, found.identifier, self.scope) else None

    def find(self, text: str) -> list[str]:
        """The identifiers of the resources of the type that have this ARN: one, or none.

        Raises:
            UnrelatedArnError: the ARN cannot be matched to resources of the type.
        """
        resource_type, arn = self.resource_type, Arn.parse(text)
        if arn is None or not self.scope.may_contain(arn):
            return []
        if resource_type.is_arn or resource_type.type_name in arn_formats.ARN_IDENTIFIERS:
            return self._with_arn_as_identifier(text)
        interpreted = by_override(resource_type, text, self.known)
        if isinstance(interpreted, Candidates):
            return self.confirm(interpreted)
        if not resource_type.arn_property and not arn_formats.is_of_type(arn, resource_type):
            raise UnrelatedArnError(resource_type.type_name, text, self.scope.region)
        for identifier in arn_formats.identifiers_from_arn(resource_type, arn):
            resource = self.get(identifier)
            if resource and self._may_match(resource) and self._has_arn(resource, arn):
                return [resource.identifier]
        listed = self.list_resources()
        arn_property = resource_type.arn_property
        for name in [arn_property] if arn_property else arn_formats.properties_in_arn(resource_type, arn) or ():
            self._limit_reads_of(name, listed)
        return [resource.identifier for resource in listed if self._has_arn(resource, arn)]

    def confirm(self, candidates: Candidates) -> list[str]:
        """The first candidate that exists and has the expected properties, as far as it has them at all."""
        for text in candidates.texts:
            resource = self.get(text)
            if resource and self._may_match(resource):
                expected = candidates.properties.items()
                if all(resource.properties.get(name) in (None, value) for name, value in expected):
                    return [resource.identifier]
        return []

    def list_resources(self) -> list[Resource]:
        """Every resource whose identifier agrees with the known properties."""
        found = self.reader.list_resources(self.resource_type, self.known)
        return [resource for resource in found if self._may_match(resource)]

    def with_property(self, resources: Sequence[Resource], name: str | None, value: str) -> list[str]:
        """The identifiers of the resources with this value of a property, as listed or as read one by one."""
        if name is None:
            return []
        self._limit_reads_of(name, resources)
        return [resource.identifier for resource in resources if self.property_of(resource, name) == value]

    def property_of(self, resource: Resource, name: str) -> AnyJson:
        """A property of a listed resource, which is read if it is not in the list; None if it has no such property."""
        parts = self.resource_type.parts(resource.identifier)
        if parts and name in self.resource_type.identifier:
            return parts[self.resource_type.identifier.index(name)]
        if name in resource.properties:
            return resource.properties[name]
        read = self.reader.get_if_exists(self.resource_type.type_name, resource.identifier)
        return read.properties.get(name) if read else None

    def _limit_reads_of(self, name: str, resources: Sequence[Resource]) -> None:
        if name not in self.resource_type.identifier:
            self.limit_reads(sum(name not in resource.properties for resource in resources))

    def limit_reads(self, reads: int) -> None:
        if reads > MAX_READS:
            raise TooManyError(self.resource_type.type_name, self.description, reads, MAX_READS)

    def _with_arn_as_identifier(self, text: str) -> list[str]:
        resource_type = self.resource_type
        if not resource_type.is_composite:
            resource = self.reader.get_if_exists(resource_type.type_name, text)
            return [resource.identifier] if resource and self._may_match(resource) else []
        listed = ((resource.identifier, resource_type.parts(resource.identifier)) for resource in self.list_resources())
        return [identifier for identifier, parts in listed if parts and parts[resource_type.own or 0] == text]

    def _has_arn(self, resource: Resource, arn: Arn) -> bool:
        """Whether a resource has this ARN: among its properties, or else by the type and the parts in the ARN.

        A resource that cannot be read does not match: another one may.
        """
        resource_type = self.resource_type
        try:
            if resource_type.arn_property:
                own_arn = self.property_of(resource, resource_type.arn_property)
                if own_arn is not None:  # A log group's may end in `:*`, which stands for its streams.
                    return str(own_arn).removesuffix(":*") == str(arn).removesuffix(":*")
            in_arn = arn_formats.properties_in_arn(resource_type, arn)
            if in_arn is not None:
                pairs = [(self.property_of(resource, name), value) for name, value in in_arn.items()]
                return any(own == value for own, value in pairs) and all(own in (None, value) for own, value in pairs)
        except CloudControlError as error:
            self.first_error = self.first_error or error
            return False
        own_part, parts = resource_type.own_value(resource.identifier), resource_type.parts(resource.identifier)
        if parts is None or own_part is None or not arn_formats.is_of_type(arn, resource_type):
            return False
        if resource_type.type_name in arn_formats.IDENTIFIERS_FROM_ARN:
            return resource.identifier in arn_formats.identifiers_from_arn(resource_type, arn)
        own = resource_type.own if resource_type.is_composite else 0
        return _is_path_to(arn.resource_id, own_part, [part for at, part in enumerate(parts) if at != own])

    def _may_match(self, resource: Resource) -> bool:
        parts = self.resource_type.parts(resource.identifier)
        return parts is None or parts_agree(self.resource_type, parts, self.known, self.scope)


def _is_path_to(resource_id: str, own: str, others: Sequence[str]) -> bool:
    """Whether the ID in an ARN is a resource's own part, perhaps after other parts of it.

    After the name of another parent, it is another resource's.
    """
    if resource_id == own:
        return True
    path = resource_id[: -len(own) - 1] if own and resource_id.endswith((f"/{own}", f":{own}")) else ""
    return bool(path) and (path in others or set(path.split("/")) <= set(others))
