"""Every ready type in the real AWS CDK: exported by one app, imported by another, and used there like its own."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

import strongref_cdk as shared
from strongref_cdk import ResolveType
from strongref_cdk.construct_kinds import _KINDS
from strongref_cdk.errors import ConstructError
from strongref_objects import types
from strongref_objects.base.errors import UnresolvedImportError
from strongref_objects.base.names import list_of
from strongref_objects.types.members import settings_of
from tests.support import cdk_apps
from tests.support.cdk_kinds import CASES
from tests.support.objects import held_by

if TYPE_CHECKING:
    from tests.support.cdk_kinds import Case

every_type = pytest.mark.parametrize("case", CASES, ids=str)


_elsewhere = cdk_apps.elsewhere


def deployed(case: Case) -> None:
    cdk_apps.deploy({f"Thing-{key}": value for key, value in case.values.items()}, "Producer")


def exported(case: Case, **more: Any) -> dict[str, Any]:
    """The outputs of an app that exports it, by the names of their exports."""
    stack = cdk_apps.stack(cdk.App(), "Producer")
    case.export(case.make(stack), "Thing", **more)
    outputs = cdk_apps.template(stack)["Outputs"].values()
    found = {output["Export"]["Name"]: output["Value"] for output in outputs}
    return {name: value for name, value in found.items() if list_of(name) not in found}


@every_type
def test_an_app_exports_it_under_the_names_of_the_cdk_s_attributes(case: Case) -> None:
    found = exported(case)
    assert set(found) == {f"Thing-{key}" for key in (*case.values, *case.more)}
    assert all(isinstance(value, dict) for key, value in found.items() if key.endswith(("Arn", "Id")))


@every_type
def test_it_is_imported_at_synthesis_used_by_its_values_and_held(case: Case) -> None:
    deployed(case)
    stack = cdk_apps.stack(cdk.App(), "Web")
    case.use(stack, case.import_(stack, "Thing"))
    type_name, key = case.used
    assert f'"{case.values[key]}' in json.dumps(cdk_apps.resources(stack, type_name))
    held = held_by(cdk_apps.template(stack)["Resources"])
    assert set(held) == {f"Thing-{each}" for each in (key, *case.held)}


@every_type
def test_it_is_imported_weakly_and_nothing_holds_it(case: Case) -> None:
    deployed(case)
    stack = cdk_apps.stack(cdk.App(), "Web")
    case.use(stack, case.import_(stack, "Thing", weak=True))
    text = json.dumps(cdk_apps.template(stack))
    assert case.values[case.used[1]] in text
    assert "Thing-" not in text


@every_type
def test_it_is_imported_at_deployment_or_refused_where_lists_have_to_be_known(case: Case) -> None:
    stack = cdk_apps.stack(cdk.App(), "Web")
    if case.only_now:
        with pytest.raises(ConstructError, match=r"ResolveType\.SYNTHESIS") as refused:
            case.import_(stack, "Thing", type=ResolveType.DEPLOYMENT)
        assert isinstance(refused.value.error, UnresolvedImportError)
        return
    case.use(stack, case.import_(stack, "Thing", type=ResolveType.DEPLOYMENT, **case.later))
    type_name, key = case.used
    assert f'{{"Fn::ImportValue": "Thing-{key}"}}' in json.dumps(cdk_apps.resources(stack, type_name))
    assert held_by(cdk_apps.template(stack)["Resources"]) == []


@every_type
def test_imported_twice_it_is_one_construct(case: Case) -> None:
    deployed(case)
    stack = cdk_apps.stack(cdk.App(), "Web")
    options = case.options(stack)
    importing = getattr(shared, f"import_{case.name}")
    first = importing(stack, "Thing", **options)
    assert importing(stack, "Thing", **options) is first
    assert importing(cdk_apps.stack(stack.node.root, "Other"), "Thing", weak=True, **options) is not first


@every_type
def test_what_was_imported_tells_what_was_exported(case: Case) -> None:
    """The construct of the CDK has the same attributes as the one that was exported."""
    deployed(case)
    stack = cdk_apps.stack(cdk.App(), "Web")
    construct = case.import_(stack, "Thing")
    declared = next(each for each in types.READY.values() if each.__name__ == case.name.title().replace("_", ""))
    parts = {"listener": shared.listener_of(construct)} if case.name == "application_load_balancer" else {}
    unset = dict.fromkeys(settings_of(declared))
    if case.name == "eks_cluster":  # The CDK makes its ARN of its name.
        unset["cluster_arn"] = case.values["ClusterArn"]
    reported = dataclasses.replace(_KINDS[declared].object_of(construct, **parts), **unset)
    assert reported == declared.deserialize(shared.import_object(stack, "Thing"))


def test_every_ready_type_has_functions_and_a_case() -> None:
    parts_of_others = {"Subnets", "ExecuteCommand"}
    assert {kind.__name__ for kind in _KINDS} == set(types.READY) - parts_of_others
    assert {case.name.title().replace("_", "") for case in CASES} == set(types.READY) - parts_of_others
    for case in CASES:
        assert callable(getattr(shared, f"import_{case.name}"))
        assert callable(getattr(shared, f"export_{case.exporting or case.name}"))
        # The tags of roles are not reported by the API that tells all others'.
        assert hasattr(shared, f"lookup_{case.exporting or case.name}") is (case.name != "role")
