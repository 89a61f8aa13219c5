"""Versions of a stack: whatever a template is, it is evaluated or refused with a reason."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from strongref.errors import StrongRefError
from strongref_cli.check.expansion import LANGUAGE_EXTENSIONS, expand
from strongref_cli.check.report import Verdict
from strongref_cli.check.stored import StoredStack
from strongref_cli.check.version import StackVersion, pseudo_parameters
from tests.cli.check.test_evaluation import NAMES, NODES
from tests.support.checks import EU, STACK, bucket, exporting, template, update, version

ATTRIBUTES = [
    "Type",
    "Properties",
    "Condition",
    "DependsOn",
    "DeletionPolicy",
    "Value",
    "Export",
    "Name",
    "Values",
    "Region",
]
TYPES = st.sampled_from(["Custom::CrossRegionExport", "AWS::S3::Bucket"])
PARTS = st.dictionaries(
    st.sampled_from(["A", "B", "Fn::ForEach::X"]), st.dictionaries(st.sampled_from(ATTRIBUTES), NODES | TYPES) | NODES
)
TEMPLATES = st.dictionaries(
    st.sampled_from(["Resources", "Outputs", "Conditions", "Mappings", "Parameters", "Transform"]),
    PARTS | NODES | st.sampled_from(["StrongRef", LANGUAGE_EXTENSIONS]),
)


@given(TEMPLATES, TEMPLATES)
def test_any_two_templates_are_compared_or_refused_with_a_reason(old: dict[str, Any], new: dict[str, Any]) -> None:
    for each in (old, new):
        with suppress(StrongRefError):
            expand(each, NAMES)
    StackVersion.of(old, NAMES)
    assert update(old, new, StoredStack()).verdict in Verdict


def test_pseudo_parameters_are_those_of_the_stack() -> None:
    names = pseudo_parameters(STACK, exists=True, topics=["arn:topic"])
    assert (names["AWS::Region"], names["AWS::StackName"], names["AWS::StackId"]) == (EU, "network", str(STACK))
    assert (names["AWS::NotificationARNs"], names["AWS::URLSuffix"]) == (["arn:topic"], "amazonaws.com")
    isolated = replace(STACK, region="us-iso-east-1")
    assert pseudo_parameters(isolated, exists=True)["AWS::URLSuffix"] == "c2s.ic.gov"


def test_exports_are_in_the_order_of_their_dependencies() -> None:
    first = exporting({}) | {"DependsOn": ["Last"]}
    found = version(
        template(First=first, Middle=exporting({}), Last=exporting({"A": {"Ref": "Bucket"}}), Bucket=bucket())
    )
    assert found.exports == ["Middle", "Last", "First"]
    assert found.needed_by("First") == {"Last", "Bucket"}
