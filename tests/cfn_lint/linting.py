"""cfn-lint with strongref's rules, in this process."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from strongref.contract.requests import EXPORT_TYPE, IMPORT_TYPE
from strongref.macro.template import is_function
from tests.support.documents import ROOT, Block, blocks, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfnlint.rules import Rules

TEMPLATES = sorted([*ROOT.glob("examples/*/*.yaml"), *ROOT.glob("examples/macro/*/*.yaml")])

LOOKUP_TYPE = "Custom::ResourceLookup"
NO_VALUE = {"Ref": "AWS::NoValue"}

Read: TypeAlias = Callable[[str], dict[str, Any]]


class Found(NamedTuple):
    line: int
    rule: str
    text: str


def lint(text: str, *, alone: bool = False, region: str = "us-east-1", read: Read | None = None) -> list[Found]:
    """What cfn-lint finds in a template, or its rules of strongref alone. `read` reads it instead of cfn-lint."""
    # cfn-lint takes a second to import, which every run of the tests would wait for.
    from cfnlint.config import ConfigMixIn  # noqa: PLC0415
    from cfnlint.decode.decode import decode_str  # noqa: PLC0415
    from cfnlint.runner import run_template_by_data  # noqa: PLC0415

    template, errors = (read(text), []) if read else decode_str(text)
    assert not errors
    matches = run_template_by_data(template, ConfigMixIn([], regions=[region]), _rules(alone=alone))
    return sorted({Found(each.linenumber, each.rule.id, each.message) for each in matches})


@cache
def _rules(*, alone: bool) -> Rules:
    from cfnlint.config import ConfigMixIn  # noqa: PLC0415
    from cfnlint.rules import Rules  # noqa: PLC0415
    from cfnlint.runner import Runner  # noqa: PLC0415

    if alone:
        return Rules.create_from_module("strongref_cli.lint")
    return Runner(ConfigMixIn(["--append-rules", "strongref_cli.lint"])).rules


def documented() -> Iterator[tuple[Block, str]]:
    """Each block of a page, as a template."""
    for language, transform in (("yaml", ""), ("yaml macro", "Transform: StrongRef\n")):
        for block in blocks(language):
            has_resources, is_whole = (re.search(rf"(?m)^{each}:", block.text) for each in ("Resources", "Transform"))
            if has_resources:
                yield block, block.text
            elif is_whole:
                yield block, f"{block.text}Resources: {{}}\n"
            else:
                yield block, f"{transform}Resources:\n{re.sub('(?m)^', '  ', block.text)}"


def custom_resources() -> Iterator[tuple[str, dict[str, Any]]]:
    for text in [*(path.read_text() for path in TEMPLATES), *(text for _, text in documented())]:
        for resource in load(text).get("Resources", {}).values():
            if resource["Type"] in (EXPORT_TYPE, IMPORT_TYPE, LOOKUP_TYPE):
                yield resource["Type"], resource["Properties"]


def either(holds: object, otherwise: object) -> dict[str, Any]:
    return {"Fn::If": ["C", holds, otherwise]}


def with_functions(node: Any) -> Iterator[Any]:
    """The same, with functions that may return it, at each place in it."""
    is_map = isinstance(node, dict) and not is_function(node)
    if not is_function(node):
        yield from ({"Fn::FindInMap": ["A", "B", "C"]}, either(NO_VALUE, node), either(node, NO_VALUE))
        yield from ([either("{{resolve:ssm:/x}}", node)] if isinstance(node, str) else [])
    if is_map:
        yield {**node, "Fn::Transform": {"Name": "AWS::Include"}}
        yield {"Fn::Transform": {"Name": "AWS::Include"}}
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, below in items:
        for each in with_functions(below):
            yield {**node, key: each} if isinstance(node, dict) else [*node[:key], each, *node[key + 1 :]]
