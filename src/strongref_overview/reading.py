"""Reads what is exported in some regions, in bulk: some hundred values with each call, and never their own.

Tags come from the Resource Groups Tagging API, and dates and names from DescribeParameters. Both may be some seconds
late, as CloudFormation's lists may be, so what is read here is shown with its time, and decides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref.arns import Arn
from strongref.aws.clients import Clients
from strongref.contract.holds import HOLDS, held_exports
from strongref.contract.index import INDEX, IndexEntry
from strongref.contract.names import CLAIM_TAG, PRODUCER_TAG, ExportScope, claim_tag
from strongref.contract.record import decode
from strongref.errors import NewerFormatError
from strongref.protocol.ports import is_at_rest
from strongref.protocol.published import RecordedExports
from strongref_overview.exports import StackDates, StoredRegion, StoredValue, exported_values
from strongref_toolkit.memo import Memo
from strongref_toolkit.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from strongref.contract.names import Key
    from strongref.contract.values import Parameter
    from strongref_overview.exports import ExportedValue
    from strongref_toolkit.aws import Aws

EXPORTS, RECORDS = "/strongref/exports", "/strongref/records"
_NAMES_PER_PAGE = 50
"""AWS: DescribeParameters, MaxResults."""
_TAGGED_PER_PAGE = 100
"""AWS: GetResources, ResourcesPerPage."""


class OverviewReader:
    """Reads each region of the caller's account once.

    Args:
        aws: what calls go through.
        progress: called with each region before it is read.
        leaves_newer: whether what a later version of strongref wrote is left out, for a caller that reports it anyway;
            otherwise it is a `NewerFormatError`.
    """

    def __init__(
        self, aws: Aws, progress: Callable[[str], None] = lambda _: None, *, leaves_newer: bool = False
    ) -> None:
        self._leaves_newer = leaves_newer
        self._aws = aws
        self._progress = progress
        self._regions: Memo[str, StoredRegion] = Memo()
        self._held: Memo[str, Mapping[str, frozenset[str]]] = Memo()

    def regions(self, names: Iterable[str]) -> list[StoredRegion]:
        """What is stored in these regions, which are read side by side.

        Raises:
            UnknownCallerError: STS does not return the caller, as without credentials. No other call is made.
            FetchFailedError, StoreError: a call failed.
        """
        account = self._aws.accounts.own
        return in_threads([partial(self._regions.get, name, partial(self._read, account, name)) for name in names])

    def reachable(self, start: Iterable[str], stack: str | None = None) -> list[StoredRegion]:
        """These regions, and all that stacks found there export to or live in; errors as for `regions`.

        Args:
            start: the regions to begin with.
            stack: follow only stacks of this name.
        """
        todo, read = set(start), dict[str, StoredRegion]()
        while todo:
            found = self.regions(sorted(todo))
            read |= {each.region: each for each in found}
            todo = {region for each in found for region in each.linked(stack)} - read.keys()
        return [read[region] for region in sorted(read)]

    def values(self, regions: Sequence[StoredRegion]) -> list[ExportedValue]:
        """The exported values of these regions, sorted; errors as for `regions`."""
        scopes = {(each.account, scope) for each in regions for scope, found in each.records.items() if found.all_holds}
        producers = sorted({scope.producer.region for account, scope in scopes if account == scope.producer.account})
        held = in_threads([partial(self._holds, name) for name in producers])
        by_place = {
            (region, hash_): exports
            for region, hashes in zip(producers, held, strict=True)
            for hash_, exports in hashes.items()
        }
        return sorted(value for each in regions for value in exported_values(each, by_place))

    def _read(self, account: str, region: str) -> StoredRegion:
        self._progress(region)
        parts: list[Callable[[], Any]] = [  # what has the most pages first
            partial(self._dates, region),
            partial(self._tags, region),
            partial(self._records, region),
            partial(self._index, region),
            partial(self._holds, region),  # Not part of the region: they protect what it exports to others.
            partial(self._existing, region),
        ]
        dates, tags, records, index, _, existing = in_threads(parts)
        values = _values(*self._checked(region, records, dates, tags))
        return StoredRegion(account, region, records, values, self._stacks(region, existing, values), index)

    def _records(self, region: str) -> dict[ExportScope, RecordedExports]:
        parts: dict[ExportScope, dict[str, Parameter]] = defaultdict(dict)
        for name, found in self._under(region, RECORDS).items():
            if scope := ExportScope.of("records", name):
                parts[scope][name] = found
        recorded = {scope: RecordedExports.of(decode(scope.records, found)) for scope, found in parts.items()}
        left = {scope for scope, each in recorded.items() if each.is_newer and self._leaves_newer}
        return {scope: each if scope in left else each.readable() for scope, each in recorded.items()}

    def _dates(self, region: str) -> dict[str, datetime]:
        """When each parameter below the exports' path was changed last."""
        path = [{"Key": "Path", "Option": "Recursive", "Values": [EXPORTS]}]
        request = {"ParameterFilters": path, "MaxResults": _NAMES_PER_PAGE}
        pages = self._pages(region, "DescribeParameters", EXPORTS, Clients.ssm, "describe_parameters", **request)
        return {each["Name"]: each["LastModifiedDate"] for page in pages for each in page["Parameters"]}

    def _tags(self, region: str) -> dict[str, dict[str, str]]:
        """The tags of the parameters below the exports' path."""
        request = {"ResourceTypeFilters": ["ssm:parameter"], "ResourcesPerPage": _TAGGED_PER_PAGE}
        request["TagFilters"] = [{"Key": PRODUCER_TAG}]  # What has none is not ours.
        pages = self._pages(region, "GetResources", EXPORTS, Clients.tagging, "get_resources", **request)
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
        store = self._aws.store(self._aws.where(region, None))
        recorded = {scope.value(key) for scope, found in records.items() for key in found.values}
        unlisted = store.get(sorted(recorded - dates.keys()))
        known = {**dates, **{name: datetime.fromisoformat(found.modified) for name, found in unlisted.items()}}
        untagged = sorted(known.keys() - tags.keys())
        exact = dict(zip(untagged, in_threads([partial(store.tags, name) for name in untagged]), strict=True))
        there = {name: modified for name, modified in known.items() if exact.get(name, {}) is not None}
        return there, {**tags, **{name: found for name, found in exact.items() if found is not None}}

    def _index(self, region: str) -> dict[str, IndexEntry]:
        found = {}
        for name, each in self._under(region, INDEX).items():
            try:
                entry = IndexEntry.decode(each)
            except NewerFormatError:
                if not self._leaves_newer:
                    raise
                continue
            if entry:
                found[name] = entry
        return found

    def _existing(self, region: str) -> dict[str, StackDates]:
        """Each stack of the region by ARN, without its imports."""
        pages = self._pages(region, "DescribeStacks", "all stacks", Clients.cloudformation, "describe_stacks")
        return {
            each["StackId"]: StackDates(
                each["CreationTime"],
                parent=each.get("ParentId", ""),
                at_rest=is_at_rest(each["StackStatus"]),
            )
            for page in pages
            for each in page["Stacks"]
        }

    def _stacks(
        self, region: str, existing: Mapping[str, StackDates], values: Mapping[ExportScope, Mapping[Key, StoredValue]]
    ) -> dict[str, StackDates]:
        """Stacks that exist. The imports of one are listed only if a value changed after the stack was created."""
        asked = set()
        for value in (value for found in values.values() for value in found.values()):
            importers = {text for tag, text in value.tags.items() if tag.startswith(CLAIM_TAG)}
            asked |= {each for each in importers if each in existing and existing[each].created < value.modified}
        ordered = sorted(asked)
        imports = dict(
            zip(ordered, in_threads([partial(self._imports, region, each) for each in ordered]), strict=True)
        )
        return {arn: dates._replace(imports=imports.get(arn)) for arn, dates in existing.items()}

    def _imports(self, region: str, stack: str) -> dict[str, datetime]:
        """When each custom resource of a stack was created or updated last, by the tag of its claims."""
        request = {"StackName": stack}
        pages = self._pages(
            region, "ListStackResources", f"stack {stack}", Clients.cloudformation, "list_stack_resources", **request
        )
        return {
            claim_tag(each["PhysicalResourceId"]): each["LastUpdatedTimestamp"]
            for page in pages
            for each in page["StackResourceSummaries"]
            if each.get("PhysicalResourceId") and each["ResourceStatus"] != "DELETE_COMPLETE"
        }

    def _holds(self, region: str) -> Mapping[str, frozenset[str]]:
        """The CloudFormation exports that each hold stack of a region holds, by its hash."""
        return self._held.get(region, lambda: held_exports(self._under(region, HOLDS)))

    def _under(self, region: str, path: str) -> dict[str, Parameter]:
        return self._aws.store(self._aws.where(region, None)).under(path)

    def _pages(
        self,
        region: str,
        action: str,
        target: str,
        service: Callable[[Clients, str], Any],
        method: str,
        **request: Any,  # noqa: ANN401 (as botocore)
    ) -> Iterator[Mapping[str, Any]]:
        return self._aws.pages(self._aws.where(region, None), action, target, service, method, **request)


def _values(
    dates: Mapping[str, datetime], tags: Mapping[str, Mapping[str, str]]
) -> dict[ExportScope, dict[Key, StoredValue]]:
    found: dict[ExportScope, dict[Key, StoredValue]] = defaultdict(dict)
    for name, modified in dates.items():
        if scope := ExportScope.of("exports", name):
            found[scope][scope.key(name)] = StoredValue(modified, tags.get(name, {}))
    return found
