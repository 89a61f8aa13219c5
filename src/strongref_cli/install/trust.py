"""`strongref trust`: the stack by which this account lets another one export values into it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from strongref_cli.install.apply import deploy, preview, remove
from strongref_cli.install.commands import given_parameters
from strongref_cli.install.errors import InstallError
from strongref_cli.install.packaging import declared_parameters
from strongref_cli.install.plan import IN_REVIEW, TRUST, Found, RegionOutcome, RegionResult, Wanted, plan_install
from strongref_cli.install.removal import plan_removal
from strongref_cli.install.stacks import RegionStacks
from strongref_cli.terminal.output import Result, TextTable, ask, progress, put_out, show
from strongref_toolkit.errors import UsageError
from strongref_toolkit.session import one_region

if TYPE_CHECKING:
    import argparse

    from strongref_toolkit.session import ToolSession

TEMPLATE = Path(__file__).with_name("trust.yaml")
ROLE = "strongref-writer-"
"""What the role's name begins with; then the account."""

_PRODUCER = "Producer"
_CAPABILITIES = ["CAPABILITY_NAMED_IAM"]
_EXISTS = ("already exists", "AlreadyExists", "ResourceExistenceCheck")
"""In the reasons of change sets and resources whose name is in use. There is no code for it."""


def trust_account(args: argparse.Namespace, session: ToolSession) -> int:
    producer, template = args.producer, TEMPLATE.read_text("utf-8")
    if not re.fullmatch(r"[0-9]{12}", producer, re.ASCII):
        raise UsageError(f"PRODUCER must be an account ID of 12 digits, got {producer!r}")
    if args.template:
        put_out(template.encode())
        return 0
    region = one_region(args.region)
    declared = declared_parameters(template)
    options = {name: each for name, each in declared.items() if name != _PRODUCER}
    given = given_parameters(args.parameter, options, "the trust")
    if producer == session.accounts(region, None).own:
        raise UsageError(f"{producer} is this account itself, which needs no trust")
    stacks = RegionStacks.of(session, region)
    found = _find(stacks, producer)
    if args.remove:
        outcome = _removed(found, stacks, producer, yes=args.yes)
    else:
        removal, parameters = f"strongref trust {producer} --remove", {**given, _PRODUCER: producer}
        wanted = Wanted(TRUST + producer, None, tuple(declared), parameters, protected=False, removal=removal)
        outcome = _deployed(found, stacks, wanted, template, yes=args.yes)
    show(_report(producer, outcome), args)
    return 0


def _find(stacks: RegionStacks, producer: str) -> Found:
    """The stack of an account in a region, if there is one. Raises `InstallError`: it is another one."""
    region, name = stacks.where.region, TRUST + producer
    stack = stacks.find(name, with_template=True)
    if stack and stack.status != IN_REVIEW and stack.parameters.get(_PRODUCER) != producer:
        raise InstallError(f"The stack {name} in {region} is not one of strongref trust. Delete it first.")
    if not stack and (other := stacks.trusted().get(producer)):
        problem = f"The stack {other} in {region} trusts account {producer}."
        raise InstallError(f"{problem} Update or delete it with the tool that created it.")
    return Found(region, stack)


def _deployed(found: Found, stacks: RegionStacks, wanted: Wanted, template: str, *, yes: bool) -> RegionOutcome:
    plan, producer = plan_install(found, wanted, template), wanted.parameters[_PRODUCER]
    if outcome := preview(plan):
        if outcome.result is RegionResult.REFUSED:
            raise InstallError(plan.reason)
        return outcome
    what = f"Let account {producer} export values into this account"
    ask(f"{what}{' with changes' if plan.changes else ''}? {'; '.join(plan.changes)}".rstrip(), yes=yes)
    try:
        with progress(f"Trusting {producer}") as step:
            body = {"TemplateBody": template, "Capabilities": _CAPABILITIES}
            return RegionOutcome(found.region, deploy(plan, body, stacks, step), details=plan.changes)
    except InstallError as error:
        if plan.changes or not any(each in error.problem for each in _EXISTS):
            raise
        problem = f"The role {ROLE}{producer} exists already. Did strongref trust create it in another region?"
        raise InstallError(f"{problem} Then give that --region. Otherwise delete the role first.") from None


def _removed(found: Found, stacks: RegionStacks, producer: str, *, yes: bool) -> RegionOutcome:
    outcome = plan_removal(found, ())
    if not found.stack:
        problem = f"There is no stack {TRUST}{producer} in {found.region}, so nothing was removed."
        raise InstallError(f"{problem} If it is in another region, give that --region.")
    if outcome.result is RegionResult.REFUSED:
        raise InstallError(" ".join(outcome.details))
    ask(f"No longer let account {producer} export values into this account?", yes=yes)
    with progress(f"Removing the trust in {producer}") as step:
        remove(stacks, found.stack.arn, step, protected=found.stack.protected)
    note = f"What account {producer} has published stays."
    return RegionOutcome(found.region, RegionResult.REMOVED, details=(note,))


def _report(producer: str, outcome: RegionOutcome) -> Result:
    details, name = outcome.details, TRUST + producer
    rows = [(name, outcome.region, outcome.result.value, "; ".join(details))]
    data = {"account": producer, "stack": name, "region": outcome.region, "result": outcome.result.value}
    return Result([TextTable(("STACK", "REGION", "RESULT", "DETAILS"), rows)], {**data, "details": list(details)})
