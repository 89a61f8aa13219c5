"""What is stored about a stack's exports, and where to look for it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.index import IndexEntry, Place
from strongref.contract.names import SHARED, ExportScope, Key, Producer, Site, StackArn
from strongref.protocol.plan import Create, Delete, ExportPlan, Overwrite, TakeOwnership, WriteRecord
from strongref.protocol.stored_exports import StoredExports, ValueTags
from strongref_cli.check.report import ChangeKind, ValueChange
from strongref_cli.check.unknown import sources_of

if TYPE_CHECKING:
    from strongref.contract.hold_stacks import HoldParameter
    from strongref.contract.values import Value
    from strongref.errors import StrongRefError
    from strongref_cli.check.comparison import Comparison
    from strongref_cli.check.version import StackVersion
    from strongref_toolkit.errors import AwsCallError, NoWayInError


class Location(NamedTuple):
    """Where exports are: a scope in a Parameter Store."""

    site: Site
    scope: ExportScope

    @classmethod
    def of(cls, place: Place, producer: Producer) -> Location:
        return cls(place.site(producer), ExportScope(place.consumer, producer))

    @property
    def place(self) -> Place:
        return Place(self.site.account or self.scope.producer.account, self.site.region, self.scope.consumer)


@dataclass(frozen=True, slots=True)
class StoredScope:
    """What is stored in one place, as one Export sees it."""

    exports: StoredExports
    tags: Mapping[Key, ValueTags] = field(default_factory=dict)  # of all stored values
    problem: StrongRefError | None = None  # why the Export cannot go on there, whatever it wants
    unread: NoWayInError | None = None  # why nobody knows what is there, in another account; see `at_worst`

    def after(self, plan: ExportPlan) -> StoredScope:
        """What is stored after the plan of another Export of the stack is carried out."""
        values, others = dict(self.exports.stored), dict(self.exports.others)
        for each in plan.instructions:
            if isinstance(each, Create | Overwrite | TakeOwnership):
                values[each.key] = each.value
            elif isinstance(each, Delete):
                values = {key: value for key, value in values.items() if key not in each.keys}
            elif isinstance(each, WriteRecord) and each.logical_id not in self.exports.orphans:
                others.pop(each.logical_id, None)
                if each.record and each.record.values:
                    others[each.logical_id] = replace(each.record, open=False)
        return replace(self, exports=replace(self.exports, stored=values, others=others))


NOTHING_STORED = StoredScope(StoredExports({}, None))


@dataclass(frozen=True, slots=True)
class StoredStack:
    index: Mapping[str, IndexEntry] = field(default_factory=dict)  # by the Export's logical ID
    # by the Export's logical ID and where
    scopes: Mapping[tuple[str, Location], StoredScope] = field(default_factory=dict)
    holds: Mapping[str, tuple[HoldParameter, ...]] = field(default_factory=dict)  # by the CloudFormation export
    # the names of the stacks that import a CloudFormation export themselves, with `Fn::ImportValue`
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # the installation's `ExportAccounts`, read if they matter; why not, if its stack cannot be described
    listed: tuple[str, ...] | AwsCallError = ()

    def at(self, logical_id: str, location: Location) -> StoredScope:
        return self.scopes.get((logical_id, location), NOTHING_STORED)

    def locations(self, logical_id: str) -> list[Location]:
        """Where an Export has a record."""
        return [at for (each, at), found in self.scopes.items() if each == logical_id and found.exports.own]

    def importers(self, logical_id: str, only: Location | None = None) -> tuple[str, ...]:
        """The ARNs of those who import something that an Export publishes, in all places or in one."""
        recorded = (each for each in self.recorded_in_places(logical_id) if only in (None, each[0]))
        found = (self.at(logical_id, at).tags.get(key) for at, key in recorded)
        return tuple(sorted({arn for tags in found if tags for arn in tags.importers}))

    def recorded_in_places(self, logical_id: str) -> list[tuple[Location, Key]]:
        places = {at: self.at(logical_id, at).exports.recorded for at in self.locations(logical_id)}
        return [(at, key) for at, recorded in places.items() for key in sorted(recorded)]

    def change(self, kind: ChangeKind, logical_id: str, at: Location, key: Key, because: str = "") -> ValueChange:
        """What becomes of a value of an Export, with those who import it."""
        tags = self.at(logical_id, at).tags.get(key)
        importers = tags.importers if tags else ()
        return ValueChange(kind, key, at.site.region, at.scope.consumer, importers, because, at.site.account)

    def recorded(self, logical_id: str) -> dict[Key, Value]:
        """What an Export publishes, by its records; the same in all places, or about to be."""
        places = self.recorded_in_places(logical_id)
        return {key: self.at(logical_id, at).exports.recorded[key] for at, key in places}

    def published_by_others(self, logical_id: str) -> dict[Key, Value]:
        """What the other Exports of the stack publish in the same places."""
        scopes = [found for (each, _), found in self.scopes.items() if each == logical_id]
        records = [record for scope in scopes for record in scope.exports.others.values()]
        return {key: value for record in records for key, value in record.values.items()}

    def hold(self, logical_id: str) -> str:
        """The CloudFormation export that the records or the index name; empty if there is none."""
        records = [self.at(logical_id, at).exports.own for at in self.locations(logical_id)]
        known = (*records, self.index.get(logical_id))
        return next((each.hold for each in known if each and each.hold), "")


def locations_of(
    stack: StackArn, comparison: Comparison, index: Mapping[str, IndexEntry]
) -> list[tuple[str, Location]]:
    """Every place that matters for each Export: those of the old template, of the new one, and of the index."""
    # The exporter goes by the properties, so texts that name several regions name them in that order.
    versions = comparison.old, comparison.new
    found = [(each, at) for version in versions for each in version.exports for at in _declared(stack, version, each)]
    found += [(logical_id, place) for logical_id, entry in index.items() for place in sorted(entry.places)]
    return [(logical_id, Location.of(place, stack.producer)) for logical_id, place in dict.fromkeys(found)]


def unclear_place(version: StackVersion, logical_id: str, stored: StoredStack) -> str:
    """Which property hides where a deployed Export publishes, if the index does not say it either; empty if none."""
    if logical_id in stored.index:
        return ""
    given = version.resources[logical_id].properties
    if not isinstance(given, Mapping):
        return "Properties"
    return next((name for name in ("Region", "Account", "Consumer") if sources_of(given.get(name))), "")


def _declared(stack: StackArn, version: StackVersion, logical_id: str) -> Iterator[Place]:
    """The places that an Export's properties name, as far as they are known."""
    given = version.resources[logical_id].properties
    if not isinstance(given, Mapping):
        return
    named = given.get("Account", stack.account), given.get("Region", stack.region)
    for place in product(
        *(each if isinstance(each, list) else [each] for each in named), [given.get("Consumer", SHARED)]
    ):
        if all(isinstance(each, str) for each in place):
            yield Place(*map(str, place))
