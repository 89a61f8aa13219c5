"""The walk through every state that can be reached, or along one random path through what is too large for that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.explorer.moves import Crashes, Moves, pack, unpack
from tests.support.explorer.nodes import BITS, ENDED, MASK
from tests.support.explorer.verdicts import Verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.support.explorer.actors import Actor
    from tests.support.explorer.session import Session
    from tests.support.explorer.world import World


@dataclass
class Report:
    """What an exploration found: how many states, and the first that must not be, as a story.

    Attributes:
        states: how many were looked at.
        lost: how a reference was lost.
        torn: how a value was torn from its record for good.
        leftover: how something was left over forever.
        refused: which actors failed, and with what error.
        succeeded: which actors succeeded.
        wrote: which of the actors that failed, with what error, had written in what trees, if that matters.
    """

    states: int
    lost: list[str] | None = None
    torn: list[str] | None = None
    leftover: list[str] | None = None
    refused: set[str] = field(default_factory=set)
    succeeded: set[str] = field(default_factory=set)
    wrote: dict[str, set[str]] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return self.lost is None and self.torn is None and self.leftover is None


class Explorer:
    """Walks through every order of the actors' calls from one beginning."""

    def __init__(
        self,
        actors: Sequence[Actor],
        world: World,
        drop: Callable[[Session], object],
        crashes: Crashes = Crashes(),  # noqa: B008 (immutable)
        *,
        reduced: bool = True,
    ) -> None:
        """Prepare a walk.

        Args:
            actors: that meet.
            world: as it is at the beginning.
            drop: a fresh exporter that publishes nothing any more.
            crashes: which actors may die.
            reduced: leave out what makes no difference; if not, to compare, leave out nothing.
        """
        self.actors = actors
        self.world = world
        self.moves = Moves(actors, world, crashes, reduced=reduced)
        self.verdicts = Verdicts(actors, self.moves.nodes, world, drop, crashes.most)
        self._reduced = reduced
        self._count = len(actors)
        self._shifts = [(i, BITS * (self._count - 1 - i)) for i in range(self._count)]
        self._whole = BITS * self._count
        self._plain = self._plain_imports(crashes)

    def walk(self, most: int = 60_000_000) -> Report:  # noqa: C901, PLR0912, PLR0915 (one flat loop: it runs 100 million times)
        """Every reachable state, up to the first that must not be, and to a bound that is an error to reach."""
        first = pack(*self.moves.first())
        origin = {first: first}
        todo = [first]
        report = Report(0)
        shifts, whole = self._shifts, self._whole
        deltas: list[dict[int, tuple[tuple[int, ...], bool]]] = [{} for _ in self.actors]
        relies: dict[int, bool] = {}
        stays = [(i, shift) for i, shift in shifts if self.actors[i].stays]
        others_ended = sum(ENDED << shift for i, shift in shifts if i not in self._plain)
        all_ended = sum(ENDED << shift for _, shift in shifts)
        complete: dict[int, bool] = {}
        while todo and report.holds:
            state = todo.pop()
            if state & all_ended == all_ended:
                self._judge_end(report, origin, state)
                continue
            world = state >> whole
            taken: list[tuple[int, ...]] = []
            alone = False
            if state & others_ended == others_ended and self._plain:
                alone = complete.get(world, False)
                if world not in complete:
                    alone = complete[world] = self._all_values_there(world)
            for i, shift in shifts:
                place = state >> shift & MASK
                if place & ENDED:
                    continue
                local = world << BITS | place
                found = deltas[i].get(local)
                if found is None:
                    found = deltas[i][local] = self._steps(i, shift, world, place)
                steps, free = found
                if free or alone:
                    taken = [steps]
                    break
                taken.append(steps)
            moved = False
            for steps in taken:
                for step in steps:
                    moved = True
                    target = state + step
                    if target in origin:
                        continue
                    origin[target] = state
                    todo.append(target)
                    for each, at in stays:
                        seen = (target >> whole) << BITS | target >> at & MASK
                        lost = relies.get(seen)
                        if lost is None:
                            snapshot = self.moves.worlds[target >> whole]
                            lost = relies[seen] = self.verdicts.is_lost(snapshot, each, target >> at & MASK)
                        if lost:
                            report.lost = self._story(origin, target)
            later = self._tick(state)
            if later is not None and later not in origin:
                origin[later] = state
                todo.append(later)
            if not moved and later is None:
                self._judge_end(report, origin, state)
            if len(origin) > most:
                raise AssertionError(f"more than {most} states")
        for node in self.moves.nodes.finished():
            assert node.finished is not None
            ended = f"{node.actor} {node.finished.error}"
            (report.succeeded if node.finished.answer else report.refused).add(ended)
            if node.finished.wrote:
                report.wrote.setdefault(ended, set()).update(node.finished.wrote)
        report.states = len(origin)
        return report

    def wander(self, choose: Callable[[int], int], most: int = 2_000) -> Report:
        """One order of calls, chosen at each step; for what is too large to walk through."""
        state = pack(*self.moves.first())
        origin = {state: state}
        report = Report(0)
        for _ in range(most):
            targets = [target for target, *_ in self._next(state)]
            if not targets:
                self._judge_end(report, origin, state)
                break
            target = targets[choose(len(targets))]
            origin.setdefault(target, state)
            state = target
            world, places = unpack(state, self._count)
            snapshot = self.moves.worlds[world]
            if any(self.verdicts.is_lost(snapshot, i, place) for i, place in enumerate(places)):
                report.lost = self._story(origin, state)
                break
        report.states = len(origin)
        return report

    def _plain_imports(self, crashes: Crashes) -> frozenset[int]:
        """The actors that do nothing but claim, and do not look at each other's claims.

        Once everybody else has ended, and as long as all values exist, nobody changes anything that one of these sees:
        each only reads, and adds or removes a tag of its own. So they may as well run one after the other. (A value
        that does not exist they put back, and there they may meet.)
        """
        if not self._reduced:
            return frozenset()
        stacks = [actor.stack for actor in self.actors]
        return frozenset(
            i
            for i, actor in enumerate(self.actors)
            if actor.stays
            and not actor.begins
            and stacks.count(actor.stack) == 1
            and not (actor.undo and actor.name in crashes.of)
        )

    def _all_values_there(self, world: int) -> bool:
        store = self.moves.worlds[world].store
        return all(slot.parameter for name, slot in store) and any("/exports/" in name for name, _ in store)

    def _steps(self, i: int, shift: int, world: int, place: int) -> tuple[tuple[int, ...], bool]:
        """An actor's moves, as what they add to a state's number."""
        moves = self.moves.of(i, world, place)
        steps = []
        for move in moves:
            step = ((move.world - world) << self._whole) + ((move.node - place) << shift)
            if move.other:  # dormant until now, so its number was 0
                other, node = move.other
                step += node << self._shifts[other][1]
            steps.append(step)
        return tuple(steps), self.moves.free(world, place, moves)

    def _next(self, state: int) -> Iterator[tuple[int, int, str]]:
        """The states that one move leads to, and who did what."""
        world, places = unpack(state, self._count)
        for i, shift in self._shifts:
            moves = self.moves.of(i, world, places[i])
            for move, step in zip(moves, self._steps(i, shift, world, places[i])[0], strict=True):
                yield state + step, i, move.did
        later = self._tick(state)
        if later is not None:
            yield later, -1, ""

    def _tick(self, state: int) -> int | None:
        """The state after a moment in which only time passes; None if that changes nothing."""
        if not self.world.lag:
            return None
        found = self.moves.tick(*unpack(state, self._count))
        return pack(*found) if found else None

    def _judge_end(self, report: Report, origin: Mapping[int, int], state: int) -> None:
        world, places = unpack(state, self._count)
        snapshot = self.moves.worlds[world]
        if self.verdicts.is_torn(snapshot, places):
            report.torn = self._story(origin, state)
        if problem := self.verdicts.leftover(snapshot, places):
            report.leftover = [*self._story(origin, state), problem]

    def _story(self, origin: Mapping[int, int], state: int) -> list[str]:
        """How a state was reached, a line a step."""
        story: list[str] = []
        while origin[state] != state:
            before = origin[state]
            i, did = next((i, did) for target, i, did in self._next(before) if target == state)
            if i < 0:
                story.append("time passes")
                state = before
                continue
            operation = self.moves.nodes[unpack(before, self._count)[1][i]].operation
            call = f" {operation[1]} {operation[2][:200]}" if operation and did == "calls" else ""
            story.append(f"{self.actors[i].name} {did}{call}")
            state = before
        return story[::-1]
