"""Finds one resource by what is known of it: its physical id, ARN, name or tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.lookup.arns import Arn
from strongref.lookup.attributes import attribute
from strongref.lookup.errors import (
    AmbiguousError,
    MissingPropertyError,
    NoSuchResourceError,
    TooManyError,
    UnsupportedError,
    WantedError,
)
from strongref.lookup.identify import Asked, Called, Listed, described, way_of
from strongref.lookup.inputs import with_derived
from strongref.lookup.matching import Fit, agrees, fit
from strongref.lookup.overrides import Identifier
from strongref.lookup.reading import Reading
from strongref.lookup.table import shape_of
from strongref.lookup.tracing import READ_MOST, Tracing, of_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from strongref.errors import StrongRefError
    from strongref.lookup import overrides
    from strongref.lookup.base import CloudControl, Resource, Tagging, Wanted
    from strongref.lookup.table import Shape

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
            AmbiguousError: there are several.
            TooManyError: too many would have to be read to know.
            UnsupportedError: Cloud Control cannot read or list such resources.
            CloudControlError: a call failed.
            CutShortError: there was no time to wait for longer.
        """
        shape = shape_of(wanted.type_name)
        return self._reading.get(shape.type_name, self._identifier(shape, wanted))

    def identifier(self, wanted: Wanted) -> str:
        """The primary identifier by which Cloud Control knows it. Raises as `find`.

        Where it follows from a physical id alone, nothing is asked, and there may be no such resource.
        """
        return self._identifier(shape_of(wanted.type_name), wanted)

    def _identifier(self, shape: Shape, wanted: Wanted) -> str:
        return _Search(self._reading, self._tagging, shape, wanted).run()


class _Search:
    """One look-up."""

    def __init__(self, reading: Reading, tagging: Tagging | None, shape: Shape, wanted: Wanted) -> None:
        self._reading = reading
        self._tagging = tagging
        self._shape = shape
        self._wanted = wanted
        self._what = described(wanted)
        self._known = with_derived(shape.type_name, wanted.properties)
        self._tracing = Tracing(reading, shape, self._known, self._what)

    def run(self) -> str:
        wanted = self._wanted
        if wanted.physical_id is not None:
            return self._of_physical_id(wanted.physical_id)
        if wanted.name is not None:
            by_its_name = self._shape.name and self._shape.name == self._shape.own_part
            return self._of_physical_id(wanted.name) if by_its_name else self._called(wanted.name)
        if wanted.arn is not None:
            return self._only(self._tracing.of_arn(wanted.arn))
        return self._tagged(wanted.tags)

    def _of_physical_id(self, physical_id: str) -> str:
        way = way_of(self._shape, physical_id, self._known, self._reading.region)
        if isinstance(way, Identifier):
            return self._agreeing(way.text)
        if isinstance(way, Asked):
            there = self._reading.there(self._shape.type_name, way.text)
            return self._only([there.identifier] if there else [])
        if isinstance(way, Listed):
            return self._fitting(way)
        return self._called(way.name) if isinstance(way, Called) else self._of_resource(way)

    def _agreeing(self, identifier: str) -> str:
        """An identifier that nobody is asked for; it has to be what is known of it all the same."""
        parts = self._shape.parts(identifier)
        if parts and not agrees(self._shape, parts, self._known, self._reading.region):
            what = f"{self._what} and what else was given of it"
            raise NoSuchResourceError(self._shape.type_name, what, self._reading.region)
        return identifier

    def _fitting(self, way: Listed) -> str:
        there = self._reading.there(self._shape.type_name, way.first) if way.first else None
        if there:
            return there.identifier
        try:
            listed = self._tracing.listed()
        except MissingPropertyError as error:
            if way.first is None or not set(error.missing) <= set(self._shape.identifier):
                raise
            listed = []  # All of its identifier was known, and asked for.
        return self._only(self._fits(listed, way.physical_id), len(listed))

    def _called(self, name: str) -> str:
        """The one whose ARN has that name; where identifiers are no ARNs, the one that says that it is its."""
        listed = self._tracing.listed()
        found = self._fits(listed, name)
        if not found or not self._shape.is_arn:  # An id may be another one's name.
            found += self._tracing.telling(listed, self._shape.name, name)
        return self._only(found, len(listed))

    def _fits(self, listed: Sequence[Resource], text: str) -> list[str]:
        fits = [(each, self._fit(each, text)) for each in listed]
        sure = [each.identifier for each, fits_so in fits if fits_so is Fit.YES]
        unsure = [each for each, fits_so in fits if fits_so is Fit.IF_CALLED_SO]
        return [*sure, *self._tracing.telling(unsure, self._shape.name, text)]

    def _of_resource(self, way: overrides.Resource) -> str:
        """The one whose ARN ends so; if it is not listed, it is asked for beside those that are."""
        listed = self._reading.listed(self._shape, {**way.hints, **self._known})
        arns = {each.identifier: arn for each in listed if (arn := Arn.parse(each.identifier))}
        found = [identifier for identifier, arn in arns.items() if arn.resource == way.text]
        for arn in list(arns.values())[:1] if way.text and not found else ():
            there = self._reading.there(self._shape.type_name, arn.beside(way.text))
            found = [there.identifier] if there else []
        return self._only(found, len(listed))

    def _tagged(self, tags: Mapping[str, str]) -> str:
        if self._tagging is None or self._shape.tagged_by == ():
            raise WantedError(self._shape.type_name, "such resources cannot be found by tags; name one in another way")
        arns = of_type(self._tagging.arns(self._shape.tagged_by or (), tags), self._shape)
        if len(arns) > READ_MOST:
            raise TooManyError(self._shape.type_name, self._what, len(arns), READ_MOST)
        found: list[str] = []
        undecided: StrongRefError | None = None
        for arn in arns:
            try:
                found += self._tracing.of_arn(arn)
            except (MissingPropertyError, UnsupportedError) as error:
                undecided = error  # Of most types, an ARN leads to no list: this may be of another one.
        if undecided and not found:
            raise undecided
        return self._only(found, len(arns))

    def _fit(self, resource: Resource, text: str) -> Fit:
        return fit(self._shape, resource.identifier, text, self._known, self._reading.region)

    def _only(self, found: Iterable[str], among: int | None = None) -> str:
        different = list(dict.fromkeys(found))
        if not different:
            raise NoSuchResourceError(self._shape.type_name, self._what, self._reading.region, among)
        if len(different) > 1:
            raise AmbiguousError(self._shape.type_name, self._what, different)
        return different[0]
