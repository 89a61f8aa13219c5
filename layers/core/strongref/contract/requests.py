"""What a template asks the exporter and the importer for, made typed. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.contract.names import MAX_NAME, SHARED, ExportScope, Key, Producer, StackArn, arn_prefix_length
from strongref.contract.properties import (
    check_names,
    parse_account,
    parse_boolean,
    parse_choice,
    parse_label,
    parse_region,
    parse_stack,
    parse_strings,
    parse_text,
    shape,
)
from strongref.contract.values import Value, check_levels, parse_values
from strongref.errors import BadRequestError

if TYPE_CHECKING:
    from strongref.contract.properties import Properties

EXPORT_TYPE, IMPORT_TYPE = "Custom::CrossRegionExport", "Custom::CrossRegionImport"
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


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """An Export's properties: what to publish, where, for whom."""

    regions: tuple[str, ...]
    scope: ExportScope
    values: Mapping[Key, Value]
    on_change: OnChange
    revision: str

    @classmethod
    def parse(cls, given: Properties, stack: StackArn) -> ExportRequest:
        """Read the properties of a `Custom::CrossRegionExport` in this stack.

        Raises:
            BadRequestError: naming the property, what came and what is allowed.
        """
        check_names(given, ("Region", "Account", "Consumer", "OnChange", "Values", "SecureKeys", "Revision"))
        account = parse_account("Account", given.get("Account", stack.account))
        if account != stack.account:
            raise BadRequestError(
                "Account",
                f"{account} is not the stack's own account ({stack.account}); exports to other accounts are not "
                "supported yet. Leave Account out",
            )
        scope = ExportScope(
            parse_label("Consumer", given["Consumer"]) if "Consumer" in given else SHARED,
            Producer(stack.account, stack.region, stack.name),
        )
        if "Values" not in given:
            raise BadRequestError("Values", "it is missing; give a map of names to values ({} publishes nothing)")
        secure = parse_strings("SecureKeys", given.get("SecureKeys", []))
        request = cls(
            regions=_regions(given.get("Region", stack.region)),
            scope=scope,
            values=parse_values("Values", given["Values"], [name.replace(".", "/") for name in secure]),
            on_change=parse_choice("OnChange", OnChange, given.get("OnChange", OnChange.REFUSE.value)),
            revision=parse_text("Revision", given.get("Revision", "")),
        )
        request._check_names(stack)
        return request

    def publishes_the_same_as(self, other: ExportRequest) -> bool:
        """Whether both publish the same values in the same places."""
        return (self.regions, self.scope, self.values) == (other.regions, other.scope, other.values)

    def _check_names(self, stack: StackArn) -> None:
        for region in self.regions:
            longest = MAX_NAME - arn_prefix_length(stack.partition, region, stack.account)
            for key in self.values:
                length = len(self.scope.value(key))
                if length > longest:
                    raise BadRequestError(
                        f"Values.{key.replace('/', '.')}",
                        f"its parameter's name would have {length} characters; at most {longest} fit in {region}. "
                        "Shorten its names",
                    )


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """An Import's properties: what to read, from whom, and whether to hold it.

    Attributes:
        consumer: as given; None stands for the root stack's name, which only CloudFormation knows.
        names: keys or names of maps, with `/` between levels; None stands for everything there.
    """

    producer: Producer
    names: tuple[str, ...] | None
    shared: bool
    strength: Strength
    consumer: str | None
    revision: str

    @classmethod
    def parse(cls, given: Properties, stack: StackArn) -> ImportRequest:
        """Read the properties of a `Custom::CrossRegionImport` in this stack.

        Raises:
            BadRequestError: naming the property, what came and what is allowed.
        """
        check_names(given, ("From", "Names", "Shared", "Strength", "Consumer", "Revision"))
        names = _names(given["Names"]) if "Names" in given else None
        shared = parse_boolean("Shared", given.get("Shared", "false"))
        if shared and "Consumer" in given:
            raise BadRequestError("Consumer", "it has no meaning with Shared: true; leave one of the two out")
        return cls(
            producer=_producer(given.get("From"), stack),
            names=names,
            shared=shared,
            strength=parse_choice("Strength", Strength, given.get("Strength", Strength.STRONG.value)),
            consumer=parse_label("Consumer", given["Consumer"]) if "Consumer" in given else None,
            revision=parse_text("Revision", given.get("Revision", "")),
        )

    def identity(self, stack: StackArn, logical_id: str) -> str:
        """What this import imports, as text that is the same for the same thing: a generation's name."""
        return json.dumps(
            [
                str(stack),
                logical_id,
                self.producer.account,
                self.producer.region,
                self.producer.stack,
                sorted(set(self.names)) if self.names is not None else None,
                self.shared,
                self.strength.value,
                self.consumer,
            ]
        )


def _regions(given: object) -> tuple[str, ...]:
    if not isinstance(given, list):
        return (parse_region("Region", given),)
    if not given:
        raise BadRequestError("Region", "an empty list came; name a region, or leave it out for the stack's own")
    return tuple(dict.fromkeys(parse_region(f"Region[{number}]", item) for number, item in enumerate(given)))


def _producer(given: object, stack: StackArn) -> Producer:
    if not isinstance(given, Mapping):
        came = "nothing" if given is None else shape(given)
        raise BadRequestError(
            "From", f"a map with Stack, and where they differ Region and Account, is needed; {came} came"
        )
    unknown = [name for name in given if name not in ("Stack", "Region", "Account")]
    if unknown:
        raise BadRequestError(f"From.{unknown[0]}", "no such property; allowed are Stack, Region and Account")
    name = parse_stack("From.Stack", given.get("Stack"))
    return Producer(
        account=parse_account("From.Account", given.get("Account", stack.account)),
        region=parse_region("From.Region", given.get("Region", stack.region)),
        stack=name,
    )


def _names(given: object) -> tuple[str, ...]:
    names = parse_strings("Names", given)
    if not names:
        raise BadRequestError("Names", "an empty list came; name an export, or leave it out to import everything")
    parsed = [name.replace(".", "/") for name in names]
    for number, name in enumerate(parsed):
        check_levels(f"Names[{number}]", name.split("/"))
    return tuple(dict.fromkeys(parsed))
