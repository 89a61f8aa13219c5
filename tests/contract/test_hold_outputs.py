"""The hold of an Export that is written here: the name of the CloudFormation export, and the output that exports it."""

from __future__ import annotations

import re

import pytest

from strongref.contract.hold_stacks import MAX_LOGICAL_ID, hold_name, hold_output, hold_output_id, is_export_name

LONG = "E" * 254


def named(logical_id: str, stack: str) -> str:
    """The name of the hold, in a stack."""
    return str(hold_name(logical_id)["Fn::Sub"]).replace("${AWS::StackName}", stack)


def test_an_output_exports_the_name_that_the_attribute_repeats() -> None:
    assert hold_name("Exports") == {"Fn::Sub": "${AWS::StackName}-Exports"}
    assert hold_output_id("Exports") == "ExportsHold"
    assert hold_output("Exports", {"Type": "Custom::CrossRegionExport"}) == {
        "Value": {"Fn::GetAtt": ["Exports", "Hold"]},
        "Export": {"Name": {"Fn::Sub": "${AWS::StackName}-Exports"}},
    }


def test_the_output_has_the_condition_of_its_export() -> None:
    assert hold_output("Exports", {"Condition": "IsLive"})["Condition"] == "IsLive"


@pytest.mark.parametrize("length", [1, 126, 127, 251, 252, 255])
def test_cloudformation_accepts_the_names_in_a_stack_with_the_longest_name(length: int) -> None:
    logical_id = "E" * length
    assert is_export_name(named(logical_id, "s" * 128))
    assert len(hold_output_id(logical_id)) <= MAX_LOGICAL_ID
    assert re.fullmatch("[A-Za-z0-9]+Hold", hold_output_id(logical_id))


@pytest.mark.parametrize("length", [126, 251])
def test_only_what_is_too_long_is_cut(length: int) -> None:
    logical_id = "E" * length
    assert (f"-{logical_id}" in named(logical_id, "s")) is (length == 126)
    assert hold_output_id(logical_id) == f"{logical_id}Hold"


def test_what_is_cut_stays_different() -> None:
    assert named(f"{LONG}A", "s") != named(f"{LONG}B", "s")
    assert hold_output_id(f"{LONG}A") != hold_output_id(f"{LONG}B")


def test_in_a_loop_its_variable_is_never_cut_and_never_in_one_sub_with_a_pseudo_parameter() -> None:
    logical_id = f"{'E' * 120}${{Name}}"
    assert hold_name(logical_id) == {"Fn::Join": ["-", [{"Ref": "AWS::StackName"}, {"Fn::Sub": logical_id}]]}
    assert hold_output(logical_id, {})["Value"] == {"Fn::GetAtt": [{"Fn::Sub": logical_id}, "Hold"]}
