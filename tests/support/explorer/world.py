"""What the actors share: the store, CloudFormation's stacks, and the answers that it took."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from strongref.contract.record import Record
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloudformation.stacks import DELETED, FakeStack, FakeStacks
from tests.support.explorer.actors import TRUST
from tests.support.explorer.lagging import NOTHING, LaggingSsm, Past
from tests.support.explorer.session import NOW, Session
from tests.support.fake_ssm import Slot, error
from tests.support.invariants import EXPORTS, FENCES, records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from strongref.contract.event import Event
    from strongref.contract.names import ExportScope
    from strongref.protocol.ports import NewStack
    from tests.support import fake_ssm
    from tests.support.explorer.actors import Actor
    from tests.support.fake_ssm import FakeParameter
    from tests.support.invariants import Name

REGION = "us-east-1"
_SHORT = timedelta(seconds=30)


class TakenAnswer(NamedTuple):
    """An answer that CloudFormation took: the first to a request."""

    stack: str
    request: str
    actor: str
    physical_id: str
    """Empty: FAILED."""


class Held(NamedTuple):
    """What CloudFormation's exports and imports say about a stack."""

    arn: str
    exports: frozenset[str]
    imports: frozenset[str]
    outputs: frozenset[tuple[str, str]]
    tags: frozenset[tuple[str, str]]


class WorldState(NamedTuple):
    """The world at one moment.

    Attributes:
        store: the parameters.
        stacks: the status of every stack that exists, by ARN.
        answers: those that CloudFormation took, to requests that more than one actor may answer.
        deaths: how many actors may still die.
        past: what reads may still return, although it was superseded.
        expiring: the fences of actors that died, by how their names end, and in how many ticks they expire.
        held: the stacks that have exports or imports of CloudFormation's, or an output: what each says.
        imported: what lists of imports may still show: a stack, whether it was in them, and how many ticks ago.
        handed_over: the names of the actors that have.
        locked: the names of the parameters whose key cannot be used.
        revoked: the other accounts that let nobody in anymore.
        rivals: the stacks that claimed last while several producers published a value of that name, with the name.
    """

    store: fake_ssm.Snapshot
    stacks: frozenset[tuple[str, str]]
    answers: frozenset[TakenAnswer]
    deaths: int
    handed_over: frozenset[str]
    past: Past = frozenset()
    expiring: frozenset[tuple[str, int]] = frozenset()
    held: frozenset[Held] = frozenset()
    imported: frozenset[tuple[str, bool, int]] = frozenset()
    locked: frozenset[str] = frozenset()
    revoked: frozenset[str] = frozenset()
    rivals: frozenset[tuple[str, str]] = frozenset()

    def exports(self, arn: str) -> frozenset[str]:
        """The CloudFormation exports of a stack."""
        return next((each.exports for each in self.held if each.arn == arn), frozenset())


LOCKED = "InvalidKeyId"
"""What a read of a secure parameter answers whose key cannot be used."""


