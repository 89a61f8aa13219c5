"""Values of parameters: given, kept, defaults, and what CloudFormation does not show."""

from __future__ import annotations

from typing import Any

import pytest

from strongref_cli.check.parameters import described_names, new_names
from strongref_cli.check.reading import DeployedStack
from strongref_cli.check.unknown import SourceKind, Unknown
from strongref_toolkit.cloudformation import parameter_values
from strongref_toolkit.errors import UsageError
from tests.support.checks import STACK

TEMPLATE: dict[str, Any] = {
    "Parameters": {
        "Stage": {"Type": "String", "Default": "test"},
        "Port": {"Type": "Number", "Default": 80},
        "Zones": {"Type": "CommaDelimitedList"},
        "Password": {"Type": "String", "NoEcho": True},
        "Image": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/image"},
    }
}
DESCRIBED = {
    "Parameters": [
        {"ParameterKey": "Stage", "ParameterValue": "prod"},
        {"ParameterKey": "Zones", "ParameterValue": "a, b"},
        {"ParameterKey": "Password", "ParameterValue": "****"},
        {"ParameterKey": "Image", "ParameterValue": "/image", "ResolvedValue": "ami-1"},
    ]
}
KEPT = parameter_values(DESCRIBED)


def kind(value: object) -> SourceKind:
    assert isinstance(value, Unknown)
    (source,) = value.sources
    return source.kind


def test_the_parameters_of_a_stack_are_those_that_cloudformation_shows() -> None:
    names = described_names(TEMPLATE, DESCRIBED, hidden=SourceKind.FIXED)
    assert (names["Stage"], names["Zones"], names["Image"]) == ("prod", ["a", "b"], "ami-1")
    assert kind(names["Password"]) is SourceKind.FIXED


def test_a_deployment_keeps_what_is_not_given_and_reads_stored_ones_again() -> None:
    names = new_names(TEMPLATE, {"Stage": "dev"}, KEPT)
    assert (names["Stage"], names["Port"], names["Zones"]) == ("dev", "80", ["a", "b"])
    assert kind(names["Password"]) is SourceKind.FIXED
    assert kind(names["Image"]) is SourceKind.CHANGING
    assert new_names(TEMPLATE, {"Password": "****"}, KEPT)["Password"] == "****"


def test_names_that_are_unknown_or_missing_are_errors() -> None:
    with pytest.raises(UsageError, match="the template has no Stagge"):
        new_names(TEMPLATE, {"Stagge": "x"}, {})
    with pytest.raises(UsageError, match="without a value: Zones and Password"):
        new_names(TEMPLATE, {}, {})


def test_no_value_is_in_a_representation() -> None:
    assert "prod" not in repr(DeployedStack(STACK, "", KEPT, {}, None))
