"""What the protocol needs from outside: Parameter Store, CloudFormation, and a way to continue in another invocation.

`strongref.aws` implements these protocols in AWS; the tests implement them in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from strongref.errors import ACCESS_DENIED, AccountNotListedError, StrongRefError
from strongref.protocol.lag import ReadLag

if TYPE_CHECKING:
    from datetime import datetime

    from strongref.contract.fence import Fence
    from strongref.contract.names import ExportScope, Site
    from strongref.contract.notices import Notice
    from strongref.contract.values import Parameter, ParameterType
    from strongref.protocol.time import Clock, Patience


T = TypeVar("T")

BATCH = 10
"""Names per call and parameters per page (AWS: GetParameters, DeleteParameters, GetParametersByPath)."""


class SideBySide(Protocol):
    """Makes calls that do not depend on each other."""

    def __call__(self, queues: Sequence[Sequence[Callable[[], T]]], /) -> list[list[T]]:
        """The results of the calls, which are one queue for each site.

        Raises:
            Exception: the first failure, in the order of the calls. Calls in flight are finished; no other one begins.
        """


class Store(Protocol):
    """Parameter Store of one account and region.

    It batches, pages, limits its rate and retries. Every method may raise `StoreError` or one of its subclasses. A
    SecureString that cannot be decrypted fails no read: it is `locked`.
    """

    region: str
    account: str  # empty for the function's own
    side_by_side: SideBySide  # makes calls that do not depend on each other, of this store and of others

    def get(self, names: Iterable[str]) -> dict[str, Parameter]:
        """The existing parameters among these names, by name (GetParameters, 10 per call)."""

    def under(self, path: str, *, decrypted: bool = True) -> dict[str, Parameter]:
        """Every parameter below a path, at any depth, by name (GetParametersByPath, 10 per page).

        If SecureStrings are not decrypted, no KMS permission is needed.
        """

    def create(self, name: str, kind: ParameterType, text: str, tags: Mapping[str, str]) -> None:
        """Create a parameter with its tags in one call.

        Raises:
            AlreadyExistsError: a parameter of that name exists; nothing was written.
        """

    def overwrite(self, name: str, kind: ParameterType, text: str) -> int:
        """Write a new version and return its number. 1 means that it did not exist; it was created without tags."""

    def delete(self, names: Iterable[str]) -> None:
        """Delete parameters; missing ones are ignored (DeleteParameters, 10 per call)."""

    def tags(self, name: str) -> dict[str, str] | None:
        """A parameter's tags; None if the parameter does not exist (ListTagsForResource)."""

    def tag(self, name: str, tags: Mapping[str, str]) -> bool:
        """Add tags, or replace those with the same key; False if the parameter does not exist.

        Raises:
            TooManyTagsError: the parameter would have more than 50.
        """

    def untag(self, name: str, keys: Iterable[str]) -> bool:
        """Remove tags; missing ones are ignored. False if the parameter does not exist."""


def is_at_rest(status: str) -> bool:
    """Whether CloudFormation's stack status is that of a stack without an operation; see `StackInfo.at_rest`."""
    return status.endswith("_COMPLETE")


@dataclass(frozen=True, slots=True)
class StackInfo:
    """A stack that exists; a deleted one does not."""

    arn: str  # its stack ID
    name: str
    status: str  # CloudFormation's stack status, as in `UPDATE_IN_PROGRESS`
    root_arn: str  # the stack ID of the root stack, for a nested stack; otherwise its own
    updated: str = ""  # when its last update began (ISO 8601); empty before the first
    parent_arn: str = ""  # the stack ID of the stack that it is nested in; empty if it is not nested
    created: datetime | None = field(default=None, compare=False)  # (UTC)
    # its outputs by name, and the names of its CloudFormation exports, as of its last operation that succeeded
    outputs: Mapping[str, str] = field(default_factory=dict, repr=False)
    exports: frozenset[str] = frozenset()
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def at_rest(self) -> bool:
        """No operation is running in it or left unfinished, so its resources stay as they are.

        A stack that is stuck (as in `UPDATE_ROLLBACK_FAILED`) will continue its rollback some day.
        """
        return is_at_rest(self.status)

    @property
    def being_deleted(self) -> bool:
        return self.status == "DELETE_IN_PROGRESS"

    @property
    def rolling_back(self) -> bool:
        """An update failed, and its resources are being restored."""
        return self.status == "UPDATE_ROLLBACK_IN_PROGRESS"

    @property
    def cleaning_up(self) -> bool:
        """The cleanup phase of an update or of its rollback, where nothing can be refused."""
        return self.status in ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")


