"""The installation's template as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.documents import ROOT, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TEMPLATE = load((ROOT / "template.yaml").read_text())
RESOURCES: dict[str, dict[str, Any]] = TEMPLATE["Resources"]
FUNCTIONS = ("Exporter", "Importer", "Janitor", "Lookup", "Transformer")
WORKING = FUNCTIONS[:-1]
"""Those that call AWS, and may have more to do than fits into one invocation."""
TAGGING = "ssm:AddTagsToResource"
LOG_ACTIONS = {"logs:CreateLogStream", "logs:PutLogEvents"}


def statements(
    role: str, *, tagged: bool = False, resources: Mapping[str, Any] = RESOURCES
) -> Iterator[dict[str, Any]]:
    """What a role's own policies say, where the installation tags parameters, or does not."""
    for policy in resources[role]["Properties"]["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            actions = [each["Fn::If"] if isinstance(each, dict) else each for each in listed(statement["Action"])]
            plain = [each for each in actions if isinstance(each, str)]
            conditional = [tuple(each[:2]) for each in actions if not isinstance(each, str)]
            assert set(conditional) <= {("HasParameterTags", TAGGING)}
            yield {**statement, "Action": plain + ([TAGGING] if conditional and tagged else [])}


def listed(given: Any) -> list[Any]:
    """One, or several, as several."""
    return given if isinstance(given, list) else [given]
