"""`Custom::ResourceLookup`: finds a resource and returns its attributes. It never writes anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.arns import Arn, is_arn
from strongref.aws.errors import LookUpDeniedError
from strongref.contract import properties
from strongref.contract.event import Event, RequestType
from strongref.contract.properties import Properties, Property, Table
from strongref.contract.response import Response, ResponseTooLargeError, check_size
from strongref.errors import BadRequestError
from strongref.lookup.attributes import IDENTIFIER, returned_attributes
from strongref.lookup.errors import AttributesTooLargeError, LookupPolicyError
from strongref.lookup.query import ResourceQuery
from strongref.text import cut

if TYPE_CHECKING:
    from strongref.contract.names import StackArn
    from strongref.lookup.search import Finder
    from strongref.protocol.time import Clock

MAX_IDENTIFIER = 1024
"""Characters (AWS: Cloud Control API, GetResource, Identifier)."""

MAX_TAGS, MAX_TAG_KEY, MAX_TAG_VALUE = 50, 128, 256
"""Tags of one request, and their characters (AWS: Resource Groups Tagging API, GetResources, TagFilters)."""

_TYPE = re.compile(r"[A-Za-z0-9]{2,64}::[A-Za-z0-9]{2,64}::[A-Za-z0-9]{2,64}")
"""AWS: Cloud Control API, GetResource, TypeName."""
_TYPE_NAME = "a resource type, as in AWS::S3::Bucket"


def _identifier(prop: str, given: object) -> str:
    text = properties.parse_text(prop, given)
    if not text.strip():
        raise BadRequestError(prop, "must not be empty")
    if len(text) > MAX_IDENTIFIER:
        raise BadRequestError(prop, f"must have at most {MAX_IDENTIFIER} characters, got {len(text)}")
    return text


def _arn(prop: str, given: object) -> str:
    arn = _identifier(prop, given)
    if not is_arn(arn) or "\n" in arn:
        raise BadRequestError(prop, f"must be an ARN, got {properties.shown(arn)}. Is it a PhysicalId, or a Name?")
    return arn


def _tags(prop: str, given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise properties.must_be(prop, "a map of keys to values", given)
    if not 1 <= len(given) <= MAX_TAGS:
        raise BadRequestError(prop, f"must have 1 to {MAX_TAGS} tags, got {len(given)}")
    tags = {}
    for key, value in given.items():
        if not 1 <= len(key) <= MAX_TAG_KEY:
            raise BadRequestError(prop, f"must have keys of 1 to {MAX_TAG_KEY} characters, got one of {len(key)}")
        tags[key] = properties.parse_text(f"{prop}.{key}", value)
        if len(tags[key]) > MAX_TAG_VALUE:
            problem = f"must have at most {MAX_TAG_VALUE} characters, got {len(tags[key])}"
            raise BadRequestError(f"{prop}.{key}", problem)
    return tags


def _properties(prop: str, given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise properties.must_be(prop, "a map of properties to values", given)
    return {name: _identifier(f"{prop}.{name}", value) for name, value in given.items()}


def _attributes(prop: str, given: object) -> tuple[str, ...]:
    names = properties.parse_strings(prop, given)
    if not names:
        raise BadRequestError(prop, "must not be an empty list; omit it to return all attributes")
    for number, name in enumerate(names):
        if not all(name.split(".")):
            raise properties.must_be(f"{prop}[{number}]", "the name of an attribute, as in Endpoint.Address", name)
    return tuple(dict.fromkeys(names))


LOOKUP_PROPERTIES: Table = {
    "TypeName": Property(properties.string(_TYPE_NAME, _TYPE.fullmatch), required=_TYPE_NAME),
    "PhysicalId": Property(_identifier),
    "Arn": Property(_arn),
    "Name": Property(_identifier),
    "Tags": Property(_tags, {}),
    "Properties": Property(_properties, {}),
    "Attributes": Property(_attributes),
    "Region": Property(properties.parse_region),
    "Revision": Property(properties.parse_text),  # any text; a change repeats the lookup
}


@dataclass(frozen=True, slots=True)
class LookupRequest:
    """A lookup's properties: which resource, where it is, and which attributes to return."""

    query: ResourceQuery  # the resource
    region: str  # of the resource
    attributes: tuple[str, ...] | None  # to return; None for all that `Fn::GetAtt` can return

    @classmethod
    def parse(cls, given: Properties, stack: StackArn) -> LookupRequest:
        """Read the properties of a `Custom::ResourceLookup` in this stack; raises `BadRequestError`."""
        typed = properties.read(given, LOOKUP_PROPERTIES)
        way = _way(given)
        _check_account(way, typed["Arn"] or typed["PhysicalId"], stack)
        return cls(
            query=ResourceQuery(
                type_name=typed["TypeName"],
                physical_id=typed["PhysicalId"],
                arn=typed["Arn"],
                name=typed["Name"],
                tags=typed["Tags"],
                properties=typed["Properties"],
                account=stack.account,
            ),
            region=_region(typed["Region"], typed["Arn"], stack),
            attributes=typed["Attributes"],
        )


def _way(given: Properties) -> str:
    """The property that identifies the resource."""
    ways = [way for way in ("PhysicalId", "Arn", "Name", "Tags") if way in given]
    if not ways:
        raise BadRequestError("PhysicalId", "must be given, or one of Arn, Name and Tags")
    if len(ways) > 1:
        raise BadRequestError(" and ".join(ways), "cannot be combined; give one of PhysicalId, Arn, Name and Tags")
    return ways[0]


def _check_account(way: str, identifier: str | None, stack: StackArn) -> None:
    arn = Arn.parse(identifier or "")
    if arn and arn.is_in_account_other_than(stack.account):
        problem = f"must be in the stack's own account ({stack.account}), got an ARN of account {arn.account}"
        way_out = "Deploy this lookup in a stack of that account, and export what you need"
        raise BadRequestError(way, f"{problem}. {way_out}")


def _region(given: str | None, arn: str | None, stack: StackArn) -> str:
    """The given region, or the ARN's, or the stack's own. ARNs of global services have no region."""
    parsed = Arn.parse(arn or "")
    arn_region = parsed.region if parsed else ""
    region = given or arn_region or stack.region
    if arn_region not in ("", region):
        raise BadRequestError("Region", f"must be the ARN's region, {cut(arn_region, 60)}, got {region}; omit Region")
    return region


@dataclass(frozen=True, slots=True)
class ResourceLookup:
    finder: Callable[[str, Clock], Finder]  # finds resources in a region, for as long as a clock allows

    def handle(self, event: Event, clock: Clock) -> Response:
        """Handle one event. Raises `StrongRefError`: the lookup failed. There is nothing to clean up."""
        # The physical ID does not depend on the properties, so CloudFormation never replaces a lookup.
        physical_id = f"strongref-lookup/{event.stack_arn.name}/{event.logical_id}"
        if event.request_type is RequestType.DELETE:
            return Response(event.physical_id or physical_id)

        request = LookupRequest.parse(event.properties, event.stack_arn)
        try:
            found = self.finder(request.region, clock).find(request.query)
        except LookUpDeniedError as error:
            raise LookupPolicyError(error, request.query.type_name) from None

        data = returned_attributes(found, request.attributes)
        try:
            check_size(event, physical_id, data)
        except ResponseTooLargeError as error:
            largest = [name for name in error.names if name != IDENTIFIER] or error.names
            named, alone = request.attributes is not None, [*error.alone]
            raise AttributesTooLargeError(found.type_name, error.size, largest, named=named, alone=alone) from None
        return Response(physical_id, data)
