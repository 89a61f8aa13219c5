"""Finds one resource by its physical ID, ARN, name or tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.lookup.reader import ResourceReader
from strongref.lookup.search import ResourceSearch

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.lookup.query import ResourceQuery
    from strongref.lookup.reader import CloudControl, Tagging


class Finder:
    """Looks up resources in one account and region, for one run or invocation; it makes no call twice."""

    def __init__(self, cloudcontrol: CloudControl, tagging: Tagging | None = None) -> None:
        """Make one.

        Args:
            cloudcontrol: of the account and region where resources are looked up.
            tagging: of the same; without it, resources are not found by tags.
        """
        self._reader = ResourceReader(cloudcontrol)
        self._tagging = tagging

    def find(self, query: ResourceQuery) -> Resource:
        """The resource, with its properties.

        Raises:
            ResourceQueryError: the query is not one way to find a resource of the type.
            UnknownTypeError: the table has no such type.
            MissingPropertyError: more properties must be known.
            RejectedPropertyError: the service does not accept a property.
            NoSuchResourceError: no resource matches.
            UnrelatedArnError: the ARN cannot be matched to resources of the type.
            AmbiguousError: several resources match.
            TooManyError: too many resources would have to be read.
            UnsupportedError: Cloud Control does not read or list such resources.
            CloudControlError: a call failed.
            WaitInterruptedError: the time for retries ran out.
        """
        search = ResourceSearch(self._reader, self._tagging, query)
        identifier = search.run()
        found = self._reader.get(search.resource_type.type_name, identifier)
        differing = search.differing(found)
        if differing or not search.is_answer(identifier, found):
            raise search.no_match(differing)
        return found

    def identifier(self, query: ResourceQuery) -> str:
        """The primary identifier by which Cloud Control knows the resource. Raises as `find`.

        If it follows from the physical ID alone, no call is made, and the resource may not exist.
        """
        return ResourceSearch(self._reader, self._tagging, query).run()
