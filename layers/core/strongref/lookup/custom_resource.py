"""`Custom::ResourceLookup`: finds a resource and returns its attributes. It never writes anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.names import StackArn
from strongref.contract.response import Response, ResponseTooLargeError, check_size
from strongref.errors import LookUpDeniedError
from strongref.lookup.attributes import IDENTIFIER, returned_attributes
from strongref.lookup.errors import AttributesTooLargeError, LookupPolicyError
from strongref.lookup.request import LookupRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.contract.event import Event
    from strongref.lookup.finder import Finder
    from strongref.protocol.time import Clock

PHYSICAL_ID_PREFIX = "strongref-lookup/"


@dataclass(frozen=True, slots=True)
class ResourceLookup:
    """The use case of the lookup function."""

    finder: Callable[[str, Clock], Finder]  # finds resources in a region, for as long as a clock allows

    def handle(self, event: Event, clock: Clock) -> Response:
        """Handle one event.

        Raises:
            StrongRefError: the lookup failed. There is nothing to clean up.
        """
        # The physical ID does not depend on the properties, so CloudFormation never replaces a lookup.
        physical_id = f"{PHYSICAL_ID_PREFIX}{event.stack_name}/{event.logical_id}"
        if event.request_type is RequestType.DELETE:
            return Response(event.physical_id or physical_id)

        request = LookupRequest.parse(event.properties, StackArn.parse(event.stack))
        try:
            found = self.finder(request.region, clock).find(request.query)
        except LookUpDeniedError as error:
            raise LookupPolicyError(error, request.query.type_name) from None

        data = returned_attributes(found, request.attributes)
        try:
            check_size(event, physical_id, data)
        except ResponseTooLargeError as error:
            largest = [name for name in error.names if name != IDENTIFIER] or error.names
            named = request.attributes is not None
            raise AttributesTooLargeError(
                found.type_name, error.size, largest, named=named, alone=[*error.alone]
            ) from None
        return Response(physical_id, data)
