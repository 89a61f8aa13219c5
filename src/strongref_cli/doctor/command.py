"""`strongref doctor`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from strongref.protocol.findings import FindingType
from strongref.text import some
from strongref_cli.doctor.abroad import invoke_janitor
from strongref_cli.doctor.diagnosis import DoctorFinding, Problem, RegionFailure, Severity, with_failures
from strongref_cli.doctor.examination import Diagnosis, Examination
from strongref_cli.install.installed import installed_in, read_lag, settings
from strongref_cli.install.reports import differences
from strongref_cli.overview.reading import OverviewReader
from strongref_cli.overview.region_reading import name_unread, status
from strongref_cli.overview.texts import participant_document, short_text, unread_document
from strongref_cli.terminal.output import Result, TextTable, WaitNotice, ask_about, count, progress, show
from strongref_toolkit.log import no_log
from strongref_toolkit.session import ToolSession, chosen_regions
from strongref_toolkit.threads import in_regions

if TYPE_CHECKING:
    import argparse

    from strongref_cli.install.plan import Found


_MOST_STACKS = 3
"""That are named next to a finding."""


def examine(args: argparse.Namespace, session: ToolSession) -> int:
    regions = chosen_regions(session, args.region, everywhere=args.all_regions)
    aws = session.aws(None, None)

    def examination(step: Callable[[str], None], **more: Any) -> Examination:
        reader = OverviewReader(aws, step, leaves_newer=True)
        return Examination(replace(ports, **more), session.clock, aws.accounts.own, reader, step)

    with no_log(), progress("Examining") as step:
        ports = session.ports(aws.accounts.own, settings(session), read_lag(session, regions))
        found = _diagnosed(session, examination(step), regions)
    name_unread(found.unread)
    repairable = sorted({each.region for each in found.problems if each.severity is Severity.REPAIRABLE})
    abroad = sorted({each.region for each in found.problems if each.kind is DoctorFinding.OTHER_ACCOUNTS})
    if not (args.fix and (repairable or abroad)):
        show(_diagnosis(found), args)
        return _status(found)
    ask_about(_diagnosis(found), args, "Repair what --fix can?")
    with no_log(), progress("Repairing") as step:
        again = examination(step, waits=WaitNotice(step))
        repaired, failures = again.repair(repairable)
        step("other accounts")
        tended, failed = in_regions(abroad, lambda region: list(invoke_janitor(session, region)))
        failures += [RegionFailure(region, error) for region, error in failed.items()]
    there = list(chain(*tended.values()))
    with no_log(), progress("Examining again"):
        left = _diagnosed(session, again, regions)
    name_unread(each for each in left.unread if each.region not in {before.region for before in found.unread})
    unread = {each.region for each in left.unread}
    failures = [each for each in failures if each.called_in not in unread]
    needed = [each for each in there if each.severity is not Severity.REPAIRABLE]
    left = replace(left, problems=(*needed, *with_failures(left.problems, failures)))
    still = {each.identity for each in left.problems}
    repaired += [each for each in there if each.severity is Severity.REPAIRABLE]
    repaired += [
        each for each in found.problems if each.kind is FindingType.EXPIRED_FENCE and each.region in left.regions
    ]
    show(_diagnosis(left, [each for each in repaired if each.identity not in still]), args)
    if failures:
        raise failures[0].error
    return _status(left)


def _status(found: Diagnosis) -> int:
    return status(found.unread, int(any(each.severity is not Severity.NOTE for each in found.problems)))


def _diagnosed(session: ToolSession, examination: Examination, regions: Sequence[str]) -> Diagnosis:
    """What is wrong in regions, and with what is installed there; errors as for `Examination.examine`."""
    found = examination.examine(regions)
    installed = examination.reader.everywhere(found.regions, partial(installed_in, session))
    problems = (each for each in found.problems if each.region in installed)
    differing = _differing(list(installed.values()))
    return Diagnosis(tuple(installed), (*differing, *problems), examination.reader.unread)


def _differing(found: Sequence[Found]) -> Iterator[Problem]:
    """Regions whose installation is of another version than that of others."""
    for each in differences(found, everywhere=False):
        if each.what == "version":
            listed = ", ".join(f"{version} in {region}" for region, version in sorted(each.values.items()))
            subject, step = f"strongref is {listed}", "run strongref install in all of them"
            yield Problem(found[0].region, DoctorFinding.VERSION_DIFFERS, Severity.ACTION, subject, step)


def _diagnosis(found: Diagnosis, repaired: Sequence[Problem] = ()) -> Result:
    problems, regions = found.problems, found.regions
    rows = [
        (
            each.region,
            each.kind,
            each.subject,
            some([short_text(who, each.region) for who in each.stacks], _MOST_STACKS),
            each.next_step,
        )
        for each in problems
    ]
    counts = Counter(each.severity for each in problems)
    parts = [
        f"{counts[Severity.REPAIRABLE]:,} that --fix repairs",
        f"{counts[Severity.ACTION]:,} that {'needs' if counts[Severity.ACTION] == 1 else 'need'} a person",
        f"{counts[Severity.NOTE]:,} to know",
    ]
    where = some(regions, 5)
    summary = f"Nothing is wrong in {where}."
    if problems:
        summary = f"{count(len(problems), 'finding', 'in')} {where}: {', '.join(parts)}."
    notes = [f"Repaired: {some([f'{each.kind} ({each.subject})' for each in repaired], 10)}."] if repaired else []
    if any(len(each.stacks) > _MOST_STACKS for each in problems):
        notes.append("--output json names all stacks.")
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
