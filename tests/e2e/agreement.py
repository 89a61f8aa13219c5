"""Asks `strongref check` before each deployment of the scenarios, and compares its prediction with what happens.

What is predicted as refused has to be refused, in the same words; what is predicted as accepted or lost must not be.
Then what is added is there afterwards, what is dropped is not, and after an accepted deployment what was imported has
the value that it had. An error of `check` fails its scenario, unless the macro refuses the template.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from botocore.exceptions import ClientError

from strongref.contract.names import ExportScope, Producer, Site
from strongref.contract.requests import EXPORT_TYPE, IMPORT_TYPE
from strongref.macro.errors import TransformFailedError
from strongref_cli.check.checking import StackCheck
from strongref_cli.check.comparison import Comparison
from strongref_cli.check.reading import StackReader
from strongref_cli.check.report import ChangeKind, StackReport, Verdict
from strongref_cli.check.stored import Location
from strongref_manifests.text.templates import read
from strongref_toolkit.session import ToolSession

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tests.e2e.harness import Aws, Template

_ENDED = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE")
_FAILED = ("CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED")
_BY_CLOUDFORMATION = ("Cannot delete export", "Cannot update export")
"""What CloudFormation says of an export that is in use."""
_BY_TEMPLATE = ("Requested attribute", "could not be resolved: parameter")
"""What the emulator says of an attribute that was not returned, and of a parameter that is not there."""
_NO_HOLD = "which protects what is imported, could not be made"
"""What an Import says if CloudFormation fails to create a hold stack, which nobody can predict."""
_SESSIONS: dict[tuple[str, str], ToolSession] = {}
"""By the URL of an emulator, and the account: to make clients takes longer than to ask."""
_CLEANUP = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"


@dataclass
class Agreement:
    """Compares predictions with outcomes.

    Attributes:
        counts: a file that gets a line for each comparison: what was predicted, and for which stack.
    """

    counts: Path
    reports: list[StackReport] = field(default_factory=list)

    @contextmanager
    def deploying(
        self, aws: Aws, stack: str, template: Template | str, region: str, options: Mapping[str, Any]
    ) -> Iterator[None]:
        # Unlike the commands that deploy templates, the harness lets go of the values of earlier deployments.
        template = read("template.yaml", template).content if isinstance(template, str) else template
        declared = template.get("Parameters", {})
        given = {name: str(each["Default"]) for name, each in declared.items() if "Default" in each}
        listed = {each["ParameterKey"]: each["ParameterValue"] for each in options.get("Parameters", ())}
        given |= {name: value for name, value in listed.items() if name in declared}
        with self._compared(aws, stack, region, lambda check: check.template(stack, template, given)):
            yield

    @contextmanager
    def deleting(self, aws: Aws, stack: str, region: str) -> Iterator[None]:
        with self._compared(aws, stack, region, lambda check: check.deletion(stack)):
            yield

    @contextmanager
    def _compared(self, aws: Aws, stack: str, region: str, ask: Any) -> Iterator[None]:
        with patch.dict(os.environ, aws.emulator.env(aws.account, region)):
            session = _SESSIONS.setdefault((aws.emulator.url, aws.account), ToolSession.start())
            check, report = StackCheck(StackReader(session, region)), None
            with suppress(TransformFailedError):  # CloudFormation gets the same error
                report = ask(check)
            places, imported = _imported(check.reader, stack)
        values = {name: value for name, value in _values(aws, places).items() if name in imported}
        before = _events(aws, stack, region)
        yield
        if _events(aws, stack, region) == before:
            return  # there was nothing to update
        if report and (
            any(each.exports or each.imports for each in report.all_stacks) or report.verdict is not Verdict.ACCEPTED
        ):
            self.reports.append(report)
            with self.counts.open("a") as file:
                file.write(f"{report.verdict} {stack}\n")
            compare(report, aws, stack, region)
            compare_values(report, aws, values)


def compare(report: StackReport, aws: Aws, stack: str, region: str) -> None:
    """Fail if an operation that has ended has ended in another way than it was predicted."""
    refused, reasons = _refused(aws, stack, region), "\n".join(aws.reasons(stack, region))
    predicted = f"{stack} was predicted as {report}, and its events say: {reasons}"
    if report.verdict is Verdict.REFUSED:
        assert refused, predicted
        by_stack = any(each.verdict is Verdict.REFUSED for each in report.findings)
        if by_stack and any(text in reasons for text in (*_BY_CLOUDFORMATION, *_BY_TEMPLATE)):
            return
        certain = [
            each.reasons[0]
            for each in report.resources
            if each.verdict is Verdict.REFUSED and len(each.reasons) == 1 and "Fn::GetAtt" not in each.reasons[0]
        ]
        is_certain = by_stack or certain  # What comes first ends the operation: a resource, or the stack's outputs.
        assert not is_certain or any(text in reasons for text in certain), predicted
    elif report.verdict is not Verdict.UNKNOWN:
        assert not refused or any(each.verdict is Verdict.LOST for each in report.findings), predicted


def compare_values(report: StackReport, aws: Aws, imported: Mapping[tuple[Site, str], str]) -> None:
    """Fail if an operation that was predicted as accepted or lost has left other values than that.

    Args:
        report: what was predicted.
        aws: where.
        imported: the values that were imported before, by site and name.
    """
    if report.verdict not in (Verdict.ACCEPTED, Verdict.LOST):
        return
    kinds: dict[tuple[Site, str], set[ChangeKind]] = {}
    names: dict[tuple[Site, str], str] = {}
    places = set()
    for change in (change for each in report.exports for change in each.changes):
        scope = ExportScope(change.consumer, Producer(aws.account, report.region, report.stack))
        site = Site(change.region, change.account)
        places.add(Location(site, scope))
        kinds.setdefault((site, scope.parameter_name(change.key)), set()).add(change.kind)
        names[site, scope.parameter_name(change.key)] = change.name
    propagated = {each.text.split(" ")[0] for each in report.findings if " the old value until " in each.text}
    places |= {Location(site, found) for site, name in imported if (found := ExportScope.of("exports", name))}
    after, events = _values(aws, places), aws.events(report.stack, report.region)
    predicted = f"{report} was predicted, and there is {sorted(after)}"
    if events[-1]["ResourceStatus"] in _ENDED and not any(each["ResourceStatus"] in _FAILED for each in events):
        for at, all_kinds in kinds.items():
            assert at in after or not all_kinds & {ChangeKind.ADDED, ChangeKind.CHANGED}, predicted
            assert at not in after or not all_kinds <= {ChangeKind.DROPPED}, predicted
    if report.verdict is Verdict.ACCEPTED:
        kept = {at: value for at, value in imported.items() if names.get(at) not in propagated}
        assert {at: after.get(at) for at in kept} == kept, predicted


def _imported(reader: StackReader, name: str) -> tuple[set[Location], set[tuple[Site, str]]]:
    """Where a stack exports, and the sites and names of what is imported from it."""
    stack = reader.stack(name)
    if stack is None or stack.version is None:
        return set(), set()
    scopes = reader.stored(stack, Comparison(stack.version, stack.version)).scopes
    names = {
        (at.site, at.scope.parameter_name(key))
        for (_, at), found in scopes.items()
        for key, tags in found.tags.items()
        if tags.importers
    }
    return {at for _, at in scopes}, names


def _values(aws: Aws, places: Iterable[Location]) -> dict[tuple[Site, str], str]:
    """What is exported in places, by site and name."""
    return {
        (at.site, name): value
        for at in places
        for there in [replace(aws, account=at.site.account) if at.site.account else aws]
        for name, value in there.values(at.site.region, at.scope.path("exports")).items()
    }


def _events(aws: Aws, stack: str, region: str) -> list[str]:
    """The IDs of the events of a stack's last operation; none if it does not exist."""
    try:
        return [event["EventId"] for event in aws.events(stack, region)]
    except (KeyError, ClientError):
        return []


def _refused(aws: Aws, stack: str, region: str) -> bool:
    """Whether an Export or an Import refused a stack's last operation, or CloudFormation did for its exports."""
    for event in aws.events(stack, region):
        reason = event.get("ResourceStatusReason", "")
        if event["ResourceStatus"] == _CLEANUP:
            return False  # what fails from here on is not refused
        if any(text in reason for text in (*_BY_CLOUDFORMATION, *_BY_TEMPLATE)):
            return True
        is_ours = event["ResourceType"] in (EXPORT_TYPE, IMPORT_TYPE)
        is_broken = "cancelled" in reason or _NO_HOLD in reason
        if is_ours and event["ResourceStatus"] in _FAILED and not is_broken:
            return True
    return False
