"""One version of a stack: a template with the values of its parameters, evaluated. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from strongref.arns import partition_of
from strongref.aws.clients import dns_suffix
from strongref.contract.requests import EXPORT_TYPE, EXPORTER, IMPORT_TYPE, IMPORTER
from strongref_cli.check.evaluation import Evaluation
from strongref_cli.check.unknown import (
    Evaluated,
    Source,
    SourceKind,
    Unknown,
    expression_of,
    sent,
    sources_of,
    text_of,
    unknown_of,
)
from strongref_toolkit.json_values import mapping

if TYPE_CHECKING:
    from strongref.contract.names import StackArn
    from strongref.macro.template import Node, Template

_RELEVANT = ("Type", "Properties")
"""Attributes of a resource that decide what it is. The others may change without it."""


@dataclass(frozen=True, slots=True)
class TemplateResource:
    type: str
    exists: bool | Unknown  # unknown if its condition is
    properties: Evaluated = field(repr=False)  # as CloudFormation sends them
    # everything that decides what it is, as an expression; equal for resources that are the same
    definition: object = field(repr=False)
    sources: frozenset[Source]  # what that depends on
    uses: frozenset[str]  # the logical IDs that it refers to, and those of its `DependsOn`
    retained: bool  # whether CloudFormation leaves it alone instead of deleting it
    keeps_old: bool  # the same of the old one, where it is replaced

    @property
    def present(self) -> bool:
        """Whether it exists, or may."""
        return self.exists is not False


@dataclass(frozen=True, slots=True)
class ExportedOutput:
    name: Evaluated = field(repr=False)  # of the CloudFormation export, as the template has it
    value: Evaluated = field(repr=False)
    exists: bool | Unknown = True  # unknown if its condition is


@dataclass(frozen=True)
class StackVersion:
    resources: Mapping[str, TemplateResource]
    outputs: Mapping[str, ExportedOutput]  # by the name of the CloudFormation export
    unnamed: tuple[ExportedOutput, ...] = ()  # those whose names are unknown
    reads: frozenset[Source] = frozenset()  # what its resources and outputs are made from

    @classmethod
    def of(
        cls, template: Template, names: Mapping[str, Evaluated], exported: Mapping[str, str] | None = None
    ) -> StackVersion:
        """Evaluate a template after its transforms.

        If it is deployed, CloudFormation knows the names of its exports: `exported` has them by output.
        """
        evaluation = Evaluation(template, names)
        given = mapping(template.get("Resources"))
        resources = {
            str(name): _resource(each, evaluation, given) for name, each in given.items() if isinstance(each, Mapping)
        }
        exports, values = _outputs(mapping(template.get("Outputs")), evaluation)
        present = (each.sources for each in resources.values() if each.present)
        reads = sources_of(values).union(*present)
        if exported is not None:
            gone = unknown_of(SourceKind.CHANGING, "output", None)
            outputs = {name: exports.get(output, ExportedOutput(name, gone)) for output, name in exported.items()}
            return cls(resources, outputs, reads=reads)
        unnamed = tuple(each for each in exports.values() if isinstance(each.name, Unknown))
        named = {text_of(each.name): each for each in exports.values() if not isinstance(each.name, Unknown)}
        return cls(resources, named, unnamed, reads)

    def of_type(self, type_name: str) -> list[str]:
        """The logical IDs of the resources of a type that exist, or may."""
        return [name for name, each in self.resources.items() if each.type == type_name and each.present]

    @cached_property
    def order(self) -> list[str]:
        """The logical IDs of all resources, each after those that it depends on."""
        uses = {name: sorted(each.uses) for name, each in self.resources.items()}
        try:
            return list(TopologicalSorter(uses).static_order())
        except CycleError:  # CloudFormation refuses such a template
            return list(self.resources)

    @cached_property
    def exports(self) -> list[str]:
        """The logical IDs of its Exports, each after those that it depends on."""
        found = self._carried_out_by(EXPORTER, EXPORT_TYPE)
        return [name for name in self.order if name in found]

    @cached_property
    def imports(self) -> list[str]:
        return self._carried_out_by(IMPORTER, IMPORT_TYPE)

    def _carried_out_by(self, function: Mapping[str, str], type_name: str) -> list[str]:
        """The logical IDs of the resources of a type, then of those of any type that have the token of its function."""
        present = [name for name, each in self.resources.items() if each.present]
        by_token = [name for name in present if self.imported_token(name) == function["Fn::ImportValue"]]
        return list(dict.fromkeys([*self.of_type(type_name), *by_token]))

    def imported_token(self, logical_id: str) -> str:
        """The CloudFormation export that a custom resource has its service token from; empty if from elsewhere."""
        match self.resources[logical_id].properties:
            case {"ServiceToken": Unknown(expression={"Fn::ImportValue": str(name)})}:
                return name
        return ""

    @cached_property
    def invalid(self) -> list[str]:
        """The expressions that cannot be evaluated, each with where it is."""
        present = {name: each for name, each in self.resources.items() if each.present}
        parts = {name: each.sources | sources_of(each.exists) for name, each in present.items()}
        for each in (*self.outputs.values(), *self.unnamed):
            found = sources_of([each.name, each.value, each.exists])
            parts["Outputs"] = parts.get("Outputs", frozenset()) | found
        return [
            f"{source.name} in {name}"
            for name, sources in parts.items()
            for source in sorted(sources)
            if source.kind is SourceKind.INVALID
        ]

    def needed_by(self, logical_id: str) -> set[str]:
        """All resources that one depends on, directly or not."""
        found: set[str] = set()
        todo = [logical_id]
        while todo:
            each = self.resources.get(todo.pop())
            new = (each.uses if each else frozenset()) - found
            found |= new
            todo += new
        return found


NOTHING = StackVersion({}, {})
"""The old version of a stack that does not exist."""


def pseudo_parameters(stack: StackArn, *, exists: bool, topics: list[str] | None = None) -> dict[str, Evaluated]:
    """What `Ref` gives for pseudo parameters. A stack that does not exist has no ID yet."""
    unknown = unknown_of(SourceKind.CHANGING, "AWS::StackId", {"Ref": "AWS::StackId"})
    partition = partition_of(stack.region)
    return {
        "AWS::AccountId": stack.account,
        "AWS::NotificationARNs": list(topics or []),
        "AWS::Partition": partition,
        "AWS::Region": stack.region,
        "AWS::StackId": str(stack) if exists else unknown,
        "AWS::StackName": stack.name,
        "AWS::URLSuffix": dns_suffix(partition) or "amazonaws.com",
    }


def _resource(given: Mapping[str, Node], evaluation: Evaluation, resources: Mapping[str, Node]) -> TemplateResource:
    everything = {key: evaluation.value(below) for key, below in given.items()}
    relevant = {key: each for key, each in everything.items() if key in _RELEVANT}
    depends = given.get("DependsOn")
    used = resources_in(sources_of(everything))
    used |= {each for each in (depends if isinstance(depends, list) else [depends]) if isinstance(each, str)}
    return TemplateResource(
        type=str(given.get("Type")),
        exists=_exists(given, evaluation),
        properties=sent(relevant.get("Properties", {})),
        definition=expression_of(relevant),
        sources=sources_of(relevant),
        uses=frozenset(used & set(resources)),
        retained=str(given.get("DeletionPolicy", "")).startswith("Retain"),
        keeps_old=given.get("UpdateReplacePolicy") == "Retain",
    )


def _outputs(given: Mapping[str, Node], evaluation: Evaluation) -> tuple[dict[str, ExportedOutput], list[Evaluated]]:
    """The outputs that are CloudFormation exports, or may be, by their logical IDs; and the values of all outputs."""
    exports, values = {}, []
    for output, each in given.items():
        exists = isinstance(each, Mapping) and _exists(each, evaluation)
        if exists is not False:
            values.append(value := evaluation.value(each.get("Value")))
            if isinstance(exported := each.get("Export"), Mapping):
                exports[str(output)] = ExportedOutput(evaluation.value(exported.get("Name")), value, exists)
    return exports, values


def _exists(given: Mapping[str, Any], evaluation: Evaluation) -> bool | Unknown:
    return evaluation.condition(given["Condition"]) if "Condition" in given else True


def resources_in(sources: Iterator[Source] | frozenset[Source]) -> set[str]:
    """The logical IDs of the resources among the sources of a value."""
    return {each.name for each in sources if each.kind is SourceKind.RESOURCE}
