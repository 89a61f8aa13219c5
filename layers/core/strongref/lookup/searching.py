"""One look-up: what is asked, in which order, and that what is found is what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.arns import Arn
from strongref.errors import CloudControlError, NoSuchResourceError, UnsupportedError
from strongref.lookup import overrides
from strongref.lookup.agreement import contradicted, has_tags, misspelt
from strongref.lookup.arnforms import of_type
from strongref.lookup.errors import AmbiguousError, MissingPropertyError, TooManyError, UnrelatedArnError, WantedError
from strongref.lookup.identify import Asked, Called, Listed, described, way_of
from strongref.lookup.inputs import with_derived
from strongref.lookup.matching import Fit, agrees, fit, same
from strongref.lookup.overrides import Candidates, Identifier
from strongref.lookup.table import SEPARATOR
from strongref.lookup.tracing import READ_MOST, Tracing
from strongref.lookup.trying import Trying
from strongref.text import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from strongref.aws.cloud_control import Resource
    from strongref.errors import StrongRefError
    from strongref.lookup.base import LookupScope, Tagging, Wanted
    from strongref.lookup.reading import Reading
    from strongref.lookup.table import Shape


class Search:
    """One look-up.

    Attributes:
        shape: the type's.
        here: where it is made.
    """

    def __init__(
        self, reading: Reading, tagging: Tagging | None, shape: Shape, wanted: Wanted, here: LookupScope
    ) -> None:
        self.shape = shape
        self.here = here
        self._reading = reading
        self._tagging = tagging
        self._wanted = wanted
        self._what = described(wanted)
        wrong = misspelt(shape, wanted.properties)
        if wrong:
            raise WantedError(shape.type_name, f"{wrong[0]} is none of its properties; is {wrong[1]} meant?")
        self._claimed = {name: value for name, value in wanted.properties.items() if value}
        self._known = with_derived(shape.type_name, {**wanted.hints, **self._claimed})
        self._trying = Trying(reading, shape.type_name)
        self._tracing = Tracing(self._trying, shape, self._known, here, self._what)

    def run(self) -> str:
        """The identifier. Raises as `Finder.find`."""
        try:
            return self._found()
        except (CloudControlError, UnsupportedError):
            if self._trying.failed is None:
                raise
        except MissingPropertyError:
            if not isinstance(self._trying.failed, UnsupportedError):  # Then it would not help to know more.
                raise
        raise self._trying.failed

    def claimed(self, identifier: str) -> dict[str, str]:
        """What was claimed of the resource, but for the parts of its identifier, which agree."""
        parts = self.shape.identifier if self.shape.parts(identifier) else ()
        return {name: value for name, value in self._claimed.items() if name not in parts}

    def other_than(self, names: Sequence[str]) -> str:
        """What is looked for, where what is called so says something else of these properties."""
        return f"{self._what} and what else was given of it ({some(names)})"

    def _found(self) -> str:
        wanted = self._wanted
        if wanted.physical_id is not None:
            return self._of_physical_id(wanted.physical_id)
        if wanted.name is not None:
            return self._of_name(wanted.name)
        if wanted.arn is not None:
            return self._only(self._tracing.of_arn(wanted.arn))
        return self._tagged(wanted.tags)

    def _of_physical_id(self, physical_id: str) -> str:
        split = overrides.SPLIT.get(self.shape.type_name, _whole)(physical_id)
        if split:
            return self._of_parent(physical_id, *split)
        way = way_of(self.shape, physical_id, self._known, self.here)
        if isinstance(way, Identifier):
            return self._agreeing(way.text)
        if isinstance(way, Candidates):
            return self._only(self._tracing.confirmed(way))
        if isinstance(way, Asked):
            there = self._reading.there(self.shape.type_name, way.text)
            return self._only([there.identifier] if there else [])
        if isinstance(way, Listed):
            return self._fitting(way)
        return self._called(way.name) if isinstance(way, Called) else self._of_resource(way)

    def _agreeing(self, identifier: str) -> str:
        """An identifier that nobody is asked for; it has to be what is known of it all the same."""
        parts = self.shape.parts(identifier)
        if parts and not agrees(self.shape, parts, self._known, self.here):
            differing = [name for name in self.shape.identifier if name in self._known]
            raise NoSuchResourceError(self.shape.type_name, self.other_than(differing), self.here.region)
        return self._only([identifier])

    def _of_parent(self, physical_id: str, parent: str, own: str) -> str:
        """The one of a parent, whose name or ARN is part of its identifier: whichever of the two the service has."""
        shape, own_part = self.shape, str(self.shape.own_part)
        told = {**with_derived(shape.type_name, {shape.identifier[0]: parent}), own_part: own}
        if not all(same(told[name], self._known[name], self.here) for name in told if name in self._known):
            return self._only([])
        arn = Arn.parse(parent)
        forms = (
            [physical_id, f"{arn.resource_id}{SEPARATOR}{own}"] if arn and self.here.may_contain(arn) else [physical_id]
        )
        for form in forms:
            there = self._trying.there(form)
            if there:
                return self._only([there.identifier])
        known = {**self._known, **told}
        listed = self._reading.listed(shape, known)
        found = [each.identifier for each in listed if fit(shape, each.identifier, own, known, self.here) is Fit.YES]
        return self._only(found, len(listed))

    def _fitting(self, way: Listed) -> str:
        there = self._trying.there(way.first) if way.first else None
        if there:
            return self._only([there.identifier])
        try:
            listed = self._tracing.listed()
        except MissingPropertyError as error:
            if way.first is None or not set(error.missing) <= set(self.shape.identifier):
                raise
            listed = []  # All of its identifier was known, and asked for.
        fits = [(each, fit(self.shape, each.identifier, way.physical_id, self._known, self.here)) for each in listed]
        sure = [each.identifier for each, fits_so in fits if fits_so is Fit.YES]
        unsure = [each for each, fits_so in fits if fits_so is Fit.IF_CALLED_SO]
        return self._only([*sure, *self._tracing.telling(unsure, self.shape.name, way.physical_id)], len(listed))

    def _called(self, name: str) -> str:
        """The one that says that it is called so. An id may be another one's name."""
        listed = self._tracing.listed()
        return self._only(self._tracing.telling(listed, self.shape.name, name), len(listed))

    def _of_name(self, name: str) -> str:
        shape = self.shape
        if shape.is_named:
            return self._of_own_name(name)
        if not shape.is_arn and shape.name is None:
            raise WantedError(shape.type_name, "it tells no name; use its tags, its ARN or its physical id")
        if not shape.is_arn:
            return self._called(name)
        listed = self._tracing.listed()
        likely = [each for each in listed if self._ends_so(each, name)]
        called = [each for each in likely if self._is_called(each, name)]
        found = [each.identifier for each in called]
        if not any(arn.resource_id == name for arn in map(self._own_arn, called) if arn):
            # Where names are not in ARNs, one that ends so by chance is not the only one that may be called so.
            found += self._tracing.telling([each for each in listed if each not in likely], shape.name, name)
        return self._only(found, len(listed))

    def _ends_so(self, resource: Resource, name: str) -> bool:
        arn = self._own_arn(resource)
        return arn is not None and name in (arn.resource_id, arn.last_segment)

    def _is_called(self, resource: Resource, name: str) -> bool:
        """Whether it says that this is its name; if it says none, whether its ARN has it."""
        told, arn = self.shape.name and self._tracing.told(resource, self.shape.name), self._own_arn(resource)
        return told == name or (told is None and arn is not None and arn.resource_id == name)

    def _own_arn(self, resource: Resource) -> Arn | None:
        parts, own = self.shape.parts(resource.identifier), self.shape.own if self.shape.is_composite else 0
        return Arn.parse(parts[own]) if parts and own is not None else None

    def _of_own_name(self, name: str) -> str:
        """The one whose own part of the identifier is this: a whole identifier is no name."""
        shape, own_part = self.shape, str(self.shape.own_part)
        if self._known.get(own_part, name) != name:
            return self._only([])
        if not shape.is_composite:
            return self._agreeing(name)
        parts = [{**self._known, own_part: name}.get(part, "") for part in shape.identifier]
        if all(parts) and not any(SEPARATOR in part for part in parts):
            there = self._trying.there(SEPARATOR.join(parts))
            if there:
                return self._only([there.identifier])
        listed = self._tracing.listed()
        parted = [(each.identifier, shape.parts(each.identifier)) for each in listed]
        own = shape.identifier.index(own_part)
        return self._only([each for each, parts in parted if parts and parts[own] == name], len(listed))

    def _of_resource(self, way: overrides.Resource) -> str:
        """The one whose ARN ends so. A list may lack it, so it is asked for before and beside those that are listed."""
        if not way.text:
            return self._only([])
        there = self._trying.there(self.here.arn(way.service, way.text) or way.native)
        arn = there and next(filter(None, map(Arn.parse, (there.identifier, str(there.properties.get("Arn"))))), None)
        if there and arn and arn.resource == way.text and self.here.may_contain(arn):
            return self._only([str(arn)])
        listed = self._reading.listed(self.shape, {**way.hints, **self._known})
        arns = {each.identifier: arn for each in listed if (arn := Arn.parse(each.identifier))}
        found = [identifier for identifier, arn in arns.items() if arn.resource == way.text]
        for arn in list(arns.values())[:1] if not found else ():
            there = self._trying.there(str(arn.with_resource(way.text)))
            found = [there.identifier] if there else []
        return self._only(found, len(listed))

    def _tagged(self, tags: Mapping[str, str]) -> str:
        if self._tagging is None or self.shape.tagged_by == ():
            raise WantedError(self.shape.type_name, "such resources cannot be found by tags; name one in another way")
        arns = of_type(self._tagging.arns(self.shape.tagged_by or (), tags), self.shape)
        if len(arns) > READ_MOST:
            raise TooManyError(self.shape.type_name, self._what, len(arns), READ_MOST)
        found: list[str] = []
        undecided: StrongRefError | None = None
        for arn in arns:
            try:
                found += self._tracing.of_arn(arn)
            except (MissingPropertyError, UnsupportedError, UnrelatedArnError) as error:
                undecided = error  # Of most types, an ARN leads to no list: this may be of another one.
        if isinstance(undecided, UnrelatedArnError) and not found:
            found = self._having(tags)
        elif undecided and not found:
            raise undecided
        return self._only(found, len(arns))

    def _having(self, tags: Mapping[str, str]) -> list[str]:
        """Those that say themselves that they have these tags: their ARNs do not tell."""
        listed = self._tracing.listed()
        if len(listed) > READ_MOST:
            raise TooManyError(self.shape.type_name, self._what, len(listed), READ_MOST)
        read = [self._reading.there(self.shape.type_name, each.identifier) for each in listed]
        return [each.identifier for each in read if each and has_tags(each, tags)]

    def _only(self, found: Iterable[str], among: int | None = None) -> str:
        different = list(dict.fromkeys(found))
        if not different:
            if self._trying.failed:
                raise self._trying.failed
            raise NoSuchResourceError(self.shape.type_name, self._what, self.here.region, among)
        agreeing, differing = self._agreed(different)
        if not agreeing:
            raise NoSuchResourceError(self.shape.type_name, self.other_than(differing), self.here.region, among)
        if len(agreeing) > 1:
            raise AmbiguousError(self.shape.type_name, self._what, agreeing)
        return agreeing[0]

    def _agreed(self, found: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """Those that say nothing else than what was claimed; and of what another one says something else.

        They are read only if more was claimed than what they were found by.
        """
        told = {each.value_of for alternative in self.shape.needs for each in alternative}
        if not set(self._claimed) - told - set(self.shape.identifier):
            return found, ()
        if len(found) > READ_MOST:
            raise TooManyError(self.shape.type_name, self._what, len(found), READ_MOST)
        read = [self._reading.get(self.shape.type_name, each) for each in found]
        differing = {each.identifier: contradicted(each, self.claimed(each.identifier), self.here) for each in read}
        agreeing = [identifier for identifier, names in differing.items() if not names]
        return agreeing, list(dict.fromkeys(name for names in differing.values() for name in names))


def _whole(_physical_id: str) -> None:
    """Of most types, a physical id is not taken apart."""
