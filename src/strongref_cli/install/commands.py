"""`strongref install`, `status` and `uninstall`: the suite in many regions."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from strongref import __version__
from strongref.errors import StrongRefError
from strongref.text import did_you_mean, some
from strongref_cli.install.apply import dry_run, install, remove
from strongref_cli.install.bucket import CodeBucket, bucket_name
from strongref_cli.install.errors import FAILURES
from strongref_cli.install.installed import find, leftovers, uses
from strongref_cli.install.packaging import declared_parameters, parameter_problem
from strongref_cli.install.plan import BAD, Found, RegionOutcome, RegionResult, Wanted, plan_install
from strongref_cli.install.release import load_release
from strongref_cli.install.removal import (
    WITHOUT_FUNCTIONS,
    Leftovers,
    PlannedRemoval,
    all_or_nothing,
    leftover_texts,
    plan_removal,
)
from strongref_cli.install.reports import outcome_report, status_report
from strongref_cli.install.stacks import RegionStacks
from strongref_cli.install.suite import load_suite
from strongref_cli.terminal.options import pairs
from strongref_cli.terminal.output import ask, progress, show
from strongref_toolkit.errors import UsageError
from strongref_toolkit.session import ToolSession, chosen_regions
from strongref_toolkit.threads import in_threads

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from strongref_cli.install.plan import InstallPlan
    from strongref_cli.install.suite import Suite

T = TypeVar("T")

_WITH_CODE = (RegionResult.INSTALLED, RegionResult.UPDATED, RegionResult.WOULD_INSTALL, RegionResult.WOULD_UPDATE)
"""Results that are about this command's version of the code."""


class _Region(NamedTuple):
    name: str
    stacks: RegionStacks
    bucket: CodeBucket
    step: Callable[[str], None]  # shows what is done now

    def show(self, what: str) -> None:
        self.step(f"{what} in {self.name}")


class _Run:
    def __init__(self, args: argparse.Namespace, session: ToolSession) -> None:
        self.names = chosen_regions(session, args.region, everywhere=args.all_regions)
        self.session, self.stack = session, str(args.stack)
        self.account = session.accounts(self.names[0], None).own
        self.prefix = getattr(args, "bucket", None)

    def everywhere(self, what: str, work: Callable[[_Region], T]) -> list[T]:
        """The results of some work in every region, in the order of the regions, side by side."""
        with progress(what) as step:
            return in_threads([partial(work, self._region(name, step)) for name in self.names])

    def _region(self, name: str, step: Callable[[str], None]) -> _Region:
        stacks, bucket = RegionStacks.of(self.session, name), bucket_name(self.account, name, self.prefix)
        code = CodeBucket(stacks.aws, stacks.where, self.account, bucket, is_ours=not self.prefix)
        return _Region(name, stacks, code, step)


def install_suite(args: argparse.Namespace, session: ToolSession) -> int:
    suite = load_release(Path(args.release)) if args.release else load_suite()
    declared = declared_parameters(suite.template)
    parameters, tags = given_parameters(args.parameter, declared), pairs("--tag", args.tag)
    wanted = Wanted(args.stack, suite.version, tuple(declared), parameters, tags, args.force)
    run = _Run(args, session)

    def in_region(region: _Region) -> RegionOutcome:
        try:
            plan = planned(region.stacks, region.bucket, wanted, suite)
            if args.dry_run:
                return dry_run(plan)
            return install(plan, suite, region.stacks, region.bucket, region.show)
        except FAILURES as error:
            return RegionOutcome(region.name, RegionResult.FAILED, details=(str(error),))

    outcomes = run.everywhere("Installing", in_region)
    notes = suite.notes if any(each.result in _WITH_CODE for each in outcomes) else ()
    show(outcome_report(outcomes, __version__, notes, dry_run=args.dry_run), args)
    return int(any(each.result in BAD for each in outcomes))


def planned(stacks: RegionStacks, bucket: CodeBucket, wanted: Wanted, suite: Suite) -> InstallPlan:
    """What an installation would do in a region. Raises `AwsCallError`: CloudFormation does not say what is there."""
    found = find(stacks, wanted.stack, with_template=True)
    return plan_install(found, wanted, suite.template_for(bucket.uri))


