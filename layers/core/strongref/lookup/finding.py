"""Finds one resource by what is known of it: its physical id, ARN, name or tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.errors import NoSuchResourceError
from strongref.lookup.agreement import contradicted
from strongref.lookup.attributes import attribute
from strongref.lookup.base import LookupScope
from strongref.lookup.reading import Reading
from strongref.lookup.searching import Search
from strongref.lookup.table import shape_of

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.lookup.base import CloudControl, Tagging, Wanted

__all__ = ["Finder", "attribute"]


class Finder:
    """Looks resources up in one account and region; it lives for a run or an invocation, and asks nothing twice."""

    def __init__(self, cloudcontrol: CloudControl, tagging: Tagging | None = None) -> None:
        """Make one.

        Args:
            cloudcontrol: of the account and region where resources are looked for.
            tagging: of the same; resources are found by tags only with it.
        """
        self._reading = Reading(cloudcontrol)
        self._tagging = tagging

    def find(self, wanted: Wanted) -> Resource:
        """The resource, with what its service says of it.

        Raises:
            WantedError: it is not named in exactly one way, or in one that cannot be.
            UnknownTypeError: no such type.
            MissingPropertyError: what is known does not suffice to look for it.
            NoSuchResourceError: there is none.
            UnrelatedArnError: nobody can tell whether there is one.
            AmbiguousError: there are several.
            TooManyError: too many would have to be read to know.
            UnsupportedError: Cloud Control cannot read or list such resources.
            CloudControlError: a call failed.
            WaitInterruptedError: there was no time to wait for longer.
        """
        search = self._search(wanted)
        found = self._reading.get(search.shape.type_name, search.run())
        differing = contradicted(found, search.claimed(found.identifier), search.here)
        if differing:
            raise NoSuchResourceError(search.shape.type_name, search.other_than(differing), search.here.region)
        return found

    def identifier(self, wanted: Wanted) -> str:
        """The primary identifier by which Cloud Control knows it. Raises as `find`.

        Where it follows from a physical id alone, nothing is asked, and there may be no such resource.
        """
        return self._search(wanted).run()

    def _search(self, wanted: Wanted) -> Search:
        here = LookupScope(self._reading.region, wanted.account)
        return Search(self._reading, self._tagging, shape_of(wanted.type_name), wanted, here)
