"""The IAM policies that a template's references require: of its deployer and of the functions. Pure.

The ARNs are as narrow as the template allows: what only CloudFormation knows is a `*` in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import HOLD_STACK, HOLD_TYPE, HOLDS
from strongref.contract.index import INDEX
from strongref.contract.names import ExportScope, Key, Producer, Tree, consumer_prefix, writer_role
from strongref.contract.requests import EXPORT_TYPE, IMPORT_TYPE
from strongref.contract.unclaimed import UNCLAIMED
from strongref.protocol.installations import IMPORTER
from strongref_cli.transform.template_facts import ANY, DeploymentTarget, TemplateFacts

if TYPE_CHECKING:
    from strongref.macro.template import Node, Template

_CHANGE = ("ssm:PutParameter", "ssm:AddTagsToResource", "ssm:DeleteParameters")  # whatever is created may have tags
_TAG = ("ssm:ListTagsForResource", "ssm:RemoveTagsFromResource")
_CLEAN_UP = ("ssm:GetParametersByPath", "ssm:DeleteParameters", "ssm:ListTagsForResource", "ssm:RemoveTagsFromResource")
_READ_STACKS = ("cloudformation:DescribeStacks", "cloudformation:ListStackResources")

_CALLED_BY_CLOUDFORMATION: dict[str, Node] = {
    "ForAnyValue:StringEquals": {"aws:CalledVia": ["cloudformation.amazonaws.com"]}
}
"""Only CloudFormation calls the function, with the deployer's permissions. A request of a service role has no such key:
AWS: IAM User Guide, global condition keys, `aws:CalledVia`."""

_HOLDS_ONLY: dict[str, Node] = {
    "ForAllValues:StringEquals": {"cloudformation:ResourceTypes": [HOLD_TYPE]},
    "Null": {"cloudformation:ResourceTypes": "false"},
}
"""Stacks with the type of holds, and with no other."""


class Principal(StrEnum):
    """Who needs a policy."""

    DEPLOYER = "deployer"
    """The user or role that deploys the template with their own permissions."""
    SERVICE_ROLE = "service-role"
    """The role that CloudFormation deploys the template with."""
    IMPORTER = "importer"
    """The role of the importer's function."""
    EXPORTER = "exporter"
    """The role of the exporter's function."""


def policy(template: Template, principal: Principal, setting: DeploymentTarget) -> dict[str, Node]:
    """The policy that a principal needs for a template whose references have been transformed."""
    facts = TemplateFacts(template, setting)
    statements: dict[Principal, Callable[[TemplateFacts], list[dict[str, Node]]]] = {
        Principal.DEPLOYER: partial(_deployer, functions_condition=_CALLED_BY_CLOUDFORMATION),
        Principal.SERVICE_ROLE: _deployer,
        Principal.IMPORTER: _importer,
        Principal.EXPORTER: _exporter,
    }
    made = statements[principal](facts)
    return {"Version": "2012-10-17", "Statement": [each for each in made if each["Resource"]]}


def _statement(
    sid: str, actions: Iterable[str], resources: Iterable[str], condition: Mapping[str, Node] | None = None
) -> dict[str, Node]:
    made = {"Sid": sid, "Effect": "Allow", "Action": sorted(actions), "Resource": sorted(set(resources))}
    return {**made, "Condition": dict(condition)} if condition else made


def _deployer(facts: TemplateFacts, functions_condition: Mapping[str, Node] | None = None) -> list[dict[str, Node]]:
    setting = facts.setting
    functions = {IMPORT_TYPE: "Importer", EXPORT_TYPE: "Exporter"}
    needed = [name for type_name, name in functions.items() if facts.of_type(type_name)]
    needed += ["Transformer"] if facts.has_macro else []
    invoked = [facts.arn("lambda", setting.region, f"function:{setting.application}-{name}-*") for name in needed]
    read = [facts.parameter(setting.region, name) for name in facts.dynamic()]
    return [
        _statement("Functions", ("lambda:InvokeFunction",), invoked, functions_condition),
        _statement("DynamicReferences", ("ssm:GetParameters",), read),
    ]


