"""What editors know of the resources and of the macro: a JSON schema, and settings of VS Code that use it.

Names, and which of them are required, are those of the functions' own tables. Types and choices are found by asking the
functions, and the pages describe them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from strongref.contract.properties import Property, Table, parse_text
from strongref.contract.requests import EXPORT_TYPE, FROM_KEYS, IMPORT_TYPE, OnChange, Strength
from strongref.errors import BadRequestError
from strongref.macro.export_properties import AS, KEYS, VALUES
from strongref.macro.references import FROM, NAME, OPTIONS
from strongref_cli.lint.problems import KINDS
from tests.support.documents import ROOT, rows

Schema: TypeAlias = dict[str, Any]

SCHEMA = ROOT / "docs/editors/strongref.schema.json"
SETTINGS = ROOT / "docs/editors/vscode-settings.json"

_PAGES = {
    EXPORT_TYPE: ("docs/export.md", "Properties"),
    IMPORT_TYPE: ("docs/import.md", "Properties"),
    "Custom::ResourceLookup": ("docs/extras/lookups.md", "Properties of a lookup"),
}
_OWN = {
    name: Property(parse_text, required=required) for name, required in (("ServiceToken", "x"), ("ServiceTimeout", ""))
}
"""CloudFormation's."""

_TEXT = Property(parse_text)
_SCALAR = ["string", "number", "boolean"]
_CHOICES = ("false", "true", *OnChange, *Strength)
_SCALARS = ("x", *_CHOICES, "us-east-1", "111111111111", "arn:aws:s3:::x", "AWS::S3::Bucket")

_TAGS = {
    "scalar": "Ref Condition Base64 GetAtt GetAZs ImportValue Length Sub ToJsonString",
    "sequence": (
        "And Cidr Contains Equals FindInMap GetAtt GetStackOutput If Join Length Not Or Select Split Sub ToJsonString"
    ),
    "mapping": "Base64 GetAZs GetStackOutput ImportValue Length ToJsonString Transform",
}
"""CloudFormation's functions, by what their short forms stand before."""

_FUNCTION: Schema = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 1,
    "propertyNames": {"pattern": "^(Ref|Condition|Fn::.+)$"},
}


def schema() -> Schema:
    """The schema of a template. It says nothing of what is not ours."""
    kinds = []
    definitions = {"function": _FUNCTION, "node": _NODE, "referring": _referring(), "exports": _exports()}
    for kind, (table, _) in KINDS.items():
        name = kind.partition("::")[2]
        definitions[name] = _map({**_OWN, **table}, _described(rows(*_PAGES[kind])))
        ours = {"properties": {"Type": {"const": kind}}, "required": ["Type"]}
        needed = {"properties": {"Properties": _ref(name)}, "required": ["Properties"]}
        kinds.append({"if": ours, "then": needed})
    resource = {"allOf": [_ref("node"), {"properties": {"Exports": _ref("exports")}}, *kinds]}
    sections = {"Resources": {"additionalProperties": resource}, "Outputs": _ref("node"), "Globals": _ref("node")}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Templates with strongref",
        "properties": sections,
        "definitions": definitions,
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


_NODE: Schema = {
    "patternProperties": {"^.+Refs?$": _ref("referring")},
    "additionalProperties": _ref("node"),
    "items": _ref("node"),
}
"""Anything, with references somewhere in it."""


def _referring() -> Schema:
    """A reference, a list or function with some, or something of AWS's own."""
    options = {name: KINDS[IMPORT_TYPE].table[name] for name in OPTIONS}
    documented = _described(rows("docs/macro.md", "References"))
    origin = _map({**FROM_KEYS, NAME: Property(parse_text, required="x")}, documented)
    reference = _map(options, _described(rows(*_PAGES[IMPORT_TYPE])), {FROM: origin})
    other = {**_NODE, "items": _ref("referring")}
    return {"if": {"type": "object", "required": [FROM]}, "then": reference, "else": other}


def _exports() -> Schema:
    table = {AS: _TEXT, **{name: KINDS[EXPORT_TYPE].table[name] for name in KEYS}}
    own = _described(rows("docs/macro.md", "Exports of a resource"))
    one = _map(table, _described(rows(*_PAGES[EXPORT_TYPE])) | {AS: own[AS]}, required=())
    one["anyOf"] = [{"required": [AS]}, {"required": [VALUES]}]
    return {"if": {"type": "array"}, "then": {"items": one}, "else": one}


def _map(
    table: Table,
    described: Mapping[str, str],
    more: Mapping[str, Schema] | None = None,
    required: Iterable[str] | None = None,
) -> Schema:
    """A map with these keys, which functions may add to."""
    properties = {name: {"description": described[name], **_value(name, each)} for name, each in table.items()}
    needed = [name for name, each in table.items() if each.required] if required is None else [*required]
    return {
        "type": "object",
        "properties": {**properties, **(more or {})},
        "patternProperties": {"^Fn::": {}},
        "additionalProperties": False,
        **({"if": {"propertyNames": {"not": {"pattern": "^Fn::"}}}, "then": {"required": needed}} if needed else {}),
    }


def _value(name: str, of: Property) -> Schema:
    """What a property may be, other than a function."""
    if name == FROM:
        keys = rows_of_from()
        return {"if": _ref("function"), "else": _map(FROM_KEYS, _described(keys))}
    types = [
        *(_SCALAR if any(_accepts(of, each) for each in _SCALARS) else []),
        *(["array"] if any(_accepts(of, [each]) for each in _SCALARS) else []),
        *(["object"] if _accepts(of, {"x": "x"}) else []),
    ]
    chosen = [] if _accepts(of, "x") else [each for each in _CHOICES if _accepts(of, each)]
    if chosen:
        booleans = [each == "true" for each in chosen if each in ("true", "false")]
        return {"if": _ref("function"), "else": {"enum": [*booleans, *map(str, chosen)]}}
    items = {"items": {"if": _ref("function"), "else": {"type": _SCALAR}}} if "array" in types else {}
    return {"if": _ref("function"), "else": {"type": types if len(types) > 1 else types[0], **items}}


def _accepts(prop: Property, given: object) -> bool:
    try:
        prop.parse("", given)
    except BadRequestError:
        return False
    return True


def rows_of_from() -> list[list[str]]:
    text = (ROOT / "docs/import.md").read_text("utf-8")
    lines = text[text.index("The keys of `From`:") :].split("\n\n")[1].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _described(table: Iterable[list[str]]) -> dict[str, str]:
    """What a page says of each name, without links and marks."""
    found: dict[str, str] = {}
    for first, *_, meaning in table:
        text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", meaning).replace("`", "")
        found |= dict.fromkeys(re.findall("`([^`]+)`", first), text)
    return found


def settings() -> Schema:
    """With the short form of each function, which is read like the long one: as a map."""
    tags = [f"!{name} {kind}:object" for kind, names in _TAGS.items() for name in names.split()]
    return {
        "cfnLint.appendRules": ["strongref_cli.lint"],
        "yaml.schemas": {SCHEMA.name: "*.yaml"},
        "yaml.customTags": tags,
    }


def pages() -> dict[Path, str]:
    return {path: f"{json.dumps(made, indent=2)}\n" for path, made in ((SCHEMA, schema()), (SETTINGS, settings()))}
