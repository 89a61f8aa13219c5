"""The CloudFormation export that an Export names as its hold, as templates that are written here have it. Pure.

    Exports:
      Properties: {Hold: !Sub '${AWS::StackName}-Exports'}
    Outputs:
      ExportsHold: {Value: !GetAtt Exports.Hold, Export: {Name: !Sub '${AWS::StackName}-Exports'}}

The output's value is the attribute `Hold`, which repeats the name: so the value never changes, and CloudFormation
exports it only once the Export is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.hold_stacks import MAX_EXPORT_NAME
from strongref.contract.names import MAX_LABEL, short_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

HOLD = "Hold"
"""An Export's property and its attribute; also the end of the output's logical ID."""

MAX_LOGICAL_ID = 255
"""Characters of a logical ID (AWS: CloudFormation quotas)."""

_LONGEST_IN_NAME = MAX_EXPORT_NAME - MAX_LABEL - len("-")
"""Characters of the Export's logical ID in the name: the stack's name is unknown, so the longest one must fit."""


def hold_name(logical_id: str) -> dict[str, str]:
    """The name of an Export's hold: `<stack name>-<logical ID>`. A logical ID that is too long ends with a hash."""
    return {"Fn::Sub": f"${{AWS::StackName}}-{_shortened(logical_id, _LONGEST_IN_NAME)}"}


def hold_output_id(logical_id: str) -> str:
    """The logical ID of the output that exports an Export's hold."""
    return f"{_shortened(logical_id, MAX_LOGICAL_ID - len(HOLD))}{HOLD}"


def hold_output(logical_id: str, export: Mapping[str, Any]) -> dict[str, Any]:
    """The output that exports the hold of an Export, under the Export's condition."""
    condition = {"Condition": export["Condition"]} if "Condition" in export else {}
    # A loop replaces its variable in functions and in keys (AWS: Fn::ForEach), and not in other text.
    named = logical_id if logical_id.isalnum() else {"Fn::Sub": logical_id}
    return {**condition, "Value": {"Fn::GetAtt": [named, HOLD]}, "Export": {"Name": hold_name(logical_id)}}


def is_hold(name: str, value: str) -> bool:
    """Whether a CloudFormation export with this value is the hold of an Export."""
    return value == name


def can_have_hold(logical_id: str) -> bool:
    """Whether the name of an Export's hold can be written: `Fn::Sub` leaves a loop's `&{Variable}` as it is."""
    return "&{" not in logical_id


def _shortened(logical_id: str, most: int) -> str:
    """A logical ID in at most so many letters and digits; no other one becomes the same.

    In a loop, the variable in it must stay, and its final length is unknown.
    """
    if len(logical_id) <= most or not logical_id.isalnum():
        return logical_id
    end = short_hash(logical_id)
    return f"{logical_id[: most - len(end)]}{end}"