class World(FakeStacks):
    """The store and the stacks, as the calls of one actor after the other change them."""

    def __init__(self, actors: Sequence[Actor], others: Mapping[str, str] | None = None, *, lag: int = 0) -> None:
        """Make an empty one, whose reads lag by up to `lag` ticks."""
        super().__init__()
        self.lag = lag
        self.ssm = LaggingSsm(REGION, ACCOUNT, lag)
        self.expiring: frozenset[tuple[str, int]] = frozenset()
        self.imported: frozenset[tuple[str, bool, int]] = frozenset()
        self._importing: frozenset[str] = frozenset()  # the stacks that import something, before the current call
        self.set_statuses({actor.stack: actor.status for actor in actors if actor.status} | dict(others or {}))
        self.answers: frozenset[TakenAnswer] = frozenset()
        self.deaths = 0
        self.handed_over: frozenset[str] = frozenset()
        self.revoked: frozenset[str] = frozenset()
        self.revocable = any(actor.name == TRUST for actor in actors)
        self.rivals: frozenset[tuple[str, str]] = frozenset()
        self.scopes: Sequence[ExportScope] = (SCOPE,)  # where imports may find what they import

    def let_in(self, account: str) -> None:
        """Let a session of this account's role do something, or let somebody assume that; raises `ClientError`."""
        if account in self.revoked:
            raise error("AccessDeniedException", "no", "any")

    def revoke(self, accounts: frozenset[str]) -> None:
        """From now on these accounts let nobody in, and no others."""
        self.revoked = accounts

    def set_statuses(self, statuses: Mapping[str, str]) -> None:
        """From now on these stacks exist, and no others."""
        self.stacks = {arn: FakeStack(arn, status) for arn, status in statuses.items()}

    def set_status(self, arn: str, status: str) -> None:
        """A stack enters another phase."""
        self.stacks[arn] = replace(self.stacks[arn], status=status)

    def new_stack(self, name: str, region: str, root: str = "") -> FakeStack:
        """A hold stack, whose ARN follows from its name: equal states are one."""
        arn = f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{name}/33333333-0000-0000-0000-000000000000"
        self.stacks[arn] = FakeStack(arn, "CREATE_IN_PROGRESS", root)
        return self.stacks[arn]

    def create_stack(self, stack: NewStack) -> str:
        arn = super().create_stack(stack)
        if arn and self.stacks[arn].status == DELETED:
            del self.stacks[arn]
        return arn

    def delete_stack(self, stack: str, region: str) -> None:
        found = self.existing(stack) or self.find(stack, region)
        if found:
            del self.stacks[found.arn]

    def failure(self, _arn: str) -> str:
        return ""

    def withdraw(self, arn: str, status: str, *, at_once: bool) -> bool:
        """The stack removes its CloudFormation exports and enters this phase, unless another stack imports one.

        Args:
            arn: of the stack.
            status: of the phase.
            at_once: if not, the exports can still be imported in that phase. Nobody says what AWS does.
        """
        leaving = self.stacks[arn]
        if any(self.importers(export, leaving.region) for export in leaving.exports):
            return False
        self.stacks[arn] = replace(leaving, status=status, exports=frozenset() if at_once else leaving.exports)
        return True

    def lists_of_imports(self, now: frozenset[str]) -> Iterator[frozenset[str]]:
        """Every answer that a list of imports may get, which is this one if it does not lag."""
        names = sorted({name for name, _, _ in self.imported})
        were = [{name in now, *(was for each, was, _ in self.imported if each == name)} for name in names]
        for chosen in product(*were):
            yield now.difference(names) | {name for name, listed in zip(names, chosen, strict=True) if listed}

    def physical_ids(self, arn: str) -> frozenset[str]:
        """From the answers taken. IDs that only one actor can answer with are left out: its own code never asks."""
        return frozenset(answer.physical_id for answer in self.answers if answer.stack == arn and answer.physical_id)

    def take(self, actor: Actor, event: Event, physical_id: str) -> None:
        """An actor answers an event. The first answer counts, unless its actor has handed over."""
        answered = {(answer.stack, answer.request) for answer in self.answers}
        if actor.name not in self.handed_over and (event.stack, event.request_id) not in answered:
            self.answers |= {TakenAnswer(event.stack, event.request_id, actor.name, physical_id)}

    def snapshot(self) -> WorldState:
        """The state; without the versions and dates of fences and records, which no code reads."""
        slots = self.ssm._slots
        for name in [name for name in slots if not name.startswith(EXPORTS)]:
            parameter = slots[name].parameter
            if parameter is None:
                del slots[name]
            else:
                slots[name] = Slot(1, parameter._replace(version=1, modified=NOW))
        self.ssm._frozen = None
        self.ssm.normalize(lambda name: not name.startswith(EXPORTS), _unversioned)
        statuses = frozenset((arn, stack.status) for arn, stack in self.stacks.items())
        shared = (self.answers, self.deaths, self.handed_over)
        held = frozenset(
            Held(arn, stack.exports, stack.imports, *(frozenset(each.items()) for each in (stack.outputs, stack.tags)))
            for arn, stack in self.stacks.items()
            if stack.exports or stack.imports or stack.outputs
        )
        if self.lag:
            changed = self._importing ^ self._all_importing()
            self.imported |= {(name, name in self._importing, 0) for name in changed}
        locked = frozenset(self.ssm.locked)
        if len(self.scopes) > 1:
            still = frozenset(ambiguous(self.parameters()))
            self.rivals = frozenset(each for each in self.rivals if each[1] in still)
        return WorldState(
            self.ssm.snapshot(),
            statuses,
            *shared,
            self.ssm.past,
            self.expiring,
            held,
            self.imported,
            locked,
            self.revoked,
            self.rivals,
        )

    def _all_importing(self) -> frozenset[str]:
        return frozenset(stack.name for stack in self.stacks.values() if stack.imports)

    def restore(self, state: WorldState) -> None:
        self.ssm.restore(state.store)
        self.set_statuses(dict(state.stacks))
        for arn, exports, imports, outputs, tags in state.held:
            stack = self.stacks[arn]
            stack.exports, stack.imports, stack.outputs, stack.tags = exports, imports, dict(outputs), dict(tags)
        self.imported, self._importing = state.imported, self._all_importing()
        self.answers = state.answers
        self.deaths = state.deaths
        self.handed_over = state.handed_over
        self.ssm.past = state.past
        self.ssm.locked = dict.fromkeys(state.locked, LOCKED)
        self.revoked = state.revoked
        self.rivals = state.rivals
        self.expiring = state.expiring

    def claims(self, stack: str) -> None:
        """A stack has just claimed something. What reads may not show yet, it need not know."""
        if len(self.scopes) > 1:
            there = {name: found for name, found in self.parameters().items() if name[1] not in dict(self.ssm.past)}
            others = {each for each in self.rivals if each[0] != stack}
            self.rivals = frozenset(others | {(stack, name) for name in ambiguous(there)})

    def parameters(self) -> dict[Name, FakeParameter]:
        """Everything that is stored."""
        return {(REGION, name): found for name, found in self.ssm.parameters().items()}

    def tick(self) -> None:
        """Time passes."""
        self.ssm.tick()
        self.imported = frozenset((name, was, age + 1) for name, was, age in self.imported if age < self.lag)
        for name, ticks in self.expiring:
            if ticks == 1:
                self._expire_fences(name)
        self.expiring = frozenset((name, ticks - 1) for name, ticks in self.expiring if ticks > 1)

    def bury(self, token: str) -> None:
        """The fences of an actor that died expire, later than a lag after its last write."""
        if not self.lag:
            self._expire_fences(token)
        elif any(name.startswith(FENCES) and name.endswith(f".{token}") for name in self.ssm.parameters()):
            self.expiring |= {(token, self.lag + 1)}

    def let_short_fences_expire(self) -> None:
        """A fence that is to expire soon does so later than a lag after it was put up."""
        for name, found in self.ssm.parameters().items() if self.lag else ():
            if name.startswith(FENCES) and datetime.fromisoformat(json.loads(found.text)["until"]) < NOW + _SHORT:
                token = name.rpartition(".")[2]
                if token not in dict(self.expiring):
                    self.expiring |= {(token, self.lag + 1)}

    def settle(self) -> None:
        """Let so much time pass that reads show everything, fences of dead actors have expired, and all is back.

        That are keys and the trust of other accounts. Where an account denied an exporter to delete its fence, that has
        expired, too.
        """
        self.ssm.locked.clear()
        self.revoked = frozenset()
        if self.revocable:
            self._expire_fences("")
        for name, _ in self.expiring:
            self._expire_fences(name)
        self.expiring, self.ssm.past = frozenset(), frozenset()

    def _expire_fences(self, token: str) -> None:
        for name, slot in list(self.ssm._slots.items()):
            if name.startswith(FENCES) and name.endswith(f".{token}" if token else "") and slot.parameter:
                self.ssm._delete(name)


def ambiguous(there: Mapping[Name, FakeParameter]) -> Iterator[str]:
    """The names that several producers publish."""
    recorded = [[each for each in found.values() if isinstance(each, Record)] for found in records(there).values()]
    published = Counter(key for found in recorded for key in {key for record in found for key in record.values})
    return (key for key, producers in published.items() if producers > 1)


def _unversioned(slot: Slot) -> Slot:
    return Slot(1, slot.parameter._replace(version=1, modified=NOW)) if slot.parameter else NOTHING


class DirectSession(Session):
    """A session whose calls are carried out at once, for what is not interleaved with anything."""

    def __init__(self, world: World, name: str = "direct") -> None:
        super().__init__(name, ())
        self.world = world

    def ask(self, operation: object, perform: Callable[[World], Any]) -> Any:
        del operation
        return perform(self.world)
