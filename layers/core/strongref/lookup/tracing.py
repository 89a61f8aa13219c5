"""Finds resources of a type by their ARNs: for a look-up by ARN, and by tags, of which ARNs are all that is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.lookup.arns import Arn
from strongref.lookup.errors import TooManyError
from strongref.lookup.matching import Fit, agrees, fit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from strongref.lookup.base import Resource
    from strongref.lookup.reading import Reading
    from strongref.lookup.table import Shape

READ_MOST = 100
"""Resources that are read one by one to find one: half a minute at the pace of a look-up."""


class Tracing:
    """One look-up's."""

    def __init__(self, reading: Reading, shape: Shape, known: Mapping[str, str], what: str) -> None:
        """Make one.

        Args:
            reading: where resources are asked for.
            shape: their type's.
            known: their properties that are known.
            what: is looked for, in words.
        """
        self._reading = reading
        self._shape = shape
        self._known = known
        self._what = what

    def of_arn(self, text: str) -> list[str]:
        """The identifiers of the resources of the type that have this ARN: one, or none."""
        shape, arn = self._shape, Arn.parse(text)
        if arn is None or arn.region not in ("", self._reading.region):
            return []
        if shape.is_arn:
            return self._identified_by(text)
        if not shape.is_composite:
            for identifier in dict.fromkeys((arn.name, arn.ending)):
                there = self._reading.there(shape.type_name, identifier)
                if there and self._may_be(there) and self._has(there, text, arn):
                    return [there.identifier]
        listed = self.listed()
        if shape.arn:
            return self.telling(listed, shape.arn, text)
        return [resource.identifier for resource in listed if self._has(resource, text, arn)]

    def listed(self) -> list[Resource]:
        """Every resource that is what is known of it."""
        found = self._reading.listed(self._shape, self._known)
        return [resource for resource in found if self._may_be(resource)]

    def telling(self, resources: Sequence[Resource], prop: str | None, text: str) -> list[str]:
        """The identifiers of those that say of themselves that a property is this: in the list, or when they are read.

        Raises:
            TooManyError: too many would have to be read.
        """
        if prop is None:
            return []
        unread = sum(prop not in resource.properties for resource in resources)
        if unread > READ_MOST:
            raise TooManyError(self._shape.type_name, self._what, unread, READ_MOST)
        return [resource.identifier for resource in resources if self._told(resource, prop) == text]

    def _identified_by(self, text: str) -> list[str]:
        shape, region = self._shape, self._reading.region
        if not shape.is_composite:
            there = self._reading.there(shape.type_name, text)
            return [there.identifier] if there and self._may_be(there) else []
        return [
            resource.identifier
            for resource in self._reading.listed(shape, self._known)
            if fit(shape, resource.identifier, text, self._known, region) is Fit.YES
        ]

    def _has(self, resource: Resource, text: str, arn: Arn) -> bool:
        """Whether a resource's ARN is this: as it says itself, or else as the ARN has its type and its own part."""
        if self._shape.arn:
            return bool(self._told(resource, self._shape.arn) == text)
        parts = self._shape.parts(resource.identifier)
        own = 0 if not self._shape.is_composite else self._shape.own
        if parts is None or own is None or not is_of_type(arn, self._shape):
            return False
        return parts[own] in (arn.name, arn.ending)

    def _may_be(self, resource: Resource) -> bool:
        parts = self._shape.parts(resource.identifier)
        return parts is None or agrees(self._shape, parts, self._known, self._reading.region)

    def _told(self, resource: Resource, prop: str) -> Any:  # noqa: ANN401 (JSON)
        if prop in resource.properties:
            return resource.properties[prop]
        there = self._reading.there(self._shape.type_name, resource.identifier)
        return there.properties.get(prop) if there else None


def is_of_type(arn: Arn, shape: Shape) -> bool:
    """Whether an ARN names a type as CloudFormation does, but for case and hyphens: `nat-gateway` and `NatGateway`."""
    _, service, kind = shape.type_name.lower().split("::")
    of_service = arn.service in (service, *(shape.tagged_by or ()))
    return of_service and arn.kind.replace("-", "").lower() == kind


def of_type(arns: Iterable[str], shape: Shape) -> list[str]:
    """The ARNs that name the type; all of them if none does, since some services call it something else."""
    parsed = {text: Arn.parse(text) for text in arns}
    named_so = [text for text, arn in parsed.items() if arn and is_of_type(arn, shape)]
    return named_so or list(parsed)
