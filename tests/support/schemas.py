"""The schemas of documents that the command prints, in docs/schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema

from tests.support.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMAS = ROOT / "docs" / "schemas"


def validate(name: str, document: Mapping[str, Any]) -> None:
    """Check a document of a command. Raises `jsonschema.ValidationError`."""
    _validator(name).validate(document)


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
