"""What is wrong with a template's references: every mistake is reported, with its place and without values."""

from __future__ import annotations

from typing import Any

import pytest

from strongref.macro import errors
from strongref.macro.edits import TemplateEdits
from strongref.macro.errors import MacroError, NotATemplateError, TransformFailedError
from strongref.macro.transform import Settings, plan
from strongref.text import REASON_LIMIT
from tests.support.macro import problems, ref, resource, template, transformed

HIDDEN = "a-value-not-to-be-shown"
MUST_BE_FROM = "must be a map with Stack and Name, and with Region and Account if they differ"
MUST_BE_REFERENCE = "must be a reference, which is a map with From"
GROUP = "Service.Properties.LoadBalancers[0].TargetGroupArnRef"


def within(node: object) -> dict[str, Any]:
    return template({"LoadBalancers": [{"TargetGroupArnRef": node}]})


def without(key: str) -> dict[str, Any]:
    given = ref("A")
    del given["From"][key]
    return given


@pytest.mark.parametrize(
    ("node", "where", "reported"),
    [
        (without("Stack"), ".From.Stack", "the exporting stack's name is missing"),
        (ref("A", ""), ".From.Stack", "the exporting stack's name is missing"),
        (without("Name"), ".From.Name", "must be the name of an export"),
        (ref(""), ".From.Name", "must be the name of an export"),
        (ref({"Ref": "Name"}), ".From.Name", "must be the name of an export, as text and not a function"),
        (ref("Cert Arn"), ".From.Name", "must consist of letters, digits, _ and -, got 'Cert Arn'"),
        (ref("A..B"), ".From.Name", "must have no empty level, got"),
        (ref(".".join("ABCDEFGHIJ")), ".From.Name", "must be at most 9 levels deep, got 10"),
        (ref("A", "my_stack"), ".From.Stack", "must be the producing stack's name, got 'my_stack'"),
        (ref("A", region="Ireland"), ".From.Region", "must be a region code such as us-east-1, got 'Ireland'"),
        (ref("A", region=["eu-west-1"]), ".From.Region", "must be a region code such as us-east-1, got a list"),
        (
            {"From": {"Stack": "a", "Name": "b", "Account": 12}},
            ".From.Account",
            "must be an account's twelve digits, in quotes, got '12'",
        ),
        (
            {"From": {"Stack": "a", "Name": "b", "Regoin": "x"}},
            ".From.Regoin",
            "no such key (did you mean Region?); allowed are Stack, Region, Account and Name",
        ),
        ({"From": "network.VpcId"}, ".From", f"{MUST_BE_FROM}, got text"),
        ({"From": {"Ref": "A"}}, ".From", f"{MUST_BE_FROM}, got a function"),
        (ref("A", Strenght="weak"), ".Strenght", "no such key (did you mean Strength?); allowed are From, Shared, "),
        (ref("A", Strength="firm"), ".Strength", "must be strong or weak, got 'firm'"),
        (ref("A", Shared="yes"), ".Shared", "must be true or false, got 'yes'"),
        (ref("A", Consumer="my web"), ".Consumer", "must be a stack's name or a label"),
        (ref("A", Revision=[1]), ".Revision", "must be a string, got a list"),
        (ref("A", Shared=True, Consumer="web"), ".Consumer", "cannot be combined with Shared: true"),
        ({"Form": {"Stack": "a", "Name": "b"}}, ".Form", "no such key (did you mean From?)"),
        ({"from": {"stack": "a", "name": "web"}}, ".from", "no such key (did you mean From?)"),
        ({"FROM": {"Name": "web"}}, ".FROM", "no such key (did you mean From?)"),
        ({"Stack": "a", "Name": "b"}, ".From", "the map From around Stack and Name is missing"),
        ([ref("A")], "", "must be one reference, got a list; for several, write TargetGroupArnRefs"),
        ({"Fn::If": ["C", ref("A"), {"A": 1}]}, ".Fn::If[2]", f"{MUST_BE_REFERENCE}, got a map"),
        ({"Fn::If": ["C", ref("A"), None]}, ".Fn::If[2]", f"{MUST_BE_REFERENCE}, got nothing"),
    ],
)
def test_a_mistake_is_reported_with_its_place(node: object, where: str, reported: str) -> None:
    (text,) = problems(within(node))
    assert text.startswith(f"{GROUP}{where}: {reported}")


