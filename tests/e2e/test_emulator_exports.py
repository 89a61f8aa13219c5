"""What the emulator was corrected for in CloudFormation's own exports, which the tests of objects rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

    Template = dict[str, Any]

US, EU = "us-east-1", "eu-west-1"
NOTHING = {"Type": "AWS::CloudFormation::WaitConditionHandle"}


@pytest.fixture
def aws(bare: Aws) -> Aws:
    return bare


@pytest.fixture
def export(names: Callable[[str], str]) -> str:
    """An export's name of this test's own, and of its stack."""
    return names("export")


def exporting(name: str | None, value: str = "one") -> Template:
    outputs = {"Outputs": {"Value": {"Value": value, "Export": {"Name": name}}}} if name else {}
    return {"Resources": {"Nothing": NOTHING}, **outputs}


def importing(name: str, how: str) -> Template:
    """A stack that imports in its metadata, a property, or an output."""
    function = {"Fn::ImportValue": name}
    queue = {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": function}}
    held = NOTHING | {"Metadata": {"held": [function]}}
    resources = {"metadata": {"Held": held}, "property": {"Used": queue}, "output": {"Nothing": NOTHING}}[how]
    return {"Resources": resources, **({"Outputs": {"Seen": {"Value": function}}} if how == "output" else {})}


def exported(aws: Aws) -> dict[str, str]:
    pages = aws.client("cloudformation", US).get_paginator("list_exports").paginate()
    return {each["Name"]: each["Value"] for page in pages for each in page["Exports"]}


def in_use(aws: Aws, stack: str, export: str, by: str) -> bool:
    """Whether the stack's events say that the export is in use by another stack."""
    return any(export in reason and f"in use by {by}" in reason for reason in aws.reasons(stack, US))


@pytest.mark.parametrize("how", ["metadata", "property", "output"])
def test_an_export_in_use_is_neither_changed_nor_dropped_nor_is_its_stack_deleted(
    aws: Aws, export: str, how: str
) -> None:
    user = f"{export}-user"
    aws.deploy(export, exporting(export), US, "CREATE_COMPLETE")
    aws.deploy(user, importing(export, how), US, "CREATE_COMPLETE")
    for template in (exporting(export, "two"), exporting(None)):
        aws.deploy(export, template, US, "UPDATE_ROLLBACK_COMPLETE")
        assert in_use(aws, export, export, user)
        assert exported(aws)[export] == "one"
    aws.delete(export, US, "UPDATE_ROLLBACK_COMPLETE")
    assert in_use(aws, export, export, user)
    assert exported(aws)[export] == "one"


def test_what_nobody_imports_any_more_is_free_to_change_and_to_go(aws: Aws, export: str) -> None:
    user = f"{export}-user"
    aws.deploy(export, exporting(export), US, "CREATE_COMPLETE")
    aws.deploy(user, importing(export, "metadata"), US, "CREATE_COMPLETE")
    aws.deploy(user, exporting(None), US, "UPDATE_COMPLETE")
    aws.deploy(export, exporting(export, "two"), US, "UPDATE_COMPLETE")
    assert exported(aws)[export] == "two"
    aws.deploy(export, exporting(None), US, "UPDATE_COMPLETE")
    assert export not in exported(aws)
    aws.deploy(export, exporting(export), US, "UPDATE_COMPLETE")
    aws.delete(export, US)
    assert export not in exported(aws)


def test_with_its_user_gone_an_exporting_stack_can_be_deleted(aws: Aws, export: str) -> None:
    aws.deploy(export, exporting(export), US, "CREATE_COMPLETE")
    aws.deploy(f"{export}-user", importing(export, "metadata"), US, "CREATE_COMPLETE")
    aws.delete(f"{export}-user", US)
    aws.delete(export, US)


def test_what_is_in_use_in_one_region_is_free_in_another(aws: Aws, export: str) -> None:
    aws.deploy(export, exporting(export), US, "CREATE_COMPLETE")
    aws.deploy(f"{export}-user", importing(export, "metadata"), US, "CREATE_COMPLETE")
    aws.deploy(export, exporting(export), EU, "CREATE_COMPLETE")
    aws.deploy(export, exporting(export, "two"), EU, "UPDATE_COMPLETE")
    aws.delete(export, EU)


def test_metadata_can_import_only_what_is_exported(aws: Aws, export: str) -> None:
    aws.deploy(export, importing(export, "metadata"), US, "ROLLBACK_COMPLETE")


def test_a_resource_whose_metadata_alone_change_is_updated(aws: Aws, export: str) -> None:
    aws.deploy(export, exporting(export), US, "CREATE_COMPLETE")
    holding = importing(export, "metadata")
    aws.deploy(f"{export}-user", {"Resources": {"Held": NOTHING}}, US, "CREATE_COMPLETE")
    aws.deploy(f"{export}-user", holding, US, "UPDATE_COMPLETE")
    aws.deploy(export, exporting(None), US, "UPDATE_ROLLBACK_COMPLETE")


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_value_is_not_exported(aws: Aws, export: str, value: str) -> None:
    aws.deploy(export, exporting(export, value), US, "ROLLBACK_COMPLETE")


@pytest.mark.parametrize("name", ["with_underscore", "with/slash", "n" * 256])
def test_a_name_that_cannot_be_one_is_not_exported(aws: Aws, export: str, name: str) -> None:
    aws.deploy(export, exporting(name), US, "ROLLBACK_COMPLETE")


def test_two_stacks_do_not_export_one_name(aws: Aws, export: str) -> None:
    aws.deploy(export, exporting(export), US, "CREATE_COMPLETE")
    aws.deploy(f"{export}-too", exporting(export, "two"), US, "ROLLBACK_COMPLETE")
    assert exported(aws)[export] == "one"


def test_exports_come_a_hundred_a_page(aws: Aws, export: str) -> None:
    outputs = {f"V{n}": {"Value": str(n), "Export": {"Name": f"{export}-{n}"}} for n in range(150)}
    aws.deploy(export, {"Resources": {"Nothing": NOTHING}, "Outputs": outputs}, US, "CREATE_COMPLETE")
    first = aws.client("cloudformation", US).list_exports()
    assert len(first["Exports"]) == 100
    assert first["NextToken"]
    assert {f"{export}-{n}" for n in range(150)} <= exported(aws).keys()
