"""`strongref release`: takes claims and their holds off values, and leaves a trace of who did it, when and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from strongref.contract.hold_stacks import HoldStack
from strongref.contract.names import CLAIM_TAG, ExportScope, Key, ManifestSet, Site, StackArn
from strongref.contract.notices import ImportedValue, claim_released
from strongref.contract.releases import MAX_REASON, Release
from strongref.contract.values import ParameterType
from strongref.protocol.cleanup import ClaimRelease
from strongref.protocol.fences import FenceHolder
from strongref.protocol.hold_keeper import HoldKeeper, OwnStacks, scopes_of
from strongref.protocol.inspection import read_tags
from strongref.protocol.published import RecordedExports
from strongref.protocol.stored_exports import split_tags
from strongref.text import attribute_name, cut, some
from strongref_cli.install.installed import notify, read_lag, settings
from strongref_cli.overview.errors import no_such_importer
from strongref_cli.overview.exports import Claim, ExportedValue, participant_of
from strongref_cli.overview.region_reading import reading, regions_of, status, uses_of
from strongref_cli.overview.states import ImportState, Protection
from strongref_cli.overview.texts import importer_document, participant_text, place_document
from strongref_cli.terminal.output import Result, TextTable, WaitNotice, ask_about, progress, show
from strongref_manifests.manifest_set import ClaimLedger
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import time_text

if TYPE_CHECKING:
    import argparse

    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock
    from strongref_cli.overview.graph import Participant
    from strongref_toolkit.session import ToolSession

_HOLDER = FenceHolder("release", "strongref release")


@dataclass(frozen=True, slots=True, order=True)
class ClaimedValue:
    """A value with the claim that is to be released."""

    region: str  # where the value is stored
    scope: ExportScope
    claim: Claim
    key: Key


def claims_on(ports: Ports, clock: Clock, value: ExportedValue) -> Iterator[ClaimedValue]:
    """The claims on a value as they are now: what was read in bulk may be late, and does not decide this.

    Raises:
        StrongRefError: a call failed.
    """
    known = {claim.tag: claim for claim in value.claims}
    tags = ports.stores(value.region, clock).tags(value.scope.parameter_name(value.key)) or {}
    for tag, importer in tags.items():
        if tag.startswith(CLAIM_TAG):
            claim = known.get(tag) or Claim(importer, tag, ImportState.UNKNOWN, Protection.UNKNOWN)
            yield ClaimedValue(value.region, value.scope, claim, value.key)


def claims_of(values: Collection[ClaimedValue], consumer: str) -> list[ClaimedValue]:
    """The claims of one consumer: of a stack by its ARN, `NAME@REGION` or `NAME`, of a manifest set `manifests:NAME`.

    Raises:
        UsageError: more than one has that name.
    """
    named: dict[Participant, list[ClaimedValue]] = defaultdict(list)
    for each in values:
        who = participant_of(each.claim.importer)
        if consumer in (each.claim.importer, who.name, f"{who.name}@{who.region}", f"{who.kind}:{who.name}"):
            named[who].append(each)
    if len(named) > 1:
        choices = sorted(_unique(who, named, found[0].claim.importer) for who, found in named.items())
        raise UsageError(f"--consumer {consumer} means {some(choices, len(choices))}. Give one of them")
    return next(iter(named.values()), [])


def _unique(who: Participant, others: Iterable[Participant], importer: str) -> str:
    """The shortest text by which `claims_of` tells one participant from others of its name."""
    if who.kind != "stack":
        return f"{who.kind}:{who.name}"
    is_alone = [each.region for each in others].count(who.region) == 1
    return f"{who.name}@{who.region}" if is_alone else importer


def by_import(values: Iterable[ClaimedValue]) -> list[list[ClaimedValue]]:
    """The claims of each import on what it imports from one producer."""
    return [list(group) for _, group in groupby(sorted(values), lambda each: (each.region, each.scope, each.claim.tag))]


def release(ports: Ports, clock: Clock, values: list[ClaimedValue], by: str, reason: str) -> list[Release]:
    """Release the claims of one import, and its hold if no other of its claims needs it.

    The traces come first, so nothing is released without one.

    `values` are one of `by_import`, and `by` is the ARN of the caller.

    Raises:
        NewerFormatError: a later version of strongref wrote a record of the values. Nothing was released.
        StrongRefError: a call failed. Running it again completes it.
    """
    region, scope, claim = values[0].region, values[0].scope, values[0].claim
    store, at = ports.stores(region, clock), clock.now().replace(microsecond=0)
    RecordedExports.read(store, scope).readable()  # Without what it says, no claim or hold can be judged.
    traces = [
        Release(scope.producer.stack, each.key, scope.consumer, claim.importer, claim.tag, by, at, reason)
        for each in values
    ]
    for trace in traces:
        store.create(trace.name, ParameterType.STRING, trace.encode(), {})
    ClaimRelease(ports, clock, region, claim.tag, _HOLDER).release(scope, [each.key for each in values])
    importer = StackArn.find(claim.importer)
    if importer and importer.account == scope.producer.account:  # Only an Import makes a hold.
        _release_hold(ports, clock, HoldStack.of_import(importer, claim.tag, scope))
    return traces


def _release_hold(ports: Ports, clock: Clock, hold: HoldStack) -> None:
    """Hold no more than the import still claims, as the janitor would. What fails is left to the janitor."""
    store, holds = ports.stores(hold.region, clock), dict[str, str]()
    keeper = HoldKeeper(ports, clock, hold, OwnStacks(ports.stacks.by_arn, hold.importer), waits_for_producers=False)
    if not keeper.may_exist():
        return
    ports.lag.settle(clock)  # Then reads show which claims are gone.
    with keeper.left_to_janitor():
        keeper = keeper.of_several() or keeper
        for scope in scopes_of(keeper.stack, store):
            keys = map(scope.key, store.under(scope.path("exports"), decrypted=False))
            tags = {key: each or {} for key, each in read_tags(store, scope, keys).items()}
            left = {key: split_tags(each)[1] for key, each in tags.items() if hold.claim in each}
            recorded = RecordedExports.read(store, scope).readable()
            if left and (recorded.torn or recorded.may_hold(left)):
                return  # What cannot be read may need the hold.
            holds |= keeper.needed(recorded.holds(left))
        if holds:
            keeper.begin(holds)
        else:
            keeper.delete(expected=True)


def release_claim(args: argparse.Namespace, session: ToolSession) -> int:
    reason = " ".join(args.reason.split())
    if not reason:
        raise UsageError(f"--reason is blank: say in up to {MAX_REASON} characters why the claim is released")
    if len(reason) > MAX_REASON or "{{" in reason or not reason.isprintable():
        raise UsageError(
            f"--reason must be a sentence of at most {MAX_REASON} printable characters without {{{{, got {len(reason)}"
        )
    aws = session.aws(None, None)
    with reading(session, f"Looking for {args.stack}") as reader:
        uses = uses_of(args, session, reader)
        exported = [value for each in uses for value in each.exports]
        ports = session.ports(aws.accounts.own, settings(session), read_lag(session, regions_of(exported)))
        there = [each for value in exported if value.changed for each in claims_on(ports, session.clock, value)]
        claimed = claims_of(there, args.consumer)
        if not claimed:
            importers = {participant_of(each.claim.importer).name for each in there}
            raise no_such_importer(args.consumer, args.stack, args.key, sorted(importers))
    who = participant_of(claimed[0].claim.importer)
    if any(_is_listed(ports, session.clock, each) for each in claimed):
        raise UsageError(f"{who.name} is a manifest set: strongref resolve --unclaim {who.name} releases it")
    plan = _plan_of(claimed, who, args)
    if args.dry_run:
        show(plan, args)
        return status(reader.unread)
    ask_about(plan, args, f"Release {who.name}'s {'claim' if len(claimed) == 1 else 'claims'}?")
    done: list[tuple[ClaimedValue, Release]] = []
    with progress("Releasing") as step:
        ports = replace(ports, waits=WaitNotice(step))
        for values in by_import(claimed):
            done += zip(values, release(ports, session.clock, values, aws.accounts.caller, reason), strict=True)
            site = Site(values[0].region)
            imported = [ImportedValue(site, each.scope, each.key, (each.claim.importer,)) for each in values]
            notice = claim_released(imported, aws.accounts.caller, reason)
            notify(session, site.region, notice)
    show(_released(done), args)
    return status(reader.unread)


def _is_listed(ports: Ports, clock: Clock, value: ClaimedValue) -> bool:
    """Whether a manifest set lists a claim as its own, so that its next run releases or needs it."""
    manifests = ManifestSet.parse(value.claim.importer)
    if manifests is None:
        return False
    listed = ClaimLedger(ports.stores(value.region, clock), manifests.ledger, ports.token).read()
    return value.scope.parameter_name(value.key) in listed


def _plan_of(claimed: Sequence[ClaimedValue], who: Participant, args: argparse.Namespace) -> Result:
    name = participant_text(who)
    rows = [(each.region, attribute_name(each.key), name, each.claim.protection.value) for each in claimed]
    states = {each.claim.state for each in claimed}
    uses = "still uses" if states - {ImportState.STALE, ImportState.UNKNOWN} else "may still use"
    risk = (
        f"{who.name} {uses} this. Afterward {args.stack} can change or delete it, and nothing is refused. "
        f"{who.name} claims it again when its Import is next updated."
        if states != {ImportState.STALE}
        else f"This claim is stale: {who.name} is gone, or has no such import."
    )
    table = TextTable(("REGION", "KEY", "CLAIMED BY", "HOLD"), rows, title="Claims to release", notes=[risk])
    return Result([table], {"claims": list(map(_claim_document, claimed)), "risk": risk})


def _released(done: Sequence[tuple[ClaimedValue, Release]]) -> Result:
    notes = [f"Released {attribute_name(each.key)} of {each.producer}. Trace: {each.name}" for _, each in done]
    released = [
        _claim_document(value)
        | {"by": each.by, "at": time_text(each.at), "reason": cut(each.reason, MAX_REASON), "trace": each.name}
        for value, each in done
    ]
    return Result([TextTable(notes=notes)], {"released": released})


def _claim_document(value: ClaimedValue) -> dict[str, Any]:
    return place_document(value.region, value.scope, value.key) | {"importer": importer_document(value.claim.importer)}
