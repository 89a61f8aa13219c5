"""Answers the calls of an actor's code from its history, up to the first that has no answer yet."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar
from unittest.mock import patch

from botocore.exceptions import ClientError

from strongref.aws.parameter_store import SsmStore
from strongref.aws.rate_limit import Turn
from strongref.errors import OTHER_ACCOUNT, StackLookupError
from strongref.protocol.claims import ClaimAttempt
from strongref.protocol.exports import Exporter
from strongref.protocol.fences import FENCE_SECONDS
from strongref.protocol.imports import Importer
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports, ResourceInfo
from strongref.protocol.several_producers import SeveralProducers
from strongref.protocol.side_by_side import in_turn
from strongref.protocol.time import CLOCK_SKEW_SECONDS
from strongref_toolkit.clock import AwsClock
from tests.support.abroad import OTHER, THIRD, SessionClients
from tests.support.builders import ACCOUNT
from tests.support.cloudformation.requests import EXPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from strongref.aws.accounts import Accounts
    from strongref.contract.event import Event
    from strongref.contract.response import Response
    from strongref.errors import StrongRefError
    from strongref.protocol.ports import NewStack, StackInfo
    from strongref.protocol.time import Clock
    from tests.support.explorer.world import World

NOW = datetime(2025, 6, 1, tzinfo=UTC)
SLOW = timedelta(seconds=FENCE_SECONDS / 2 + 1)
"""How long a slow actor has taken for what it did."""

_PLENTY = 600.0

Operation = tuple[str, str, str]
"""What an actor does next: its kind (`ssm`, `assume`, `stack`, `status`, `answer`, `pause`, `order`, `tick`), the call,
the request."""

WRITES = ("put_", "delete_", "add_", "remove_")
"""How the calls that change a store begin."""

T = TypeVar("T")


class Suspended(BaseException):
    """The actor's code reached a call that has no recorded answer."""


class _Unlimited:
    """A rate limiter that lets every call through at once: a walk makes millions of them."""

    def take(self, *_: object) -> Turn:
        return Turn(0.0, 0)

    def is_valid(self, *_: object) -> bool:
        return True

    @property
    def in_flight(self) -> Any:
        return self

    def setdefault(self, *_: object) -> Any:
        return self

    def acquire(self) -> bool:
        return True

    def release(self, *, throttled: bool) -> None:
        """Nothing is counted."""


UNLIMITED: Any = _Unlimited()


