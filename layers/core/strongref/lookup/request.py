"""What a template asks to be looked up, made typed. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.arns import Arn, is_arn
from strongref.contract.properties import check_names, parse_region, parse_strings, parse_text, shape, shown
from strongref.errors import BadRequestError
from strongref.lookup.base import Wanted
from strongref.text import cut

if TYPE_CHECKING:
    from strongref.contract.names import StackArn
    from strongref.contract.properties import Properties

WAYS = ("PhysicalId", "Arn", "Name", "Tags")
"""What a resource can be named by."""

MAX_IDENTIFIER = 1024
"""Characters (AWS: Cloud Control API, GetResource, Identifier)."""

MAX_TAGS, MAX_TAG_KEY, MAX_TAG_VALUE = 50, 128, 256
"""Tags of one question, and their characters (AWS: Resource Groups Tagging API, GetResources, TagFilters)."""

_TYPE = re.compile(r"[A-Za-z0-9]{2,64}::[A-Za-z0-9]{2,64}::[A-Za-z0-9]{2,64}")
"""AWS: Cloud Control API, GetResource, TypeName."""


@dataclass(frozen=True, slots=True)
class LookupRequest:
    """A look-up's properties: which resource, where it is, and what is to be told of it.

    Attributes:
        wanted: the resource, by the one thing that it is named by.
        region: where it is.
        attributes: what of it to return; None stands for all that `Fn::GetAtt` can return.
        revision: any change of it looks again.
    """

    wanted: Wanted
    region: str
    attributes: tuple[str, ...] | None
    revision: str

    @classmethod
    def parse(cls, given: Properties, stack: StackArn) -> LookupRequest:
        """Read the properties of a `Custom::ResourceLookup` in this stack.

        Raises:
            BadRequestError: naming the property, what came and what is allowed.
        """
        check_names(given, ("TypeName", *WAYS, "Properties", "Attributes", "Region", "Revision"))
        type_name = _type_name(given.get("TypeName"))
        way = _way(given)
        arn = _arn(given["Arn"]) if way == "Arn" else None
        physical_id = _identifier(way, given[way]) if way == "PhysicalId" else None
        _see_that_it_is_the_stacks(way, arn or physical_id, stack)
        return cls(
            wanted=Wanted(
                type_name=type_name,
                physical_id=physical_id,
                arn=arn,
                name=_identifier(way, given[way]) if way == "Name" else None,
                tags=_tags(given[way]) if way == "Tags" else {},
                properties=_known(given.get("Properties", {})),
                account=stack.account,
            ),
            region=_region(given, arn, stack),
            attributes=_attributes(given["Attributes"]) if "Attributes" in given else None,
            revision=parse_text("Revision", given.get("Revision", "")),
        )


def _type_name(given: object) -> str:
    if not isinstance(given, str) or not _TYPE.fullmatch(given):
        raise BadRequestError("TypeName", f"{shown(given)} came; a type of resource is needed, as in AWS::S3::Bucket")
    return given


def _way(given: Properties) -> str:
    """Which of the ways to name a resource was chosen."""
    chosen = [way for way in WAYS if way in given]
    if not chosen:
        raise BadRequestError("PhysicalId", "nothing says which resource; give it, or one of Arn, Name and Tags")
    if len(chosen) > 1:
        raise BadRequestError(" and ".join(chosen), "one of PhysicalId, Arn, Name and Tags names a resource; keep one")
    return chosen[0]


def _identifier(prop: str, given: object) -> str:
    text = parse_text(prop, given)
    if not text.strip():
        raise BadRequestError(prop, "an empty string came, which is no resource's")
    if len(text) > MAX_IDENTIFIER:
        raise BadRequestError(prop, f"{len(text)} characters came; a resource's has at most {MAX_IDENTIFIER}")
    return text


def _arn(given: object) -> str:
    arn = _identifier("Arn", given)
    if not is_arn(arn) or "\n" in arn:
        raise BadRequestError("Arn", f"{shown(arn)} came; an ARN is needed. Is it a PhysicalId, or a Name?")
    return arn


def _see_that_it_is_the_stacks(way: str, identifier: str | None, stack: StackArn) -> None:
    """An ARN has its account in it. That of AWS's own policies is no number."""
    arn = Arn.parse(identifier or "")
    if arn and arn.is_in_account_other_than(stack.account):
        raise BadRequestError(
            way,
            f"it is of account {arn.account}; the function looks into the stack's own account ({stack.account}) only. "
            "Deploy this in a stack of that account, and export what is needed",
        )


def _region(given: Properties, arn: str | None, stack: StackArn) -> str:
    """The region that was given, or the ARN's, or the stack's own. An ARN without one is of a global service."""
    parsed = Arn.parse(arn or "")
    of_arn = parsed.region if parsed else ""
    region = parse_region("Region", given["Region"]) if "Region" in given else of_arn or stack.region
    if of_arn not in ("", region):
        raise BadRequestError("Region", f"{region} came, but the ARN is of {cut(of_arn, 60)}; leave Region out")
    return region


def _tags(given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise BadRequestError("Tags", f"a map of keys to values is needed, {shape(given)} came")
    if not 1 <= len(given) <= MAX_TAGS:
        raise BadRequestError("Tags", f"{len(given)} tags came; from 1 to {MAX_TAGS} can be asked for")
    tags = {}
    for key, value in given.items():
        if not 1 <= len(key) <= MAX_TAG_KEY:
            raise BadRequestError("Tags", f"a key of {len(key)} characters came; it has from 1 to {MAX_TAG_KEY}")
        tags[key] = parse_text(f"Tags.{key}", value)
        if len(tags[key]) > MAX_TAG_VALUE:
            raise BadRequestError(f"Tags.{key}", f"{len(tags[key])} characters came; at most {MAX_TAG_VALUE} fit")
    return tags


def _known(given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise BadRequestError("Properties", f"a map of properties to their values is needed, {shape(given)} came")
    return {name: _identifier(f"Properties.{name}", value) for name, value in given.items()}


def _attributes(given: object) -> tuple[str, ...]:
    names = parse_strings("Attributes", given)
    if not names:
        raise BadRequestError("Attributes", "an empty list came; name an attribute, or leave it out for all of them")
    for number, name in enumerate(names):
        if not all(name.split(".")):
            raise BadRequestError(
                f"Attributes[{number}]", f"{shown(name)} came; an attribute's name is needed, as in Endpoint.Address"
            )
    return tuple(dict.fromkeys(names))
