"""Who takes part in an exploration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strongref.contract.event import Event
    from strongref.contract.response import Response
    from tests.support.explorer.session import Session


TRUST = "trust"
"""The name of an actor that takes back another account's trust, and gives it again."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How an actor ended an event: `answer`, or `error` if it was refused, and the trees in which it wrote."""

    answer: Response | None
    error: str = ""
    wrote: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Actor:
    """One that handles events, one after the other while they succeed.

    Attributes:
        name: in reports, and of its fences.
        stack: the ARN of its stack.
        handle: the real code, given a session that answers its calls.
        events: CloudFormation's.
        status: its stack's, as CloudFormation shows it; empty: the stack does not exist, or no longer.
        begins: its stack's status from its beginning on.
        stays: it relies on what its last event answered.
        fences: it is an exporter, or a cleanup: its stack outlives it.
        hands_over_to: the name of the actor that goes on with its event, from any call on. This one makes its
            remaining calls anyway, or stops, but its answer does not count.
        slow_after: after so many operations, more than half of its fences' time is over, so that it renews them; 0: it
            is fast.
        undo: what CloudFormation sends if it dies and its stack is rolled back.
        off: it is a laptop, whose clock is ahead by so many seconds; it corrects it by each answer.
        trusts_itself: it does not correct it.
    """

    name: str
    stack: str
    handle: Callable[[Session, Event], Response]
    events: Sequence[Event]
    status: str = "CREATE_IN_PROGRESS"
    begins: str = ""
    stays: bool = False
    fences: bool = False
    hands_over_to: str = ""
    slow_after: int = 0
    undo: Event | None = None
    off: float = 0.0
    trusts_itself: bool = False

    def event(self, number: int) -> Event:
        """One of its events; the one after the last is what undoes them."""
        if number < len(self.events):
            return self.events[number]
        assert self.undo is not None
        return self.undo
