"""What a template asks the exporter and the importer for, made typed. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from strongref.arns import partition_of
from strongref.contract.names import MAX_NAME, SHARED, ExportScope, Key, Producer, Site, StackArn, arn_prefix_length
from strongref.contract.properties import (
    Properties,
    Property,
    Table,
    as_given,
    choice,
    must_be,
    parse_account,
    parse_boolean,
    parse_export_name,
    parse_label,
    parse_region,
    parse_stack,
    parse_strings,
    parse_text,
    read,
)
from strongref.contract.values import Value, check_levels, levels, parse_values
from strongref.errors import BadRequestError
from strongref.text import attribute_name

T = TypeVar("T")

EXPORT_TYPE, IMPORT_TYPE = "Custom::CrossRegionExport", "Custom::CrossRegionImport"
MOST_PLACES = 50
"""Regions, times accounts, of one Export."""

EXPORTER, IMPORTER = {"Fn::ImportValue": "strongref-exporter"}, {"Fn::ImportValue": "strongref-importer"}
"""Their service tokens, as templates that are written here have them."""


class OnChange(StrEnum):
    """What becomes of a change to a value that is claimed."""

    REFUSE = "refuse"
    PROPAGATE = "propagate"


class Strength(StrEnum):
    """Whether an import holds what it reads."""

    STRONG = "strong"
    WEAK = "weak"


def _several(parse: Callable[[str, object], str], what: str) -> Callable[[str, object], tuple[str, ...]]:
    """A parser of one of something, or a list of them, each of which counts once."""

    def parse_all(prop: str, given: object) -> tuple[str, ...]:
        if not isinstance(given, list):
            return (parse(prop, given),)
        if not given:
            raise BadRequestError(prop, f"must name {what}, got an empty list; leave it out for the stack's own")
        return tuple(dict.fromkeys(parse(f"{prop}[{number}]", item) for number, item in enumerate(given)))

    return parse_all


def _names(prop: str, given: object) -> tuple[str, ...]:
    names = parse_strings(prop, given)
    for number, name in enumerate(names):
        check_levels(f"{prop}[{number}]", levels(name))
    return tuple(dict.fromkeys("/".join(levels(name)) for name in names))


EXPORT_PROPERTIES: Table = {
    "Region": Property(_several(parse_region, "a region")),
    "Account": Property(_several(parse_account, "an account")),
    "Consumer": Property(parse_label, SHARED),
    "OnChange": Property(choice(OnChange), OnChange.REFUSE),
    "Hold": Property(parse_export_name, ""),
    "Values": Property(as_given, required="a map of names to values ({} publishes nothing)"),
    "SecureKeys": Property(parse_strings, ()),
    "Revision": Property(parse_text, ""),
}

FROM_KEYS: Table = {
    "Stack": Property(parse_stack, required="the producing stack's name"),
    "Region": Property(parse_region),
    "Account": Property(parse_account),
}


def _from(prop: str, given: object) -> dict[str, str | None]:
    if not isinstance(given, Mapping):
        raise must_be(prop, _FROM_MUST_BE, given)
    return read(given, FROM_KEYS, within=prop)


_FROM_MUST_BE = "a map with Stack, and where they differ Region and Account"

IMPORT_PROPERTIES: Table = {
    "From": Property(_from),  # without it, from any stack of the account that exports to the consumer
    "Names": Property(_names),
    "Shared": Property(parse_boolean, default=False),
    "Strength": Property(choice(Strength), Strength.STRONG),
    "Consumer": Property(parse_label),
    "Revision": Property(parse_text, ""),
}


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """An Export's properties: what to publish, where, for whom."""

    sites: tuple[Site, ...]
    scope: ExportScope
    values: Mapping[Key, Value]
    on_change: OnChange
    hold: str  # the CloudFormation export that imports hold; empty if there is none
    revision: str

    @classmethod
    def parse(cls, given: Properties, stack: StackArn) -> ExportRequest:
        """Read the properties of a `Custom::CrossRegionExport` in this stack; raises `BadRequestError`."""
        found = read(given, EXPORT_PROPERTIES)
        regions, accounts = found["Region"] or (stack.region,), found["Account"] or (stack.account,)
        request = cls(
            sites=tuple(Site(region, "" if of == stack.account else of) for of in accounts for region in regions),
            scope=ExportScope(found["Consumer"], stack.producer),
            values=parse_values("Values", found["Values"], ["/".join(levels(name)) for name in found["SecureKeys"]]),
            on_change=found["OnChange"],
            hold=found["Hold"],
            revision=found["Revision"],
        )
        for region in regions:
            _check_partition("Region", region, stack)
        if len(request.sites) > MOST_PLACES:
            most = f"must have at most {MOST_PLACES} regions, times accounts"
            raise BadRequestError("Region", f"{most}, got {len(request.sites)}. Split the Export")
        request._check_names(stack, regions)
        if any(site.account for site in request.sites):
            request._check_abroad(stack)
        return request

    def publishes_to(self, site: Site, scope: ExportScope) -> bool:
        return site in self.sites and scope == self.scope

    def publishes_the_same_as(self, other: ExportRequest) -> bool:
        """Whether both publish the same values, with the same hold, in the same places."""
        here, there = ((each.sites, each.scope, each.values, each.hold) for each in (self, other))
        return here == there

    def _check_abroad(self, stack: StackArn) -> None:
        """Check what only this account may have: secure values, and a key that the trust's policy does not allow."""
        for key, value in self.values.items():
            if value.is_secure:
                raise BadRequestError(
                    f"Values.{attribute_name(key)}",
                    "must not be secure: secure values are not exported to other accounts. Use a secret of AWS Secrets "
                    "Manager with a resource policy",
                )
            if stack.account in key.split("/"):
                raise BadRequestError(
                    f"Values.{attribute_name(key)}",
                    f"must have no level {stack.account}: other accounts let nothing of that name be written, since "
                    "another producer's place could look so. Rename it",
                )

    def _check_names(self, stack: StackArn, regions: Iterable[str]) -> None:
        for region in regions:
            longest = MAX_NAME - arn_prefix_length(stack.partition, region, stack.account)
            for key in self.values:
                length = len(self.scope.parameter_name(key))
                if length > longest:
                    raise BadRequestError(
                        f"Values.{attribute_name(key)}",
                        f"must have a parameter name of at most {longest} characters in {region}, got {length}. "
                        "Shorten its names",
                    )


