"""The rules: what cfn-lint reports, and where.

Given this folder instead of the package's name, cfn-lint imports this file by its path. That works in an environment
that has cfn-lint and no strongref, such as SAM CLI's.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from importlib.util import find_spec
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING

from cfnlint.decode.mark import Mark
from cfnlint.decode.node import str_node
from cfnlint.helpers import ensure_list
from cfnlint.rules import CloudFormationLintRule, RuleMatch
from cfnlint.template import Template

if not find_spec("strongref"):
    sys.path.append(str(Path(__file__).parents[2]))  # where pip installed both

from strongref.errors import StrongRefError
from strongref.macro.errors import TemplateError, TransformFailedError
from strongref.macro.references import as_sent
from strongref.macro.template import MACRO, Node, mapped
from strongref.macro.transform import Settings, plan
from strongref_cli.lint.problems import KINDS, problems

if TYPE_CHECKING:
    from strongref.macro.edits import TemplateEdits
    from strongref.macro.template import Path as TemplatePath

_EMPTY = {"Resources": {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}}
"""A template in which cfn-lint finds nothing."""


class PropertiesRule(CloudFormationLintRule):  # type: ignore[misc]  # cfn-lint has no types
    id = "E9701"
    shortdesc = "Properties of Exports, Imports and lookups"
    description = "Properties that strongref's functions refuse: unknown, missing or invalid ones"
    tags = ("resources", "strongref")

    def match(self, cfn: Template) -> list[RuleMatch]:
        return [
            RuleMatch(["Resources", logical_id, "Properties", *path], text)
            for kind in KINDS
            for logical_id, resource in cfn.get_resources(kind).items()
            for path, text in problems(kind, _properties(cfn, logical_id, resource))
        ]


class MacroRule(CloudFormationLintRule):  # type: ignore[misc]  # the same
    """Transforms a template before the other rules read it."""

    id = "E9702"
    shortdesc = "References and Exports of the macro StrongRef"
    description = "What the macro StrongRef cannot transform"
    tags = ("transform", "strongref")

    def initialize(self, cfn: Template) -> None:
        self._found: list[RuleMatch] = []
        parameters = _parameters(cfn.template.get("Transform", []))
        if parameters is None:
            return
        _fold_loops(cfn)
        written = _keyed(cfn.template)
        try:
            edits = plan(written, Settings.parse(parameters))
            template: Node = _placed(edits, cfn).apply(written)
        except StrongRefError as error:
            # The other rules would report all that is not transformed.
            template = _EMPTY
            for each in error.problems if isinstance(error, TransformFailedError) else [error]:
                path = list(each.path) if isinstance(each, TemplateError) else ["Transform"]
                location = cfn.get_location_yaml(cfn.template, path)  # It is about to be replaced.
                self._found.append(RuleMatch(path, str(each), location=location))
        merged = {"Globals": template.pop("Globals")} if "Globals" in template else {}
        made = Template(cfn.filename, template, cfn.regions)
        made.transform()  # expands the loops
        made.template.update(merged)
        kept = {name: each for name, each in vars(cfn).items() if name in ("transform_pre", "yaml_aliases")}
        vars(cfn).update(vars(made) | kept)

    def match(self, _cfn: Template) -> list[RuleMatch]:
        return self._found


def _parameters(transforms: Node) -> Mapping[str, Node] | None:
    """The parameters that a template gives the macro; None if it does not have the macro."""
    for each in ensure_list(transforms):
        declared = each if isinstance(each, Mapping) else {"Name": each}
        if declared.get("Name") == MACRO:
            given = declared.get("Parameters")
            return given if isinstance(given, Mapping) else {}
    return None


def _properties(cfn: Template, logical_id: str, resource: Mapping[str, Node]) -> Node:
    """What is known of properties: in a loop their names, since cfn-lint makes up the values of its variable."""
    given = resource.get("Properties", {})
    loops = [loop for *_, loop in cfn.transform_pre["Fn::ForEach"]]
    in_loop = any(not hasattr(loop, "start_mark") or _is_within(logical_id, loop) for loop in loops)
    return mapped(given, lambda _: {"Ref": "AWS::NoValue"}) if in_loop else given


def _fold_loops(cfn: Template) -> None:
    """Put each loop in the place of what cfn-lint expanded it to: CloudFormation transforms it before."""
    for *path, name, loop in cfn.transform_pre["Fn::ForEach"]:
        with suppress(AttributeError, LookupError, TypeError):  # It has no location, or is gone.
            around = reduce(getitem, path, cfn.template)
            for key in [key for key in around if _is_within(key, loop)]:
                del around[key]
            around[name] = loop


def _is_within(key: Node, node: Node) -> bool:
    start, at, end = ((mark.line, mark.column) for mark in (node.start_mark, key.start_mark, node.end_mark))
    return start <= at < end


def _keyed(node: Node) -> Node:
    """The same with text as keys, as CloudFormation sends it."""
    if isinstance(node, dict):
        return {key if isinstance(key, str) else str(as_sent(key)): _keyed(below) for key, below in node.items()}
    return [*map(_keyed, node)] if isinstance(node, list) else node


def _placed(edits: TemplateEdits, cfn: Template) -> TemplateEdits:
    """The same edits. New keys have the location of what requires them."""
    values = [each for each in edits.replacements if isinstance(each.value, Mapping)]  # else a DependsOn
    first = {each.value["Fn::GetAtt"][0]: each.path for each in reversed(values)}

    def placed(key: str, path: TemplatePath) -> Node:
        location = cfn.get_location_yaml(cfn.template, path) or (0, 0, 0, 0)
        return str_node(key, Mark(*location[:2]), Mark(*location[2:]))

    additions = tuple(
        replace(each, key=placed(each.key, next(iter((*each.origins, first.get(each.key, each.path))))))
        for each in edits.additions
    )
    renamings = tuple(replace(each, becomes=placed(each.becomes, each.path)) for each in edits.renamings)
    return replace(edits, renamings=renamings, additions=additions)
