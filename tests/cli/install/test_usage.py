"""Who needs the functions of a region: found by what they returned, however a template came by their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from strongref.contract.hold_stacks import hold_stack_name
from strongref.contract.names import StackArn
from strongref.contract.requests import ImportRequest
from strongref.macro.template import MACRO
from strongref.protocol import imports, stored_exports
from strongref_cli.install.plan import EXPORTS
from strongref_cli.install.removal import PHYSICAL_IDS, TYPES, is_served, use_of
from tests.support.documents import ROOT, load

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackResourceSummaryTypeDef

STACK = StackArn.parse("arn:aws:cloudformation:eu-west-1:111111111111:stack/web/1-2")


def listed(logical_id: str, type_name: str, physical_id: str | None = None) -> StackResourceSummaryTypeDef:
    """A resource as CloudFormation lists it; without a physical ID, it is being created."""
    made = {"PhysicalResourceId": physical_id} if physical_id else {}
    return cast("StackResourceSummaryTypeDef", {"LogicalResourceId": logical_id, "ResourceType": type_name, **made})


@pytest.mark.parametrize("type_name", [*TYPES, "Custom::OurOwnName", "AWS::CloudFormation::CustomResource"])
@pytest.mark.parametrize("prefix", PHYSICAL_IDS)
def test_a_resource_that_a_function_has_made_is_found_whatever_its_type_is_called(type_name: str, prefix: str) -> None:
    assert is_served(listed("A", type_name, f"{prefix}web/A"))


@pytest.mark.parametrize("type_name", TYPES)
def test_a_resource_that_is_being_made_is_found_by_its_type(type_name: str) -> None:
    assert is_served(listed("A", type_name))


@pytest.mark.parametrize(
    "resource",
    [listed("A", "Custom::Other", "other"), listed("A", "AWS::S3::Bucket", "strongref-111111111111-eu-west-1")],
)
def test_other_resources_do_not_count(resource: StackResourceSummaryTypeDef) -> None:
    assert not is_served(resource)
    assert use_of("web", [resource], (), ()) == ""


def test_the_physical_ids_are_those_that_the_functions_return() -> None:
    request = ImportRequest.parse({"From": {"Stack": "network"}}, STACK)
    made = [stored_exports.physical_id(STACK, "A"), imports.physical_id(STACK, "A", request)]
    assert [each.startswith(prefix) for each, prefix in zip(made, PHYSICAL_IDS, strict=False)] == [True, True]
    lookup = (ROOT / "layers/core/strongref/lookup/custom_resource.py").read_text()
    assert f'physical_id = f"{PHYSICAL_IDS[2]}' in lookup


def test_the_exports_and_the_macro_are_those_of_the_template() -> None:
    template = load((ROOT / "template.yaml").read_text())
    exported = {each["Export"]["Name"] for each in template["Outputs"].values() if "Export" in each}
    assert exported == set(EXPORTS)
    assert template["Resources"]["StrongRefMacro"]["Properties"]["Name"] == MACRO


def test_a_use_says_what_for() -> None:
    resources = [listed("Exports", TYPES[0], f"{PHYSICAL_IDS[0]}web/1/Exports")]
    assert use_of("web", resources, {EXPORTS[0]}, (MACRO,)) == "web: Custom::CrossRegionExport (Exports)"
    assert use_of("web", [], {EXPORTS[1], EXPORTS[0]}, (MACRO,)) == (
        "web: imports strongref-exporter and imports strongref-importer"
    )
    assert use_of("web", [], (), ("AWS::Serverless-2016-10-31", MACRO)) == "web: uses the macro StrongRef"
    assert use_of("web", [], (), ("AWS::Serverless-2016-10-31",)) == ""


def test_a_hold_stack_is_a_use_of_the_region_that_it_is_in() -> None:
    name = hold_stack_name("111111111111", "web", "0" * 16)
    assert use_of(name, [listed("P", "AWS::SSM::Parameter", "/x")], (), ())
