"""What IAM has to allow for a template's references: for whoever deploys it, and for the functions behind it. Pure.

What is known of a template decides how narrow the ARNs are: what only CloudFormation knows is a `*` in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.contract.names import ExportScope, Key, Producer, consumer_prefix
from strongref.contract.requests import EXPORT_TYPE, IMPORT_TYPE
from strongref_cli.template_facts import ANY, Known, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref.macro.base import Node, Template


class Principal(StrEnum):
    """Who has to be allowed something."""

    DEPLOYER = "deployer"
    """Who deploys the template, or the role that CloudFormation is given for it."""
    IMPORTER = "importer"
    """The role of the importer's function."""
    EXPORTER = "exporter"
    """The role of the exporter's function."""


def policy(template: Template, principal: Principal, setting: Setting) -> dict[str, Node]:
    """The policy that a principal needs for a template whose references have been transformed."""
    known = Known(template, setting)
    statements = {Principal.DEPLOYER: _deployer, Principal.IMPORTER: _importer, Principal.EXPORTER: _exporter}
    made = statements[principal](known)
    return {"Version": "2012-10-17", "Statement": [each.document for each in made if each.resources]}


@dataclass(frozen=True, slots=True)
class _Statement:
    sid: str
    actions: tuple[str, ...]
    resources: Iterable[str]

    @property
    def document(self) -> dict[str, Node]:
        listed = {"Action": sorted(self.actions), "Resource": sorted(set(self.resources))}
        return {"Sid": self.sid, "Effect": "Allow", **listed}


def _deployer(known: Known) -> list[_Statement]:
    setting = known.setting
    functions = {IMPORT_TYPE: "Importer", EXPORT_TYPE: "Exporter"}
    needed = [name for type_name, name in functions.items() if known.of_type(type_name)]
    needed += ["Transformer"] if known.has_macro else []
    invoked = [known.arn("lambda", setting.region, f"function:{setting.application}-{name}-*") for name in needed]
    read = [known.parameter(setting.region, name) for name in known.dynamic()]
    return [
        _Statement("Functions", ("lambda:InvokeFunction",), invoked),
        _Statement("DynamicReferences", ("ssm:GetParameters",), read),
    ]


def _importer(known: Known) -> list[_Statement]:
    region, stack = known.setting.region, known.setting.stack
    scopes = list(known.imports())
    if not scopes:
        return []
    values = [
        known.parameter(region, name) for scope, names, weak in scopes if not weak for name in _values(scope, names)
    ]
    own = ExportScope(stack, Producer(ANY, ANY, ANY))
    return [
        _Statement(
            "Values",
            (
                "ssm:GetParameters",
                "ssm:PutParameter",
                "ssm:DeleteParameters",
                "ssm:ListTagsForResource",
                "ssm:AddTagsToResource",
                "ssm:RemoveTagsFromResource",
            ),
            values,
        ),
        _Statement(
            "PathsAndRecords",
            ("ssm:GetParametersByPath",),
            [
                each
                for scope, *_ in scopes
                for root in (scope.values, scope.records)
                for each in known.below(region, root)
            ],
        ),
        _Statement(
            "Fences",
            ("ssm:GetParametersByPath", "ssm:PutParameter", "ssm:DeleteParameters"),
            [
                *(each for scope, *_ in scopes for each in known.below(region, scope.fences)),
                known.parameter(region, own.fences),
            ],
        ),
        # When the stack is deleted: whatever is left below its prefix, unless somebody else claims it.
        _Statement(
            "CleanUp",
            (
                "ssm:GetParametersByPath",
                "ssm:DeleteParameters",
                "ssm:ListTagsForResource",
                "ssm:RemoveTagsFromResource",
            ),
            known.below(region, consumer_prefix(stack)),
        ),
        _Statement(
            "Producers",
            ("cloudformation:DescribeStacks",),
            [known.stack(scope.producer.region, scope.producer.stack) for scope, *_ in scopes],
        ),
        # Its own stack, and whoever claims what is to be cleaned up.
        _Statement(
            "Stacks",
            ("cloudformation:DescribeStacks", "cloudformation:ListStackResources"),
            [known.stack(region, ANY)],
        ),
    ]


def _exporter(known: Known) -> list[_Statement]:
    scopes = list(known.exports())

    def everywhere(branch: str) -> list[str]:
        return [each for region, scope in scopes for each in known.below(region, getattr(scope, branch))]

    return [
        _Statement(
            "Values",
            (
                "ssm:GetParametersByPath",
                "ssm:PutParameter",
                "ssm:DeleteParameters",
                "ssm:ListTagsForResource",
                "ssm:AddTagsToResource",
                "ssm:RemoveTagsFromResource",
            ),
            everywhere("values"),
        ),
        _Statement(
            "RecordsAndFences",
            ("ssm:GetParametersByPath", "ssm:PutParameter", "ssm:DeleteParameters"),
            [*everywhere("records"), *everywhere("fences")],
        ),
        # Whoever claims a value, by whatever name, is asked after, and whether a value is another stack's.
        _Statement(
            "Stacks",
            ("cloudformation:DescribeStacks", "cloudformation:ListStackResources"),
            [
                *(known.stack(region, ANY) for region, _ in scopes),
                *(known.stack(scope.producer.region, scope.producer.stack) for _, scope in scopes),
            ],
        ),
    ]


def _values(scope: ExportScope, names: list[str] | None) -> list[str]:
    if names is None:
        return [f"{scope.values}/*"]
    keys = [scope.value(Key(name.replace(".", "/"))) for name in names]
    return [each for key in keys for each in (key, f"{key}/*")]  # a map's name stands for all below it
