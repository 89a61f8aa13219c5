"""Finds resources of a type by their ARNs: for a look-up by ARN, and by tags, of which ARNs are all that is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.arns import Arn
from strongref.errors import CloudControlError
from strongref.lookup import overrides
from strongref.lookup.arnforms import GUESSES, IDENTIFYING, are_same, guesses, is_of_type, related, said
from strongref.lookup.errors import TooManyError
from strongref.lookup.matching import agrees

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strongref.aws.cloud_control import Resource
    from strongref.lookup.base import LookupScope
    from strongref.lookup.table import Shape
    from strongref.lookup.trying import Trying

READ_MOST = 100
"""Resources that are read one by one to find one: half a minute at the pace of a look-up."""


class Tracing:
    """One look-up's."""

    def __init__(self, trying: Trying, shape: Shape, known: Mapping[str, str], here: LookupScope, what: str) -> None:
        """Make one.

        Args:
            trying: where resources are asked for.
            shape: their type's.
            known: their properties that are known.
            here: where they are.
            what: is looked for, in words.
        """
        self._reading = trying.reading
        self._trying = trying
        self._shape = shape
        self._known = known
        self._here = here
        self._what = what

    def of_arn(self, text: str) -> list[str]:
        """The identifiers of the resources of the type that have this ARN: one, or none.

        Raises:
            UnrelatedArnError: it cannot be told of which type it is.
        """
        shape, arn = self._shape, Arn.parse(text)
        if arn is None or not self._here.may_contain(arn):
            return []
        if shape.is_arn or shape.type_name in IDENTIFYING:
            return self._identified_by(text)
        understood = overrides.understood(shape.type_name, shape.identifier[0], text, self._known)
        if isinstance(understood, overrides.Candidates):
            return self.confirmed(understood)
        related(arn, text, shape, self._here.region)
        for identifier in guesses(shape, arn):
            there = self._trying.there(identifier)
            if there and self._may_be(there) and self._has(there, text, arn):
                return [there.identifier]
        listed = self.listed()
        for prop in [shape.arn] if shape.arn else said(shape, text) or ():
            self._see_that_few_are_read(listed, prop)
        return [resource.identifier for resource in listed if self._has(resource, text, arn)]

    def confirmed(self, candidates: overrides.Candidates) -> list[str]:
        """The first of the candidates that there is, and that says of itself what it has to."""
        for text in candidates.texts:
            there = self._trying.there(text)
            if there and self._may_be(there):
                told = {prop: there.properties.get(prop) for prop in candidates.says}
                if all(value in (None, candidates.says[prop]) for prop, value in told.items()):
                    return [there.identifier]
        return []

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
        self._see_that_few_are_read(resources, prop)
        return [resource.identifier for resource in resources if self.told(resource, prop) == text]

    def told(self, resource: Resource, prop: str) -> Any:  # noqa: ANN401 (JSON)
        """What a resource says of a property; None if nothing."""
        parts = self._shape.parts(resource.identifier)
        if parts and prop in self._shape.identifier:
            return parts[self._shape.identifier.index(prop)]
        if prop in resource.properties:
            return resource.properties[prop]
        there = self._reading.there(self._shape.type_name, resource.identifier)
        return there.properties.get(prop) if there else None

    def _see_that_few_are_read(self, resources: Sequence[Resource], prop: str) -> None:
        told = prop in self._shape.identifier
        unread = 0 if told else sum(prop not in resource.properties for resource in resources)
        if unread > READ_MOST:
            raise TooManyError(self._shape.type_name, self._what, unread, READ_MOST)

    def _identified_by(self, text: str) -> list[str]:
        shape = self._shape
        if not shape.is_composite:
            there = self._reading.there(shape.type_name, text)
            return [there.identifier] if there and self._may_be(there) else []
        parted = ((resource.identifier, shape.parts(resource.identifier)) for resource in self.listed())
        return [identifier for identifier, parts in parted if parts and parts[shape.own or 0] == text]

    def _has(self, resource: Resource, text: str, arn: Arn) -> bool:
        """Whether a resource's ARN is this: as it says itself, or else as the ARN has its type and its parts.

        One that cannot be read is not known to have it: others may.
        """
        shape = self._shape
        try:
            if shape.arn:
                told_arn = self.told(resource, shape.arn)
                if told_arn is not None:
                    return are_same(told_arn, text)
            says = said(shape, text)
            if says is not None:
                told = [(self.told(resource, prop), value) for prop, value in says.items()]
                return any(own == value for own, value in told) and all(own in (None, value) for own, value in told)
        except CloudControlError as error:
            self._trying.failed = self._trying.failed or error
            return False
        parts, own = shape.parts(resource.identifier), shape.own if shape.is_composite else 0
        if parts is None or own is None or not is_of_type(arn, shape):
            return False
        if shape.type_name in GUESSES:
            return resource.identifier in GUESSES[shape.type_name](arn)
        return _is_path_to(arn.resource_id, parts[own], [part for at, part in enumerate(parts) if at != own])

    def _may_be(self, resource: Resource) -> bool:
        parts = self._shape.parts(resource.identifier)
        return parts is None or agrees(self._shape, parts, self._known, self._here)


def _is_path_to(name: str, own: str, others: Sequence[str]) -> bool:
    """Whether the name in an ARN is a resource's own part, or leads to it over others of its parts.

    Behind the name of another parent, it is another resource's.
    """
    if name == own:
        return True
    path = name[: -len(own) - 1] if own and name.endswith((f"/{own}", f":{own}")) else ""
    return bool(path) and (path in others or set(path.split("/")) <= set(others))
