"""One check from its question to its answer, for a stack and for those that are nested in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.names import StackArn
from strongref.grouping import grouped
from strongref.protocol.installations import not_installed_text
from strongref.text import some
from strongref_cli.check.cdk_writers import left_writers
from strongref_cli.check.comparison import Comparison
from strongref_cli.check.deletion import predict_deletion
from strongref_cli.check.expansion import expand
from strongref_cli.check.imports import Assumed, ImportsCheck, exported_keys, missing_parameters
from strongref_cli.check.making import made_change_set
from strongref_cli.check.parameters import described_names, kept_or_given, new_names
from strongref_cli.check.prediction import predict
from strongref_cli.check.report import ChangeKind, StackFinding, StackReport, Verdict
from strongref_cli.check.resource_types import types_in
from strongref_cli.check.unknown import SourceKind
from strongref_cli.check.updates import ResourceChange
from strongref_cli.check.version import NOTHING, StackVersion
from strongref_toolkit.cloudformation import NESTED_STACK
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    from strongref.macro.template import Template
    from strongref_cli.check.reading import ChangeSet, DeployedStack, StackReader
    from strongref_manifests.text.templates import TemplateText


class Operation(NamedTuple):
    """What one update does to a stack and to those that are nested in it: their ARNs."""

    updated: frozenset[str]
    deleted: frozenset[str]  # in the cleanup

    def __or__(self, other: Operation) -> Operation:
        return Operation(self.updated | other.updated, self.deleted | other.deleted)


@dataclass(frozen=True, slots=True)
class StackCheck:
    reader: StackReader
    assumed: Assumed = field(default_factory=dict)  # what other stacks will export by then

    def template(self, name: str, template: Template, given: Mapping[str, str]) -> StackReport:
        """What the deployment of a template would do, with these values of its parameters.

        Raises:
            StrongRefError: the template or its parameters are not valid, or something could not be read.
        """
        stack = self.reader.stack(name) or self.reader.new_stack(name)
        names = {**new_names(template, given, stack.parameters), **stack.names}
        expanded = expand(template, names)
        if expanded.left:
            left = some(expanded.left)
            text = f"The template has {left}, which only CloudFormation carries out: create a change set."
            return StackReport(name, self.reader.region, findings=(StackFinding(Verdict.UNKNOWN, text),))
        comparison = self._compared(stack, StackVersion.of(expanded.template, names))
        return self._predicted(stack, comparison, self._operation(stack, comparison, {}))

    def assuming(self, templates: Mapping[str, Template]) -> StackCheck:
        """The same, once these templates have been deployed as stacks of these names."""
        assumed = {}
        for name, template in templates.items():
            names = {**described_names(template, {}, hidden=SourceKind.CHANGING), **self.reader.new_stack(name).names}
            assumed[name] = exported_keys(StackVersion.of(expand(template, names).template, names))
        return replace(self, assumed=assumed)

    def expect(self, name: str, *, new: bool) -> None:
        """Make sure that a stack exists or, if it is new, does not. Raises `UsageError`: it is the other way round."""
        if not new:
            self._existing(name)
        elif (stack := self.reader.stack(name)) and stack.version:
            raise UsageError(f"Stack {name} exists in {self.reader.region}. Leave --new out.")

    def made_change_set(self, name: str, template: TemplateText, given: Mapping[str, str]) -> StackReport:
        """What the deployment of a template would do, by a change set that is made, read and deleted.

        Errors are as for `template`, `change_set` and `making.made_change_set`.
        """
        stack = self.reader.stack(name) or self.reader.new_stack(name)
        parameters = kept_or_given(template.content, given, stack.parameters)
        with made_change_set(self.reader.with_texts(), stack.arn.name, stack.status, template.text, parameters) as made:
            return StackCheck(self.reader.again(), self.assumed).change_set(name, made)

    def change_set(self, name: str, change_set: str) -> StackReport:
        """What the execution of a change set would do.

        Raises:
            UsageError: there is no such stack, or no such change set.
            StrongRefError: something could not be read.
        """
        stack = self._existing(name)
        found = self.reader.change_set(stack, change_set)
        comparison = self._compared(stack, found.version, found.changes)
        return self._change_set(stack, found, self._operation(stack, comparison, found.nested))

    def deletion(self, name: str) -> StackReport:
        """What the deletion of a stack would do. Raises `UsageError`: there is no such stack; others as `template`."""
        stack = self._existing(name)
        return self._deletion(stack, self._tree(str(stack.arn), deleted=True))

    def _compared(
        self, stack: DeployedStack, new: StackVersion, changes: Mapping[str, ResourceChange] | None = None
    ) -> Comparison:
        return Comparison(stack.version or NOTHING, new, changes, types_in(self.reader.region))

    def _operation(self, stack: DeployedStack, comparison: Comparison, nested: Mapping[str, str]) -> Operation:
        """What an update of a stack does to it and the stacks in it, given the change sets of those, by logical ID."""
        operation = Operation(frozenset([str(stack.arn)]), frozenset())
        for logical_id, arn in stack.nested.items():
            below = self.reader.stack(arn)
            if comparison.leaves(logical_id):
                operation |= Operation(frozenset(), self._tree(arn, deleted=True))
            elif below and logical_id in nested:
                found = self.reader.change_set(below, nested[logical_id])
                if found.changes:
                    changed = self._compared(below, found.version, found.changes)
                    operation |= self._operation(below, changed, found.nested)
            elif comparison.may_change(logical_id):
                operation |= Operation(self._tree(arn), frozenset())
        return operation

    def _change_set(self, stack: DeployedStack, change_set: ChangeSet, operation: Operation) -> StackReport:
        nested, changes = [], dict(change_set.changes)
        for logical_id, arn in change_set.nested.items():
            # A nested stack that is new has no exports that are in use.
            if logical_id in stack.nested and (below := self.reader.stack(stack.nested[logical_id])):
                found = self.reader.change_set(below, arn)
                nested.append(self._change_set(below, found, operation))
                if not found.changes:
                    changes[logical_id] = ResourceChange.NOTHING
        comparison = self._compared(stack, change_set.version, changes)
        report = self._predicted(stack, comparison, operation, change_set.nested)
        return replace(report, nested=(*nested, *report.nested))

    def _predicted(
        self, stack: DeployedStack, comparison: Comparison, operation: Operation, known: Collection[str] = ()
    ) -> StackReport:
        """The prediction for a stack, and for the nested stacks that leave its template.

        Those whose logical IDs are in `known` are predicted by themselves. The operation is the whole update.
        """
        stored = self.reader.stored(stack, comparison, comparison.outputs_at_risk())
        changing = operation.updated - {str(stack.arn)}
        report = predict(stack.arn, comparison, stored, changing)
        names = {StackArn.parse(each).name for each in changing}
        read = partial(self.reader.importable, stack)
        imports = tuple(ImportsCheck(stack.arn, comparison, read, self.assumed, names).predictions())
        findings = [*report.findings, *self._not_installed(comparison), *self._nobody_imports(report)]
        findings, nested = [*findings, *_in_progress(stack)], []
        if stack.status in _STUCK:
            text = f"Stack {stack.arn.name} is {stack.status}, and CloudFormation does not update it: "
            findings.append(StackFinding(Verdict.REFUSED, f"{text}{_STUCK[stack.status]} first."))
        if not stack.status:
            text = f"Stack {stack.arn.name} does not exist in {stack.arn.region}: this creates it. "
            text += "If it should exist, check the name, the region and the account."
            findings.append(StackFinding(Verdict.ACCEPTED, text))
        findings += missing_parameters(comparison.new.reads, self.reader.has_parameter)
        findings += left_writers(comparison.old, comparison.new, self.reader.tags)
        others = [each for each in comparison.new.of_type(NESTED_STACK) if each in stack.nested and each not in known]
        touched = filter(comparison.may_change, others)
        if unknown := [each for each in touched if self._is_exporting(stack.nested[each])]:
            text = f"{some(unknown)} with exports may change: create a change set that includes nested stacks."
            findings.append(StackFinding(Verdict.UNKNOWN, text))
        for logical_id, arn in stack.nested.items():
            below = self.reader.stack(arn)
            if below and comparison.leaves(logical_id):
                deleted = self._deletion(below, operation.deleted)
                findings += _removed(logical_id, deleted)
                nested.append(replace(deleted, in_cleanup=True))
        if any(map(self._is_exporting, stack.nested.values())):
            findings.append(StackFinding(Verdict.ACCEPTED, _ROOT))
        return replace(report, imports=imports, findings=tuple(findings), nested=tuple(nested))

    def _deletion(self, stack: DeployedStack, going: frozenset[str]) -> StackReport:
        if stack.version is None:
            return StackReport(stack.arn.name, stack.arn.region)
        comparison = Comparison(stack.version, stack.version)
        stored = self.reader.stored(stack, comparison, stack.version.outputs)
        report = predict_deletion(stack.arn, stack.version, stored, going)
        below = (self.reader.stack(arn) for arn in _nested(stack, deleted=True))
        nested = tuple(self._deletion(each, going) for each in below if each)
        findings = [*report.findings, *left_writers(stack.version, None, self.reader.tags), *_in_progress(stack)]
        if any(each.verdict in (Verdict.REFUSED, Verdict.LOST) for each in nested):
            findings.append(StackFinding(Verdict.LOST, _ROOT))
        return replace(report, findings=tuple(findings), nested=nested)

    def _not_installed(self, comparison: Comparison) -> Iterator[StackFinding]:
        """New Exports and Imports whose service token no stack of the region exports."""
        if comparison.changes is not None:
            return  # CloudFormation has looked it up.
        new = filter(comparison.is_new, [*comparison.new.exports, *comparison.new.imports])
        users = grouped((token, each) for each in new if (token := comparison.new.imported_token(each)))
        for token, resources in users.items():
            if not self.reader.has_export(token):
                region, who = self.reader.region, some(resources)
                text = f"No stack in {region} exports {token}, which the ServiceToken of {who} imports. "
                yield StackFinding(Verdict.REFUSED, f"{text}Install strongref in {region} first.")

    def _nobody_imports(self, report: StackReport) -> Iterator[StackFinding]:
        """Regions without strongref that an Export is new in."""
        for each in report.exports:
            own = [change for change in each.changes if not change.account]
            added = {change.region for change in own if change.kind is ChangeKind.ADDED}
            new = added - {change.region for change in own if change.kind is not ChangeKind.ADDED}
            without = [region for region in new - {report.region} if not self.reader.is_installed(region)]
            if text := not_installed_text(without):
                yield StackFinding(Verdict.ACCEPTED, f"{each.logical_id}: {text}")

    def _existing(self, name: str) -> DeployedStack:
        if stack := self.reader.stack(name):
            return stack
        raise self.reader.no_such_stack(name)

    def _tree(self, arn: str, *, deleted: bool = False) -> frozenset[str]:
        """The ARNs of a stack and of all that are nested in it, or of those that are deleted with it."""
        stack = self.reader.stack(arn)
        below = _nested(stack, deleted=deleted) if stack else ()
        return frozenset([arn]).union(*(self._tree(each, deleted=deleted) for each in below))

    def _is_exporting(self, arn: str) -> bool:
        """Whether a stack, or one that is nested in it, has Exports, or outputs that other stacks import."""
        stack = self.reader.stack(arn)
        if stack is None or stack.version is None:
            return False
        in_use = any(map(self.reader.users, stack.version.outputs))
        return bool(stack.version.exports) or in_use or any(map(self._is_exporting, stack.nested.values()))


def _nested(stack: DeployedStack, *, deleted: bool) -> list[str]:
    """The ARNs of the stacks that are nested in a stack, or of those that are deleted with it."""
    known = stack.version.resources if stack.version else {}
    kept = {name for name, each in known.items() if deleted and each.retained}
    return [arn for name, arn in stack.nested.items() if name not in kept]


def _in_progress(stack: DeployedStack) -> Iterator[StackFinding]:
    """An operation that is running changes what this one finds."""
    if stack.status.endswith("_IN_PROGRESS") and stack.version:
        text = f"Stack {stack.arn.name} is {stack.status}. Check again when that has ended."
        yield StackFinding(Verdict.UNKNOWN, text)


def _removed(logical_id: str, deleted: StackReport) -> Iterator[StackFinding]:
    """What it means for a nested stack to be deleted in the cleanup, if its deletion is not simply accepted."""
    if deleted.verdict is Verdict.ACCEPTED:
        return
    text = f"Nested stack {logical_id} is removed in the cleanup, where nothing can be refused: "
    if any(each.verdict is Verdict.REFUSED for each in deleted.findings):
        text += "since its exports are in use, it stays as it is, outside of this stack."
        yield StackFinding(Verdict.ACCEPTED, text)
    else:
        verdict = Verdict.UNKNOWN if deleted.verdict is Verdict.UNKNOWN else Verdict.LOST
        yield StackFinding(verdict, f"{text}it may lose resources before its Exports refuse, and stays with the rest.")


_STUCK = {
    "DELETE_FAILED": "finish its deletion",
    "ROLLBACK_COMPLETE": "delete it",
    "ROLLBACK_FAILED": "delete it",
    "UPDATE_ROLLBACK_FAILED": "continue its rollback",
}
"""What to do before a stack of this status can be deployed (AWS: CloudFormation User Guide, stack status codes)."""

_ROOT = (
    "Nested stacks have exports. Those protect their own stacks: when this stack is deleted, its own resources may be "
    "deleted before a nested stack refuses."
)
