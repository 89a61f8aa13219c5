"""The template as text: what is read from it is what YAML says, and only its locations change."""

from __future__ import annotations

from typing import Any

import pytest

import strongref
from strongref_cli.install.errors import InstallError
from strongref_cli.install.packaging import (
    declared_parameters,
    local_paths,
    parameter_problem,
    python_version,
    with_locations,
)
from strongref_cli.install.plan import VERSION_OUTPUT
from tests.support.documents import ROOT, load

TEXT = (ROOT / "template.yaml").read_text()
TEMPLATE = load(TEXT)


def locations(template: dict[str, Any]) -> dict[str, str]:
    found = {name: each.get("Properties", {}) for name, each in template["Resources"].items()}
    return {name: each.get("CodeUri") or each.get("ContentUri", "") for name, each in found.items()}


def test_every_folder_that_the_template_names_is_found() -> None:
    assert set(local_paths(TEXT)) == {path for path in locations(TEMPLATE).values() if path}


def test_locations_are_replaced_and_nothing_else() -> None:
    moved = {path: f"s3://bucket/{path}.zip" for path in local_paths(TEXT)}
    after = load(with_locations(TEXT, moved))
    assert locations(after) == {name: moved.get(path, "") for name, path in locations(TEMPLATE).items()}
    for name, resource in after["Resources"].items():
        for key in ("CodeUri", "ContentUri"):
            if key in resource.get("Properties", {}):
                resource["Properties"][key] = TEMPLATE["Resources"][name]["Properties"][key]
    assert after == TEMPLATE


def test_a_template_that_is_packaged_already_stays_as_it_is() -> None:
    packaged = with_locations(TEXT, {path: f"s3://bucket/{path}.zip" for path in local_paths(TEXT)})
    assert local_paths(packaged) == []
    assert with_locations(packaged, {}) == packaged


def test_a_folder_without_code_is_an_error() -> None:
    with pytest.raises(InstallError, match="handlers/exporter is in the template"):
        with_locations("    CodeUri: handlers/exporter\n", {})


def test_the_names_of_the_parameters_are_those_of_the_template() -> None:
    declared = declared_parameters(TEXT)
    assert list(declared) == list(TEMPLATE["Parameters"])
    limits = ("Type", "AllowedPattern", "MinValue", "MaxValue", "ConstraintDescription")
    for name, each in TEMPLATE["Parameters"].items():
        assert {key: declared[name].get(key) for key in limits} == {
            key: None if each.get(key) is None else str(each[key]) for key in limits
        }
        assert parameter_problem(declared[name], str(each["Default"])) == ""
        assert all(parameter_problem(declared[name], str(value)) == "" for value in each.get("AllowedValues", ()))
    assert declared_parameters("Resources:\n  A:\n    Type: T\n") == {}


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("ReadLag", "11", "it must be a number from 0 to 10"),
        ("ReadLag", "two", "it must be a number from 0 to 10"),
        ("ReadLag", "2.5", ""),
        ("ReservedConcurrency", "-1", "it must be a number from 0"),
        ("Architecture", "arm", "it must be one of arm64, x86_64"),
        ("Macro", "no", "it must be one of true, false"),
        ("KmsKey", "arn:aws:kms:eu-west-1:111111111111:key/x", "KmsKey must be a key ID or an alias"),
        ("JanitorSchedule", "1 day", "it must match ^(rate|cron)"),
        ("LookupPolicies", "arn:aws:iam::aws:policy/ReadOnlyAccess, arn:aws:iam::aws:policy/X", ""),
        ("LookupPolicies", "arn:aws:iam::aws:policy/ReadOnlyAccess,x", "it must match"),
    ],
)
def test_a_value_that_cloudformation_would_refuse_is_refused_before(name: str, value: str, problem: str) -> None:
    found = parameter_problem(declared_parameters(TEXT)[name], value)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


def test_the_version_of_python_is_that_of_the_functions() -> None:
    assert f"python{python_version(TEXT)}" == TEMPLATE["Globals"]["Function"]["Runtime"]
    assert python_version("Resources: {}\n") == ""


def test_the_template_says_which_version_it_is() -> None:
    assert TEMPLATE["Outputs"][VERSION_OUTPUT]["Value"] == strongref.__version__
    description = TEMPLATE["Resources"]["CoreLayer"]["Properties"]["Description"]
    assert description == f"strongref {strongref.__version__} and its dependencies"
