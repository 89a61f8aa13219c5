"""Schemas: of documents that the command prints, in docs/schemas, and of CloudFormation's resource types."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
from referencing import Registry, Resource

from tests.support.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMAS = ROOT / "docs" / "schemas"


def validate(name: str, document: Mapping[str, Any]) -> None:
    """Check a document of a command. Raises `jsonschema.ValidationError`."""
    _validator(name).validate(document)


def messages(err: str) -> list[str]:
    """What a command with JSON output says on standard error: its errors, notes and plans."""
    found = [json.loads(line) for line in err.splitlines()]
    for each in found:
        validate("message", each)
    return [str(each.get("error") or each.get("note") or each["plan"]) for each in found]


def schema_of_type(type_name: str) -> Any:
    """CloudFormation's own, in the region that has every type."""
    # cfn-lint takes a second to import, which every run of the tests would wait for.
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # noqa: PLC0415

    return PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", type_name)


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = _read(f"{name}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    common = Resource.from_contents(_read("common.schema.json"))
    registry = Registry().with_resource("common.schema.json", common)
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker(), registry=registry)


def _read(file: str) -> Any:
    return json.loads((SCHEMAS / file).read_text())
