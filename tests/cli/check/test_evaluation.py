"""Templates, evaluated: every function, and what only a deployment knows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref_cli.check.evaluation import CONDITION_FUNCTIONS, Evaluation
from strongref_cli.check.unknown import SourceKind, Unknown, expression_of, unknown_of

NAMES: dict[str, Any] = {
    "Stage": "prod",
    "Zones": ["a", "b"],
    "AWS::Region": "eu-west-1",
    "Secret": unknown_of(SourceKind.FIXED, "Secret", {"Ref": "Secret"}),
}
TEMPLATE: dict[str, Any] = {
    "Mappings": {"Sizes": {"prod": {"Count": 3, "Names": ["x", "y"]}}},
    "Conditions": {
        "IsProd": {"Fn::Equals": [{"Ref": "Stage"}, "prod"]},
        "IsNot": {"Fn::Not": [{"Condition": "IsProd"}]},
        "InSam": {"Fn::Not": [{"Condition": {"Condition": "IsProd"}}]},
        "Both": {"Fn::And": [{"Condition": "IsProd"}, {"Condition": "IsNot"}]},
        "Either": {"Fn::Or": [{"Condition": "IsProd"}, {"Fn::Equals": [{"Ref": "Secret"}, "x"]}]},
        "Perhaps": {"Fn::Equals": [{"Ref": "Secret"}, "x"]},
        "Circular": {"Fn::Not": [{"Condition": "Round"}]},
    },
    "Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}},
}
NO_VALUE = {"Ref": "AWS::NoValue"}


def value(node: object, template: dict[str, Any] = TEMPLATE) -> Any:
    return Evaluation(template, NAMES).value(node)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"Ref": "Stage"}, "prod"),
        ({"Fn::Sub": "${Stage}-${AWS::Region}-${!Literal}"}, "prod-eu-west-1-${Literal}"),
        ({"Fn::Sub": ["${A}${Stage}", {"A": {"Ref": "Stage"}}]}, "prodprod"),
        ({"Fn::Join": ["-", ["a", {"Ref": "Stage"}, 1, True]]}, "a-prod-1-true"),
        ({"Fn::Join": [",", {"Ref": "Zones"}]}, "a,b"),
        ({"Fn::Select": ["1", {"Ref": "Zones"}]}, "b"),
        ({"Fn::Select": [0, {"Fn::Split": ["/", "x/y"]}]}, "x"),
        ({"Fn::If": ["IsProd", "yes", {"Ref": "Bucket"}]}, "yes"),
        ({"Fn::If": ["IsNot", "yes", "no"]}, "no"),
        ({"Fn::If": ["Both", "yes", "no"]}, "no"),
        ({"Fn::If": ["Perhaps", "same", "same"]}, "same"),
        ({"A": {"Fn::If": ["IsNot", "yes", NO_VALUE]}, "B": 1}, {"B": 1}),
        ([NO_VALUE, "x"], ["x"]),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Stage"}, "Count"]}, 3),
        ({"Fn::FindInMap": ["Sizes", "test", "Count", {"DefaultValue": "1"}]}, "1"),
        ({"Fn::Base64": "text"}, "dGV4dA=="),
        ({"Fn::Length": {"Fn::FindInMap": ["Sizes", "prod", "Names"]}}, 2),
        ({"Fn::Length": [{"Ref": "Bucket"}]}, 1),
        ({"Fn::ToJsonString": {"A": {"Ref": "Zones"}, "N": 1}}, '{"A":["a","b"],"N":1}'),
        ({"Fn::Equals": ["1", 1]}, True),
        ({"Fn::Select": [0, ["known", {"Ref": "Bucket"}]]}, "known"),
    ],
)
def test_a_function_of_known_values_is_known(node: object, expected: object) -> None:
    assert value(node) == expected


@pytest.mark.parametrize(
    ("node", "sources"),
    [
        ({"Ref": "Bucket"}, ["Bucket"]),
        ({"Fn::GetAtt": ["Bucket", "Arn"]}, ["Bucket.Arn"]),
        ({"Fn::GetAtt": "Bucket.Outputs.X"}, ["Bucket.Outputs.X"]),
        ({"Fn::Sub": "x-${Bucket}-${Bucket.Arn}"}, ["Bucket", "Bucket.Arn"]),
        ({"Fn::Join": ["", ["x", {"Ref": "Secret"}]]}, ["Secret"]),
        ({"Fn::If": ["Perhaps", {"Ref": "Bucket"}, "x"]}, ["Bucket", "Secret"]),
        ({"Fn::ImportValue": {"Fn::Sub": "${Stage}-Vpc"}}, ["Fn::ImportValue prod-Vpc"]),
        ({"Fn::Select": [0, {"Fn::GetAZs": ""}]}, ["Fn::GetAZs"]),
        ("{{resolve:ssm:/a/b}}", ["dynamic reference ssm:/a/b"]),
        ("x{{resolve:ssm:/a/b:3}}", ["dynamic reference ssm:/a/b:3"]),
        ({"Fn::Base64": {"Fn::Sub": "${Bucket}"}}, ["Bucket"]),
        ({"Fn::Length": {"Fn::Split": [",", {"Ref": "Bucket"}]}}, ["Bucket"]),
        ({"Fn::ToJsonString": {"A": {"Ref": "Bucket"}}}, ["Bucket"]),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Secret"}, "Count"]}, ["Secret"]),
        ({"Fn::Transform": {"Name": "AWS::Include"}}, ["invalid expression Fn::Transform"]),
        ({"Fn::Cidr": [{"Ref": "Bucket"}, 2, "8"]}, ["Bucket", "Fn::Cidr"]),
        ({"Ref": "Nowhere"}, ["invalid expression Ref of Nowhere"]),
        ({"Fn::FindInMap": ["Sizes", "test", "Count"]}, ["invalid expression Fn::FindInMap"]),
        ({"Fn::If": ["Circular", 1, 2]}, ["invalid expression Condition Round"]),
        ({"Fn::Unheard": "x"}, ["invalid expression Fn::Unheard"]),
    ],
)
def test_what_only_a_deployment_knows_is_unknown_and_says_what_it_depends_on(node: object, sources: list[str]) -> None:
    found = value(node)
    assert isinstance(found, Unknown)
    assert sorted(map(str, found.sources)) == sources


def test_conditions_are_decided_as_far_as_they_can_be() -> None:
    evaluation = Evaluation(TEMPLATE, NAMES)
    assert [evaluation.condition(each) for each in ("IsProd", "IsNot", "InSam", "Both")] == [True, False, False, False]
    known = {**TEMPLATE, "Conditions": {key: each for key, each in TEMPLATE["Conditions"].items() if key != "Circular"}}
    assert Evaluation(known, NAMES).condition("Either") is True
    assert isinstance(Evaluation(known, NAMES).condition("Perhaps"), Unknown)


def test_a_value_that_may_be_absent_says_so() -> None:
    found = value({"A": {"Fn::If": ["Perhaps", "x", NO_VALUE]}})["A"]
    assert isinstance(found, Unknown)
    assert found.optional


def test_the_same_text_has_the_same_expression_however_it_is_written() -> None:
    forms = [
        {"Fn::Sub": "arn:${Bucket}/prod"},
        {"Fn::Join": ["", ["arn:", {"Ref": "Bucket"}, "/", {"Ref": "Stage"}]]},
        {"Fn::Join": ["/", [{"Fn::Sub": "arn:${Bucket}"}, "prod"]]},
    ]
    assert len({repr(expression_of(value(form))) for form in forms}) == 1


def test_no_value_is_in_the_representation_of_an_unknown_one() -> None:
    assert "prod" not in repr(value({"Fn::Sub": "${Stage}-${Bucket}"}))


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8))
FUNCTIONS = [*Evaluation({}, {})._functions, *CONDITION_FUNCTIONS, "Condition", "Fn::ForEach::X", "DefaultValue"]
WORDS = st.sampled_from(
    ["Stage", "Zones", "Bucket", "Secret", "Bucket.Arn", "IsProd", "AWS::NoValue", "Sizes", "${Bucket}"]
)
NODES = st.recursive(
    LEAVES | WORDS,
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(st.sampled_from(FUNCTIONS), below, min_size=1, max_size=1)
        | st.dictionaries(st.text(max_size=5), below, max_size=3)
    ),
    max_leaves=20,
)


@given(NODES, st.dictionaries(st.sampled_from(["Conditions", "Mappings", "Resources", "X"]), NODES, max_size=4))
def test_nothing_is_raised_whatever_the_template_is(node: object, template: dict[str, Any]) -> None:
    for each in (TEMPLATE, template, {**TEMPLATE, "Conditions": {"IsProd": node, "Other": {"Condition": "IsProd"}}}):
        found = Evaluation(each, NAMES).value(node)
        assert expression_of(found) == expression_of(Evaluation(each, NAMES).value(node))


def test_a_long_chain_of_conditions_is_no_problem() -> None:
    chain: dict[str, Any] = {f"C{number}": {"Fn::Not": [{"Condition": f"C{number + 1}"}]} for number in range(2_000)}
    chain["C2000"] = {"Fn::Equals": ["a", "a"]}
    assert Evaluation({"Conditions": chain}, {}).condition("C0") is True
