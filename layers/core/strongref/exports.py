"""What a `Custom::CrossRegionExport` does: publish values for a consumer, and never change or drop a claimed one.

For every place that is concerned (each region, and on a move the old places too): fence, look, plan, write the
record, write and delete the values, take the fence away. All places are planned before the first is written to, and
new places are written before old ones are cleared. What is to be done follows from what is stored and what is wanted,
so an event delivered twice, or the Update that rolls a refused Update back, does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from strongref.address import StackArn, owner_tag
from strongref.answer import Answer
from strongref.errors import (
    AlreadyExistsError,
    BadRequestError,
    ChangingError,
    ExportsInUseError,
    ExportsKeptError,
    ForeignParameterError,
    InUse,
    OutOfTimeError,
    StrongRefError,
    UnreadableRecordError,
    some,
    stack_text,
)
from strongref.event import RequestType
from strongref.fence import IN_FLIGHT, Fence
from strongref.fencing import Fencing
from strongref.inspection import Inspector
from strongref.log import logger
from strongref.patience import Allowance
from strongref.plan import Self, Stock, WhenClaimed, holding_of, keys_to_inspect, plan_exports, settled
from strongref.record import decode, encode, part_name
from strongref.request import ExportRequest, OnChange
from strongref.resource import Unfinished
from strongref.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from strongref.address import Key, Place
    from strongref.event import Event
    from strongref.patience import Patience
    from strongref.plan import ExportPlan
    from strongref.ports import Clock, Stacks, Store
    from strongref.record import Record


@dataclass(frozen=True, slots=True)
class Site:
    """One region's place, and what an Export wants there: nothing, where it moves away or is deleted."""

    region: str
    place: Place
    wanted: Mapping[Key, Value] = field(repr=False)


def physical_id(stack: StackArn, logical_id: str) -> str:
    """The same for an Export's whole life, whatever it publishes and wherever: it is never replaced."""
    return f"strongref-export/{stack.name}/{stack.unique}/{logical_id}"


@dataclass(frozen=True, slots=True)
class Exports:
    """The exporter, over its ports.

    Attributes:
        stores: the parameter store of a region, for as long as a clock says.
        stacks: what CloudFormation knows.
        patience: with other exporters.
        token: something never said before, to name a fence.
    """

    stores: Callable[[str, Clock], Store]
    stacks: Stacks
    patience: Patience
    token: Callable[[], str]

    def handle(self, event: Event, clock: Clock) -> Answer:
        """Carry out one event of CloudFormation's.

        Raises:
            StrongRefError: it is refused, or could not be done; wrapped in `Unfinished` where a Create has begun to
                write, so that CloudFormation's clean-up finds what it left.
        """
        if event.request_type is RequestType.DELETE:
            return self._delete(event, clock)
        return self._put(event, clock)

    def _put(self, event: Event, clock: Clock) -> Answer:
        stack = StackArn.parse(event.stack)
        request = ExportRequest.parse(event.properties, stack)
        former = _former(event, stack)
        new = [Site(region, request.place, request.values) for region in request.regions]
        here = {(site.region, site.place) for site in new}
        old = [Site(region, former.place, {}) for region in former.regions] if former else []
        sites = new + [site for site in old if (site.region, site.place) not in here]
        again = request.values.keys() if former and former.revision != request.revision else ()
        run = _Run(self, clock, Self(event.stack, event.logical_id), sites, rewrite=again, former=former)
        when_claimed = WhenClaimed.PROPAGATE if request.on_change is OnChange.PROPAGATE else WhenClaimed.REFUSE
        answer = Answer(
            physical_id(stack, event.logical_id), {"Prefix": request.place.values, "Count": len(request.values)}
        )
        if event.request_type is RequestType.UPDATE and not again and run.settled():
            return answer
        try:
            plans = self._carry_out(event, run, when_claimed, former)
        except StrongRefError as error:
            if run.wrote and event.request_type is RequestType.CREATE:
                raise Unfinished(error, answer.physical_id) from error
            raise
        return replace(answer, reason=_notice(plans))

    def _carry_out(
        self, event: Event, run: _Run, when_claimed: WhenClaimed, former: ExportRequest | None
    ) -> list[ExportPlan]:
        """Do it; in a roll-back, refuse as little as can be, since the stack would be stuck in UPDATE_ROLLBACK_FAILED.

        What an update published and somebody claimed at once is withdrawn, but kept; what it propagated is propagated
        back. A value that it changed and somebody claimed since cannot go back: that is refused all the same.
        """
        try:
            return run.carry_out(when_claimed)
        except ExportsInUseError:
            info = self.stacks.by_arn(event.stack) if former else None
            if not (info and info.rolling_back):
                raise
        propagated = former is not None and former.on_change is OnChange.PROPAGATE
        return run.carry_out(WhenClaimed.KEEP | (WhenClaimed.PROPAGATE if propagated else when_claimed))

    def _delete(self, event: Event, clock: Clock) -> Answer:
        stack = StackArn.parse(event.stack)
        answer = Answer(event.physical_id or physical_id(stack, event.logical_id))
        try:
            request = ExportRequest.parse(event.properties, stack)
        except BadRequestError:
            return answer  # such properties were refused when they came: nothing was ever published for them
        sites = [Site(region, request.place, {}) for region in request.regions]
        run = _Run(self, clock, Self(event.stack, event.logical_id), sites, former=request)
        info = self.stacks.by_arn(event.stack)
        if not (info and info.cleaning_up):
            run.carry_out(WhenClaimed.REFUSE)
            return answer
        plans = run.carry_out(WhenClaimed.KEEP)
        if kept := _kept(plans):
            raise ExportsKeptError(kept)
        return answer


