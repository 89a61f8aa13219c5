"""The index: where the Exports of a stack publish, stored in the stack's own region and account. Pure.

It is a hint that saves searching every region. The records are the truth, and the janitor repairs the index from them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.format import check_format

if TYPE_CHECKING:
    from strongref.contract.names import ExportScope
    from strongref.contract.values import Parameter

INDEX = "/strongref/index"
"""The path of all entries, without a slash at its end."""


class Place(NamedTuple):
    """Where an Export publishes."""

    account: str
    region: str
    consumer: str  # or `names.SHARED`


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the index says about one Export."""

    stack: str  # the ARN of its stack
    places: frozenset[Place] = frozenset()
    hold: str = ""  # the CloudFormation export that it names, or named: the output may outlive the property

    def names(self, region: str, scope: ExportScope) -> bool:
        """Whether it names the place of a scope in a region."""
        return Place(scope.producer.account, region, scope.consumer) in self.places

    def encode(self) -> str:
        """Compact JSON: `{"stack": …, "hold": …, "places": {account: {consumer: [region, …]}}}`."""
        places: dict[str, dict[str, list[str]]] = {}
        for place in sorted(self.places):
            places.setdefault(place.account, {}).setdefault(place.consumer, []).append(place.region)
        hold = {"hold": self.hold} if self.hold else {}
        return json.dumps({"stack": self.stack, **hold, "places": places}, separators=(",", ":"))

    @classmethod
    def decode(cls, parameter: Parameter | None) -> IndexEntry | None:
        """Read an entry; None if there is none, or strongref did not write it.

        Raises:
            NewerFormatError: a later version wrote it.
        """
        if parameter is None:
            return None
        try:
            given = json.loads(parameter.text)
            check_format(parameter.name, given)
            places = {
                Place(account, region, consumer)
                for account, consumers in given["places"].items()
                for consumer, regions in consumers.items()
                for region in regions
            }
            return cls(str(given["stack"]), frozenset(places), str(given.get("hold", "")))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None


def index_name(stack: str, logical_id: str) -> str:
    """The parameter of an Export's entry, given the name of its stack."""
    return f"{INDEX}/{stack}/{logical_id}"


def index_of(name: str) -> tuple[str, str]:
    """The stack's name and the logical ID; the reverse of `index_name`."""
    stack, _, logical_id = name.removeprefix(f"{INDEX}/").partition("/")
    return stack, logical_id
