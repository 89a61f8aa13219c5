"""An export's work in all of its places: fence, look, plan, and only then act.

All places are planned before the first is written to, and new places are written before old ones are cleared.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.record import decode, part_name
from strongref.contract.values import Value
from strongref.errors import ExportsInUseError, ForeignParameterError, InUse, UnreadableRecordError
from strongref.protocol.apply import PlanExecutor
from strongref.protocol.fences import FenceHolder, behind_fences
from strongref.protocol.inspection import TagInspector
from strongref.protocol.plan import (
    ExportIdentity,
    StoredExports,
    WhenClaimed,
    is_up_to_date,
    keys_to_inspect,
    plan_exports,
)
from strongref.protocol.steps import side_by_side
from strongref.text import stack_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from strongref.contract.names import ExportScope, Key
    from strongref.protocol.fences import FencedStore
    from strongref.protocol.plan import ExportPlan, ValueTags
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock


@dataclass(frozen=True, slots=True)
class Destination:
    """One region's place, and what an Export wants there: nothing, where it moves away or is deleted."""

    region: str
    scope: ExportScope
    wanted: Mapping[Key, Value] = field(repr=False)


class _Looked(NamedTuple):
    """What is stored in a place, the numbers that the records' parts have there, and what the tags say that matter."""

    site: Destination
    stock: StoredExports
    used: Mapping[str, frozenset[int]]
    keys: Collection[Key]
    """Whose tags matter."""
    holdings: dict[Key, ValueTags]


class Publishing:
    """One Export at work in its places."""

    def __init__(  # noqa: PLR0913
        self,
        ports: Ports,
        clock: Clock,
        me: ExportIdentity,
        sites: Sequence[Destination],
        *,
        rewrite: Collection[Key] = (),
        request: str = "",
    ) -> None:
        """Prepare the work; nothing is called yet.

        Args:
            ports: what calls go through.
            clock: the invocation's.
            me: which Export.
            sites: the places concerned, in the order in which they are to be written.
            rewrite: keys to write again though they are right.
            request: the id of CloudFormation's request, the same in each invocation for it.
        """
        self._ports = ports
        self._clock = clock
        self._me = me
        self._sites = sites
        self._rewrite = rewrite
        self._request = request
        self.wrote = False
        """Something of this Export is stored, by this invocation or by one before it."""

    def is_up_to_date(self) -> bool:
        """Every place says already what it should: nothing is to be written, not even a fence."""
        inspector = TagInspector(self._ports.stacks)
        for site in self._sites:
            stock, _ = self._look(self._ports.stores(site.region, self._clock), site, inspector)
            if not is_up_to_date(self._me, site.wanted, stock):
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
            [(site.region, site.scope) for site in self._sites],
            FenceHolder(self._me.logical_id, f"{self._me.logical_id} of {stack_text(self._me.stack)}", self._request),
            lambda posts: self._attempt(posts, when_claimed),
        )

    def _attempt(self, posts: Sequence[FencedStore], when_claimed: WhenClaimed) -> list[ExportPlan]:
        plans, numbers = self._plan(posts, when_claimed)
        self.wrote = self.wrote or any(plan.writes > 0 for plan in plans)
        steps = [
            PlanExecutor(post.store, self._me).apply(plan, used)
            for post, plan, used in zip(posts, plans, numbers, strict=True)
        ]
        here = [bool(site.wanted) for site in self._sites]
        side_by_side(step for step, wanted in zip(steps, here, strict=True) if wanted)
        side_by_side(step for step, wanted in zip(steps, here, strict=True) if not wanted)
        return plans

    def _plan(
        self, posts: Sequence[FencedStore], when_claimed: WhenClaimed
    ) -> tuple[list[ExportPlan], list[Mapping[str, frozenset[int]]]]:
        """A plan for every place, or every refusal of them together; nothing is written."""
        inspector = TagInspector(self._ports.stacks)
        plans: list[ExportPlan] = []
        numbers: list[Mapping[str, frozenset[int]]] = []
        in_use: list[InUse] = []
        for seen in self._see(posts, inspector):
            gone = set(seen.keys) - seen.holdings.keys()
            try:
                plan = plan_exports(
                    seen.site.scope,
                    self._me,
                    seen.site.wanted,
                    _without(seen.stock, gone),
                    seen.holdings,
                    when_claimed=when_claimed,
                    rewrite=self._rewrite,
                )
            except ExportsInUseError as error:
                in_use.extend(error.in_use)
            else:
                plans.append(plan)
                numbers.append(seen.used)
        if in_use:
            raise ExportsInUseError(in_use)
        return plans, numbers

    def _see(self, posts: Sequence[FencedStore], inspector: TagInspector) -> list[_Looked]:
        seen = []
        for post, site in zip(posts, self._sites, strict=True):
            stock, used = self._look(post.store, site, inspector)
            self.wrote = self.wrote or (stock.mine is not None and stock.mine.stack == self._me.stack)
            keys = sorted(keys_to_inspect(self._me, site.wanted, stock, self._rewrite))
            seen.append(_Looked(site, stock, used, keys, {}))
        side_by_side(self._inspect(post, each, inspector) for post, each in zip(posts, seen, strict=True))
        return seen

    def _inspect(self, post: FencedStore, seen: _Looked, inspector: TagInspector) -> Iterator[None]:
        """Look at the tags that matter, one after the other; of a key that is gone by now nothing is found."""
        for key in seen.keys:
            if not post.looked.needs(key):
                seen.holdings[key] = inspector.nothing_about(self._me.stack)
                continue
            found = inspector.inspect(post.store, seen.site.scope, [key], self._me.stack)
            seen.holdings.update(found)
            plain = all(
                holding == inspector.nothing_about(self._me.stack, holding.owners) for holding in found.values()
            )
            post.looked.note(key, plain=plain)
            yield

    def _look(
        self, store: Store, site: Destination, inspector: TagInspector
    ) -> tuple[StoredExports, Mapping[str, frozenset[int]]]:
        """What is stored in a place, and the numbers that the records' parts have there."""
        stored = {
            site.scope.key(name): Value(parameter.kind, parameter.text)
            for name, parameter in store.under(site.scope.values).items()
        }
        found = decode(site.scope.records, store.under(site.scope.records))
        mine = found.pop(self._me.logical_id, None)
        torn = [logical_id for logical_id, each in found.items() if each.torn]
        if torn:
            raise UnreadableRecordError(part_name(site.scope.records, torn[0], 0), torn[0])
        if mine and mine.record and mine.record.stack != self._me.stack and inspector.exists(mine.record.stack):
            # Our stack is gone, then: there is one of its name again, and this is a late delivery.
            raise ForeignParameterError({part_name(site.scope.records, self._me.logical_id, 0): mine.record.stack})
        records = {logical_id: each.record for logical_id, each in found.items() if each.record}
        living = {
            logical_id
            for logical_id, record in records.items()
            if record.stack == self._me.stack or inspector.exists(record.stack)
        }
        numbers = {logical_id: each.numbers for logical_id, each in found.items()}
        if mine:
            numbers[self._me.logical_id] = mine.numbers
        stock = StoredExports(
            stored=stored,
            mine=mine.record if mine else None,
            litter=mine is not None and mine.record is None,
            others={logical_id: record for logical_id, record in records.items() if logical_id in living},
            orphans={logical_id: record for logical_id, record in records.items() if logical_id not in living},
        )
        return stock, numbers


def _without(stock: StoredExports, gone: set[Key]) -> StoredExports:
    return replace(stock, stored={key: value for key, value in stock.stored.items() if key not in gone})
