"""The search for one resource by its physical ID, ARN, name or tags: which calls are made, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from strongref.arns import Arn
from strongref.aws.errors import CloudControlError, NoSuchResourceError, UnsupportedError
from strongref.lookup import matching
from strongref.lookup.arn_formats import arns_of_type
from strongref.lookup.arn_search import ArnSearch
from strongref.lookup.errors import AmbiguousError, MissingPropertyError, ResourceQueryError, UnrelatedArnError
from strongref.lookup.identify import ListSearch, interpret
from strongref.lookup.overrides import PARENT_AND_OWN, ArnResource, Candidates, Identifier, NameSearch, with_derived
from strongref.lookup.query import LookupScope, ResourceQuery
from strongref.lookup.reader import CloudControl, ResourceReader, Tagging
from strongref.lookup.resource_types import SEPARATOR, resource_type_of
from strongref.text import some

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.errors import StrongRefError


class ResourceSearch:
    def __init__(self, reader: ResourceReader, tagging: Tagging | None, query: ResourceQuery) -> None:
        self._resource_type = resource_type_of(query.type_name)
        self._type_name = self._resource_type.type_name
        self._reader = reader
        self._tagging = tagging
        self._query = query
        self._scope = LookupScope(reader.region, query.account)
        self._description = query.describe()
        wrong = matching.misspelled(self._resource_type, query.properties)
        if wrong:
            raise ResourceQueryError(self._type_name, f"it has no property {wrong[0]}; did you mean {wrong[1]}?")
        self._given = {name: value for name, value in query.properties.items() if value}
        self._known = with_derived(self._type_name, {**query.hints, **self._given})
        self._arns = ArnSearch(reader, self._resource_type, self._known, self._scope, self._description)

    def resource(self) -> Resource:
        """The resource with its properties. Raises as `Finder.find`."""
        identifier = self.identifier()
        found = self._reader.get(self._type_name, identifier)
        differing = self._differing(found)
        if differing or not matching.is_answer(identifier, found.identifier, self._scope):
            raise self._no_match(differing)
        return found

    def identifier(self) -> str:
        """The identifier. Raises as `Finder.find`."""
        try:
            return self._find()
        except (CloudControlError, UnsupportedError):
            if self._arns.first_error is None:
                raise
        except MissingPropertyError:
            if not isinstance(self._arns.first_error, UnsupportedError):  # More properties would not help then.
                raise
        raise self._arns.first_error

    def _differing(self, resource: Resource) -> list[str]:
        """The given properties that differ from the resource's own; parts of its identifier agree already."""
        parts = self._resource_type.identifier if self._resource_type.parts(resource.identifier) else ()
        given = {name: value for name, value in self._given.items() if name not in parts}
        return matching.differing_properties(resource, given, self._scope)

    def _no_match(self, differing: Sequence[str] = (), among: int | None = None) -> NoSuchResourceError:
        """The error that no resource matches, or that one does except for some of its properties."""
        others = f" and the given properties ({some(differing)})" if differing else ""
        return NoSuchResourceError(self._type_name, f"{self._description}{others}", self._scope.region, among)

    def _find(self) -> str:
        query = self._query
        if query.physical_id is not None:
            return self._by_physical_id(query.physical_id)
        if query.name is not None:
            return self._by_name(query.name)
        if query.arn is not None:
            return self._only(self._arns.find(query.arn))
        return self._by_tags(query.tags)

    # By physical ID.

    def _by_physical_id(self, physical_id: str) -> str:
        if self._type_name in PARENT_AND_OWN and SEPARATOR in physical_id:
            return self._by_parent(physical_id)
        way = interpret(self._resource_type, physical_id, self._known, self._scope)
        if isinstance(way, Identifier):
            return self._by_identifier(way.text)
        if isinstance(way, Candidates):
            return self._only(self._arns.confirm(way))
        if isinstance(way, ListSearch):
            return self._in_list(way)
        return self._by_name_property(way.name) if isinstance(way, NameSearch) else self._by_arn_resource(way)

    def _by_identifier(self, identifier: str) -> str:
        """An identifier that needs no call; it must agree with the known properties."""
        parts = self._resource_type.parts(identifier)
        if parts and not matching.parts_agree(self._resource_type, parts, self._known, self._scope):
            raise self._no_match([name for name in self._resource_type.identifier if name in self._known])
        return self._only([identifier])

    def _by_parent(self, physical_id: str) -> str:
        """A resource whose identifier has its parent's name or its ARN in it: the service has one of the two."""
        resource_type = self._resource_type
        parent, _, own = physical_id.rpartition(SEPARATOR)
        derived = with_derived(self._type_name, {resource_type.identifier[0]: parent})
        from_id = {**derived, str(resource_type.own_part): own}
        arn, given = Arn.parse(parent), from_id.keys() & self._known.keys()
        agrees = all(matching.is_same_value(from_id[name], self._known[name], self._scope) for name in given)
        if not agrees or (arn and not self._scope.may_contain(arn)):
            return self._only([])
        forms = [physical_id, *([f"{arn.resource_id}{SEPARATOR}{own}"] if arn else [])]
        for form in forms:
            found = self._arns.get(form)
            if found:
                return self._only([found.identifier])
        known = {**self._known, **from_id}
        listed = [each.identifier for each in self._reader.list_resources(resource_type, known)]
        fitting = [
            each
            for each in listed
            if matching.match(resource_type, each, own, known, self._scope) is matching.Match.YES
        ]
        return self._only(fitting, len(listed))

    def _in_list(self, way: ListSearch) -> str:
        found = self._arns.get(way.likely) if way.likely else None
        if found:
            return self._only([found.identifier])
        try:
            listed = self._arns.list_resources()
        except MissingPropertyError as error:
            if way.likely is None or not set(error.missing) <= set(self._resource_type.identifier):
                raise
            listed = []  # The whole identifier was known, and the resource does not exist.
        matches = [
            (each, matching.match(self._resource_type, each.identifier, way.physical_id, self._known, self._scope))
            for each in listed
        ]
        sure = [each.identifier for each, matched in matches if matched is matching.Match.YES]
        unsure = [each for each, matched in matches if matched is matching.Match.IF_NAMED_SO]
        named = self._arns.with_property(unsure, self._resource_type.name_property, way.physical_id)
        return self._only([*sure, *named], len(listed))

    def _by_arn_resource(self, way: ArnResource) -> str:
        """The resource whose ARN ends so. A list may lack it, so it is read before and after the list."""
        if not way.text:
            return self._only([])
        found = self._arns.get(self._scope.arn(way.service, way.text) or way.native)
        texts = (found.identifier, str(found.properties.get("Arn"))) if found else ()
        arn = next(filter(None, map(Arn.parse, texts)), None)
        if arn and arn.resource == way.text and self._scope.may_contain(arn):
            return self._only([str(arn)])
        listed = self._reader.list_resources(self._resource_type, {**way.hints, **self._known})
        arns = {each.identifier: arn for each in listed if (arn := Arn.parse(each.identifier))}
        fitting = [identifier for identifier, arn in arns.items() if arn.resource == way.text]
        if arns and not fitting:
            found = self._arns.get(str(next(iter(arns.values())).with_resource(way.text)))
            fitting = [found.identifier] if found else []
        return self._only(fitting, len(listed))

    # By name.

    def _by_name(self, name: str) -> str:
        resource_type = self._resource_type
        if resource_type.is_named:
            return self._by_own_part(name)
        if not resource_type.is_arn and resource_type.name_property is None:
            raise ResourceQueryError(self._type_name, "it has no name property; give its tags, ARN or physical ID")
        if not resource_type.is_arn:
            return self._by_name_property(name)
        listed = self._arns.list_resources()
        arns = ((each, self._arn_identifier(each)) for each in listed)
        likely = [each for each, arn in arns if arn and name in (arn.resource_id, arn.last_segment)]
        named = [each for each in likely if self._is_named(each, name)]
        found = [each.identifier for each in named]
        if not any(arn.resource_id == name for arn in map(self._arn_identifier, named) if arn):
            # Names of this type are not in its ARNs: the last segment matched by chance, and others may match too.
            others = [each for each in listed if each not in likely]
            found += self._arns.with_property(others, resource_type.name_property, name)
        return self._only(found, len(listed))

    def _by_name_property(self, name: str) -> str:
        """The resource whose name property has this value, whatever its identifier is."""
        listed = self._arns.list_resources()
        return self._only(self._arns.with_property(listed, self._resource_type.name_property, name), len(listed))

    def _by_own_part(self, name: str) -> str:
        """The resource whose own part of the identifier is the name. A whole composite identifier is not a name."""
        resource_type, own_part = self._resource_type, str(self._resource_type.own_part)
        if self._known.get(own_part, name) != name:
            return self._only([])
        if not resource_type.is_composite:
            return self._by_identifier(name)
        parts = [{**self._known, own_part: name}.get(part, "") for part in resource_type.identifier]
        if all(parts) and not any(SEPARATOR in part for part in parts):
            found = self._arns.get(SEPARATOR.join(parts))
            if found:
                return self._only([found.identifier])
        listed = [each.identifier for each in self._arns.list_resources()]
        return self._only([each for each in listed if resource_type.own_value(each) == name], len(listed))

    def _is_named(self, resource: Resource, name: str) -> bool:
        """Whether its name property has this value; if it has no such property, whether its ARN has the name."""
        name_property, arn = self._resource_type.name_property, self._arn_identifier(resource)
        own_name = self._arns.property_of(resource, name_property) if name_property else None
        return own_name == name or (own_name is None and arn is not None and arn.resource_id == name)

    def _arn_identifier(self, resource: Resource) -> Arn | None:
        own_value = self._resource_type.own_value(resource.identifier)
        return None if own_value is None else Arn.parse(own_value)

    # By tags.

    def _by_tags(self, tags: Mapping[str, str]) -> str:
        if self._tagging is None or self._resource_type.tagged_by == ():
            raise ResourceQueryError(self._type_name, "such resources cannot be found by tags; use another way")
        arns = arns_of_type(self._tagging.arns(self._resource_type.tagged_by or (), tags), self._resource_type)
        self._arns.limit_reads(len(arns))
        found: list[str] = []
        undecided: StrongRefError | None = None
        for arn in arns:
            try:
                found += self._arns.find(arn)
            except (MissingPropertyError, UnsupportedError, UnrelatedArnError) as error:
                undecided = error  # It may be the ARN of another type, which cannot be listed this way.
        if isinstance(undecided, UnrelatedArnError) and not found:
            found = self._with_tags(tags)
        elif undecided and not found:
            raise undecided
        return self._only(found, len(arns))

    def _with_tags(self, tags: Mapping[str, str]) -> list[str]:
        """The resources that have these tags among their properties, where ARNs do not lead to them."""
        listed = self._arns.list_resources()
        self._arns.limit_reads(len(listed))
        read = [self._reader.get_if_exists(self._type_name, each.identifier) for each in listed]
        return [each.identifier for each in read if each and matching.has_tags(each, tags)]

    # What was found.

    def _only(self, found: Iterable[str], among: int | None = None) -> str:
        """The only identifier, if the resource's properties agree with the given ones."""
        different = list(dict.fromkeys(found))
        if not different:
            raise self._arns.first_error or self._no_match(among=among)
        agreeing, differing = self._compare(different)
        if not agreeing:
            raise self._no_match(differing, among)
        if len(agreeing) > 1:
            raise AmbiguousError(self._type_name, self._description, agreeing)
        return agreeing[0]

    def _compare(self, found: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """The identifiers of resources that agree with the given properties, and the properties of others that differ.

        Resources are read only if more properties are given than those that found them.
        """
        used = {value_of for alternative in self._resource_type.required_inputs for _, value_of in alternative}
        if not set(self._given) - used - set(self._resource_type.identifier):
            return found, ()
        self._arns.limit_reads(len(found))
        read = [self._reader.get(self._type_name, each) for each in found]
        differing = {each.identifier: self._differing(each) for each in read}
        agreeing = [identifier for identifier, names in differing.items() if not names]
        return agreeing, list(dict.fromkeys(name for names in differing.values() for name in names))


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