class Session:
    """An actor's SSM client, its CloudFormation and its clock, in one."""

    turns_round = True  # also calls that are all to one region
    account = ACCOUNT  # whose functions these are

    def __init__(self, name: str, history: Sequence[Any], lag: int = 0, slow_after: int = 0) -> None:
        self.name = name
        self.lag = lag
        self.slow_after = slow_after
        self.history = history
        self.at = 0
        self.pending: tuple[Operation, Callable[[World], Any]] | None = None
        self.waits = 0
        self.memory: Callable[[], Hashable] = lambda: None
        self.remembered: Hashable = None
        self.clock: AwsClock | None = None
        self.trusts_itself = False
        self.wrote: set[str] = set()  # the trees in which it did, without the notes that an account denied it

    def ask(self, operation: Operation, perform: Callable[[World], Any]) -> Any:
        """The recorded answer to a call.

        Raises:
            Suspended: there is none yet.
        """
        if self.pending is not None:
            raise Suspended
        if self.at < len(self.history):
            answer = self.history[self.at]
            self.at += 1
            if isinstance(answer, ClientError):
                raise answer.with_traceback(None)  # It is raised many times, and would keep the frames of all of them.
            return answer
        self.pending = (operation, perform)
        self.remembered = (self.waits, self.memory())
        raise Suspended

    # ports.Clock
    def now(self) -> datetime:
        if self.clock:
            return self.clock.now()
        is_slow = self.slow_after and self.at >= self.slow_after
        return NOW + SLOW if is_slow else NOW

    def earliest(self) -> datetime:
        if self.clock and not self.trusts_itself:
            return self.clock.earliest()
        return self.now() - timedelta(seconds=CLOCK_SKEW_SECONDS)

    def sleep(self, seconds: float) -> None:
        """Ticks, each an operation, if reads lag. A pause in which others are waited for is an operation of its own."""
        for _ in range(ceil(seconds) if self.lag else 0):
            self.ask(("tick", "", ""), lambda _world: None)

    def remaining(self) -> float:
        return _PLENTY

    def before_call(self, action: str) -> None:
        """Nothing to renew."""

    # ports.Stacks
    def by_arn(self, arn: str) -> StackInfo | None:
        if (account := arn.split(":")[4]) != self.account:  # Its stacks cannot be asked about.
            raise StackLookupError(arn, account, OTHER_ACCOUNT)
        return self.ask(("stack", "by_arn", arn), lambda world: world.by_arn(arn))  # type: ignore[no-any-return]

    def by_name(self, name: str, region: str) -> StackInfo | None:
        return self.ask(("stack", "by_name", name), lambda world: world.by_name(name, region))  # type: ignore[no-any-return]

    def physical_ids(self, arn: str) -> frozenset[str]:
        return self.ask(("stack", "physical_ids", arn), lambda world: world.physical_ids(arn))  # type: ignore[no-any-return]

    def importing_stacks(self, export: str, region: str) -> frozenset[str]:
        return self.ask(("imports", "", export), lambda world: world.importing_stacks(export, region))  # type: ignore[no-any-return]

    def create_stack(self, stack: NewStack) -> str:
        return self.ask(("hold", "create", stack.name), lambda world: world.create_stack(stack))  # type: ignore[no-any-return]

    def update_stack(self, stack: NewStack) -> None:
        self.ask(("hold", "update", stack.name), lambda world: world.update_stack(stack))

    def delete_stack(self, stack: str, region: str) -> None:
        self.ask(("hold", "delete", stack), lambda world: world.delete_stack(stack, region))

    def failure(self, arn: str) -> str:
        return self.ask(("hold", "failure", arn), lambda world: world.failure(arn))  # type: ignore[no-any-return]

    def resource(self, _arn: str, _logical_id: str) -> ResourceInfo:
        """It is in progress. No actor's made-up ID is of a resource that goes on under its own."""
        return ResourceInfo(EXPORT, "UPDATE_IN_PROGRESS")

    # what the use cases are wired to
    def stores(self, region: str, clock: Clock) -> SsmStore:
        return SsmStore(
            self.client(region), region, UNLIMITED, clock, jitter=lambda: 0.0, side_by_side=self.side_by_side
        )

    def client(self, _region: str, account: str = "") -> Any:
        """All its calls are to one region: that of its own account, or with the role of another one."""
        return _Client(self, account)

    def side_by_side(self, queues: Sequence[Sequence[Callable[[], T]]]) -> list[list[T]]:
        """Calls that do not depend on each other, in both orders; after a failure, others may be in flight or not."""
        calls = [(at, queue, call) for queue, each in enumerate(queues) for at, call in enumerate(each)]
        if len(queues) == 1 and not self.turns_round:
            return in_turn(queues)
        if len(calls) > 1 and self.ask(("order", "turned round", ""), lambda _world: False):
            calls.reverse()
        results: list[dict[int, T]] = [{} for _ in queues]
        failures: dict[tuple[int, int], Exception] = {}
        for at, queue, call in calls:
            if failures and not self.ask(("order", "in flight", ""), lambda _world: False):
                break
            try:
                results[queue][at] = call()
            except Exception as error:  # noqa: BLE001 (raised below)
                failures[at, queue] = error
        if failures:
            raise failures[min(failures)]
        return [[found[at] for at in range(len(queue))] for found, queue in zip(results, queues, strict=True)]

    def token(self) -> str:
        return self.name

    def ports(self) -> Ports:
        ports = Ports(self.stores, self, _Pausing(self), self.token, ReadLag(self.lag))  # type: ignore[arg-type]
        return replace(ports, abroad=self.abroad(OTHER, THIRD).store)

    def abroad(self, *listed: str) -> Accounts:
        """The stores of other accounts, whose roles it assumes."""

        def assume(account: str) -> None:
            self.ask(("assume", "assume_role", account), lambda world: world.let_in(account))

        clients = SessionClients(assume, lambda account, region: self.client(region, account))
        return clients.accounts(listed, UNLIMITED, self.side_by_side)


@dataclass(frozen=True)
class _Pausing:
    """Patience that ends when the explorer chooses."""

    session: Session
    is_over: bool = False

    def begin(self, _clock: Clock, *, endless: bool = False) -> _Pausing:  # noqa: ARG002
        self.session.waits += 1
        return self

    def pause(self, _before: Callable[[float], None] | None = None) -> bool:
        return bool(self.session.ask(("pause", "", ""), lambda _world: None))

    def over(self, why: StrongRefError) -> StrongRefError:
        return why


class _Client:
    """An SSM client whose calls are the session's."""

    def __init__(self, session: Session, account: str) -> None:
        self._session = session
        self._away = account
        self._at = account or session.account

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            request = {key: _located(each, self._at) for key, each in request.items()}
            session, operation = self._session, ("ssm", method, repr(request))

            def perform(world: World) -> Any:
                if self._away:
                    world.let_in(self._away)
                return getattr(world.ssm, method)(**request)

            answer = session.ask(operation, perform)
            if method.startswith(WRITES):
                session.wrote |= _trees(request)
            if session.clock and not session.trusts_itself:
                session.clock.correct(NOW.timestamp(), 0.0)
            return _seen(answer, self._at)

        return call