def given_parameters(
    options: list[str], declared: Mapping[str, Mapping[str, str]], what: str = "the installation"
) -> dict[str, str]:
    """The values of --parameter, by name. Raises `UsageError`: the template does not take one."""
    parameters = pairs("--parameter", options)
    for name, value in parameters.items():
        if name not in declared:
            hint = did_you_mean(get_close_matches(name, declared, 1), f"The parameters are {', '.join(declared)}.")
            raise UsageError(f"--parameter {name}: {what} has no such parameter. {hint}")
        if problem := parameter_problem(declared[name], value):
            raise UsageError(f"--parameter {name} is not valid: {problem.rstrip('.')}.")
    return parameters


def show_status(args: argparse.Namespace, session: ToolSession) -> int:
    run = _Run(args, session)

    def in_region(region: _Region) -> Found | RegionOutcome:
        try:
            return replace(find(region.stacks, run.stack), trusted=region.stacks.trusted())
        except FAILURES as error:
            return RegionOutcome(region.name, RegionResult.FAILED, details=(str(error),))

    results = run.everywhere("Reading", in_region)
    found = [each for each in results if isinstance(each, Found)]
    failed = [each for each in results if isinstance(each, RegionOutcome)]
    report = status_report(found, failed, __version__, everywhere=not args.all_regions)
    show(report, args)
    return int(not report.document["healthy"])


def uninstall_suite(args: argparse.Namespace, session: ToolSession) -> int:
    run = _Run(args, session)
    removals = run.everywhere("Looking for stacks that use it", lambda region: _examined(region, run))
    outcomes, refused = all_or_nothing(each.outcome for each in removals)
    notes = ["Nothing was removed: remove what uses strongref first, or name other regions."] if refused else []
    if not refused:
        planned = {each.outcome.region: each for each in removals}
        if not args.dry_run:
            nothing = not any(each.stack for each in removals)
            ask(f"Uninstall strongref from {some(planned, 5)}?", yes=args.yes or nothing)
            outcomes = run.everywhere(
                "Uninstalling", lambda region: _removed(region, planned[region.name], purge=args.purge)
            )
        for each in removals:
            notes += leftover_texts(each.outcome.region, each.leftovers, purge=args.purge, dry_run=args.dry_run)
    if args.all_regions:
        there = [each for each in outcomes if each.details or each.result is not RegionResult.NOT_INSTALLED]
        if not there:
            notes.append(f"strongref is installed in none of {len(outcomes)} regions.")
        outcomes = there
    show(outcome_report(outcomes, __version__, notes, dry_run=args.dry_run), args)
    return int(any(each.result in BAD for each in outcomes))


def _examined(region: _Region, run: _Run) -> PlannedRemoval:
    """What removing a region's installation would do; nothing is changed."""
    try:
        found = find(region.stacks, run.stack)
        in_use = found.stack is not None and found.stack.status not in WITHOUT_FUNCTIONS
        users = uses(region.stacks, run.stack) if in_use else []
        store = run.session.ports().stores(region.name, run.session.clock)
        return PlannedRemoval(plan_removal(found, users), leftovers(region.bucket, store), found.stack)
    except StrongRefError as error:
        return PlannedRemoval(RegionOutcome(region.name, RegionResult.FAILED, details=(str(error),)), Leftovers())


def _removed(region: _Region, removal: PlannedRemoval, *, purge: bool) -> RegionOutcome:
    outcome, stack = removal.outcome, removal.stack
    try:
        if stack:
            remove(region.stacks, stack.arn, region.show, protected=stack.protected)
            outcome = RegionOutcome(region.name, RegionResult.REMOVED, outcome.before)
        if purge and removal.leftovers.bucket:
            region.show("deleting code")
            stays = f"the bucket {region.bucket.name} stays; strongref's objects are deleted"
            text = "bucket deleted" if region.bucket.purge() else stays
            outcome = RegionOutcome(region.name, outcome.result, outcome.before, (*outcome.details, text))
    except FAILURES as error:
        return RegionOutcome(region.name, RegionResult.FAILED, outcome.before, (str(error),))
    return outcome
