"""An export's work in all of its places: fence, look, plan, and only then act.

All places are planned before the first is written to, and new places are written before old ones are cleared.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from strongref.applying import Applying
from strongref.errors import ExportsInUseError, InUse, UnreadableRecordError, stack_text
from strongref.fencing import Holder, behind_fences
from strongref.inspection import Inspector
from strongref.plan import Self, Stock, WhenClaimed, keys_to_inspect, plan_exports, settled
from strongref.record import decode, part_name
from strongref.values import Value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from strongref.address import Key, Place
    from strongref.plan import ExportPlan
    from strongref.ports import Clock, Ports, Store


@dataclass(frozen=True, slots=True)
class Site:
    """One region's place, and what an Export wants there: nothing, where it moves away or is deleted."""

    region: str
    place: Place
    wanted: Mapping[Key, Value] = field(repr=False)


class Publishing:
    """One Export at work in its places."""

    def __init__(  # noqa: PLR0913
        self,
        ports: Ports,
        clock: Clock,
        me: Self,
        sites: Sequence[Site],
        *,
        rewrite: Collection[Key] = (),
        most: int,
    ) -> None:
        """Prepare the work; nothing is called yet.

        Args:
            ports: what calls go through.
            clock: the invocation's.
            me: which Export.
            sites: the places concerned, in the order in which they are to be written.
            rewrite: keys to write again though they are right.
            most: how many values are looked at, written or deleted in one of them, at most.
        """
        self._ports = ports
        self._clock = clock
        self._me = me
        self._sites = sites
        self._rewrite = rewrite
        self._most = most * len(sites)
        self.wrote = False

    def settled(self) -> bool:
        """Every place says already what it should: nothing is to be written, not even a fence."""
        inspector = Inspector(self._ports.stacks)
        for site in self._sites:
            stock, _ = self._look(self._ports.stores(site.region, self._clock), site, inspector)
            if not settled(self._me, site.wanted, stock):
                return False
        return True

    def carry_out(self, when_claimed: WhenClaimed) -> list[ExportPlan]:
        """Fence, look, plan, act; step back and start again while another exporter is at work in one of the places.

        Raises:
            ChangingError: it still was when patience was at its end.
        """
        return behind_fences(
            self._ports,
            self._clock,
            [(site.region, site.place) for site in self._sites],
            Holder(self._me.logical_id, f"{self._me.logical_id} of {stack_text(self._me.stack)}"),
            self._most,
            lambda stores: self._attempt(stores, when_claimed),
        )

    def _attempt(self, stores: Sequence[Store], when_claimed: WhenClaimed) -> list[ExportPlan]:
        plans, numbers = self._plan(stores, when_claimed)
        for store, plan, used in zip(stores, plans, numbers, strict=True):
            self.wrote = self.wrote or plan.writes > 0
            Applying(store, self._me).apply(plan, used)
        return plans

    def _plan(
        self, stores: Sequence[Store], when_claimed: WhenClaimed
    ) -> tuple[list[ExportPlan], list[Mapping[str, frozenset[int]]]]:
        """A plan for every place, or every refusal of them together; nothing is written."""
        inspector = Inspector(self._ports.stacks)
        plans: list[ExportPlan] = []
        numbers: list[Mapping[str, frozenset[int]]] = []
        in_use: list[InUse] = []
        for store, site in zip(stores, self._sites, strict=True):
            stock, used = self._look(store, site, inspector)
            keys = keys_to_inspect(self._me, site.wanted, stock, self._rewrite)
            holdings = inspector.inspect(store, site.place, keys, self._me.stack)
            gone = set(keys) - holdings.keys()
            stock = replace(stock, stored={key: value for key, value in stock.stored.items() if key not in gone})
            try:
                plan = plan_exports(
                    site.place,
                    self._me,
                    site.wanted,
                    stock,
                    holdings,
                    when_claimed=when_claimed,
                    rewrite=self._rewrite,
                )
            except ExportsInUseError as error:
                in_use.extend(error.in_use)
            else:
                plans.append(plan)
                numbers.append(used)
        if in_use:
            raise ExportsInUseError(in_use)
        return plans, numbers

    def _look(self, store: Store, site: Site, inspector: Inspector) -> tuple[Stock, Mapping[str, frozenset[int]]]:
        """What is stored in a place, and the numbers that the records' parts have there."""
        stored = {
            site.place.key(name): Value(parameter.kind, parameter.text)
            for name, parameter in store.under(site.place.values).items()
        }
        found = decode(site.place.records, store.under(site.place.records))
        mine = found.pop(self._me.logical_id, None)
        torn = [logical_id for logical_id, each in found.items() if each.torn]
        if torn:
            raise UnreadableRecordError(part_name(site.place.records, torn[0], 0), torn[0])
        records = {logical_id: each.record for logical_id, each in found.items() if each.record}
        living = {
            logical_id
            for logical_id, record in records.items()
            if record.stack == self._me.stack or inspector.exists(record.stack)
        }
        numbers = {logical_id: each.numbers for logical_id, each in found.items()}
        if mine:
            numbers[self._me.logical_id] = mine.numbers
        stock = Stock(
            stored=stored,
            mine=mine.record if mine else None,
            litter=mine is not None and mine.record is None,
            others={logical_id: record for logical_id, record in records.items() if logical_id in living},
            orphans={logical_id: record for logical_id, record in records.items() if logical_id not in living},
        )
        return stock, numbers