_MOVED = {THIRD: ("/web/", f"/web-{THIRD}/"), OTHER: ("/strongref/index", f"/strongref/index-{OTHER}")}
"""Where one store has the parameters of several accounts: how the names of some differ from those of the others.

Imports are in the second account, or in the producer's own; what they read is called what it is.
"""


def _located(given: Any, account: str) -> Any:
    """A name, or names, as they are in the one store."""
    if account not in _MOVED:
        return given
    if isinstance(given, list):
        return [_located(each, account) for each in given]
    return given.replace(*_MOVED[account]) if isinstance(given, str) and given.startswith("/strongref/") else given


def _seen(answer: Any, account: str) -> Any:
    """An answer, with the names that its reader knows."""
    if account not in _MOVED or "Parameters" not in answer:
        return answer
    back = _MOVED[account][::-1]
    return {**answer, "Parameters": [{**each, "Name": each["Name"].replace(*back)} for each in answer["Parameters"]]}


def _trees(request: Mapping[str, Any]) -> set[str]:
    """The trees that a call writes in, as in `exports`; none for a note that an account denied something."""
    names = request.get("Names") or [request.get("Name") or request["ResourceId"]]
    return {name.split("/")[2] for name in names if not name.endswith("/denied")}


def laptop(off: float) -> AwsClock:
    """The clock of a machine, which is ahead by so many seconds until answers correct it."""
    return AwsClock(_PLENTY, wall=lambda: NOW.timestamp() + off, steady=lambda: 0.0)


def exporter(session: Session, event: Event) -> Response:
    """The real exporter, over a session."""
    return Exporter(session.ports()).handle(event, session)


def importer(session: Session, event: Event) -> Response:
    """The real importer, over a session."""
    made: Any = ClaimAttempt.__init__
    made_several: Any = SeveralProducers.__init__
    within: Any = SeveralProducers._in
    over: Any = SeveralProducers._again

    # Its private fields are what it finds out, and does not forget in a pause.
    def private(each: Any) -> tuple[Hashable, ...]:
        names = [field.name for field in fields(each) if field.name.startswith("_")] if each else []
        return tuple(getattr(each, name) for name in names)

    def remember(claiming: ClaimAttempt, *args: Any, **more: Any) -> None:
        made(claiming, *args, **more)
        if not several:
            session.memory = lambda: (private(claiming), private(claiming.holds))

    several: list[SeveralProducers] = []
    found: dict[str, Any] = {}  # what it goes on with when it has claimed in one of its scopes

    def remember_several(claiming: SeveralProducers, *args: Any) -> None:
        made_several(claiming, *args)
        several.append(claiming)
        session.memory = lambda: _remembered(claiming, found, private)

    def remember_in(claiming: SeveralProducers, scope: object, names: object, *values: Any) -> ClaimAttempt:
        found["values"], found["claimed"] = values
        found["again"] = False
        session.waits = 0  # Each try has its own.
        return within(claiming, scope, names, *values)  # type: ignore[no-any-return]

    def remember_again(claiming: SeveralProducers, *args: Any) -> bool:
        found["again"] = True  # It is this that waits, and no attempt in one of its scopes.
        return over(claiming, *args)  # type: ignore[no-any-return]

    with (
        patch.object(ClaimAttempt, "__init__", remember),
        patch.object(SeveralProducers, "__init__", remember_several),
        patch.object(SeveralProducers, "_in", remember_in),
        patch.object(SeveralProducers, "_again", remember_again),
    ):
        return Importer(session.ports()).handle(event, session)


def _remembered(
    claiming: SeveralProducers, found: Mapping[str, Any], private: Callable[[Any], tuple[Hashable, ...]]
) -> Hashable:
    """What an Import without `From` does not forget in a pause, its own or that of an attempt in one of its scopes."""
    claimed = found.get("again"), any(each.claims for each in claiming._former)
    texts = [sorted((key, value.text) for key, value in found.get(name, {}).items()) for name in ("values", "claimed")]
    attempts = [(each.scope, sorted(each.names or ()), each.claims, private(each)) for each in claiming._attempts]
    keepers = {region: (each.began, private(each)) for region, each in claiming._keepers.items()}
    rest = (claiming._unneeded, claiming._claimed, claiming._claims_count, claiming._has_settled, claiming.others)
    return repr((claimed, texts, attempts, keepers, rest))