@dataclass(frozen=True, slots=True)
class ResourceInfo:
    """A resource of a stack, as CloudFormation lists it."""

    type: str  # as in `Custom::CrossRegionExport`
    status: str  # as in `UPDATE_IN_PROGRESS`
    physical_id: str = ""  # empty while it is being created
    updated: datetime | None = None  # when its status last changed (UTC)

    @property
    def in_progress(self) -> bool:
        return self.status.endswith("_IN_PROGRESS")

    @property
    def being_deleted(self) -> bool:
        return self.status == "DELETE_IN_PROGRESS"


@dataclass(frozen=True, slots=True)
class NewStack:
    """A stack to create, or to update to."""

    name: str
    region: str
    template: str = field(repr=False)  # JSON
    resource_types: tuple[str, ...]  # all that its template may have
    tags: Mapping[str, str]


class Stacks(Protocol):
    """Stacks in CloudFormation. Methods raise `StackLookupError`, or `WaitInterruptedError` with one inside."""

    def by_arn(self, arn: str) -> StackInfo | None:
        """The stack with this ID, looked up in its own region; None if it was deleted or never existed."""

    def by_name(self, name: str, region: str) -> StackInfo | None:
        """The stack with this name in a region of the function's own account."""

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:
        """A resource of the stack with this ID (DescribeStackResource); None if the stack has none of that name."""

    def physical_ids(self, arn: str) -> frozenset[str]:
        """The physical IDs of a stack's custom resources, without deleted ones (ListStackResources, paged)."""

    def importing_stacks(self, export: str, region: str) -> frozenset[str]:
        """The names of the stacks that import a CloudFormation export (ListImports, paged)."""

    def create_stack(self, stack: NewStack) -> str:
        """Begin to create a stack, and return its ARN; empty if one of that name exists. If it fails, it is deleted."""

    def update_stack(self, stack: NewStack) -> None:
        """Begin to update a stack. If it cannot be updated now, or is up to date, nothing is done."""

    def delete_stack(self, stack: str, region: str) -> None:
        """Begin to delete a stack, given its name or ARN; nothing is done if there is none, or if it cannot go now."""

    def failure(self, arn: str) -> str:
        """Why the last operation of a stack failed (DescribeStackEvents); empty if nothing says so."""


Reinvoke: TypeAlias = "Callable[[str, Mapping[str, Any], StrongRefError, Clock], None]"
"""Continues an event in another invocation: has Lambda invoke a function asynchronously, given its ARN with the version
or alias that runs now, the event, and an error that says what is left to be done. Raises `ReinvokeError`: Lambda did
not accept the event."""


OnWait: TypeAlias = "Callable[[ExportScope, Fence, float], object]"
"""Is called before each pause in which a change waits for another holder's fence, for at most so many seconds."""


Abroad: TypeAlias = "Callable[[Site, Clock], Store]"
"""Returns the Parameter Store of a site in another account; raises `StoreError` if that does not let this one in."""


def none_abroad(site: Site, _clock: Clock) -> Store:
    """`Abroad` of an installation that may write to no other account."""
    raise AccountNotListedError("AssumeRole", ACCESS_DENIED, "Account", site.region, account=site.account)


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything that a use case needs from outside."""

    # returns the Parameter Store of a region, which makes calls until the clock's deadline
    stores: Callable[[str, Clock], Store]
    stacks: Stacks  # stack lookups
    patience: Patience  # how long to wait for others that change the same scope
    token: Callable[[], str]  # returns a unique token, for a fence's name
    lag: ReadLag = field(default_factory=ReadLag)  # how long a read may lag behind a write
    # takes a notice for the people concerned. It makes no call and never fails: notices are sent after the response
    notify: Callable[[Notice], object] = lambda _notice: None
    waits: OnWait = lambda _scope, _fence, _seconds: None
    sees_installations: bool = False  # whether stores have what installations make; else, there are everywhere some
    # takes what the response need not wait for; it may never be done
    later: Callable[[Callable[[], object]], object] = lambda work: work()
    abroad: Abroad = none_abroad

    def at(self, site: Site, clock: Clock) -> Store:
        """The Parameter Store of a site; raises `StoreError` if its account does not let this one in."""
        if not site.account:
            return self.stores(site.region, clock)
        return self.abroad(site, clock)