def _check_partition(prop: str, region: str, stack: StackArn) -> None:
    if (partition := partition_of(region)) != stack.partition:
        raise BadRequestError(
            prop, f"must be in the partition {stack.partition} of the stack; {region} is in {partition}"
        )


def accepted(parse: Callable[[Properties, StackArn], T], given: Properties, stack: StackArn) -> T | None:
    """What properties asked for, as a request's `parse`; None if they were refused, or another version reads them."""
    try:
        return parse(given, stack)
    except BadRequestError:
        return None


def readable_regions(given: Properties, stack: StackArn) -> tuple[str, ...]:
    """The regions of an Export whose properties cannot be understood, as far as these can."""
    region = given.get("Region", stack.region)
    found = []
    for each in region if isinstance(region, list) else [region]:
        with suppress(BadRequestError):
            found.append(parse_region("Region", each))
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """An Import's properties: what to read, from whom, and whether to hold it."""

    producer: Producer | None  # None stands for any stack of the account that exports to the consumer
    # keys or names of maps, with `/` between levels; None stands for everything there. There may be none: a program may
    # have generated the list
    names: tuple[str, ...] | None
    shared: bool
    strength: Strength
    consumer: str | None  # as given; None stands for the root stack's name, which only CloudFormation knows
    revision: str

    @classmethod
    def parse(cls, given: Properties, stack: StackArn) -> ImportRequest:
        """Read the properties of a `Custom::CrossRegionImport` in this stack; raises `BadRequestError`."""
        found = read(given, IMPORT_PROPERTIES)
        if found["Shared"] and found["Consumer"]:
            raise BadRequestError("Consumer", "has no meaning with Shared: true; leave one of the two out")
        producer, origin = None, found["From"]
        if origin:
            producer = Producer(origin["Account"] or stack.account, origin["Region"] or stack.region, origin["Stack"])
            _check_partition("From.Region", producer.region, stack)
        elif found["Shared"] or found["Names"] is None:
            wrong = "Shared has no meaning" if found["Shared"] else "Names is required"
            raise BadRequestError("From", f"is missing; must be {_FROM_MUST_BE}. {wrong} without it")
        return cls(
            producer=producer,
            names=found["Names"],
            shared=found["Shared"],
            strength=found["Strength"],
            consumer=found["Consumer"],
            revision=found["Revision"],
        )

    def identity(self, stack: StackArn, logical_id: str) -> str:
        """What this import imports, as text that is the same for the same thing: a generation's name."""
        of = self.producer
        producer = (of.account, of.region, of.stack) if of else (None,)
        names = sorted(set(self.names)) if self.names is not None else None
        options = (self.shared, self.strength.value, self.consumer)
        return json.dumps([str(stack), logical_id, *producer, names, *options])