def _importer(facts: TemplateFacts) -> list[dict[str, Node]]:
    region, stack = facts.setting.region, facts.setting.stack
    imports = list(facts.imports())
    scopes = [scope for scope, *_ in imports]
    places = [(region, scope) for scope in scopes]
    names = [name for scope, names, weak in imports if not weak for name in _values(scope, names)]
    claimed = [facts.parameter(region, name) for name in names]
    trees: tuple[Tree, ...] = ("exports", "records", "fences")
    roots = [facts.parameter(region, consumer_prefix(of, tree)) for of in facts.found_anywhere() for tree in trees]
    listed = [*roots, *_below(facts, places, "exports"), *_below(facts, places, "records")]
    fences = _below(facts, places, "fences")
    own_fences = facts.parameter(region, ExportScope(stack, Producer(ANY, ANY, ANY)).path("fences"))
    producers = [facts.stack(scope.producer.region, scope.producer.stack) for scope in scopes]
    statements = [
        _statement("Values", ("ssm:GetParameters", *_CHANGE, *_TAG), claimed),
        _statement("PathsAndRecords", ("ssm:GetParametersByPath",), listed),
        _statement("Fences", ("ssm:GetParametersByPath", *_CHANGE), [*fences, own_fences]),
        # What a rollback could not claim.
        _statement("Unclaimed", ("ssm:GetParameters", *_CHANGE), [facts.parameter(region, f"{UNCLAIMED}/{stack}/*")]),
        # If a KMS key cannot be used: each SecureString alone.
        _statement("OneByOne", ("ssm:GetParameters",), listed),
        # When the stack is deleted: everything left below its prefix, unless another stack claims it.
        _statement("CleanUp", _CLEAN_UP, facts.below(region, consumer_prefix(stack))),
        _statement("Producers", ("cloudformation:DescribeStacks",), producers),
        # Its own stack, and the stacks that claim what is to be cleaned up.
        _statement("Stacks", _READ_STACKS, [facts.stack(region, ANY)]),
        *_holds(facts, [scope.producer.region for scope, _, weak in imports if not weak]),
        _events(facts),
        # When a Delete cannot be parsed: what its claims are on.
        _statement("AllValues", ("ssm:GetParametersByPath",), [facts.parameter(region, "/strongref/exports")]),
    ]
    return statements if imports else []


def _exporter(facts: TemplateFacts) -> list[dict[str, Node]]:
    scopes = list(facts.exports())
    values, recorded = _below(facts, scopes, "exports"), _below(facts, scopes, "records")
    # Any stack may claim a value, and a value may belong to another stack.
    claiming = [facts.stack(region, ANY) for region, _ in scopes]
    producing = [facts.stack(scope.producer.region, scope.producer.stack) for _, scope in scopes]
    written = [*recorded, *_below(facts, scopes, "fences")]
    index = facts.below(facts.setting.region, f"{INDEX}/{facts.setting.stack}")
    records = [facts.parameter(region, "/strongref/records") for region, _ in scopes]
    installed = [facts.parameter(region, IMPORTER) for region, _ in scopes]
    at = facts.setting
    roles = [writer_role(at.partition, account, at.account) for account in facts.others()]
    statements = [
        _statement("Values", ("ssm:GetParametersByPath", *_CHANGE, *_TAG), values),
        _statement("RecordsAndFences", ("ssm:GetParametersByPath", *_CHANGE), written),
        _statement("Index", ("ssm:GetParametersByPath", *_CHANGE), index),
        _statement("Stacks", _READ_STACKS, [*claiming, *producing]),
        _events(facts),
        # If a KMS key cannot be used: each SecureString alone. And whether strongref is installed there.
        _statement("OneByOne", ("ssm:GetParameters",), [*values, *recorded, *installed]),
        # When a Delete or an Update cannot be parsed: where its records are.
        _statement("AllRecords", ("ssm:GetParametersByPath",), records),
        _statement("OtherAccounts", ("sts:AssumeRole",), roles),
    ]
    return statements if facts.of_type(EXPORT_TYPE) else []


def _below(facts: TemplateFacts, places: Iterable[tuple[str, ExportScope]], tree: Tree) -> list[str]:
    """The ARNs of these regions' and scopes' parameters in a tree."""
    return [each for region, scope in places for each in facts.below(region, scope.path(tree))]


def _holds(facts: TemplateFacts, regions: list[str]) -> list[dict[str, Node]]:
    """The hold stacks of strong imports from these regions, and their parameters, which CloudFormation makes."""
    stacks = [facts.stack(region, f"{HOLD_STACK}*") for region in regions]
    parameters = [facts.parameter(region, f"{HOLDS}/*") for region in regions]
    others = ("DescribeStacks", "DescribeStackEvents", "DeleteStack", "TagResource")
    made = ("ssm:PutParameter", "ssm:GetParameters", "ssm:AddTagsToResource", "ssm:DeleteParameter")
    changes = ("cloudformation:CreateStack", "cloudformation:UpdateStack")
    return [
        _statement("HoldStacks", changes, stacks, _HOLDS_ONLY),
        _statement("HoldStacksEnd", tuple(f"cloudformation:{each}" for each in others), stacks),
        _statement("ImportingStacks", ("cloudformation:ListImports",), [ANY] if stacks else []),
        _statement("Holds", made, parameters, _CALLED_BY_CLOUDFORMATION),
    ]


def _events(facts: TemplateFacts) -> dict[str, Node]:
    """Whether CloudFormation waits for the response to an event."""
    own = facts.stack(facts.setting.region, facts.setting.stack)
    return _statement("Events", ("cloudformation:DescribeStackResource",), [own])


def _values(scope: ExportScope, names: list[str] | None) -> list[str]:
    if names is None:
        return [f"{scope.path('exports')}/*"]
    keys = [scope.parameter_name(Key(name.replace(".", "/"))) for name in names]
    return [each for key in keys for each in (key, f"{key}/*")]  # A map's name stands for everything below it.
