"""One run's stacks and parameters: all names begin with the run's own, so that nothing else is touched."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import count, groupby
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from strongref.aws.clients import Clients
from strongref.errors import StrongRefError
from strongref.protocol.ports import BATCH
from strongref_cli.install.apply import LAGGING_POLLS
from strongref_cli.install.stacks import RegionStacks
from strongref_toolkit.errors import AwsCallError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mypy_boto3_cloudformation.type_defs import StackTypeDef

    from strongref.untyped import Untyped
    from strongref_toolkit.session import ToolSession

T = TypeVar("T")

PREFIX = "strongref-selftest-"
"""What the name of every run begins with; then eight hexadecimal digits."""

RUN = re.compile(rf"{PREFIX}[0-9a-f]{{8}}")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 3.0
"""Seconds between two looks at a stack."""
_GIVE_UP = 1800.0
"""Seconds for one operation of a stack: longer than any that this makes."""
_CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
_BUSY = "_IN_PROGRESS"
_CANCELED = ("Delete canceled", "in use by")
"""In the reason of the event of a deletion that CloudFormation refuses for an export in use."""
_ROUNDS = 5
"""Of looks for what is left: a stack may be listed late, or go only after another one."""
_DELETED_AT_ONCE = 8


class StoppedError(StrongRefError):
    sentence = "The selftest was stopped."


class TooLongError(StrongRefError):
    what: str
    sentence = "{what} took longer than 30 minutes."


class UnexpectedError(StrongRefError):
    seen: str
    sentence = "{seen:1000}"


def ensure(holds: object, otherwise: str) -> None:
    """Raises `UnexpectedError`: it does not hold. `otherwise` says what was seen."""
    if not holds:
        raise UnexpectedError(otherwise)


@dataclass(frozen=True, slots=True)
class Ended:
    """How an operation of a stack ended."""

    status: str  # empty if the stack is gone
    why: str = ""  # CloudFormation's own words, if it failed
    outputs: Mapping[str, str] = field(default_factory=dict)

    def expect(self, status: str, *words: str) -> Ended:
        """Itself, if it ended like this, with these words. Raises `UnexpectedError`: it did not."""
        wanted = f"{status or 'deleted'}{' with ' if words else ''}{' and '.join(map(repr, words))}"
        ensure(self.status == status and all(each in self.why for each in words), f"{self}, not {wanted}")
        return self

    def __str__(self) -> str:
        return f"{self.status or 'deleted'}{': ' if self.why else ''}{self.why}"


@dataclass(frozen=True)
class Lab:
    """One run of the selftest."""

    session: ToolSession
    name: str  # as in `strongref-selftest-0a1b2c3d`
    regions: tuple[str, str]  # the producers' and the consumers'; they may be the same
    account: str  # of the session's caller
    stop: Event = field(default_factory=Event)  # set when everything is to end
    abroad: Lab | None = None  # the same run in another account, where some checks have their consumers
    quick: bool = False  # whether checks are to be short

    def stacks(self, region: str) -> RegionStacks:
        return RegionStacks.of(self.session, region)

    def call(self, service: Callable[[Clients, str], Any], action: str, region: str, **request: Any) -> Untyped:
        """One call of AWS. Raises `AwsCallError`: it failed."""
        stacks = self.stacks(region)
        return stacks.aws.call(stacks.where, action, self.name, service, **request)

    def pages(self, service: Callable[[Clients, str], Any], action: str, region: str, **request: Any) -> Untyped:
        """The pages of a response; otherwise as `call`."""
        stacks = self.stacks(region)
        return stacks.aws.pages(stacks.where, action, self.name, service, **request)

    def refusal(
        self, code: str, service: Callable[[Clients, str], Any], action: str, region: str, **request: Any
    ) -> str:
        """What AWS says, if a call fails with that code; empty if it succeeds. Raises `AwsCallError`: another one."""
        try:
            self.call(service, action, region, **request)
        except AwsCallError as error:
            if error.code != code:
                raise
            return str(error)
        return ""

    def deploy(self, region: str, stack: str, template: Mapping[str, Any], **request: Any) -> Ended:
        """Create or update a stack, and wait for the end. Raises `StrongRefError`: a call failed, or it was stopped."""
        if not stack.startswith(self.name):
            raise ValueError(stack)
        stacks = self.stacks(region)
        before = stacks.stack(stack)
        action = "Update" if before else "Create"
        sections = {name: section for name, section in template.items() if section}  # Some must not be empty.
        body = json.dumps(sections, separators=(",", ":"))
        given = {"StackName": stack, "TemplateBody": body, "Capabilities": _CAPABILITIES, **request}
        given["ClientRequestToken"] = uuid4().hex  # A response that is lost is asked for again.
        arn = self.call(Clients.cloudformation, f"{action}Stack", region, **given)["StackId"]
        return self._ended(stacks, arn, action.upper(), before)

    def delete(self, region: str, stack: str) -> Ended:
        """Delete a stack, and wait for the end, or until CloudFormation refuses. Raises as `deploy`."""
        stacks = self.stacks(region)
        found = stacks.stack(stack)
        if not found:
            return Ended("")
        arn = found["StackId"]
        # CloudFormation deletes no stack in the middle of an update.
        self.wait(lambda: not _is_busy(stacks.stack(arn)), f"What is going on in {stack}")
        if not stacks.stack(arn):
            return Ended("")
        before = {each["EventId"] for each in stacks.events(arn)}
        stacks.delete(arn)

        def ended() -> Ended | None:
            now = stacks.stack(arn)
            if not now:
                return Ended("")
            if _is_busy(now):
                return None
            # Without an event of this deletion, what a late read shows is older.
            new = [each.get("ResourceStatusReason", "") for each in stacks.events(arn) if each["EventId"] not in before]
            status, canceled = now["StackStatus"], [each for each in new if any(text in each for text in _CANCELED)]
            if canceled:
                return Ended(status, canceled[0])
            return Ended(status, stacks.failure(arn, "DELETE")) if new and status == "DELETE_FAILED" else None

        return self.wait(ended, f"The deletion of {stack}")

    def _ended(self, stacks: RegionStacks, arn: str, operation: str, before: StackTypeDef | None) -> Ended:
        polls = count()

        def ended() -> Ended | None:
            stack = stacks.stack(arn)
            # CloudFormation's reads may lag: what they show at first may be older than the operation.
            is_old = not stack or (before and stack.get("LastUpdatedTime") == before.get("LastUpdatedTime"))
            if (is_old and next(polls) < LAGGING_POLLS) or _is_busy(stack):
                return None
            if not stack:
                return Ended("")
            status, outputs = stack["StackStatus"], {x["OutputKey"]: x["OutputValue"] for x in stack.get("Outputs", ())}
            failed = status != f"{operation}_COMPLETE"
            return Ended(status, stacks.failure(arn, operation) if failed else "", outputs)

        return self.wait(ended, f"The {operation.lower()} of {arn.split('/')[1]}")

    def wait(self, look: Callable[[], T | None], what: str) -> T:
        """What a look shows, once it is something. Raises `StoppedError` as `sleep`; `TooLongError`: it never is."""
        pause, until = _FIRST_PAUSE, time.monotonic() + _GIVE_UP
        while not (found := look()):
            if time.monotonic() > until:
                raise TooLongError(what)
            self.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        return found

    def sleep(self, seconds: float) -> None:
        """Raises `StoppedError` as soon as the run is to end."""
        if self.stop.wait(seconds):
            raise StoppedError

    def parameters(self, region: str) -> Iterator[str]:
        """The names of all parameters that have the run's name in theirs."""
        filters = [{"Key": "Name", "Option": "Contains", "Values": [self.name]}]
        for page in self.pages(Clients.ssm, "DescribeParameters", region, ParameterFilters=filters):
            yield from (each["Name"] for each in page["Parameters"] if self.name in each["Name"])

    def clean(self, step: Callable[[str], None]) -> list[str]:
        """Delete every stack and parameter of the run, stopped or not; what is left, with why. Raises as `call`."""
        calm, regions = replace(self, stop=Event()), dict.fromkeys(self.regions)
        before = self.abroad.clean(step) if self.abroad else []
        left: dict[str, str] = {}

        def remove(region: str, stack: str) -> None:
            step(f"deleting {stack}")
            try:
                calm.delete(region, stack).expect("")
            except StrongRefError as error:
                left[f"stack {stack} in {region}"] = str(error)

        for _ in range(_ROUNDS):
            left.clear()
            found = [(at, stack) for at in regions for stack in calm.stacks(at).names() if self.name in stack]
            for _, group in groupby(sorted(found, key=_position), _position):
                with ThreadPoolExecutor(_DELETED_AT_ONCE) as pool:
                    list(pool.map(lambda each: remove(*each), group))
            if not found:
                break
        for region in regions if not left else ():
            while names := list(calm.parameters(region)):
                for at in range(0, len(names), BATCH):
                    calm.call(Clients.ssm, "DeleteParameters", region, Names=names[at : at + BATCH])
                calm.sleep(_LONGEST_PAUSE)  # Some that were written a moment ago may be listed only now.
        return [*before, *(f"{what}: {why}" for what, why in left.items())]

    def runs(self) -> list[str]:
        """The names of all runs that have something in a region. Raises `AwsCallError`: it cannot be listed."""
        every, regions = replace(self, name=PREFIX), dict.fromkeys(self.regions)
        names = (name for at in regions for name in (*self.stacks(at).names(), *every.parameters(at)))
        own = {found[0] for name in names if (found := RUN.search(name))}
        return sorted(own.union(self.abroad.runs() if self.abroad else ()))


def _is_busy(stack: StackTypeDef | None) -> bool:
    return bool(stack and stack["StackStatus"].endswith(_BUSY))


def _position(found: tuple[str, str]) -> int:
    """Consumers go first, then what holds their producers, which go last."""
    _, stack = found
    return 0 if stack.endswith("-web") else 1 if stack.startswith("strongref-hold-") else 2
