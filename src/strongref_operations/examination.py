"""Examines regions, and heals them: the janitor of each region at work, or only looking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.releases import RELEASES, Release
from strongref.errors import StrongRefError
from strongref.protocol.janitor import Janitor
from strongref_operations.diagnosis import (
    UNKNOWN,
    Problem,
    in_progress,
    near_limits,
    outdated,
    problem_of,
    released,
    unprotected,
)
from strongref_toolkit.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock
    from strongref_overview.reading import OverviewReader


@dataclass(frozen=True, slots=True)
class Examination:
    """Examines the regions of one account. Tags are read exactly: one call for each value."""

    ports: Ports
    clock: Clock
    account: str
    reader: OverviewReader
    progress: Callable[[str], None]

    def examine(self, regions: Sequence[str]) -> list[Problem]:
        """Everything that is wrong in these regions, sorted; nothing is written.

        Raises:
            StrongRefError: a call failed.
        """
        found = in_threads([partial(self._janitor, region, repairs=False) for region in regions])
        stored = self.reader.regions(regions)
        values = self.reader.values(stored)
        problems = [problem for each in found for problem in each]
        by_hand = {each.parameter for each in problems if each.kind == "changed-by-hand"}
        problems += [each for each in outdated(values) if each.parameter not in by_hand]
        problems += unprotected(values)
        for each in stored:
            store = self.ports.stores(each.region, self.clock)
            everything = store.under("/strongref")
            sizes = {name: len(parameter.text.encode()) for name, parameter in everything.items()}
            problems += near_limits(each, sizes, len(everything))
            traces = [
                Release.decode(name, found.text) for name, found in everything.items() if name.startswith(RELEASES)
            ]
            problems += released(each.region, [trace for trace in traces if trace])
        problems = list(dict.fromkeys(problems))
        return sorted(problems, key=lambda each: (each.severity.value, each.region, each.kind, each.subject))

    def heal(self, regions: Sequence[str]) -> list[Problem]:
        """Repair what is safe to repair in these regions; return what could not be.

        Raises:
            StrongRefError: a region could not be read. The others are repaired.
        """

        def heal_in(region: str) -> list[Problem] | StrongRefError:
            try:
                found = self._janitor(region, repairs=True)
            except StrongRefError as error:
                return error
            return [each for each in found if each.kind == UNKNOWN]

        done = in_threads([partial(heal_in, region) for region in regions])
        for each in done:
            if isinstance(each, StrongRefError):
                raise each
        return [problem for each in done if isinstance(each, list) for problem in each]

    def _janitor(self, region: str, *, repairs: bool) -> list[Problem]:
        problems = []
        for done in Janitor(self.ports, region, self.account, repairs).tend(self.clock):
            self.progress(f"{region}, {done.mark[0].removeprefix('/strongref/exports/')}")
            if done.busy and not repairs:
                problems.append(in_progress(region, done.mark[0]))
            else:
                problems += [problem_of(region, each) for each in done.settled]
        return problems
