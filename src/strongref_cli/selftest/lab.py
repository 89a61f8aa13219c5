"""One run's stacks and parameters: all names begin with the run's own, so that nothing else is touched."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from strongref.aws.clients import Clients
from strongref.errors import StrongRefError
from strongref.protocol.ports import BATCH
from strongref_cli.install.apply import LAGGING_POLLS
from strongref_cli.install.stacks import RegionStacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mypy_boto3_cloudformation.type_defs import StackTypeDef

    from strongref.untyped import Untyped
    from strongref_toolkit.session import ToolSession

T = TypeVar("T")

PREFIX = "strongref-selftest-"
"""What the name of every run begins with; then eight hexadecimal digits."""

_RUN = re.compile(rf"{PREFIX}[0-9a-f]{{8}}")
is_run = _RUN.fullmatch

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 3.0
"""Seconds between two looks at a stack."""
_GIVE_UP = 1800.0
"""Seconds for one operation of a stack: longer than any that this makes."""
_CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
_BUSY = "_IN_PROGRESS"
_CANCELED = "Delete canceled"
"""In the reason of the event of a deletion that CloudFormation refuses for an export in use."""
_ROUNDS = 5
"""Of looks for what is left, since a stack can go only after those that import from it."""


class StoppedError(StrongRefError):
    sentence = "The selftest was stopped."


class TooLongError(StrongRefError):
    what: str
    sentence = "{what} took longer than 30 minutes."


class UnexpectedError(StrongRefError):
    seen: str
    sentence = "{seen:1000}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How an operation of a stack ended.

    Attributes:
        status: of the stack; empty if it is gone.
        why: CloudFormation's own words, if it failed.
        outputs: of the stack.
    """

    status: str
    why: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)

    def expect(self, status: str, *words: str) -> Ended:
        """Itself, if it ended like this, with these words. Raises `UnexpectedError`: it did not."""
        if self.status != status or not all(each in self.why for each in words):
            wanted = f"{status or 'deleted'}{' with ' if words else ''}{' and '.join(map(repr, words))}"
            raise UnexpectedError(f"{self}, not {wanted}")
        return self

    def __str__(self) -> str:
        return f"{self.status or 'deleted'}{': ' if self.why else ''}{self.why}"