def _former(event: Event, stack: StackArn) -> ExportRequest | None:
    """What the properties before this Update asked for; None if they were refused, and so published nothing."""
    if event.old_properties is None:
        return None
    try:
        return ExportRequest.parse(event.old_properties, stack)
    except BadRequestError:
        return None


def _kept(plans: Sequence[ExportPlan]) -> list[InUse]:
    return [InUse(key, "kept", importers) for plan in plans for key, importers in plan.kept.items()]


def _notice(plans: Sequence[ExportPlan]) -> str:
    """What is to be told of claimed values that were changed or kept all the same."""
    told = {key: importers for plan in plans for key, importers in plan.told.items()}
    importers = sorted({stack_text(arn) for arns in told.values() for arn in arns})
    notices = []
    if told:
        notices.append(
            f"{some(told)} changed although imported by {some(importers, 5)}: deploy these anew to use the new value."
        )
    if kept := _kept(plans):
        notices.append(str(ExportsKeptError(kept)))
    return " ".join(notices)


class _Run:
    """One Export at work in its places."""

    def __init__(  # noqa: PLR0913
        self,
        exports: Exports,
        clock: Clock,
        me: Self,
        sites: Sequence[Site],
        *,
        rewrite: Collection[Key] = (),
        former: ExportRequest | None = None,
    ) -> None:
        self._exports = exports
        self._clock = clock
        self._me = me
        self._sites = sites
        self._rewrite = rewrite
        self._most = max(len(former.values) if former else 0, *(len(site.wanted) for site in sites)) * len(sites)
        self.wrote = False

    def settled(self) -> bool:
        """Every place says already what it should: nothing is to be written, not even a fence."""
        inspector = Inspector(self._exports.stacks)
        for site in self._sites:
            stock, _ = self._look(self._exports.stores(site.region, self._clock), site, inspector)
            if not settled(self._me, site.wanted, stock):
                return False
        return True

    def carry_out(self, when_claimed: WhenClaimed) -> list[ExportPlan]:
        """Fence, look, plan, act; step back and start again while another exporter is at work in one of the places.

        Raises:
            ChangingError: it still was when patience was at its end.
        """
        waiting = self._exports.patience.begin(self._clock)
        while True:
            try:
                done = self._attempt(when_claimed)
            except OutOfTimeError:
                if self._clock.remaining() <= 0:
                    raise
                continue  # the fence's time is up, not the invocation's: what is left is done behind a new one
            if not isinstance(done, Fence):
                return done
            if not waiting.pause():
                raise ChangingError(str(self._sites[0].place.producer), str(done))

    def _attempt(self, when_claimed: WhenClaimed) -> list[ExportPlan] | Fence:
        allowance = Allowance.of(self._clock, self._most)
        fence = Fence(f"{self._me.logical_id} of {stack_text(self._me.stack)}", allowance.ends + IN_FLIGHT)
        stores = [self._exports.stores(site.region, allowance) for site in self._sites]
        holder = f"{self._me.logical_id}.{self._exports.token()}"
        fencings = [Fencing(self._exports.stores(site.region, self._clock), site.place, holder) for site in self._sites]
        try:
            for fencing in fencings:
                fencing.put_up(fence)
            for fencing in fencings:
                other = fencing.others(self._clock.now())
                if other:
                    return other
            plans, numbers = self._plan(stores, when_claimed)
            for store, plan, used in zip(stores, plans, numbers, strict=True):
                self._act(store, plan, used)
        finally:
            for fencing in fencings:
                fencing.take_away()
        return plans

    def _plan(
        self, stores: Sequence[Store], when_claimed: WhenClaimed
    ) -> tuple[list[ExportPlan], list[Mapping[str, frozenset[int]]]]:
        """A plan for every place, or every refusal of them together; nothing is written."""
        inspector = Inspector(self._exports.stacks)
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

    def _act(self, store: Store, plan: ExportPlan, used: Mapping[str, frozenset[int]]) -> None:
        self.wrote = self.wrote or plan.writes > 0
        self._report(store, plan)
        place = plan.place
        if plan.rerecord:
            self._record(store, place, self._me.logical_id, plan.record, used)
        for logical_id, record in plan.orphans.items():
            self._record(store, place, logical_id, record if record.values else None, used)
        for key, stale in plan.heal.items():
            if key in plan.overwrite:
                store.untag(place.value(key), stale)
        for key, value in plan.overwrite.items():
            if store.overwrite(place.value(key), value.kind, value.text) == 1:
                store.tag(place.value(key), self._me.tags)  # it had just gone, and came back as nobody's
        for key, tags in plan.adopt.items():
            if not store.tag(place.value(key), tags):
                self._create(store, place.value(key), plan.published[key], tags)
        store.delete([place.value(key) for key in plan.remake])
        for key, (value, tags) in (*plan.remake.items(), *plan.create.items()):
            self._create(store, place.value(key), value, tags)
        for key in plan.disown:
            store.untag(place.value(key), [owner_tag(self._me.logical_id)])
        store.delete([place.value(key) for key in plan.delete])

    def _create(self, store: Store, name: str, value: Value, tags: Mapping[str, str]) -> None:
        """Make a value, or make right what came to stand there since it was looked for."""
        try:
            store.create(name, value.kind, value.text, tags)
        except AlreadyExistsError:
            # This very call, tried again after its answer was lost; or an import that put the value back from the
            # old record, and will let go of it because our fence stands.
            producer, _, _ = holding_of(store.tags(name) or {})
            if producer != self._me.stack:
                raise ForeignParameterError({name: producer}) from None
            store.overwrite(name, value.kind, value.text)
            store.tag(name, tags)

    def _record(
        self,
        store: Store,
        place: Place,
        logical_id: str,
        record: Record | None,
        used: Mapping[str, frozenset[int]],
    ) -> None:
        """Change a record at once: its tails first, then its head, then the old tails away."""
        before = used.get(logical_id, frozenset())
        parts = encode(record, before) if record else []
        for part in parts:
            store.overwrite(part.name(place.records, logical_id), part.kind, part.text)
        left = sorted(before - {part.number for part in parts})
        store.delete([part_name(place.records, logical_id, number) for number in left])

    def _report(self, store: Store, plan: ExportPlan) -> None:
        where = {"place": plan.place.values, "region": store.region}
        for key, stale in plan.heal.items():
            for importer in stale.values():
                logger.warning(
                    "A stale claim protects nothing: its stack is gone, or has no such import any more",
                    extra=where | {"key": key, "importer": importer},
                )
        for key, importers in plan.told.items():
            logger.warning("A claimed value is changed", extra=where | {"key": key, "importers": list(importers)})
        for key, importers in plan.kept.items():
            logger.warning("A claimed value is kept", extra=where | {"key": key, "importers": list(importers)})
        counts = {
            "made": len(plan.create),
            "changed": len(plan.overwrite) + len(plan.remake),
            "adopted": len(plan.adopt),
            "dropped": len(plan.delete) + len(plan.disown),
        }
        logger.info("Exports are written", extra={**where, **counts})
