"""`strongref doctor`, `republish` and `release`: see what is wrong with what is stored, and put it right."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from strongref.contract.names import ManifestSet
from strongref.contract.notices import ImportedValue, claim_released
from strongref.contract.releases import MAX_REASON
from strongref.contract.values import attribute_name
from strongref.text import cut, some
from strongref_cli.installation import notify, version_problems
from strongref_cli.output import Result, Table, ask, progress, show, show_plan
from strongref_cli.overview import (
    consumer_text,
    participant_document,
    participant_text,
    place_document,
    short_text,
    time_text,
)
from strongref_manifests.manifest_set import ClaimLedger
from strongref_operations.diagnosis import Severity
from strongref_operations.examination import Examination
from strongref_operations.releasing import by_import, claims_on, release
from strongref_operations.republishing import republish
from strongref_overview.errors import no_such_importer
from strongref_overview.exports import ImportState, Protection, participant_of
from strongref_overview.reading import OverviewReader
from strongref_overview.who import find_uses
from strongref_toolkit.errors import UsageError
from strongref_toolkit.regions import chosen_regions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from strongref.contract.releases import Release
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock
    from strongref_operations.diagnosis import Problem
    from strongref_operations.releasing import ClaimedValue
    from strongref_operations.republishing import Restored
    from strongref_toolkit.session import ToolSession


def examine(args: argparse.Namespace, session: ToolSession) -> int:
    """`strongref doctor`."""
    regions = chosen_regions(session, args.region, everywhere=args.all_regions)
    aws = session.aws(None, None)
    with progress("Examining") as step:
        account = aws.accounts.own
        ports = session.ports(account)
        reader = OverviewReader(aws, step, leaves_newer=True)
        problems = _problems(session, Examination(ports, session.clock, account, reader, step), regions)
    healable = sorted({each.region for each in problems if each.severity is Severity.HEALABLE})
    if not (args.fix and healable):
        show(_diagnosis(problems, regions), args.output)
        return int(any(each.severity is not Severity.NOTE for each in problems))
    show_plan(_diagnosis(problems, regions), args.output, yes=args.yes)
    ask("Repair what --fix can?", yes=args.yes)
    with progress("Repairing") as step:
        reader = OverviewReader(aws, step, leaves_newer=True)
        examination = Examination(ports, session.clock, account, reader, step)
        not_healed = examination.heal(healable)
    with progress("Examining again"):
        left = list(dict.fromkeys([*not_healed, *_problems(session, examination, regions)]))
    repaired = [each for each in problems if each.severity is Severity.HEALABLE and each not in left]
    show(_diagnosis(left, regions, repaired), args.output)
    return int(any(each.severity is not Severity.NOTE for each in left))


def _problems(session: ToolSession, examination: Examination, regions: Sequence[str]) -> list[Problem]:
    return [*version_problems(session, regions), *examination.examine(regions)]


def _diagnosis(problems: Sequence[Problem], regions: Sequence[str], repaired: Sequence[Problem] = ()) -> Result:
    rows = [
        (
            each.region,
            each.kind,
            each.subject,
            some([short_text(who, each.region) for who in each.stacks], 3),
            each.next_step,
        )
        for each in problems
    ]
    counts = Counter(each.severity for each in problems)
    parts = [
        f"{counts[Severity.HEALABLE]} that --fix repairs",
        f"{counts[Severity.ACTION]} that need a person",
        f"{counts[Severity.NOTE]} to know",
    ]
    where = some(regions, 5)
    summary = (
        f"{len(problems)} {'finding' if len(problems) == 1 else 'findings'} in {where}: {', '.join(parts)}."
        if problems
        else f"Nothing is wrong in {where}."
    )
    notes = [f"Repaired: {some([f'{each.kind} ({each.subject})' for each in repaired], 10)}."] if repaired else []
    columns = ("REGION", "FINDING", "WHAT", "STACKS", "NEXT STEP")
    document = {
        "regions": list(regions),
        "findings": [_problem_document(each) for each in problems],
        "repaired": [_problem_document(each) for each in repaired],
    }
    return Result([Table(columns, rows, notes=[*notes, summary])], document)


def _problem_document(problem: Problem) -> dict[str, Any]:
    return {
        "region": problem.region,
        "kind": problem.kind,
        "severity": problem.severity.value,
        "subject": problem.subject,
        "parameter": problem.parameter or None,
        "stacks": [participant_document(each) for each in problem.stacks],
        "nextStep": problem.next_step,
    }


def republish_exports(args: argparse.Namespace, session: ToolSession) -> int:
    """`strongref republish`."""
    regions = chosen_regions(session, args.region, everywhere=args.all_regions)
    aws = session.aws(None, None)
    ports = session.ports(aws.accounts.own)
    done = []
    with progress(f"Restoring what {args.stack} exports") as step:
        uses = find_uses(OverviewReader(aws, step), regions, args.stack, args.key)
        if args.key and not any(each.exports for each in uses):
            raise UsageError(f"{args.stack} imports {args.key}: republish the stack that exports it")
        keys = {value.key for each in uses for value in each.exports} if args.key else None
        for region, scope in sorted({(value.region, value.scope) for each in uses for value in each.exports}):
            step(region)
            done.append(republish(ports, session.clock, region, scope, keys))
    restored = [each for each in done if each.keys]
    show(_restored(args.stack, restored), args.output)
    return 0


def _restored(stack: str, done: Sequence[Restored]) -> Result:
    rows = [
        (
            each.region,
            attribute_name(key),
            consumer_text(each.scope),
            some([who.name for who in each.importers], 5) + (" and perhaps others" if each.may_have_more else ""),
        )
        for each in done
        for key in each.keys
    ]
    notes = ["Deploy those stacks with another Revision of their Import: their claims were deleted with the values."]
    if not rows:
        notes = [f"Nothing that {stack} exports was missing."]
    document = {
        "restored": [
            {
                "region": each.region,
                "consumer": consumer_text(each.scope),
                "keys": [attribute_name(key) for key in each.keys],
                "importers": [participant_document(who) for who in each.importers],
                "mayHaveMoreImporters": each.may_have_more,
            }
            for each in done
        ]
    }
    return Result([Table(("REGION", "KEY", "CONSUMER", "DEPLOY AGAIN"), rows, notes=notes)], document)


def release_claim(args: argparse.Namespace, session: ToolSession) -> int:
    reason = " ".join(args.reason.split())
    if not reason or len(reason) > MAX_REASON or "{{" in reason or not reason.isprintable():
        raise UsageError(
            f"--reason must be a sentence of at most {MAX_REASON} printable characters without {{{{, got {len(reason)}"
        )
    regions = chosen_regions(session, args.region, everywhere=args.all_regions)
    aws = session.aws(None, None)
    with progress(f"Looking for {args.stack}") as step:
        uses = find_uses(OverviewReader(aws, step), regions, args.stack, args.key)
    exported = [value for each in uses for value in each.exports]
    ports = session.ports(aws.accounts.own)
    there = [each for value in exported if value.changed for each in claims_on(ports, session.clock, value)]
    claimed = [each for each in there if participant_of(each.claim.importer).name == args.consumer]
    if not claimed:
        importers = {participant_of(each.claim.importer).name for each in there}
        raise no_such_importer(args.consumer, args.stack, args.key, sorted(importers))
    if any(_is_listed(ports, session.clock, each) for each in claimed):
        raise UsageError(
            f"{args.consumer} is a set of manifests: strongref resolve --unclaim {args.consumer} releases it"
        )
    if args.dry_run:
        show(_plan_of(claimed, args), args.output)
        return 0
    show_plan(_plan_of(claimed, args), args.output, yes=args.yes)
    ask(f"Release {args.consumer}'s {'claim' if len(claimed) == 1 else 'claims'}?", yes=args.yes)
    done: list[Release] = []
    with progress("Releasing"):
        for values in by_import(claimed):
            done += release(ports, session.clock, values, aws.accounts.caller, reason)
            notice = claim_released([_imported(each) for each in values], aws.accounts.caller, reason)
            notify(session, values[0].region, notice)
    show(_released(done), args.output)
    return 0


def _is_listed(ports: Ports, clock: Clock, value: ClaimedValue) -> bool:
    """Whether a set of manifests lists a claim as its own, so that its next run releases or needs it."""
    manifests = ManifestSet.parse(value.claim.importer)
    if manifests is None:
        return False
    listed = ClaimLedger(ports.stores(value.region, clock), manifests.ledger, ports.token).read()
    return value.scope.value(value.key) in listed


def _imported(each: ClaimedValue) -> ImportedValue:
    return ImportedValue(each.region, each.scope, each.key, (each.claim.importer,))


def _plan_of(claimed: Sequence[ClaimedValue], args: argparse.Namespace) -> Result:
    rows = [
        (
            each.region,
            attribute_name(each.key),
            participant_text(participant_of(each.claim.importer)),
            "held" if each.claim.protection is Protection.HELD else "no",
        )
        for each in claimed
    ]
    live = any(each.claim.state is not ImportState.GONE for each in claimed)
    risk = (
        f"{args.consumer} still uses this. Afterward {args.stack} can change or delete it, and nothing is refused. "
        f"{args.consumer} claims it again when its Import is next updated."
        if live
        else f"{args.consumer} is gone, or has no such import: nothing uses this claim."
    )
    table = Table(("REGION", "KEY", "CLAIMED BY", "HOLD"), rows, title="Claims to release", notes=[risk])
    document = {"claims": [_claim_document(each) for each in claimed], "risk": risk}
    return Result([table], document)


def _claim_document(each: ClaimedValue) -> dict[str, Any]:
    who = participant_document(participant_of(each.claim.importer))
    return {**place_document(each.region, each.scope, each.key), "importer": who}


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
    return Result([Table(notes=notes)], document)