@dataclass(frozen=True)
class Lab:
    """One run of the selftest.

    Attributes:
        name: of the run, as in `strongref-selftest-0a1b2c3d`.
        regions: the producers' and the consumers'; they may be the same.
        account: of the session's caller.
        stop: set when everything is to end.
        abroad: the same run in another account, where some checks have their consumers.
    """

    session: ToolSession
    name: str
    regions: tuple[str, str]
    account: str
    stop: Event = field(default_factory=Event)
    abroad: Lab | None = None

    def named(self, name: str) -> Lab:
        """Another run, in the same places."""
        return replace(self, name=name, abroad=self.abroad and replace(self.abroad, name=name))

    def stacks(self, region: str) -> RegionStacks:
        return RegionStacks.of(self.session, region)

    def call(self, service: Callable[[Clients, str], Any], action: str, region: str, **request: Any) -> Untyped:
        """One call of AWS. Raises `AwsCallError`: it failed."""
        aws = self.session.aws(region, shows_texts=True)
        return aws.call(aws.where(region, None), action, self.name, service, **request)

    def deploy(self, region: str, stack: str, template: Mapping[str, Any], **request: Any) -> Ended:
        """Create or update a stack, and wait for the end. Raises `StrongRefError`: a call failed, or it was stopped."""
        if not stack.startswith(self.name):
            raise ValueError(stack)
        stacks = self.stacks(region)
        before = stacks.stack(stack)
        action = "Update" if before else "Create"
        body = json.dumps(template, separators=(",", ":"))
        given = {"StackName": stack, "TemplateBody": body, "Capabilities": _CAPABILITIES, **request}
        arn = self.call(Clients.cloudformation, f"{action}Stack", region, **given)["StackId"]
        return self._ended(stacks, arn, action.upper(), before)

    def delete(self, region: str, stack: str) -> Ended:
        """Delete a stack, and wait for the end, or until CloudFormation refuses. Raises as `deploy`."""
        stacks = self.stacks(region)
        found = stacks.stack(stack)
        if not found:
            return Ended("")
        self.wait(lambda: self._at_rest(stacks, found["StackId"]), f"What is going on in {stack}")
        before = {each["EventId"] for each in stacks.events(found["StackId"])}
        stacks.delete(found["StackId"])

        def refused() -> str:
            new = (each for each in stacks.events(found["StackId"]) if each["EventId"] not in before)
            reasons = (each.get("ResourceStatusReason", "") for each in new)
            return next((each for each in reasons if _CANCELED in each), "")

        def ended() -> Ended | None:
            now = stacks.stack(found["StackId"])
            status = now["StackStatus"] if now else ""
            if now and not status.endswith(_BUSY) and (why := refused()):
                return Ended(status, why)
            if status not in ("", "DELETE_FAILED"):
                return None
            return Ended(status, stacks.failure(found["StackId"], "DELETE") if status else "")

        return self.wait(ended, f"The deletion of {stack}")

    @staticmethod
    def _at_rest(stacks: RegionStacks, arn: str) -> bool | None:
        """None while an operation is going on: CloudFormation deletes no stack in the middle of an update."""
        stack = stacks.stack(arn)
        return None if stack and stack["StackStatus"].endswith(_BUSY) else True

    def _ended(self, stacks: RegionStacks, arn: str, operation: str, before: StackTypeDef | None) -> Ended:
        polls = count()

        def ended() -> Ended | None:
            stack = stacks.stack(arn)
            # CloudFormation's reads may lag: what they show at first may be older than the operation.
            is_old = not stack or (before and stack.get("LastUpdatedTime") == before.get("LastUpdatedTime"))
            if is_old and next(polls) < LAGGING_POLLS:
                return None
            if not stack:
                return Ended("")
            if stack["StackStatus"].endswith(_BUSY):
                return None
            status, outputs = stack["StackStatus"], {x["OutputKey"]: x["OutputValue"] for x in stack.get("Outputs", ())}
            failed = status != f"{operation}_COMPLETE"
            return Ended(status, stacks.failure(arn, operation) if failed else "", outputs)

        return self.wait(ended, f"The {operation.lower()} of {arn.split('/')[1]}")

    def wait(self, look: Callable[[], T | None], what: str) -> T:
        """What a look shows as soon as it shows something.

        Raises:
            StoppedError: the run is to end.
            TooLongError: it never did.
        """
        pause, until = _FIRST_PAUSE, time.monotonic() + _GIVE_UP
        while (found := look()) is None:
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
        aws = self.session.aws(region)
        pages = aws.pages(
            aws.where(region, None), "DescribeParameters", self.name, Clients.ssm, ParameterFilters=filters
        )
        yield from (each["Name"] for page in pages for each in page["Parameters"] if self.name in each["Name"])

    def clean(self, step: Callable[[str], None]) -> list[str]:
        """Delete every stack and parameter of the run, stopped or not; what is left, with why."""
        calm = replace(self, stop=Event())
        before = self.abroad.clean(step) if self.abroad else []
        left: dict[str, str] = {}
        for _ in range(_ROUNDS):
            left = {}
            for region in dict.fromkeys(reversed(self.regions)):  # consumers first
                for stack in sorted(calm.stacks(region).names()):
                    if self.name in stack:
                        step(f"deleting {stack}")
                        ended = calm.delete(region, stack)
                        if ended.status:
                            left[f"stack {stack} in {region}"] = str(ended)
            if not left:
                break
        for region in dict.fromkeys(self.regions):
            names = list(calm.parameters(region)) if not left else []
            for at in range(0, len(names), BATCH):
                calm.call(Clients.ssm, "DeleteParameters", region, Names=names[at : at + BATCH])
        return [*before, *(f"{what}: {why}" for what, why in left.items())]


def runs(session: ToolSession, regions: tuple[str, ...]) -> list[str]:
    """The names of all runs that have a stack in one of the regions. Raises `AwsCallError`: they cannot be listed."""
    names = (name for region in regions for name in RegionStacks.of(session, region).names())
    return sorted({found[0] for name in names if (found := _RUN.search(name))})
