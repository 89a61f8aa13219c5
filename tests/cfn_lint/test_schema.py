"""The schema for editors: current, the functions' own tables, silent on what is right, and not on typos."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest

from strongref.contract.properties import read
from strongref.contract.requests import EXPORT_TYPE, FROM_KEYS, IMPORT_TYPE
from strongref.errors import BadRequestError
from strongref.macro.export_properties import AS, KEYS
from strongref.macro.references import FROM, OPTIONS
from strongref.macro.references import FROM_KEYS as REFERENCE_KEYS
from strongref_cli.lint.problems import KINDS
from tests.cfn_lint.linting import NO_VALUE, TEMPLATES, custom_resources, documented, either, with_functions
from tests.support.documents import load
from tools.template_schema import SCHEMA, SETTINGS, schema, settings

WRITTEN: dict[str, Any] = json.loads(SCHEMA.read_text())
DEFINITIONS = WRITTEN["definitions"]
MAPS = {
    **{kind: DEFINITIONS[kind.partition("::")[2]] for kind in KINDS},
    "From": DEFINITIONS["CrossRegionImport"]["properties"]["From"]["else"],
    "Exports": DEFINITIONS["exports"]["else"],
    "reference": DEFINITIONS["referring"]["then"],
}


def test_the_files_are_those_that_make_texts_writes() -> None:
    assert schema() == WRITTEN
    assert json.loads(SETTINGS.read_text()) == settings()


@pytest.mark.parametrize("kind", KINDS)
def test_properties_and_required_ones_are_the_functions(kind: str) -> None:
    table, own = KINDS[kind].table, ["ServiceToken", "ServiceTimeout"]
    assert set(MAPS[kind]["properties"]) == {*table, *own}
    required = {name for name, each in table.items() if each.required}
    assert set(MAPS[kind]["then"]["required"]) == {"ServiceToken", *required}
    assert all(each["description"] for each in MAPS[kind]["properties"].values())


def test_the_keys_of_the_macro_are_its_own() -> None:
    assert set(MAPS["From"]["properties"]) == set(FROM_KEYS)
    assert set(MAPS["Exports"]["properties"]) == {AS, *KEYS}
    assert set(MAPS["reference"]["properties"]) == {FROM, *OPTIONS}
    assert set(MAPS["reference"]["properties"][FROM]["properties"]) == set(REFERENCE_KEYS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_choice_is_accepted_by_the_function_and_nothing_else_is(kind: str) -> None:
    table = KINDS[kind].table
    for name, each in MAPS[kind]["properties"].items():
        for choice in each["else"].get("enum", ()):
            sent = {True: "true", False: "false"}.get(choice, choice)
            assert read({name: sent}, {name: table[name]})
        if "enum" in each["else"]:
            with pytest.raises(BadRequestError, match=r"must be .* or "):
                read({name: "x"}, {name: table[name]})
    chosen = {name for name, each in MAPS[kind]["properties"].items() if "enum" in each["else"]}
    assert chosen == {EXPORT_TYPE: {"OnChange"}, IMPORT_TYPE: {"Shared", "Strength"}}.get(kind, set())


def found(template: object) -> list[str]:
    """Where there is a problem, and what it is."""
    errors = jsonschema.Draft7Validator(WRITTEN).iter_errors(template)
    return [f"{'.'.join(map(str, each.absolute_path))}: {each.message}" for each in errors]


def test_it_is_a_schema_and_finds_nothing_in_the_examples_and_on_the_pages() -> None:
    jsonschema.Draft7Validator.check_schema(WRITTEN)
    texts = {str(path): path.read_text() for path in TEMPLATES} | {str(block): text for block, text in documented()}
    assert len(texts) > 30
    assert {name: errors for name, text in texts.items() if (errors := found(load(text)))} == {}


def resource(kind: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"Resources": {"R": {"Type": kind, "Properties": {"ServiceToken": "x", **properties}}}}


def macro(properties: dict[str, Any], exports: object) -> dict[str, Any]:
    return {"Resources": {"R": {"Type": "AWS::SNS::Topic", "Properties": properties, "Exports": exports}}}


REFERENCE = {"From": {"Stack": "network", "Name": "A.B"}}


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        (resource(EXPORT_TYPE, {"Values": {}, "Holdd": "x"}), "Properties: .*'Holdd'"),
        (resource(EXPORT_TYPE, {"Values": {}, "OnChange": "propogate"}), "OnChange: 'propogate' is not one of"),
        (resource(EXPORT_TYPE, {"Values": ["A"]}), "Properties.Values: .* is not of type 'object'"),
        (resource(EXPORT_TYPE, {}), "Properties: 'Values' is a required property"),
        (resource(EXPORT_TYPE, {"Values": {}, "Region": {"Code": "x"}}), "Properties.Region: .* is not of type"),
        (resource(EXPORT_TYPE, {"Values": {}, "SecureKeys": "A"}), "Properties.SecureKeys: 'A' is not of type 'array'"),
        (resource(IMPORT_TYPE, {"From": {"Stak": "a"}}), "Properties.From: .*'Stak'"),
        (resource(IMPORT_TYPE, {"From": {"Stack": "a"}, "Shared": "maybe"}), "Shared: 'maybe' is not one of"),
        (resource("Custom::ResourceLookup", {"TypeNme": "x"}), "Properties: 'TypeName' is a required property"),
        (macro({}, {"As": "A", "OnChange": "propogate"}), "Exports.OnChange: 'propogate' is not one of"),
        (macro({}, [{"As": "A", "Regin": "x"}]), "Exports.0: .*'Regin'"),
        (macro({}, {"Region": "x"}), "Exports: .* is not valid under any of the given schemas"),
        (macro({"A": [{"XRef": REFERENCE | {"Strenth": "weak"}}]}, {"As": "A"}), "A.0.XRef: .*'Strenth'"),
        (macro({"XRefs": ["a", {"From": {"Stack": "a", "Nme": "b"}}]}, {"As": "A"}), "XRefs.1.From: .*'Nme'"),
        ({"Outputs": {"O": {"ValueRef": {"From": {"Stack": "a"}}}}}, "Outputs.O.ValueRef.From: 'Name' is a required"),
    ],
)
def test_a_typo_is_found(template: dict[str, Any], problem: str) -> None:
    assert [each for each in found(template) if re.search(problem, each)], found(template)


def test_nothing_is_found_where_functions_stand() -> None:
    for kind, properties in custom_resources():
        for given in with_functions(properties):
            assert found({"Resources": {"R": {"Type": kind, "Properties": given}}}) == [], given
    assert found(macro({"XRef": either(REFERENCE, NO_VALUE)}, {"As": "A", "OnChange": {"Ref": "P"}})) == []


def test_a_list_of_accounts_is_accepted_everywhere() -> None:
    several = {"Account": ["111111111111", 222222222222, {"Ref": "P"}]}
    assert found(resource(EXPORT_TYPE, {"Values": {}, **several})) == []
    assert found(macro({}, [{"As": "A", **several}])) == []
    assert len(found(macro({}, {"As": "A", "Account": {"Id": "1"}}))) == 1


def test_it_is_silent_on_what_is_not_ours() -> None:
    foreign = {"Type": "AWS::X::Y", "Properties": {"OnChange": 1, "NameRef": "x"}}
    templates: list[object] = [{}, [], "x", {"Resources": {"R": foreign}}]
    assert [each for each in templates if found(each)] == []


def test_the_settings_know_every_function() -> None:
    from cfnlint.helpers import FUNCTION_CONDITIONS, FUNCTIONS  # noqa: PLC0415

    known = {each.partition(" ")[0] for each in settings()["yaml.customTags"]}
    names: set[str] = {*FUNCTIONS, *FUNCTION_CONDITIONS}
    functions = {name.removeprefix("Fn::") for name in names if "ForEach" not in name}
    assert known == {f"!{name}" for name in functions} | {"!Condition"}