def test_the_property_and_its_reference_are_not_given_together() -> None:
    reported = (
        "ResourceReferenceAndIDNotSupported: Service.Properties.VpcIdRef: VpcId and VpcIdRef cannot be combined; "
    )
    assert problems(template({"VpcId": HIDDEN, "VpcIdRef": ref("A")})) == [f"{reported}keep only one of them"]
    (text,) = problems(template({"VpcIdRef": ref("A"), "VpcIdRefs": [ref("A")]}))
    assert text.startswith(
        "ResourceReferenceAndIDNotSupported: Service.Properties.VpcIdRef: VpcIdRef and VpcIdRefs cannot"
    )
    (text,) = problems(template({"A": 1, "ARefs": [ref("A")], "ARef": ref("A")}))
    assert ": A, ARef and ARefs cannot be combined" in text


def test_one_reference_is_no_list() -> None:
    (text,) = problems(template({"SubnetIdsRefs": ref("SubnetIds")}))
    assert text == (
        "Service.Properties.SubnetIdsRefs: must be a list of references, got one reference; "
        "for one export that is a list itself, write SubnetIdsRef"
    )


def test_references_of_acks_in_a_manifest_are_left_alone() -> None:
    manifest = {"kind": "VPCLink", "spec": {"securityGroupRefs": [{"from": {"name": "web", "namespace": "a"}}]}}
    given = template({"Manifest": manifest})
    assert transformed(given) == given


def test_a_logical_id_that_would_be_too_long_is_reported() -> None:
    name = "Topic${Name}" + "x" * 230
    loop = {"Fn::ForEach::T": ["Name", ["a"], {name: resource({}, Exports={"As": "T", "Consumer": {"Ref": "Name"}})}]}
    (text,) = problems(template(**loop))
    assert text.endswith(
        "a logical ID must have at most 255 characters, got 257; shorten the logical ID of the resource"
    )


def test_more_resources_than_a_template_may_have_are_reported() -> None:
    plenty = {f"R{number}": resource({}) for number in range(499)}
    referring = {"R0": resource({"ARef": ref("A")})}
    assert problems(template(**{**plenty, **referring})) == []
    assert problems(template(**{**plenty, **referring, "Another": resource({})})) == [
        (
            "Resources: must be at most 500 resources, got 501 with 1 Imports and Exports; split the template, or "
            "lower ValueBytes"
        )
    ]


def test_everything_that_is_wrong_is_reported_at_once_in_the_order_of_the_template() -> None:
    given = template(
        A=resource({"XRef": {"From": {}}, "Y": 1, "YRef": ref("A", region="x")}, Exports={"Vaules": {}}),
        B=resource({"ZRefs": [ref("a b"), {"Form": {"Name": "x"}}]}),
    )
    given["Outputs"] = {"O": {"ValueRef": ref("")}}
    assert [text.partition(": ")[0] for text in problems(given)] == [
        "A.Properties.XRef.From.Stack",
        "A.Properties.XRef.From.Name",
        "ResourceReferenceAndIDNotSupported",
        "A.Properties.YRef.From.Region",
        "A.Exports.Vaules",
        "A.Exports.Values",
        "B.Properties.ZRefs[0].From.Name",
        "B.Properties.ZRefs[1].Form",
        "Outputs.O.ValueRef.From.Name",
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"T${Name}": resource({"XRef": ref("A", {"Ref": "Name"})})},
        {"T${Name}": resource({"XRef": ref("A", {"Fn::Sub": "${Name}-network"})})},
        {"T${Name}": resource({"XRef": ref("Key${Name}")})},
        {"T${Name}": resource({"XRef": ref("A", {"Ref": "Keys${Name}"})})},
        {"T${Name}": resource({"XRef": ref("A", "n", Consumer={"Fn::Join": ["", ["&{Name}"]]})})},
        {"T${Name}": resource({"XRef": ref("A")}, Condition="Is${Name}")},
    ],
)
def test_a_reference_in_a_loop_cannot_depend_on_the_loop(body: dict[str, Any]) -> None:
    (text,) = problems(template(**{"Fn::ForEach::Topics": ["Name", ["A"], body]}))
    assert text.startswith("Fn::ForEach::Topics[2].T${Name}.Properties.XRef: it depends on Name of Fn::ForEach, which")


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"Conditions": {"C": {"Fn::Equals": [ref("A"), "a"]}}}, "Conditions.C.Fn::Equals[0]"),
        ({"Parameters": {"P": {"Type": "String", "DefaultRef": ref("A")}}}, "Parameters.P.DefaultRef"),
        ({"Mappings": {"M": {"K": {"XRef": ref("A")}}}}, "Mappings.M.K.XRef"),
        ({"Metadata": {"XRefs": [ref("A")]}}, "Metadata.XRefs[0]"),
        ({"Outputs": {"O": {"Value": 1, "Export": {"NameRef": ref("A")}}}}, "Outputs.O.Export.NameRef"),
        (template({"Fn::Transform": {"Name": "X", "Parameters": {"ARef": ref("A")}}}), "Parameters.ARef"),
        (template({"Fn::ForEach::X": ["X", ["a", ref("A")], {}]}), "Service.Properties.Fn::ForEach::X[1][1]"),
        (template(**{"Fn::ForEach::X": ["X", ref("A"), {}]}), "Fn::ForEach::X[1]"),
        (template(A=resource({}, CreationPolicy={"CountRef": ref("A")})), "A.CreationPolicy.CountRef"),
        (template(A=resource({}, DependsOnRefs=[ref("A")])), "A.DependsOnRefs[0]"),
        (template(**{"Fn::ForEach::X": ["X", [ref("A")]]}), "Fn::ForEach::X[1][0]"),
        (template({"V": {"Fn::If": [ref("A"), 1, 2]}}), "Service.Properties.V.Fn::If[0]"),
        (template({"VRef": ref("A", {"Fn::Select": [0, ref("B")]})}), "VRef.From.Stack.Fn::Select[1]"),
    ],
)
def test_a_reference_where_none_works_is_reported(given: dict[str, Any], place: str) -> None:
    (text,) = problems(template({}) | given)
    assert f"{place}: no reference works here, since CloudFormation reads this before it makes resources" in text


