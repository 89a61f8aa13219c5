"""What the use cases ask of the outside: a parameter store in one region, knowledge of stacks, and time.

`store.SsmStore`, `stacks.Stacks` and `clock.SystemClock` are the real ones; the tests' explorer plays the same
parts over memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from strongref.contract.values import Kind, Parameter
    from strongref.errors import StrongRefError
    from strongref.protocol.time import Clock, Patience


BATCH = 10
"""Names a call and parameters a page (AWS: GetParameters, DeleteParameters, GetParametersByPath)."""


class Store(Protocol):
    """Parameter Store of one account and region.

    Batches and pages as SSM's limits ask, paces itself, and retries what is throttled. Every method may raise
    `StoreError` or one of its subclasses.
    """

    region: str

    def get(self, names: Iterable[str]) -> dict[str, Parameter]:
        """The parameters of these names that exist, by name (GetParameters, 10 a call)."""
        ...

    def under(self, path: str, *, decrypted: bool = True) -> dict[str, Parameter]:
        """Every parameter below a path, at any depth, by name (GetParametersByPath, 10 a page).

        Args:
            path: as in `/shared/network`.
            decrypted: whether the texts of SecureStrings are what they stand for. If not, nothing is asked of KMS.
        """
        ...

    def create(self, name: str, kind: Kind, text: str, tags: Mapping[str, str]) -> None:
        """Make a parameter with its tags in one call.

        Raises:
            AlreadyExistsError: there is one of that name; nothing was written.
        """
        ...

    def overwrite(self, name: str, kind: Kind, text: str) -> int:
        """Write a new version and return its number: 1 if the parameter was gone, and is now one without tags."""
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Delete the parameters of these names; one that is not there is no error (DeleteParameters, 10 a call)."""
        ...

    def tags(self, name: str) -> dict[str, str] | None:
        """A parameter's tags; None if there is no such parameter (ListTagsForResource)."""
        ...

    def tag(self, name: str, tags: Mapping[str, str]) -> bool:
        """Add tags, or replace those of the same key; False if there is no such parameter.

        Raises:
            TooManyTagsError: it would have more than 50.
        """
        ...

    def untag(self, name: str, keys: Iterable[str]) -> bool:
        """Remove tags; a key that is not there is no error; False if there is no such parameter."""
        ...


@dataclass(frozen=True, slots=True)
class StackInfo:
    """What CloudFormation says of a stack that exists (a deleted one does not).

    Attributes:
        arn: the stack's id.
        name: its name.
        status: its status in CloudFormation's words, as in `UPDATE_IN_PROGRESS`.
        root_arn: the root stack's id, for a nested stack; else its own.
    """

    arn: str
    name: str
    status: str
    root_arn: str

    @property
    def at_rest(self) -> bool:
        """Nothing is going on in it, and nothing is left to go on: what its resources hold is what it will hold.

        A stack that is stuck (`UPDATE_ROLLBACK_FAILED` and its like) is to go back to what it had, some day.
        """
        return self.status.endswith("_COMPLETE")

    @property
    def being_deleted(self) -> bool:
        return self.status == "DELETE_IN_PROGRESS"

    @property
    def rolling_back(self) -> bool:
        """An update of it failed, and its resources are sent back to what they were."""
        return self.status == "UPDATE_ROLLBACK_IN_PROGRESS"

    @property
    def cleaning_up(self) -> bool:
        """The clean-up phase of an update or of its roll-back, where nothing can be refused any more."""
        return self.status in (
            "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
            "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
        )


class Stacks(Protocol):
    """What CloudFormation knows of stacks. Methods raise `StackLookupError`, or a `WaitInterruptedError` of one."""

    def by_arn(self, arn: str) -> StackInfo | None:
        """The stack of that id, asked in its own region; None if it was deleted or never was."""
        ...

    def by_name(self, name: str, region: str) -> StackInfo | None:
        """The stack of that name in a region of the function's own account."""
        ...

    def physical_ids(self, arn: str) -> frozenset[str]:
        """The physical ids of a stack's custom resources that are not deleted (ListStackResources, paged)."""
        ...


class Reinvoke(Protocol):
    """Has another invocation of a function go on with what there is no time for."""

    def __call__(self, function: str, event: Mapping[str, Any], left: StrongRefError, clock: Clock, /) -> None:
        """Have Lambda invoke a function with an event, some time soon.

        Args:
            function: its ARN, with the version or alias that runs now.
            event: what it gets.
            left: why it is to go on, for errors.
            clock: how long to try.

        Raises:
            ReinvokeError: Lambda did not take it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    """What a use case is wired to.

    Attributes:
        stores: the parameter store of a region, for as long as a clock says.
        stacks: what CloudFormation knows.
        patience: with others at work in the same place.
        token: something never said before, to name a fence.
    """

    stores: Callable[[str, Clock], Store]
    stacks: Stacks
    patience: Patience
    token: Callable[[], str]
