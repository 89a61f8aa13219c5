"""What a region exports to other accounts: only its janitor may look there, so `doctor --fix` invokes that."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError

from strongref.aws.clients import Clients
from strongref.contract.index import INDEX
from strongref.contract.names import Site
from strongref.protocol.findings import Finding, FindingType
from strongref.runtime.schedule import ABROAD, ONLY
from strongref_cli.doctor.diagnosis import DoctorFinding, Problem, Severity, problem_of
from strongref_cli.install.errors import InstallError
from strongref_cli.install.installed import installed_in
from strongref_cli.install.stacks import RegionStacks

if TYPE_CHECKING:
    from strongref_toolkit.session import ToolSession

_JANITOR = "Janitor"
"""Its logical ID in template.yaml."""

_KINDS = {kind.value: kind for kind in FindingType}

_PLACE = 7
"""Slashes in the name of an index parameter that names a place."""


def exported_abroad(region: str, account: str, names: Collection[str]) -> Iterator[Problem]:
    """That a region exports to other accounts, given the names of its parameters."""
    named = [name.split("/") for name in names if name.startswith(f"{INDEX}/") and name.count("/") == _PLACE]
    if accounts := sorted({parts[5] for parts in named} - {account}):
        subject = f"exports to {', '.join(accounts)}"
        step = "only the janitor may look there, and it does every 15 minutes; --fix invokes it now"
        yield Problem(region, DoctorFinding.OTHER_ACCOUNTS, Severity.NOTE, subject, step)


def invoke_janitor(session: ToolSession, region: str) -> Iterator[Problem]:
    """Have the janitor of a region look after what is exported to other accounts; what it has found and repaired.

    Raises:
        InstallError: there is none, or it failed.
        AwsCallError: it cannot be invoked.
    """
    stacks, found = RegionStacks.of(session, region), installed_in(session, region)
    stack = found.stack.arn if found.stack else found.elsewhere
    function = stacks.resource(stack, _JANITOR) if stack else None
    if not function:
        raise InstallError(f"strongref is not installed in {region}, so no janitor can look into other accounts.")
    name, payload = function["PhysicalResourceId"], json.dumps({ONLY: ABROAD}).encode()
    answer = stacks.aws.call(
        stacks.where, "Invoke", f"function {name}", Clients.answering, FunctionName=name, Payload=payload
    )
    try:
        returned = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            kind = returned.get("errorType", answer["FunctionError"])
            raise InstallError(f"The janitor of {region} failed with {kind}. See the log of the function {name}.")
        findings = returned["Findings"]
    except (BotoCoreError, ValueError, TypeError, KeyError):
        problem = f"The janitor of {region} ran, but its findings could not be read"
        raise InstallError(f"{problem}. Is its version that of this command? strongref status shows both.") from None
    for each in findings:
        site = Site(each["Region"], each["Account"]) if each["Account"] else None
        kind = _KINDS.get(each["Kind"], FindingType.FAILED_CALL)  # That of another version has others.
        finding = Finding(kind, each["Parameter"], tuple(each["Stacks"]), each["Why"], site)
        yield problem_of(region, finding)
    if returned["Continues"]:
        step = "its findings are in its log"
        yield Problem(region, DoctorFinding.IN_PROGRESS, Severity.NOTE, f"the janitor of {region} goes on", step)
