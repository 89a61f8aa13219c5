"""Reads what is exported in some regions, in bulk: some hundred values with each call, and never their own.

Tags come from the Resource Groups Tagging API, and dates and names from DescribeParameters. Both may be some seconds
late, as CloudFormation's lists may be, so what is read here is shown with its time, and decides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from strongref.arns import Arn
from strongref.aws.clients import Clients
from strongref.aws.cloud_control import TAGGED_PER_PAGE
from strongref.contract.hold_stacks import HOLDS, HoldParameter, held_exports
from strongref.contract.index import INDEX, IndexEntry, Place, index_name, read_index
from strongref.contract.names import CLAIM_TAG, PRODUCER_TAG, ExportScope, Key, StackArn, by_scope, claim_tag
from strongref.contract.record import decode, part_name
from strongref.errors import NewerFormatError, StrongRefError, where_text
from strongref.memo import Memo
from strongref.protocol.ports import is_at_rest
from strongref.protocol.published import RecordedExports
from strongref.protocol.stored_exports import physical_id
from strongref_cli.overview.exports import (
    ExistingStack,
    ExportedValue,
    PlaceAbroad,
    ProducerRegion,
    StoredRegion,
    StoredValue,
    exported_values,
)
from strongref_cli.overview.graph import Unread
from strongref_toolkit.cloudformation import CloudFormationReader
from strongref_toolkit.threads import in_regions, in_threads

if TYPE_CHECKING:
    from strongref.contract.values import Parameter
    from strongref_toolkit.aws import Aws

T = TypeVar("T")

EXPORTS, RECORDS = "/strongref/exports", "/strongref/records"
_NAMES_PER_PAGE = 50
"""AWS: DescribeParameters, MaxResults."""


class OverviewReader:
    """Reads each region of the caller's account once, or of another `account`.

    `progress` is called with each region before it is read. With `leaves_newer`, what a later version of strongref
    wrote is left out, for a caller that reports it anyway; otherwise its region cannot be read. With `reads_abroad`,
    `aws` has a role for other accounts.

    Raises:
        UnknownCallerError: STS does not return the caller, as without credentials. No other call is made.
    """

    def __init__(
        self,
        aws: Aws,
        progress: Callable[[str], None] = lambda _: None,
        *,
        leaves_newer: bool = False,
        reads_abroad: bool = False,
        account: str = "",
    ) -> None:
        self._aws = aws
        self._account = account or aws.accounts.own
        self._abroad = account  # empty for the caller's own
        self._reads_abroad = reads_abroad
        self._others: dict[tuple[str, str], OverviewReader] = {}  # by account and region
        self._progress = progress
        self._leaves_newer = leaves_newer
        self._regions: Memo[str, StoredRegion] = Memo()
        self._homes: Memo[str, ProducerRegion] = Memo()
        self._failed: dict[str, StrongRefError] = {}  # by region

    @property
    def unread(self) -> tuple[Unread, ...]:
        """The regions that could not be read, sorted, those of other accounts last."""
        own = [Unread(region, str(error), self._abroad) for region, error in sorted(self._failed.items())]
        return (*own, *(unread for _, other in sorted(self._others.items()) for unread in other.unread))

    def everywhere(self, regions: Sequence[str], read: Callable[[str], T]) -> dict[str, T]:
        """What is read of regions, side by side.

        A region where a call fails is left out and is in `unread`, as long as another one can be read.

        Raises:
            StrongRefError: a call failed, and no region was read.
        """
        found = self._readable(regions, read)
        if regions and not found:
            failed, self._failed = self._failed, {}
            raise failed[regions[0]]
        return found

    def regions(self, names: Iterable[str]) -> list[StoredRegion]:
        """What is stored in these regions; errors as for `everywhere`."""
        return list(self.everywhere(list(names), self._region).values())

    def reachable(self, start: Iterable[str], stack: str | None = None) -> list[StoredRegion]:
        """These regions, and all that stacks found there, or those of one name, export to or live in.

        Errors are as for `regions`.
        """
        read = self.everywhere(sorted(set(start)), self._region)
        found = read
        while todo := {to for each in found.values() for to in each.linked(stack)} - read.keys() - self._failed.keys():
            found = self._readable(sorted(todo), self._region)
            read = read | found
        return [read[region] for region in sorted(read)]

    def values(self, regions: Sequence[StoredRegion]) -> list[ExportedValue]:
        """The exported values of these regions, sorted; a home that cannot be read is in `unread`.

        Of regions of other accounts, they are those that the caller's account exports.
        """
        scopes = {scope for each in regions for scope in (*each.records, *each.values)}
        producers = {each.producer.region for each in scopes if each.producer.account == self._account}
        homes = self._readable(sorted(producers), self._home)
        found = (value for each in regions for value in exported_values(each, homes, self._account))
        return sorted(each for each in found if not each.abroad or each.producer.account == self._account)

    def exports(
        self, regions: Sequence[StoredRegion], stack: str | None = None
    ) -> tuple[list[ExportedValue], list[PlaceAbroad]]:
        """The exported values of these regions, and where their stacks export to in other accounts that are not read.

        There, only places of a `stack` are read, if it has some.
        """
        places = [place for each in regions for place in each.places_abroad(self._home(each.region).held_for)]
        wanted = [each for each in places if each.producer.stack == stack] or places
        sites = {each.place[:2] for each in wanted if self._reads_abroad and not each.is_forgotten}
        others = {at: OverviewReader(self._aws, self._progress, account=at[0]) for at in sites}
        self._others = others | self._others
        read = in_threads([partial(self._others[at].readable, at[1]) for at in sorted(sites)])
        there = {(each.account, each.region): each for found in read for each in found}
        left = [each for each in places if each.is_forgotten or each.place[:2] not in there]
        return self.values([*regions, *there.values()]), left

    def readable(self, region: str) -> list[StoredRegion]:
        """A region; none if it cannot be read, and is in `unread`."""
        return list(self._readable([region], self._region).values())

    def has_unindexed(self, regions: Iterable[StoredRegion], name: str) -> bool:
        """Whether a stack of this name has an Export that the index lacks, so that it may export to any region.

        Raises:
            AwsCallError: CloudFormation does not list its resources.
        """
        found = [(each, StackArn.parse(arn)) for each in regions for arn in each.stacks]
        return any(
            (index_name(name, physical.removeprefix(physical_id(arn, ""))), str(arn)) not in stored.index
            for stored, arn in found
            if arn.name == name
            for physical in self._resources(stored.region, str(arn))
            if physical.startswith(physical_id(arn, ""))
        )

    def _region(self, name: str) -> StoredRegion:
        return self._regions.get(name, partial(self._read, name))

    def _readable(self, regions: Sequence[str], read: Callable[[str], T]) -> dict[str, T]:
        """What is read of regions, side by side, without those where a call fails."""
        found, failed = in_regions(regions, read)
        self._failed = failed | self._failed
        return found

    def _read(self, region: str) -> StoredRegion:
        self._progress(where_text(region, self._abroad))
        # What has the most pages comes first. A home is not part of the region: it says what that exports to others.
        parts: list[Callable[[str], Any]] = [self._dates, self._tags, self._records, self._index, self._home]
        dates, tags, (records, stored), index, home = in_threads([partial(part, region) for part in parts])
        values = _values(records, stored, *self._checked(region, records, dates, tags))
        return StoredRegion(self._account, region, records, values, self._stacks(region, home.stacks, values), index)

    def _home(self, region: str) -> ProducerRegion:
        """What is known about the producers of a region."""

        def read() -> ProducerRegion:
            parts: list[Callable[[], Any]] = [partial(self._existing, region), partial(self._under, region, HOLDS)]
            stacks, holds = in_threads(parts)
            held_for: dict[Place, frozenset[str]] = defaultdict(frozenset)
            for hold in filter(None, map(HoldParameter.of, holds)):
                held_for[Place(hold.account, hold.region, hold.label)] |= {hold.export}
            return ProducerRegion(stacks, held_exports(holds), held_for)

        return self._homes.get(region, read)

    def _records(
        self, region: str
    ) -> tuple[dict[ExportScope, RecordedExports], dict[ExportScope, dict[str, Parameter]]]:
        """The records of each scope, and the parameters that they were read from, by name."""
        parts = by_scope("records", self._under(region, RECORDS))
        records = {scope: RecordedExports.of(decode(scope.path("records"), found)) for scope, found in parts.items()}
        for scope in [scope for scope, found in records.items() if found.torn]:  # It may have been written just now.
            parts[scope] = self._under(region, scope.path("records"))
            records[scope] = RecordedExports.of(decode(scope.path("records"), parts[scope]))
        left = {
            scope for scope, each in records.items() if isinstance(each.why, NewerFormatError) and self._leaves_newer
        }
        records = {scope: each if scope in left else each.readable() for scope, each in records.items()}
        return records, parts

    def _dates(self, region: str) -> dict[str, datetime]:
        """When each parameter below the exports' path was changed last."""
        path = [{"Key": "Path", "Option": "Recursive", "Values": [EXPORTS]}]
        request = {"ParameterFilters": path, "MaxResults": _NAMES_PER_PAGE}
        pages = self._pages(region, "DescribeParameters", Clients.ssm, **request)
        return {each["Name"]: each["LastModifiedDate"] for page in pages for each in page["Parameters"]}

    def _tags(self, region: str) -> dict[str, dict[str, str]]:
        """The tags of the parameters below the exports' path."""
        request = {"ResourceTypeFilters": ["ssm:parameter"], "ResourcesPerPage": TAGGED_PER_PAGE}
        request["TagFilters"] = [{"Key": PRODUCER_TAG}]  # What has none is not ours.
        pages = self._pages(region, "GetResources", Clients.tagging, **request)
        found = {}
        for each in (each for page in pages for each in page["ResourceTagMappingList"]):
            # The name of a parameter begins with a slash, which the ARN does not repeat.
            name = "/" + Arn.of(each["ResourceARN"]).resource.removeprefix("parameter/")
            found[name] = {tag["Key"]: tag["Value"] for tag in each["Tags"]}
        return found

    def _checked(
        self,
        region: str,
        records: Mapping[ExportScope, RecordedExports],
        dates: Mapping[str, datetime],
        tags: Mapping[str, Mapping[str, str]],
    ) -> tuple[dict[str, datetime], dict[str, Mapping[str, str]]]:
        """Dates and tags, after an exact look at values that lists lack: a new one is neither missing nor foreign."""
        store = self._aws.store(self._aws.where(region, self._account))
        recorded = {scope.parameter_name(key) for scope, found in records.items() for key in found.values}
        unlisted = store.get(sorted(recorded - dates.keys()))
        known = {**dates, **{name: datetime.fromisoformat(found.modified) for name, found in unlisted.items()}}
        untagged = sorted(known.keys() - tags.keys())
        exact = dict(zip(untagged, in_threads([partial(store.tags, name) for name in untagged]), strict=True))
        there = {name: modified for name, modified in known.items() if exact.get(name, {}) is not None}
        return there, {**tags, **{name: found for name, found in exact.items() if found is not None}}

    def _index(self, region: str) -> dict[tuple[str, str], IndexEntry]:
        newer: list[NewerFormatError] = []
        found = read_index(self._under(region, INDEX), newer.append)
        if newer and not self._leaves_newer:
            raise newer[0]
        return found

    def _existing(self, region: str) -> dict[str, ExistingStack]:
        """Each stack of the region by ARN, without its imports."""
        return {
            each["StackId"]: ExistingStack(
                each["CreationTime"], parent=each.get("ParentId", ""), at_rest=is_at_rest(each["StackStatus"])
            )
            for each in self._cloudformation(region).stacks()
        }

    def _stacks(
        self,
        region: str,
        existing: Mapping[str, ExistingStack],
        values: Mapping[ExportScope, Mapping[Key, StoredValue]],
    ) -> dict[str, ExistingStack]:
        """Stacks that exist. The imports of one are listed only if a value changed after the stack was created."""
        asked = set()
        for value in (value for found in values.values() for value in found.values()):
            importers = {text for tag, text in value.tags.items() if tag.startswith(CLAIM_TAG)}
            asked |= {each for each in importers if each in existing and existing[each].created < value.published}
        ordered = sorted(asked)
        listed = in_threads([partial(self._resources, region, each) for each in ordered])
        imports = {
            arn: {claim_tag(physical): updated for physical, updated in found.items()}
            for arn, found in zip(ordered, listed, strict=True)
        }
        return {arn: each._replace(imports=imports.get(arn)) for arn, each in existing.items()}

    def _resources(self, region: str, stack: str) -> dict[str, datetime]:
        """When each resource of a stack was created or updated last, by its physical ID."""
        return {
            each["PhysicalResourceId"]: each["LastUpdatedTimestamp"]
            for each in self._cloudformation(region).resources(stack)
            if each.get("PhysicalResourceId")
        }

    def _cloudformation(self, region: str) -> CloudFormationReader:
        return CloudFormationReader(self._aws, self._aws.where(region, self._account))

    def _under(self, region: str, path: str) -> dict[str, Parameter]:
        return self._aws.store(self._aws.where(region, self._account)).under(path)

    def _pages(self, region: str, action: str, service: Callable[[Clients, str], Any], **request: Any) -> Iterator[Any]:
        return self._aws.pages(self._aws.where(region, self._account), action, EXPORTS, service, **request)


def _values(
    records: Mapping[ExportScope, RecordedExports],
    stored: Mapping[ExportScope, Mapping[str, Parameter]],
    dates: Mapping[str, datetime],
    tags: Mapping[str, Mapping[str, str]],
) -> dict[ExportScope, dict[Key, StoredValue]]:
    recorded: dict[tuple[ExportScope, Key], datetime] = {}
    for scope, found in records.items():
        for logical_id, record in found.records.items():
            at = datetime.fromisoformat(stored[scope][part_name(scope, logical_id, 0)].modified)
            for key in record.values:
                recorded[scope, key] = max(at, recorded.get((scope, key), at))
    values: dict[ExportScope, dict[Key, StoredValue]] = defaultdict(dict)
    for name, modified in dates.items():
        if place := ExportScope.of("exports", name):
            key = place.key(name)
            values[place][key] = StoredValue(modified, tags.get(name, {}), recorded.get((place, key)))
    return values
