"""What strongref sends to an event bus, checked against the published schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from strongref.contract.notices import SOURCE
from tests.support.documents import ROOT

if TYPE_CHECKING:
    from strongref.contract.notices import Notice

SCHEMA: dict[str, Any] = json.loads((ROOT / "docs/schemas/events.schema.json").read_text())
_VALIDATOR = Draft202012Validator(SCHEMA)


def check_schema() -> None:
    """Raises `jsonschema.SchemaError` if the schema is none."""
    Draft202012Validator.check_schema(SCHEMA)


def as_event(notice: Notice) -> dict[str, Any]:
    """A notice as a rule of the bus matches it."""
    return {
        "source": SOURCE,
        "detail-type": notice.type.value,
        "resources": list(notice.resources),
        "detail": json.loads(notice.body),
    }


def check(event: dict[str, Any]) -> dict[str, Any]:
    """The detail of an event that is as the schema says."""
    _VALIDATOR.validate(event)
    detail: dict[str, Any] = event["detail"]
    return detail


def detail_of(notice: Notice) -> dict[str, Any]:
    """The detail of a notice that is as the schema says."""
    return check(as_event(notice))
