"""The index: where the Exports of a stack publish, stored in the stack's own region and account. Pure.

A place is named before its first value is written, so one that the index does not name was not written to. That decides
what may be passed over if it cannot be reached. What a named place holds is for its record to say.

Each place has parameters of its own, so no writer overwrites what another one says: one that names it, and below that
`denied`, `forgotten` and `dropped`. The Export's own parameter has the hold; version 0.2.0 stored all places in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from strongref.contract.format import check_format
from strongref.contract.names import Producer, Site
from strongref.contract.record import RequestStamp
from strongref.errors import NewerFormatError

if TYPE_CHECKING:
    from strongref.contract.values import Parameter

INDEX = "/strongref/index"
"""The path of all entries, without a slash at its end."""

DENIED, FORGOTTEN, DROPPED = "denied", "forgotten", "dropped"
"""The last parts of the names of what is said about a place that cannot be reached."""


class Place(NamedTuple):
    """Where an Export publishes."""

    account: str
    region: str
    consumer: str  # or `names.SHARED`

    def site(self, producer: Producer) -> Site:
        """Where that is for an Export of this producer."""
        return Site(self.region, "" if self.account == producer.account else self.account)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the index says about one Export. Dates are whole seconds (UTC)."""

    stack: str  # the ARN of its stack
    places: frozenset[Place] = frozenset()
    hold: str = ""  # the CloudFormation export that it names, or named: the output may outlive the property
    older: frozenset[Place] = frozenset()  # those of the places that version 0.2.0 named, which may be too few
    wrote: Mapping[Place, datetime] = field(default_factory=dict)  # the request that last began to write there
    # the last Update that was refused before its first write, because the place could not be reached
    denied: Mapping[Place, RequestStamp] = field(default_factory=dict)
    forgotten: frozenset[Place] = frozenset()  # what a person gave up, and was not published to since
    dropped: frozenset[Place] = frozenset()  # those that the Export has left since then, without reaching them
    exact: frozenset[Place] = frozenset()  # those that the Export named; the janitor may name too few

    @property
    def is_exact(self) -> bool:
        """Whether what it does not name was not written to."""
        return bool(self.exact) and not self.older

    def is_untouched(self, place: Place) -> bool:
        """Whether nothing was written to a place since the last Update that could not reach it."""
        wrote, denied = self.wrote.get(place), self.denied.get(place)
        return wrote is not None and denied is not None and denied.at > wrote and place not in self.older

    def joined(self, other: IndexEntry) -> IndexEntry:
        """What two reads say, each of which may be late: what one of them forbids is forbidden."""
        wrote = {**self.wrote, **{at: max(date, self.wrote.get(at, date)) for at, date in other.wrote.items()}}
        both = self.denied.keys() & other.denied.keys()
        denied = {at: min(self.denied[at], other.denied[at], key=lambda each: each.at) for at in both}
        return replace(
            self,
            places=self.places | other.places,
            hold=self.hold or other.hold,
            older=self.older | other.older,
            wrote=wrote,
            denied=denied,
            forgotten=self.forgotten & other.forgotten,
            dropped=self.dropped & other.dropped,
            exact=self.exact & other.exact,
        )


def index_name(stack: str, logical_id: str) -> str:
    """The parameter of an Export's entry, given the name of its stack."""
    return f"{INDEX}/{stack}/{logical_id}"


def path_of(place: Place, kind: str = "") -> str:
    """What follows an Export's parameter in that of a place, or of what is said about one that cannot be reached."""
    return "/".join(["", *place, kind] if kind else ["", *place])


def index_of(name: str) -> tuple[str, str]:
    """The stack's name and the logical ID of a parameter of the index."""
    stack, logical_id = name.removeprefix(f"{INDEX}/").split("/")[:2]
    return stack, logical_id


def encode_hold(stack: str, hold: str) -> str:
    """The text of an Export's own parameter. Version 0.2.0 reads it, too."""
    return json.dumps({"stack": stack, "hold": hold, "places": {}}, separators=(",", ":"))


def encode_place(stack: str, at: datetime, **more: object) -> str:
    """The text of a place's parameter: `request` is the ID of an Update that was denied, `exact` as in `IndexEntry`."""
    return json.dumps({"stack": stack, "at": at.replace(microsecond=0).isoformat(), **more}, separators=(",", ":"))


def read_index(
    found: Mapping[str, Parameter], newer: Callable[[NewerFormatError], None] | None = None
) -> dict[tuple[str, str], IndexEntry]:
    """The entries of these parameters, by `index_name` and the stack's ARN. What strongref did not write is left out.

    Raises:
        NewerFormatError: a later version wrote a parameter; unless `newer` takes it.
    """
    entries: dict[tuple[str, str], IndexEntry] = {}
    for name, parameter in found.items():
        own, *rest = _split(name)
        try:
            given = json.loads(parameter.text)
            check_format(name, given)
            known = entries.get((own, str(given["stack"])), IndexEntry(str(given["stack"])))
            entries[own, known.stack] = _with(known, given, rest)
        except NewerFormatError as error:
            if newer is None:
                raise
            newer(error)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            continue
    return entries


def names_of(found: Mapping[str, Parameter], stack: str) -> list[str]:
    """Of these parameters, those of a stack: one of the same name may have written others."""
    names = []
    for name, parameter in found.items():
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            if json.loads(parameter.text)["stack"] == stack:
                names.append(name)
    return names


def _split(name: str) -> list[str]:
    """The Export's own parameter, and what follows in the name."""
    return [index_name(*index_of(name)), *name.split("/")[5:]] if name.count("/") > 3 else [name]  # noqa: PLR2004


def _with(entry: IndexEntry, given: Mapping[str, Any], rest: list[str]) -> IndexEntry:
    """An entry with what one parameter says."""
    match rest:
        case []:
            older = frozenset(_older(given))
            return replace(entry, places=entry.places | older, older=older, hold=str(given.get("hold", "")))
        case [account, region, consumer, *kind]:
            place, at = Place(account, region, consumer), datetime.fromisoformat(str(given["at"])).astimezone(UTC)
            match kind:
                case []:
                    exact = entry.exact | {place} if given.get("exact") is True else entry.exact
                    wrote = {**entry.wrote, place: at}
                    return replace(entry, places=entry.places | {place}, wrote=wrote, exact=exact)
                case ["denied"]:
                    stamp = RequestStamp(at, str(given.get("request", "")))
                    return replace(entry, denied={**entry.denied, place: stamp})
                case ["forgotten"]:
                    return replace(entry, forgotten=entry.forgotten | {place})
                case ["dropped"]:
                    return replace(entry, dropped=entry.dropped | {place})
    return entry


def _older(given: Mapping[str, Any]) -> Iterator[Place]:
    """`{"places": {account: {consumer: [region, …]}}}`, as version 0.2.0 wrote it."""
    for account, consumers in given["places"].items():
        for consumer, regions in consumers.items():
            yield from (Place(account, region, consumer) for region in regions)
