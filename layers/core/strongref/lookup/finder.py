"""Finds one resource by its physical ID, ARN, name or tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.lookup.reader import CloudControl, ResourceReader, Tagging
from strongref.lookup.search import ResourceSearch

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.lookup.query import ResourceQuery


class Finder:
    """Looks up resources in one account and region, for one run or invocation; it makes no call twice.

    Without `tagging`, resources are not found by tags.
    """

    def __init__(self, cloudcontrol: CloudControl, tagging: Tagging | None = None) -> None:
        self._reader = ResourceReader(cloudcontrol)
        self._tagging = tagging

    def find(self, query: ResourceQuery) -> Resource:
        """The resource, with its properties.

        Raises:
            RejectedLookupError: the query cannot succeed as it is; each subclass is a reason.
            NoSuchResourceError: no resource matches, or the ARN is of another type (UnrelatedArnError).
            UnsupportedError: Cloud Control does not read or list such resources.
            CloudControlError: a call failed.
            WaitInterruptedError: the time for retries ran out.
        """
        return ResourceSearch(self._reader, self._tagging, query).resource()

    def identifier(self, query: ResourceQuery) -> str:
        """The primary identifier by which Cloud Control knows the resource. Raises as `find`.

        If it follows from the physical ID alone, no call is made, and the resource may not exist.
        """
        return ResourceSearch(self._reader, self._tagging, query).identifier()
