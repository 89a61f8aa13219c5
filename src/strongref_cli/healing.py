"""`strongref doctor`, `republish` and `release`: see what is wrong with what is stored, and put it right."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any

from strongref.contract.names import ManifestSet, consumer_text
from strongref.contract.notices import ImportedValue, claim_released
from strongref.contract.releases import MAX_REASON
from strongref.text import attribute_name, cut, printable, some
from strongref_cli.installation import kms_keys, notify, version_problems
from strongref_cli.output import Result, TextTable, ask, count, progress, show, show_plan
from strongref_cli.overview import (
    participant_document,
    participant_text,
    place_document,
    short_text,
    time_text,
)
from strongref_cli.reading import name_unread, reading, status, unread_document, uses_of, where_read
from strongref_manifests.manifest_set import ClaimLedger
from strongref_operations.diagnosis import DEAD_FENCE, Severity, with_failures
from strongref_operations.examination import Diagnosis, Examination
from strongref_operations.releasing import by_import, claims_of, claims_on, release
from strongref_operations.republishing import republish
from strongref_overview.errors import no_such_importer
from strongref_overview.exports import ImportState, Protection, participant_of
from strongref_overview.graph import Unread
from strongref_overview.reading import OverviewReader
from strongref_toolkit.errors import UsageError
from strongref_toolkit.log import no_log
from strongref_toolkit.regions import chosen_regions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from strongref.contract.fence import Fence
    from strongref.contract.names import ExportScope
    from strongref.contract.releases import Release
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock
    from strongref_operations.diagnosis import Problem
    from strongref_operations.releasing import ClaimedValue
    from strongref_operations.republishing import Restored
    from strongref_overview.graph import Participant
    from strongref_toolkit.session import ToolSession


def examine(args: argparse.Namespace, session: ToolSession) -> int:
    """`strongref doctor`."""
    regions = chosen_regions(session, args.region, everywhere=args.all_regions)
    aws = session.aws(None, None)
    with no_log(), progress("Examining") as step:
        account = aws.accounts.own
        ports = session.ports(account, kms_keys(session))
        found = _diagnosed(
            session,
            Examination(ports, session.clock, account, OverviewReader(aws, step, leaves_newer=True), step),
            regions,
        )
    name_unread(found.unread)
    healable = sorted({each.region for each in found.problems if each.severity is Severity.HEALABLE})
    if not (args.fix and healable):
        show(_diagnosis(found), args.output)
        return _status(found)
    show_plan(_diagnosis(found), args.output, yes=args.yes)
    ask("Repair what --fix can?", yes=args.yes)
    with no_log(), progress("Repairing") as step:
        ports = replace(ports, waits=WaitNotice(step))
        examination = Examination(ports, session.clock, account, OverviewReader(aws, step, leaves_newer=True), step)
        repaired, failures = examination.heal(healable)
    with no_log(), progress("Examining again"):
        left = _diagnosed(session, examination, regions)
    name_unread(each for each in left.unread if each.region not in {before.region for before in found.unread})
    unread = {each.region for each in left.unread}
    failures = [each for each in failures if each.called_in not in unread]
    left = replace(left, problems=tuple(with_failures(left.problems, failures, "not-repaired")))
    still = {each.identity for each in left.problems}
    repaired += [each for each in found.problems if each.kind == DEAD_FENCE and each.region in left.regions]
    show(_diagnosis(left, [each for each in repaired if each.identity not in still]), args.output)
    if failures:
        raise failures[0].error
    return _status(left)


def _status(found: Diagnosis) -> int:
    return status(found.unread, int(any(each.severity is not Severity.NOTE for each in found.problems)))


class WaitNotice:
    """`ports.OnWait` for people: on a terminal in the line that shows the progress, elsewhere a line for each wait."""

    def __init__(self, step: Callable[[str], None]) -> None:
        self._step = step
        self._written: set[tuple[ExportScope, str]] = set()

    def __call__(self, scope: ExportScope, fence: Fence, seconds: float) -> None:
        what = f"waiting up to {ceil(seconds)} s for {cut(fence.held_by, 200)}, which is changing exports of "
        text = printable(f"{what}{scope.producer.stack}")
        if sys.stderr.isatty():
            from rich.markup import escape  # noqa: PLC0415 (as in `output`)

            self._step(escape(text))
        elif (scope, fence.held_by) not in self._written:
            self._written.add((scope, fence.held_by))
            sys.stderr.write(f"strongref: {text}\n")


def _diagnosed(session: ToolSession, examination: Examination, regions: Sequence[str]) -> Diagnosis:
    """What is wrong in regions, and with what is installed there; errors as for `Examination.examine`."""
    found = examination.examine(regions)
    problems, failed = version_problems(session, found.regions)
    if len(failed) == len(found.regions):
        raise failed[found.regions[0]]
    unread = {each.region: each for each in found.unread} | {
        region: Unread(region, str(error)) for region, error in failed.items()
    }
    return Diagnosis(
        tuple(each for each in found.regions if each not in failed),
        (*problems, *(each for each in found.problems if each.region not in failed)),
        tuple(unread[region] for region in sorted(unread)),
    )


def _diagnosis(found: Diagnosis, repaired: Sequence[Problem] = ()) -> Result:
    problems, regions = found.problems, found.regions
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
        f"{counts[Severity.HEALABLE]:,} that --fix repairs",
        f"{counts[Severity.ACTION]:,} that {'needs' if counts[Severity.ACTION] == 1 else 'need'} a person",
        f"{counts[Severity.NOTE]:,} to know",
    ]
    where = some(regions, 5)
    summary = (
        f"{count(len(problems), 'finding', 'in')} {where}: {', '.join(parts)}."
        if problems
        else f"Nothing is wrong in {where}."
    )
    notes = [f"Repaired: {some([f'{each.kind} ({each.subject})' for each in repaired], 10)}."] if repaired else []
    columns = ("REGION", "FINDING", "WHAT", "STACKS", "NEXT STEP")
    document = {
        "regions": list(regions),
        "findings": [_problem_document(each) for each in problems],
        "repaired": [_problem_document(each) for each in repaired],
        "unread": unread_document(found.unread),
    }
    return Result([TextTable(columns, rows, notes=[*notes, summary])], document)


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
    with reading(session, f"Looking for {args.stack}") as reader:
        uses = uses_of(args, session, reader)
    if args.key and not any(each.exports for each in uses):
        raise UsageError(f"{args.stack} imports {args.key}: republish the stack that exports it")
    ports = session.ports(session.aws(None, None).accounts.own, kms_keys(session))
    done = []
    with progress(f"Restoring what {args.stack} exports") as step:
        keys = {value.key for each in uses for value in each.exports} if args.key else None
        ports = replace(ports, waits=WaitNotice(step))
        for region, scope in sorted({(value.region, value.scope) for each in uses for value in each.exports}):
            step(region)
            done.append(republish(ports, session.clock, region, scope, keys))
    restored = [each for each in done if each.keys]
    show(_restored(args.stack, restored, reader.unread), args.output)
    return status(reader.unread)


def _restored(stack: str, done: Sequence[Restored], unread: Sequence[Unread]) -> Result:
    rows = [
        (
            each.region,
            attribute_name(key),
            consumer_text(each.scope.consumer),
            some([who.name for who in each.importers], 5) + (" and perhaps others" if each.may_have_more else ""),
        )
        for each in done
        for key in each.keys
    ]
    notes = ["Deploy those stacks with another Revision of their Import: their claims were deleted with the values."]
    if not rows:
        notes = [f"Nothing that {stack} exports was missing{where_read(unread)}."]
    document = {
        "restored": [
            {
                "region": each.region,
                "consumer": consumer_text(each.scope.consumer),
                "keys": [attribute_name(key) for key in each.keys],
                "importers": [participant_document(who) for who in each.importers],
                "mayHaveMoreImporters": each.may_have_more,
            }
            for each in done
        ],
        "unread": unread_document(unread),
    }
    return Result([TextTable(("REGION", "KEY", "CONSUMER", "DEPLOY AGAIN"), rows, notes=notes)], document)


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
        ports = session.ports(aws.accounts.own)
        there = [each for value in exported if value.changed for each in claims_on(ports, session.clock, value)]
        claimed = claims_of(there, args.consumer)
        if not claimed:
            importers = {participant_of(each.claim.importer).name for each in there}
            raise no_such_importer(args.consumer, args.stack, args.key, sorted(importers))
    who = participant_of(claimed[0].claim.importer)
    if any(_is_listed(ports, session.clock, each) for each in claimed):
        raise UsageError(f"{who.name} is a set of manifests: strongref resolve --unclaim {who.name} releases it")
    if args.dry_run:
        show(_plan_of(claimed, who, args), args.output)
        return status(reader.unread)
    show_plan(_plan_of(claimed, who, args), args.output, yes=args.yes)
    ask(f"Release {who.name}'s {'claim' if len(claimed) == 1 else 'claims'}?", yes=args.yes)
    done: list[Release] = []
    with progress("Releasing") as step:
        ports = replace(ports, waits=WaitNotice(step))
        for values in by_import(claimed):
            done += release(ports, session.clock, values, aws.accounts.caller, reason)
            notice = claim_released([_imported(each) for each in values], aws.accounts.caller, reason)
            notify(session, values[0].region, notice)
    show(_released(done), args.output)
    return status(reader.unread)


def _is_listed(ports: Ports, clock: Clock, value: ClaimedValue) -> bool:
    """Whether a set of manifests lists a claim as its own, so that its next run releases or needs it."""
    manifests = ManifestSet.parse(value.claim.importer)
    if manifests is None:
        return False
    listed = ClaimLedger(ports.stores(value.region, clock), manifests.ledger, ports.token).read()
    return value.scope.value(value.key) in listed


def _imported(each: ClaimedValue) -> ImportedValue:
    return ImportedValue(each.region, each.scope, each.key, (each.claim.importer,))


def _plan_of(claimed: Sequence[ClaimedValue], who: Participant, args: argparse.Namespace) -> Result:
    rows = [
        (
            each.region,
            attribute_name(each.key),
            participant_text(participant_of(each.claim.importer)),
            "held" if each.claim.protection is Protection.HELD else "no",
        )
        for each in claimed
    ]
    states = {each.claim.state for each in claimed}
    uses = "still uses" if states - {ImportState.GONE, ImportState.UNKNOWN} else "may still use"
    risk = (
        f"{who.name} {uses} this. Afterward {args.stack} can change or delete it, and nothing is refused. "
        f"{who.name} claims it again when its Import is next updated."
        if states != {ImportState.GONE}
        else f"{who.name} is gone, or has no such import: nothing uses this claim."
    )
    table = TextTable(("REGION", "KEY", "CLAIMED BY", "HOLD"), rows, title="Claims to release", notes=[risk])
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
    return Result([TextTable(notes=notes)], document)
