"""The installation's template as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.documents import ROOT, load

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPLATE = load((ROOT / "template.yaml").read_text())
RESOURCES: dict[str, dict[str, Any]] = TEMPLATE["Resources"]
FUNCTIONS = ("Exporter", "Importer", "Janitor", "Lookup", "Transformer")
WORKING = FUNCTIONS[:-1]
"""Those that call AWS, and may have more to do than fits into one invocation."""
LOG_ACTIONS = {"logs:CreateLogStream", "logs:PutLogEvents"}


def statements(role: str) -> Iterator[dict[str, Any]]:
    """What a role's own policies say."""
    for policy in RESOURCES[role]["Properties"]["Policies"]:
        yield from policy["PolicyDocument"]["Statement"]


def listed(given: Any) -> list[Any]:
    """One, or several, as several."""
    return given if isinstance(given, list) else [given]