@pytest.mark.parametrize(
    ("properties", "place", "key"),
    [
        ({"VpcId": ref("A")}, "VpcId", "VpcIdRef"),
        ({"VpcId": {"Form": {"Stack": "a", "Name": "b"}}}, "VpcId", "VpcIdRef"),
        ({"SubnetIds": ["a", ref("A")]}, "SubnetIds[1]", "SubnetIdsRefs"),
        ({"Url": {"Fn::Sub": ["${Host}", {"Host": ref("A")}]}}, "Url.Fn::Sub[1].Host", "HostRef"),
        ({"Url": {"Ref": ref("A")}}, "Url.Ref", "UrlRef"),
    ],
)
def test_a_reference_without_the_suffix_is_reported(properties: dict[str, Any], place: str, key: str) -> None:
    (text,) = problems(template(properties))
    assert text == (
        f"Service.Properties.{place}: the key of a reference ends in Ref, and that of a list in Refs; write {key}"
    )


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ({"From": {"Stack": "a", "Nmae": "b"}}, "From.Nmae: no such key (did you mean Name?)"),
        ({"From": {"Stack": "a"}}, "From.Name: must be the name of an export"),
        ({"From": {"Name": "a"}, "Shared": True}, "From.Stack: the exporting stack's name is missing"),
    ],
)
def test_a_wrong_reference_among_the_arguments_of_a_function_is_reported(argument: object, problem: str) -> None:
    assert f"V.Fn::Select[1].{problem}" in problems(template({"V": {"Fn::Select": [0, argument]}}))[0]


@pytest.mark.parametrize("key", ["As", "Consumer", "Region", "SecureKeys"])
def test_only_values_can_be_imported_to_be_exported_again(key: str) -> None:
    given = {"As": "A", "Region": "us-east-1", key: {"Fn::Select": [0, ref("A")]}}
    (text,) = problems(template(A=resource({}, Exports=given)))
    assert text == f"A.Exports.{key}: must not be an imported value; write it out"


def test_a_logical_id_that_is_needed_is_not_free() -> None:
    given = template({"ARef": ref("A")})
    logical_id = next(each.key for each in plan(given, Settings()).additions)
    given["Resources"][logical_id] = resource({})
    assert problems(given) == [
        f"{logical_id}: this name is reserved for an Import of A; rename the one in the template"
    ]
    given = template(Key=resource({}, Exports={"As": "Key"}), Exports44136fa3=resource({}))
    assert problems(given) == [
        "Exports44136fa3: this name is reserved for an Export that the macro adds; rename the one in the template"
    ]


def test_a_condition_that_is_needed_is_something_else() -> None:
    given = template({"V": {"Fn::If": ["C", 1, {"XRef": ref("A")}]}})
    name = next(each.key for each in plan(given, Settings()).additions if each.path == ("Conditions",))
    (text,) = problems(given | {"Conditions": {name: {"Fn::Equals": [1, 2]}}})
    assert text.startswith(f"Conditions.{name}: this name is reserved for the condition of Imports")


