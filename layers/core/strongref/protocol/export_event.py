"""An event of an Export: what it asks to publish where, and what to respond."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.contract.event import Event, RequestType
from strongref.contract.index import IndexEntry
from strongref.contract.names import ExportScope, Key, Site
from strongref.contract.requests import ExportRequest, OnChange, accepted, readable_regions
from strongref.contract.response import Response
from strongref.errors import BadRequestError, StoreError, StrongRefError, UnfinishedError
from strongref.protocol.export_index import ExportIndex
from strongref.protocol.out_of_reach import is_out_of_reach
from strongref.protocol.snapshot import Destination, recorded_scopes
from strongref.protocol.stored_exports import ExportIdentity, StoredExports, physical_id

if TYPE_CHECKING:
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock


@dataclass(frozen=True, slots=True)
class ExportEvent:
    export: ExportIdentity
    # where to publish what, in the order in which they are written: new ones before those that it leaves
    destinations: tuple[Destination, ...]
    response: Response  # what to answer if nothing needs to be reported
    rewrite: Collection[Key] = ()  # keys to write again although they are right
    on_change: OnChange = OnChange.REFUSE  # what the properties ask for
    hold: str = ""  # the CloudFormation export that imports are to hold; empty if there is none
    former: ExportRequest | None = None  # what the old properties of an Update asked for; None if they were refused
    unchanged: bool = False  # the Update asks for what was asked for before, so there may be nothing to do
    # where it may have left something for properties that cannot be understood. They were refused, or understood by
    # another version; what is stored says which
    unclear_regions: tuple[str, ...] = ()
    is_delete: bool = False

    @classmethod
    def parse(cls, event: Event) -> ExportEvent:
        """Read an event.

        Raises:
            BadRequestError: a property of a Create or Update cannot be understood, or the region of a Delete.
        """
        stack = event.stack_arn
        export = ExportIdentity(event.stack, event.logical_id)
        if event.request_type is RequestType.DELETE:
            leaving = accepted(ExportRequest.parse, event.properties, stack)
            own_id = physical_id(stack, event.logical_id)
            destinations = _left(leaving) if leaving else ()
            unclear = () if leaving else readable_regions(event.properties, stack)
            if not leaving and not unclear and event.physical_id == own_id:
                raise BadRequestError("Region", _UNCLEAR)
            response = Response(event.physical_id or own_id)
            return cls(export, destinations, response, unclear_regions=unclear, is_delete=True)
        request = ExportRequest.parse(event.properties, stack)
        old_properties = event.old_properties
        former = None if old_properties is None else accepted(ExportRequest.parse, old_properties, stack)
        new = [Destination(site, request.scope, request.values, request.hold) for site in request.sites]
        here = {(each.site, each.scope) for each in new}
        old = _left(former) if former else ()
        rewrite = request.values.keys() if former and former.revision != request.revision else ()
        return cls(
            export=export,
            destinations=(*new, *(each for each in old if (each.site, each.scope) not in here)),
            response=Response(
                physical_id(stack, event.logical_id),
                {"Prefix": request.scope.path("exports"), "Count": str(len(request.values))},
            ),
            rewrite=rewrite,
            on_change=request.on_change,
            hold=request.hold,
            former=former,
            unchanged=former is not None and not rewrite and former.publishes_the_same_as(request),
            unclear_regions=()
            if former or old_properties is None
            else (*(at.region for at in request.sites if not at.account), *readable_regions(old_properties, stack)),
        )

    def with_named(self, ports: Ports, clock: Clock) -> ExportEvent:
        """This event with the places that the index names besides.

        If properties are unclear, with those of their regions where the Export has a record as well.
        """
        known, producer = {(each.site, each.scope) for each in self.destinations}, self.export.producer
        entry = IndexEntry(self.export.stack)
        try:
            entry = ExportIndex(ports.stores(producer.region, clock), self.export).read()
        except StrongRefError as error:
            # It is needed for more only where the places themselves are not known.
            if self.unclear_regions or isinstance(error, UnfinishedError):
                raise
        found = [(at.site(producer), ExportScope(at.consumer, producer)) for at in sorted(entry.places)]
        for region in self.unclear_regions:
            try:
                store = ports.stores(region, clock)
                found += [(Site(region), scope) for scope in recorded_scopes(store, self.export)]
            except StoreError as error:
                # An Update that is not understood has written nowhere, nor an Export where the index does not name it.
                if not is_out_of_reach(error) or (self.is_delete and not entry.is_exact):
                    raise
        more = {at: Destination(*at, {}, is_residual=bool(self.former)) for at in found if at not in known}
        return replace(self, destinations=(*self.destinations, *more.values()))

    def responded(self, stored: Collection[StoredExports], reason: str = "") -> Response:
        """The response with a reason and the attribute `Hold`, given what was stored.

        The attribute does not change when the property is removed: while imports hold the output, CloudFormation
        refuses to change its value.
        """
        former = [self.former.hold if self.former else "", *(each.hold for each in stored)]
        hold = self.hold or next(filter(None, former), "")
        data = self.response.data
        return replace(self.response, data={**data, "Hold": hold} if hold and data else data, reason=reason)


_UNCLEAR = (
    "must be a region or a list of regions: without it, what is to be deleted cannot be found. Deploy valid properties "
    "first, or delete the stack and retain this resource: the janitor of the region removes what deleted stacks left"
)


def _left(request: ExportRequest) -> tuple[Destination, ...]:
    """Where nothing is wanted anymore."""
    return tuple(Destination(site, request.scope, {}) for site in request.sites)
