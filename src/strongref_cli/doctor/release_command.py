"""`strongref release`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from strongref.contract.names import ManifestSet
from strongref.contract.notices import ImportedValue, claim_released
from strongref.contract.releases import MAX_REASON, Release
from strongref.text import attribute_name, cut
from strongref_cli.doctor.releasing import ClaimedValue, by_import, claims_of, claims_on, release
from strongref_cli.install.installed import notify, read_lag
from strongref_cli.overview.errors import no_such_importer
from strongref_cli.overview.exports import participant_of
from strongref_cli.overview.region_reading import reading, regions_of, status, uses_of
from strongref_cli.overview.states import ImportState
from strongref_cli.overview.texts import participant_document, participant_text, place_document, time_text
from strongref_cli.terminal.output import Result, TextTable, WaitNotice, ask, progress, show, show_plan
from strongref_manifests.manifest_set import ClaimLedger
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock
    from strongref_cli.overview.graph import Participant
    from strongref_toolkit.session import ToolSession


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
        ports = session.ports(aws.accounts.own, lag=read_lag(session, regions_of(exported)))
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
        show(plan, args.output)
        return status(reader.unread)
    show_plan(plan, args.output, yes=args.yes)
    ask(f"Release {who.name}'s {'claim' if len(claimed) == 1 else 'claims'}?", yes=args.yes)
    done: list[Release] = []
    with progress("Releasing") as step:
        ports = replace(ports, waits=WaitNotice(step))
        for values in by_import(claimed):
            done += release(ports, session.clock, values, aws.accounts.caller, reason)
            imported = [ImportedValue(each.region, each.scope, each.key, (each.claim.importer,)) for each in values]
            notice = claim_released(imported, aws.accounts.caller, reason)
            notify(session, values[0].region, notice)
    show(_released(done), args.output)
    return status(reader.unread)


def _is_listed(ports: Ports, clock: Clock, value: ClaimedValue) -> bool:
    """Whether a manifest set lists a claim as its own, so that its next run releases or needs it."""
    manifests = ManifestSet.parse(value.claim.importer)
    if manifests is None:
        return False
    listed = ClaimLedger(ports.stores(value.region, clock), manifests.ledger, ports.token).read()
    return value.scope.parameter_name(value.key) in listed


def _plan_of(claimed: Sequence[ClaimedValue], who: Participant, args: argparse.Namespace) -> Result:
    rows = [
        (
            each.region,
            attribute_name(each.key),
            participant_text(participant_of(each.claim.importer)),
            each.claim.protection.value,
        )
        for each in claimed
    ]
    states = {each.claim.state for each in claimed}
    uses = "still uses" if states - {ImportState.STALE, ImportState.UNKNOWN} else "may still use"
    risk = (
        f"{who.name} {uses} this. Afterward {args.stack} can change or delete it, and nothing is refused. "
        f"{who.name} claims it again when its Import is next updated."
        if states != {ImportState.STALE}
        else f"This claim is stale: {who.name} is gone, or has no such import."
    )
    table = TextTable(("REGION", "KEY", "CLAIMED BY", "HOLD"), rows, title="Claims to release", notes=[risk])
    claims = [
        place_document(each.region, each.scope, each.key)
        | {"importer": participant_document(participant_of(each.claim.importer))}
        for each in claimed
    ]
    return Result([table], {"claims": claims, "risk": risk})


def _released(done: Sequence[Release]) -> Result:
    notes = [f"Released {attribute_name(each.key)} of {each.producer}. Trace: {each.name}" for each in done]
    document = {
        "released": [
            {
                "producer": each.producer,
                "key": attribute_name(each.key),
                "importer": each.importer,
                "by": each.by,
                "at": time_text(each.at),
                "reason": cut(each.reason, MAX_REASON),
                "trace": each.name,
            }
            for each in done
        ]
    }
    return Result([TextTable(notes=notes)], document)
