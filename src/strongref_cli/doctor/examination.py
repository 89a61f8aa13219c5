"""Examines regions, and repairs them: the janitor of each region at work, or only looking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, get_ident
from typing import TYPE_CHECKING

from strongref.contract.fence import Fence
from strongref.contract.names import SHARED, ExportScope
from strongref.contract.releases import RELEASES, Release
from strongref.errors import StrongRefError
from strongref.memo import Memo
from strongref.protocol.findings import FindingType
from strongref.protocol.janitor import Janitor
from strongref.protocol.published import RecordedExports
from strongref.protocol.time import Clock, OnClock
from strongref.refusals import HoldMissingError
from strongref.text import some
from strongref_cli.doctor.abroad import exported_abroad
from strongref_cli.doctor.diagnosis import (
    DoctorFinding,
    Problem,
    RegionFailure,
    Severity,
    fences,
    in_progress,
    near_limits,
    outdated,
    problem_of,
    released,
    unprotected,
    with_failures,
    without_functions,
)
from strongref_cli.doctor.republishing import importers
from strongref_toolkit.threads import in_threads

if TYPE_CHECKING:
    from strongref.protocol.ports import Ports
    from strongref_cli.overview.exports import StoredRegion
    from strongref_cli.overview.graph import Participant, Unread
    from strongref_cli.overview.reading import OverviewReader

EXPORTS, FENCES = "/strongref/exports/", "/strongref/fences/"


@dataclass(slots=True)
class InterruptibleClock(OnClock):
    """`time.Clock` of threads that can be interrupted, as Ctrl-C interrupts the main thread: once in each.

    What they then do to take their fences away is not interrupted.
    """

    _interrupted: Event = field(default_factory=Event)
    _threads: set[int] = field(default_factory=set)  # those that have been interrupted

    def interrupt(self) -> None:
        self._interrupted.set()

    def sleep(self, seconds: float) -> None:
        if get_ident() in self._threads:
            self.clock.sleep(seconds)
        else:
            self._interrupted.wait(seconds)
            self._check()

    def before_call(self, action: str) -> None:
        self._check()
        self.clock.before_call(action)

    def _check(self) -> None:
        if self._interrupted.is_set() and get_ident() not in self._threads:
            self._threads.add(get_ident())
            raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class Diagnosis:
    regions: tuple[str, ...]  # those that were read
    problems: tuple[Problem, ...]  # sorted
    unread: tuple[Unread, ...]  # those that could not be read


@dataclass(slots=True)
class _Found:
    """What the janitor of a region has found, and could not do."""

    problems: list[Problem] = field(default_factory=list)
    failures: list[RegionFailure] = field(default_factory=list)
    values: int = 0  # that were examined


@dataclass(frozen=True, slots=True)
class Examination:
    """Examines the regions of one account. Tags are read exactly: one call for each value."""

    ports: Ports
    clock: Clock
    account: str
    reader: OverviewReader
    progress: Callable[[str], None]

    def examine(self, regions: Sequence[str]) -> Diagnosis:
        """Everything that is wrong in these regions; nothing is written; errors as for `OverviewReader.everywhere`."""
        done = self.reader.everywhere(regions, self._examined)
        read = {each.region: each for each in self.reader.regions(done)}
        values = self.reader.values(list(read.values()))
        janitors = [found for region, found in done.items() if region in read]
        problems = [problem for found in janitors for problem in found.problems]
        by_hand = {each.parameter for each in problems if each.kind is FindingType.CHANGED_BY_HAND}
        problems += [each for each in outdated(values) if each.parameter not in by_hand]
        problems += unprotected(values)
        problems = self._with_importers(problems)
        for each in read.values():
            problems += self._stored(each)
        changing = {(each.region, each.subject) for each in problems if each.parameter.startswith(FENCES)}
        # A fence says more than that something is in progress.
        problems = [
            each
            for each in problems
            if each.kind is not DoctorFinding.IN_PROGRESS
            or each.parameter.startswith(FENCES)
            or (each.region, each.subject) not in changing
        ]
        unread = {each.region for each in self.reader.unread}
        failures = [failure for found in janitors for failure in found.failures if failure.called_in not in unread]
        explained, order = dict.fromkeys(with_failures(problems, failures)), list(Severity)
        found = sorted(explained, key=lambda each: (order.index(each.severity), each.region, each.kind, each.subject))
        return Diagnosis(tuple(read), tuple(found), self.reader.unread)

    def _with_importers(self, problems: Sequence[Problem]) -> list[Problem]:
        """Where values were restored, with the stacks that should claim them again."""
        # Many values may be of one scope, and what failed once is not asked again.
        records: Memo[tuple[str, ExportScope], RecordedExports] = Memo()
        stacks: Memo[tuple[str, ExportScope, frozenset[str]], tuple[Participant, ...]] = Memo()

        def named(problem: Problem) -> Problem:
            scope = ExportScope.of("exports", problem.parameter)
            if problem.kind is not FindingType.RESTORED or scope is None:
                return problem
            with suppress(StrongRefError):  # The producer's region may be out of reach.
                at, store = (problem.region, scope), self.ports.stores(problem.region, self.clock)
                recorded = records.get(at, partial(RecordedExports.read, store, scope))
                holds = frozenset(recorded.holds([scope.key(problem.parameter)]))
                ask = partial(importers, self.ports, self.clock, *at, holds)
                if again := stacks.get((*at, holds), ask):
                    others = ", and perhaps others," if scope.consumer == SHARED else ""
                    who = f"{some([each.name for each in again], 5)}{others}"
                    step = f"its claims were lost; deploy {who} with another Revision"
                    return replace(problem, stacks=again, next_step=step)
            return problem

        return list(map(named, problems))

    def _stored(self, stored: StoredRegion) -> Iterator[Problem]:
        """What the names and texts of a region's parameters show."""
        earliest = self.clock.earliest()
        everything = self.ports.stores(stored.region, self.clock).under("/strongref")
        sizes = {name: len(parameter.text.encode()) for name, parameter in everything.items()}
        yield from near_limits(stored, sizes, len(everything))
        yield from without_functions(stored, everything.keys())
        yield from exported_abroad(stored.region, self.account, everything.keys())
        traces = [Release.decode(name, found.text) for name, found in everything.items() if name.startswith(RELEASES)]
        yield from released(stored.region, [trace for trace in traces if trace])
        found = {name: Fence.decode(each) for name, each in everything.items() if name.startswith(FENCES)}
        yield from fences(stored.region, found, earliest)

    def repair(self, regions: Sequence[str]) -> tuple[list[Problem], list[RegionFailure]]:
        """Repair what is safe to repair in these regions, and return what was repaired, except fences, and what failed.

        Ctrl-C ends it like an error, except that the fences are taken away first, if that takes no longer than
        `threads.GRACE`; otherwise they expire.
        """
        clock = InterruptibleClock(self.clock)

        def repair_in(region: str) -> _Found:
            found = _Found()
            try:
                self._look(region, clock, found, repairs=True)
            except StrongRefError as error:
                if error not in [each.error for each in found.failures]:
                    found.failures.append(RegionFailure(region, error))
            return found

        repaired = in_threads([partial(repair_in, region) for region in regions], clock.interrupt)
        problems = [each for found in repaired for each in found.problems if each.severity is Severity.REPAIRABLE]
        return problems, [failure for found in repaired for failure in found.failures]

    def _examined(self, region: str) -> _Found:
        found = _Found()
        self._look(region, self.clock, found, repairs=False)
        unseen = [each for each in found.failures if each.about and each.about[0].startswith(EXPORTS)]
        if unseen and not found.values:
            raise unseen[0].error
        return found

    def _look(self, region: str, clock: Clock, found: _Found, *, repairs: bool) -> None:
        """Have the janitor look after a region, and add what it finds, as far as it comes."""

        def note(_message: str, error: StrongRefError, /, **about: str) -> None:
            if not isinstance(error, HoldMissingError):  # The finding itself says so.
                found.failures.append(RegionFailure(region, error, tuple(about.values())))

        for done in Janitor(self.ports, region, self.account, repairs, note).tend(clock):
            self.progress(f"{region}, {done.mark[0].removeprefix(EXPORTS)}")
            found.values += done.values
            if done.busy and not repairs:
                found.problems.append(in_progress(region, done.mark[0]))
                continue
            # Fences are shown with their text, which the janitor does not return.
            settled = [each for each in done.settled if each.kind is not FindingType.EXPIRED_FENCE]
            noted = {str(each.error) for each in found.failures}
            found.problems += [
                problem_of(region, each)
                for each in settled
                if each.kind is not FindingType.FAILED_CALL or each.why not in noted
            ]
