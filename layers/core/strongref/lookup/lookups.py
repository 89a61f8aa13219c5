"""What a `Custom::ResourceLookup` does: find a resource and tell its attributes. It reads, and never writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.names import StackArn
from strongref.contract.response import Response, ResponseTooLargeError, check_size
from strongref.errors import LookUpDeniedError
from strongref.lookup.answer import IDENTIFIER, NotAllowedToLookError, TooMuchToTellError, attributes
from strongref.lookup.request import LookupRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.aws.cloud_control import Resource
    from strongref.contract.event import Event
    from strongref.lookup.finding import Finder
    from strongref.protocol.time import Clock

PHYSICAL_ID_PREFIX = "strongref-lookup/"


def physical_id(event: Event) -> str:
    """A look-up's, for its whole life: what it looks up is no part of it, so CloudFormation never replaces it."""
    return f"{PHYSICAL_ID_PREFIX}{event.stack_name}/{event.logical_id}"


@dataclass(frozen=True, slots=True)
class ResourceLookup:
    """The function that looks up.

    Attributes:
        finder: what finds resources in a region, for as long as a clock says.
    """

    finder: Callable[[str, Clock], Finder]

    def handle(self, event: Event, clock: Clock) -> Response:
        """Carry out one event of CloudFormation's.

        Raises:
            StrongRefError: it could not be done. Nothing is left of it.
        """
        if event.request_type is RequestType.DELETE:
            return Response(event.physical_id or physical_id(event))
        request = LookupRequest.parse(event.properties, StackArn.parse(event.stack))
        found = self._find(request, clock)
        answer = Response(physical_id(event), attributes(found, request.attributes))
        try:
            check_size(event, answer.physical_id, answer.data)
        except ResponseTooLargeError as error:
            largest = [name for name in error.names if name != IDENTIFIER] or error.names
            named = request.attributes is not None
            raise TooMuchToTellError(found.type_name, error.size, largest, named=named) from None
        return answer

    def _find(self, request: LookupRequest, clock: Clock) -> Resource:
        try:
            return self.finder(request.region, clock).find(request.wanted)
        except LookUpDeniedError as error:
            raise NotAllowedToLookError(error, request.wanted.type_name) from None
