"""The holds of Exports: the outputs that are added for them, and what is reported about them."""

from __future__ import annotations

from typing import Any

import pytest

from strongref.macro.template import make_id
from tests.support.macro import EXPORTS, Template, get, problems, resource, template, transformed

ID = make_id("Exports", "", "{}")


def exporting(**more: Any) -> Template:
    """A template with a topic that is exported to all stacks."""
    return {**template(Topic=resource({}, Exports={"As": "Topic"})), **more}


def hold(name: str) -> Template:
    return {"Fn::Sub": f"${{AWS::StackName}}-{name}"}


def output(logical_id: str) -> Template:
    return {"Value": get(logical_id, "Hold"), "Export": {"Name": hold(logical_id)}}


def own(name: object, **outputs: object) -> Template:
    """A template with an Export of its own that names a hold."""
    export = {"Type": EXPORTS, "Properties": {"ServiceToken": "arn", "Values": {"A": "a"}, "Hold": name}}
    return {"Resources": {"Mine": export}, "Outputs": outputs}


def exported(name: object) -> Template:
    return {"Value": get("Mine", "Hold"), "Export": {"Name": name}}


def test_each_export_names_a_hold_and_has_an_output_that_exports_it() -> None:
    items = [{"As": "A", "Consumer": "web"}, {"As": "A", "Consumer": "shop"}]
    made = transformed(template(Topic=resource({}, Exports=items)))
    exports = {name: each for name, each in made["Resources"].items() if each["Type"] == EXPORTS}
    assert len(exports) == 2
    assert {name: each["Properties"]["Hold"] for name, each in exports.items()} == {
        name: hold(name) for name in exports
    }
    assert made["Outputs"] == {f"{name}Hold": output(name) for name in exports}


def test_the_templates_own_outputs_stay_and_come_first() -> None:
    given = {"Other": {"Value": "x", "Export": {"Name": "x"}}}
    assert list(transformed(exporting(Outputs=given))["Outputs"].items()) == [*given.items(), (f"{ID}Hold", output(ID))]


def test_an_output_in_the_way_is_reported() -> None:
    assert problems(exporting(Outputs={f"{ID}Hold": {"Value": "x"}})) == [
        (
            f"Outputs.{ID}Hold: this name is reserved for an output that the macro adds for an Export; rename the one "
            "in the template"
        )
    ]


def test_more_outputs_than_a_template_may_have_are_reported() -> None:
    plenty = {f"O{number}": {"Value": "x"} for number in range(199)}
    assert problems(exporting(Outputs=plenty)) == []
    assert problems(exporting(Outputs={**plenty, "Another": {"Value": "x"}})) == [
        (
            "Outputs: must be at most 200 outputs, got 201 with 1 of Exports; split the template, or set the "
            "transform's parameter Hold: false"
        )
    ]


def test_without_holds_exports_are_as_before() -> None:
    made = transformed(exporting(), hold=False)
    assert "Outputs" not in made
    assert "Hold" not in made["Resources"][ID]["Properties"]


def test_an_export_in_loops_has_its_output_in_the_same_loops() -> None:
    inner = {"Topic${Name}${Kind}": resource({}, Exports={"As": "A", "Consumer": {"Fn::Sub": "${Name}-${Kind}"}})}
    names, kinds = ["A", "B"], {"Ref": "Kinds"}
    loops = {"Fn::ForEach::Topics": ["Name", names, {"Fn::ForEach::Kinds": ["Kind", kinds, inner]}]}
    made = transformed(template(**loops))
    body = made["Resources"]["Fn::ForEach::Topics"][2]["Fn::ForEach::Kinds"][2]
    (logical_id,) = [name for name, each in body.items() if each["Type"] == EXPORTS]
    hold = {"Fn::Join": ["-", [{"Ref": "AWS::StackName"}, {"Fn::Sub": logical_id}]]}
    assert body[logical_id]["Properties"]["Hold"] == hold
    ((outer, (variable, collection, below)),) = made["Outputs"].items()
    assert (variable, collection) == ("Name", names)
    ((nested, (variable, collection, outputs)),) = below.items()
    assert (variable, collection) == ("Kind", kinds)
    value = {"Fn::GetAtt": [{"Fn::Sub": logical_id}, "Hold"]}
    assert outputs == {f"{logical_id}Hold": {"Value": value, "Export": {"Name": hold}}}
    assert all(name.removeprefix("Fn::ForEach::").isalnum() for name in (outer, nested))
    assert not {outer, nested} & {"Fn::ForEach::Topics", "Fn::ForEach::Kinds"}


def test_two_exports_of_a_loop_have_loops_of_different_names() -> None:
    items = [{"As": "A", "Consumer": {"Fn::Sub": f"{team}-${{Name}}"}} for team in ("web", "shop")]
    loops = {"Fn::ForEach::Topics": ["Name", ["A"], {"Topic${Name}": resource({}, Exports=items)}]}
    assert len(transformed(template(**loops))["Outputs"]) == 2


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("network-Exports", {"Hold": exported("network-Exports")}),
        (hold("Exports"), {"Hold": exported(hold("Exports"))}),
        (hold("Exports"), {"Hold": exported({"Fn::Join": ["-", [{"Ref": "AWS::StackName"}, "Exports"]]})}),
        ("network-Exports", {"Hold": exported({"Ref": "Name"})}),
        ("network-Exports", {"Fn::ForEach::Holds": ["Name", ["A"], {}]}),
        ("network-Exports", {"Fn::Transform": {"Name": "AWS::Include"}}),
    ],
)
def test_an_export_of_the_templates_own_stays_as_it_is(name: object, outputs: Template) -> None:
    given = own(name, **outputs)
    assert transformed(given) == given


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("network-Exports", {}),
        (hold("Exports"), {}),
        (hold("Exports"), {"Other": {"Value": "x"}, "Broken": None}),
        ("network-Exports", {"Hold": exported("network-Export")}),
    ],
)
def test_an_own_export_whose_hold_no_output_exports_is_reported(name: object, outputs: Template) -> None:
    assert problems(own(name, **outputs)) == [
        (
            "Mine.Properties.Hold: must be the export name of an output of this template; add one with the Value "
            "!GetAtt Mine.Hold"
        )
    ]


def test_an_export_of_the_templates_own_gets_no_hold() -> None:
    given = own(None)
    del given["Resources"]["Mine"]["Properties"]["Hold"]
    assert transformed(given) == given


def test_what_was_transformed_comes_out_as_it_is() -> None:
    made = transformed(exporting())
    assert transformed(made) == made
