"""The grammar of references in templates: what is one, what becomes of it, and which Imports stand behind."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from strongref.contract.names import StackArn
from strongref.contract.requests import ImportRequest
from strongref.macro.references import FROM, OPTIONS, stem
from tests.support.builders import WEB
from tests.support.macro import IMPORTS, get, imports, properties, ref, resource, template, the_import, transformed

NO_VALUE = {"Ref": "AWS::NoValue"}


def test_a_reference_becomes_the_property_with_the_imports_attribute() -> None:
    given = template({"Cluster": "c", "VpcIdRef": ref("VpcId"), "Name": "n"})
    logical_id, made = the_import(given)
    assert properties(given) == {"Cluster": "c", "VpcId": get(logical_id, "VpcId"), "Name": "n"}
    assert list(properties(given)) == ["Cluster", "VpcId", "Name"]
    assert made == {
        "ServiceToken": {"Fn::ImportValue": "strongref-importer"},
        "From": {"Stack": "network", "Region": "eu-west-1"},
        "Names": ["VpcId"],
    }


def test_an_import_that_is_made_is_one_that_the_importer_takes() -> None:
    given = template({"ARef": ref("Alb.Arn", Shared=True), "BRef": ref("Alb/Dns", Shared="true")})
    _, made = the_import(given)
    del made["ServiceToken"]
    request = ImportRequest.parse(made, StackArn.parse(WEB))
    assert request.producer
    assert (request.producer.stack, request.shared, request.names) == ("network", True, ("Alb/Arn", "Alb/Dns"))


def test_a_list_of_references_becomes_a_list_in_its_order() -> None:
    given = template({"SubnetIdsRefs": [ref("B"), ref("A"), ref("B")]})
    logical_id, made = the_import(given)
    assert properties(given) == {"SubnetIds": [get(logical_id, name) for name in "BAB"]}
    assert made["Names"] == ["A", "B"]


def test_what_is_no_reference_stays_in_a_list_of_references() -> None:
    given = template({"GroupsRefs": [{"Ref": "Own"}, ref("A"), "sg-1"]})
    logical_id, _ = the_import(given)
    assert properties(given) == {"Groups": [{"Ref": "Own"}, get(logical_id, "A"), "sg-1"]}


def test_an_export_that_is_a_list_comes_as_one_by_a_single_reference() -> None:
    given = template({"SubnetIdsRef": ref("SubnetIds")})
    logical_id, _ = the_import(given)
    assert properties(given) == {"SubnetIds": get(logical_id, "SubnetIds")}


@pytest.mark.parametrize(
    "place",
    [
        lambda node: {"LoadBalancers": [{"Deep": [node]}]},
        lambda node: {"A": {"Fn::Sub": ["${X}", node]}},
        lambda node: {"A": {"Fn::Join": [",", [{"Fn::Sub": ["${X}", node]}]]}},
        lambda node: {"GroupsRefs": [{"Fn::Sub": ["${X}", node]}, ref("VpcId")]},
    ],
)
def test_a_reference_is_found_at_any_depth(place: Any) -> None:
    given = template(place({"XRef": ref("VpcId")}))
    logical_id, _ = the_import(given)
    expected = place({"X": get(logical_id, "VpcId")})
    if "GroupsRefs" in expected:
        expected = {"Groups": [expected["GroupsRefs"][0], get(logical_id, "VpcId")]}
    assert properties(given) == expected


def test_references_to_one_producer_share_an_import_and_others_do_not() -> None:
    given = template({"ARef": ref("A"), "BRef": ref("B"), "CRef": ref("A", region="us-east-1"), "DRef": ref("A", "x")})
    made = sorted(
        (each["Properties"]["From"]["Stack"], each["Properties"]["Names"]) for each in imports(given).values()
    )
    assert made == [("network", ["A"]), ("network", ["A", "B"]), ("x", ["A"])]


@pytest.mark.parametrize("option", [{"Strength": "weak"}, {"Shared": True}, {"Consumer": "web"}, {"Revision": 2}])
def test_an_option_is_the_imports_and_keeps_it_apart(option: dict[str, Any]) -> None:
    given = template({"ARef": ref("A"), "BRef": ref("A", **option)})
    with_it = [each["Properties"] for each in imports(given).values() if set(option) <= set(each["Properties"])]
    assert len(imports(given)) == 2
    ((name, value),) = option.items()
    assert [each[name] for each in with_it] == [{True: "true", 2: "2"}.get(value, value)]


def test_every_option_is_one_of_the_importers_properties() -> None:
    accepted = {"From": {"Stack": "a"}, "Names": ["A"]}
    for option, value in zip(OPTIONS, ("true", "weak", "web", "1"), strict=True):
        ImportRequest.parse({**accepted, option: value}, StackArn.parse(WEB))
    assert FROM in accepted


def test_functions_are_passed_on_and_equal_ones_are_one_producer() -> None:
    stack = {"Fn::Sub": "${Stage}-network"}
    given = template({"ARef": ref("A", stack), "BRef": ref("B", dict(stack)), "CRef": ref("C", {"Ref": "Network"})})
    found = {
        tuple(each["Properties"]["Names"]): each["Properties"]["From"]["Stack"] for each in imports(given).values()
    }
    assert found == {("A", "B"): stack, ("C",): {"Ref": "Network"}}


def test_numbers_and_booleans_are_the_text_that_cloudformation_makes_of_them() -> None:
    origin = {"Stack": "network", "Account": 111111111111, "Name": "A"}
    (made,) = imports(template({"ARef": {"From": origin, "Shared": False}})).values()
    assert made["Properties"]["From"]["Account"] == "111111111111"
    assert made["Properties"]["Shared"] == "false"


def test_a_logical_id_is_the_same_in_every_template_and_tells_the_producer() -> None:
    one = template({"ARef": ref("A", "my-network")})
    other = template(Other=resource({"X": 1, "BRef": ref("B", "my-network")}))
    assert [*imports(one)] == [*imports(other)]
    assert next(iter(imports(one))).startswith("ImportsMyNetwork")
    assert next(iter(imports(template({"ARef": ref("A", {"Ref": "NetworkStack"})})))).startswith("ImportsNetworkStack")
    assert next(iter(imports(template({"ARef": ref("A", {"Fn::Sub": "x"})})))).isalnum()


class TestConditions:
    """An Import is made only where something that uses it is."""

    def test_of_a_resource(self) -> None:
        given = template(A=resource({"XRef": ref("A")}, Condition="IsA"))
        ((logical_id, made),) = imports(given).items()
        assert made["Condition"] == "IsA"
        assert "Conditions" not in transformed(given)
        assert properties(given, "A") == {"X": get(logical_id, "A")}

    def test_of_branches(self) -> None:
        given = template({"Vpc": {"Fn::If": ["In", {"XRef": ref("A")}, {"XRef": ref("B")}]}})
        made = {tuple(each["Properties"]["Names"]): each["Condition"] for each in imports(given).values()}
        assert made["A",] == "In"
        assert transformed(given)["Conditions"] == {made["B",]: {"Fn::Not": [{"Condition": "In"}]}}

    def test_of_a_choice_between_references(self) -> None:
        given = template({"XRef": {"Fn::If": ["In", ref("A"), NO_VALUE]}})
        ((logical_id, made),) = imports(given).items()
        assert made["Condition"] == "In"
        assert properties(given) == {"X": {"Fn::If": ["In", get(logical_id, "A"), NO_VALUE]}}

    def test_of_a_choice_between_lists(self) -> None:
        given = template(
            {"XRefs": {"Fn::If": ["In", [ref("A"), {"Ref": "B"}], {"Fn::If": ["Out", [ref("A")], NO_VALUE]}]}}
        )
        made = {each["Condition"]: name for name, each in imports(given).items()}
        outside = next(name for name in made if name != "In")
        assert properties(given)["X"]["Fn::If"][1] == [get(made["In"], "A"), {"Ref": "B"}]
        assert properties(given)["X"]["Fn::If"][2] == {"Fn::If": ["Out", [get(made[outside], "A")], NO_VALUE]}
        terms = [{"Fn::Not": [{"Condition": "In"}]}, {"Condition": "Out"}]
        assert transformed(given)["Conditions"] == {outside: {"Fn::And": terms}}

    def test_of_an_item_of_a_list(self) -> None:
        given = template({"XRefs": [ref("A"), {"Fn::If": ["In", ref("B"), NO_VALUE]}]})
        made = {tuple(each["Properties"]["Names"]): each.get("Condition") for each in imports(given).values()}
        assert made == {("A",): None, ("B",): "In"}

    def test_of_a_resource_and_a_branch_together(self) -> None:
        inner = {"Fn::If": ["In", {"XRef": ref("A")}, NO_VALUE]}
        given = template(A=resource({"Vpc": inner}, Condition="IsA"))
        ((_, made),) = imports(given).items()
        assert transformed(given)["Conditions"] == {
            made["Condition"]: {"Fn::And": [{"Condition": "In"}, {"Condition": "IsA"}]}
        }

    def test_of_an_output(self) -> None:
        given = template({"A": 1}) | {"Outputs": {"O": {"Condition": "Told", "ValueRef": ref("A")}}}
        ((logical_id, made),) = imports(given).items()
        assert made["Condition"] == "Told"
        assert transformed(given)["Outputs"] == {"O": {"Condition": "Told", "Value": get(logical_id, "A")}}

    def test_what_is_used_always_is_imported_once(self) -> None:
        given = template(
            A=resource({"XRef": ref("A")}, Condition="IsA"),
            B=resource({"XRef": ref("A"), "Y": {"Fn::If": ["In", {"ZRef": ref("A")}, NO_VALUE]}}),
        )
        ((logical_id, made),) = imports(given).items()
        assert "Condition" not in made
        assert properties(given, "A") == {"X": get(logical_id, "A")}

    def test_the_weaker_condition_serves_the_stronger(self) -> None:
        inner = {"Fn::If": ["In", {"XRef": ref("A")}, NO_VALUE]}
        given = template(A=resource({"Vpc": inner, "YRef": ref("A")}, Condition="IsA"))
        ((_, made),) = imports(given).items()
        assert made["Condition"] == "IsA"

    def test_more_than_ten_are_put_together_in_steps(self) -> None:
        node: Any = {"XRef": ref("A")}
        for number in range(12):
            node = {"V": {"Fn::If": [f"C{number:02}", node, NO_VALUE]}}
        ((name, definition),) = transformed(template(node))["Conditions"].items()
        outer = definition["Fn::And"]
        assert [len(each["Fn::And"]) for each in outer] == [10, 2]
        assert sorted(term["Condition"] for each in outer for term in each["Fn::And"]) == [
            f"C{n:02}" for n in range(12)
        ]
        assert name.isalnum()

    def test_a_condition_that_is_there_already_is_used(self) -> None:
        given = template({"V": {"Fn::If": ["In", NO_VALUE, {"XRef": ref("A")}]}})
        conditions = transformed(given)["Conditions"]
        assert transformed(given | {"Conditions": {**conditions, "In": 1}})["Conditions"] == {**conditions, "In": 1}


def test_a_reference_is_an_argument_of_a_function() -> None:
    """One item of an imported list is what a property often needs."""

    def item(node: object) -> dict[str, object]:
        return {"Fn::Select": [0, node]}

    given = template(
        {
            "A": item(ref("SubnetIds")),
            "BRef": item(ref("SubnetIds")),
            "Fn::SelectRefs": [1, ref("SubnetIds")],
            "C": {"Fn::Join": [",", ["a", ref("A"), {"Fn::If": ["In", ref("B"), "b"]}]]},
            "DRefs": [item({"Fn::Split": [",", ref("A")]}), ref("B")],
            "ERef": {"Fn::Sub": ["${H}", {"HRef": ref("A")}]},
        }
    )
    ids = imports(given)
    always = next(name for name, each in ids.items() if "Condition" not in each)
    conditional = next((name for name, each in ids.items() if "Condition" in each), always)
    subnets, a = get(always, "SubnetIds"), get(always, "A")
    assert properties(given) == {
        "A": item(subnets),
        "B": item(subnets),
        "Fn::Select": [1, subnets],
        "C": {"Fn::Join": [",", ["a", a, {"Fn::If": ["In", get(conditional, "B"), "b"]}]]},
        "D": [item({"Fn::Split": [",", a]}), get(always, "B")],
        "E": {"Fn::Sub": ["${H}", {"H": a}]},
    }


@pytest.mark.parametrize("attribute", ["Metadata", "UpdatePolicy", "Connectors"])
def test_a_reference_is_found_where_functions_are_evaluated(attribute: str) -> None:
    given = template(Service=resource({}, **{attribute: {"Deep": [{"XRef": ref("A")}]}}))
    (logical_id,) = imports(given)
    assert transformed(given)["Resources"]["Service"][attribute] == {"Deep": [{"X": get(logical_id, "A")}]}


def test_a_list_without_references_is_the_property() -> None:
    assert properties(template({"SubnetIdsRefs": []})) == {"SubnetIds": []}


def test_a_reference_that_aliases_of_yaml_repeat_may_be_kept_in_the_metadata() -> None:
    given = template({"XRef": ref("A")}) | {"Metadata": {"Network": ref("A")}}
    assert transformed(given)["Metadata"] == given["Metadata"]


class TestNotOurs:
    """What looks like a reference and is AWS's own, or somebody else's, is not touched."""

    @pytest.mark.parametrize(
        "node",
        [
            {"Ref": "Vpc"},
            {"Refs": [{"From": {}}]},
            {"VpcRef": "vpc-1"},
            {"VpcRef": {"Id": "vpc-1"}},
            {"VpcRef": {"Ref": "Vpc"}},
            {"VpcRefs": ["vpc-1", {"Ref": "Vpc"}]},
            {"parentRefs": []},
            {"SubnetRefs": [], "Subnet": "a"},
            {"ServiceToken": "x", "SubnetRefs": [], "Document": {"OwnerRefs": []}, "Source": ref("A")},
            {"secretKeyRef": {"name": "a", "key": "b"}},
            {"Reference": {"From": {"Stack": "a"}}},
            {"Fn::ToJsonString": {"Stack": "a", "Name": "b", "From": {"Name": "c"}}},
            {"VpcRef": {"Fn::If": ["A", "b", {"Ref": "C"}]}},
            {"PeriodRef": {"To": {"Name": "x"}}},
        ],
    )
    def test_without_the_shape(self, node: dict[str, Any]) -> None:
        given = template({"Some": node} if "Ref" in node else node)
        assert transformed(given) == given

    def test_no_property_that_aws_has_is_one(self) -> None:
        """Of all resource types that cfn-lint knows: those that end so have no `From`."""
        named: list[tuple[str, str]] = []

        def walk(node: object) -> None:
            if isinstance(node, dict):
                below = node.get("properties")
                if isinstance(below, dict):
                    named.extend((key, json.dumps(value)) for key, value in below.items() if stem(key))
                for value in node.values():
                    walk(value)
            elif isinstance(node, list):
                for value in node:
                    walk(value)

        for path in files("cfnlint.data.schemas").joinpath("resources").iterdir():
            text = path.read_text()
            if 'Ref"' in text or 'Refs"' in text:
                walk(json.loads(text))
        assert [key for key, definition in named if '"From"' in definition] == []


class TestOtherTransforms:
    """Macros are carried out in the order in which they are listed, AWS's own after others' (AWS: User Guide)."""

    def test_variables_of_a_sam_function(self) -> None:
        function = {"Environment": {"Variables": {"QUEUE_URLRef": ref("QueueUrl"), "STAGE": "x"}}}
        given = template(F={"Type": "AWS::Serverless::Function", "Properties": function})
        logical_id, _ = the_import(given)
        variables = {"QUEUE_URL": get(logical_id, "QueueUrl"), "STAGE": "x"}
        assert properties(given, "F") == {"Environment": {"Variables": variables}}

    def test_globals_of_a_sam_template(self) -> None:
        given = template({"A": 1}) | {"Globals": {"Function": {"VpcConfig": {"SubnetIdsRef": ref("SubnetIds")}}}}
        logical_id, _ = the_import(given)
        assert transformed(given)["Globals"]["Function"]["VpcConfig"] == {"SubnetIds": get(logical_id, "SubnetIds")}

    def test_a_loop_over_resources(self) -> None:
        body = {
            "Topic${Name}": resource(
                {"KeyRef": ref("Key"), "TopicName": {"Ref": "Name"}},
                Exports={"As": "Key", "Consumer": {"Fn::Sub": "team-${Name}"}},
            )
        }
        given = template(**{"Fn::ForEach::Topics": ["Name", ["A", "B"], body]})
        made = transformed(given)["Resources"]
        (logical_id,) = [name for name, each in made.items() if isinstance(each, dict) and each["Type"] == IMPORTS]
        loop = made["Fn::ForEach::Topics"]
        assert loop[:2] == ["Name", ["A", "B"]]
        assert loop[2]["Topic${Name}"]["Properties"] == {"Key": get(logical_id, "Key"), "TopicName": {"Ref": "Name"}}
        ((_, made),) = [(name, each) for name, each in loop[2].items() if "Exports" in name]
        assert made["Properties"]["Values"] == {"Key": {"Ref": {"Fn::Sub": "Topic${Name}"}}}

    def test_a_loop_over_properties(self) -> None:
        given = template({"Fn::ForEach::Tags": ["T", ["a"], {"Tag${T}Ref": ref("Key")}]})
        logical_id, _ = the_import(given)
        assert properties(given) == {"Fn::ForEach::Tags": ["T", ["a"], {"Tag${T}": get(logical_id, "Key")}]}

    def test_a_snippet_that_is_included(self) -> None:
        include = {"Name": "AWS::Include", "Parameters": {"Location": "s3://bucket/snippet.yaml"}}
        given = template({"Fn::Transform": include, "XRef": ref("A")})
        assert properties(given)["Fn::Transform"] == include