@pytest.mark.parametrize("how", [{"Name": "StrongRef"}, [{"Name": "Other"}, {"Name": "StrongRef"}], "StrongRef"])
@pytest.mark.parametrize("place", ["properties", "resources"])
def test_the_macro_works_on_whole_templates_only(how: object, place: str) -> None:
    given = template({"Fn::Transform": how}) if place == "properties" else template(**{"Fn::Transform": how})
    where = "Service.Properties.Fn::Transform" if place == "properties" else "Fn::Transform"
    (text,) = problems(given)
    assert text.startswith(f"{where}: StrongRef works only on whole templates, since it adds resources")


@pytest.mark.parametrize("fragment", [{}, {"Type": "AWS::SNS::Topic"}, {"Resources": []}, {"Resources": None}])
def test_a_part_of_a_template_is_none(fragment: dict[str, Any]) -> None:
    with pytest.raises(NotATemplateError, match="it has no Resources"):
        plan(fragment, Settings())


def test_members_that_are_no_maps_are_left_to_cloudformation() -> None:
    given = {"Resources": {"A": None, "B": [1], "Fn::ForEach::X": ["a"]}, "Outputs": {"C": 1}, "Globals": None}
    assert plan(given, Settings()) == TemplateEdits()


@pytest.mark.parametrize(
    ("parameters", "reported"),
    [
        (
            {"Valuebytes": 1},
            "Parameter Valuebytes of the transform StrongRef does not exist; there are ValueBytes and Hold.",
        ),
        ({"ValueBytes": 0}, "Parameter ValueBytes of the transform StrongRef must be a number from 1 to 3296."),
        ({"ValueBytes": "many"}, "Parameter ValueBytes of the transform StrongRef must be a number from 1 to 3296."),
        (
            {"ValueBytes": {"Ref": "A"}},
            "Parameter ValueBytes of the transform StrongRef must be a number from 1 to 3296.",
        ),
        ({"Hold": "no"}, "Parameter Hold of the transform StrongRef must be true or false."),
        ({"Hold": {"Ref": "A"}}, "Parameter Hold of the transform StrongRef must be true or false."),
    ],
)
def test_a_parameter_of_the_transform_that_cannot_be(parameters: dict[str, Any], reported: str) -> None:
    with pytest.raises(MacroError) as refused:
        Settings.parse(parameters)
    assert str(refused.value) == reported


def test_a_text_with_many_problems_is_short_and_says_how_many_are_left() -> None:
    given = template({f"P{number}Ref": {"From": {"Stack": "x" * 300, "Name": "a b" * 90}} for number in range(40)})
    with pytest.raises(TransformFailedError) as refused:
        plan(given, Settings())
    text = str(refused.value)
    assert len(text) < REASON_LIMIT
    shown = text.count("Service.Properties.")
    assert text.endswith(f" And {len(refused.value.problems) - shown} more: strongref transform --check shows all.")


def test_every_error_fits_whatever_it_names() -> None:
    long = "N" * 5000
    given = {
        "ReferenceAndIDError": [long],
        "MissingKeyError": long,
        "UnknownKeyError": [long],
        "LoopError": long,
        "NameInUseError": long,
        "BadPropertyError": long,
        "WrongShapeError": (long, long),
    }
    for name, data in given.items():
        made = getattr(errors, name)((long, 0, long), *(data if isinstance(data, tuple) else (data,)))
        assert len(str(made)) < REASON_LIMIT, name
        assert len(str(TransformFailedError([made, made]))) < REASON_LIMIT
    for made in (errors.NotATemplateError(long), errors.BadParameterError(long, long)):
        assert len(str(made)) < REASON_LIMIT


def test_values_are_in_no_text() -> None:
    values = {"A b": HIDDEN, "B": [HIDDEN, None], "C": {"D": None, "E": {}}, "F": [HIDDEN, "a," + HIDDEN]}
    given = template(
        A=resource(
            {"Password": HIDDEN, "PasswordRef": ref(""), "XRefs": [ref("A"), [HIDDEN]]}, Exports={"Values": values}
        )
    )
    reported = problems(given)
    assert len(reported) == 7
    assert HIDDEN not in "".join(reported)
    assert HIDDEN not in repr(plan(template({"XRefs": [HIDDEN, ref("A")]}), Settings()))
