"""What several resources export to the same target: one Export, which can be asked to export less, and refuse to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as made_up
from hypothesis import strategies as st

from tests.support.macro import EXPORTS, problems, resource, template, transformed

NO_VALUE = {"Ref": "AWS::NoValue"}


def exporting(exports: object, **more: object) -> dict[str, Any]:
    return resource({}, Exports=exports, **more)


def exports(**resources: Any) -> dict[str, dict[str, Any]]:
    """The Exports of what becomes of a template, by logical id."""
    made = transformed(template(**resources))["Resources"]
    return {name: each for name, each in made.items() if each["Type"] == EXPORTS}


def values(**resources: Any) -> Any:
    (made,) = exports(**resources).values()
    return made["Properties"]["Values"]


def when(condition: str, node: object, otherwise: object = NO_VALUE) -> dict[str, Any]:
    return {"Fn::If": [condition, node, otherwise]}


def test_all_that_goes_to_one_target_is_one_export() -> None:
    alb = exporting({"As": "Web", "Consumer": "web", "Values": {"Arn": {"Ref": "Alb"}}})
    group = exporting({"As": "Web.Group", "Consumer": "web", "Values": {"Id": {"Ref": "Group"}}})
    other = exporting({"As": "Web", "Consumer": "shop"})
    made = exports(Alb=alb, Group=group, Other=other)
    assert [each["Properties"]["Values"] for each in made.values()] == [
        {"Web": {"Arn": {"Ref": "Alb"}, "Group": {"Id": {"Ref": "Group"}}}},
        {"Web": {"Ref": "Other"}},
    ]


def test_what_is_exported_twice_alike_is_exported_once() -> None:
    assert values(A=exporting({"Values": {"X": "1"}}), B=exporting({"Values": {"X": "1"}}, Condition="C")) == {"X": "1"}


def test_secure_keys_are_put_together() -> None:
    a = exporting({"As": "Db", "Values": {"Password": "x"}, "SecureKeys": ["Password"]})
    b = exporting({"Values": {"Token": "x"}, "SecureKeys": ["Token"]}, Condition="C")
    (made,) = exports(A=a, B=b).values()
    assert made["Properties"]["SecureKeys"] == ["Db.Password", when("C", "Token")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"Region": "us-east-1"}, {"Region": ["us-east-1"]}),
        ({"Region": ["eu-west-1", {"Ref": "R"}]}, {"Region": [{"Ref": "R"}, "eu-west-1", "eu-west-1"]}),
        ({"Account": 111111111111}, {"Account": "111111111111"}),
        ({"Account": 111111111111}, {"Account": ["111111111111", 111111111111]}),
        ({"Account": ["111111111111", {"Ref": "A"}]}, {"Account": [{"Ref": "A"}, 111111111111]}),
        ({"Consumer": {"Ref": "C"}}, {"Consumer": {"Ref": "C"}}),
    ],
)
def test_targets_are_the_same_however_they_are_written(one: dict[str, Any], other: dict[str, Any]) -> None:
    both = exports(A=exporting({"As": "A", **one}), B=exporting({"As": "B", **other}))
    assert (
        list(both) == list(exports(A=exporting({"As": "A", **other}))) == list(exports(A=exporting({"As": "A", **one})))
    )


def test_functions_that_are_written_alike_are_the_same_target_and_others_are_not() -> None:
    one, other = {"Region": {"Ref": "R"}}, {"Region": [{"Ref": "R"}]}
    assert len(exports(A=exporting({"As": "A", **one}), B=exporting({"As": "B", **other}))) == 2


ITEMS = st.lists(
    st.tuples(st.sampled_from(["web", "shop"]), st.sampled_from(["us-east-1", "eu-west-1"]), st.booleans()),
    min_size=1,
    max_size=5,
)


@made_up(ITEMS, st.randoms())
def test_the_order_of_the_resources_and_of_their_items_means_nothing(
    items: list[tuple[str, str, bool]], chance: Any
) -> None:
    def made(order: list[int]) -> dict[str, dict[str, Any]]:
        listed = [{"As": f"E{n}", "Consumer": items[n][0], "Region": items[n][1]} for n in order if items[n][2]]
        alone = {
            f"R{n}": exporting({"As": f"E{n}", "Consumer": items[n][0], "Region": items[n][1]}, Condition=f"C{n}")
            for n in order
            if not items[n][2]
        }
        return exports(**alone, Listed=exporting(listed))

    order = list(range(len(items)))
    mixed = sorted(order, key=lambda _: chance.random())
    assert made(order) == made(mixed)


# Conditions.


def test_under_a_condition_names_are_left_out_and_the_export_stays() -> None:
    (made,) = exports(A=exporting({"As": "Web", "Values": {"Arn": {"Ref": "A"}}}, Condition="C")).values()
    assert "Condition" not in made
    assert made["Properties"]["Values"] == {"Web": when("C", {"Arn": {"Ref": "A"}})}


def test_a_map_of_which_something_is_there_always_has_the_rest_under_its_condition() -> None:
    a = exporting({"As": "Web", "Values": {"Arn": "a"}})
    b = exporting({"As": "Web", "Values": {"Group": {"Id": "b"}}}, Condition="C")
    assert values(A=a, B=b) == {"Web": {"Arn": "a", "Group": when("C", {"Id": "b"})}}


def test_a_map_is_there_under_any_of_several_conditions_and_is_never_empty() -> None:
    a = exporting({"As": "Web", "Values": {"A": "a"}}, Condition="C")
    b = exporting({"As": "Web", "Values": {"B": "b"}}, Condition="D")
    assert values(A=a, B=b) == {"Web": when("C", {"A": "a", "B": when("D", "b")}, when("D", {"B": "b"}))}


def test_values_that_are_a_function_are_an_empty_map_where_their_condition_does_not_hold() -> None:
    given = {"Values": {"Fn::If": ["D", {"A": "a"}, {"B": "b"}]}}
    assert values(A=exporting(given)) == given["Values"]
    assert values(A=exporting(given, Condition="C")) == when("C", given["Values"], {})


def test_a_keeper_exports_nothing() -> None:
    assert values(A=exporting({"Consumer": "web", "Values": {}})) == {}


# Before what is the Export deleted?


def test_the_export_comes_after_the_resources_that_its_values_do_not_refer_to() -> None:
    (made,) = exports(
        A=exporting({"As": "A"}),
        B=exporting({"As": "B", "Values": {"Name": "b"}}),
        C=exporting({"As": "C", "Values": {"Name": {"Fn::Sub": "${C.Arn}-${!B}"}}}),
        D=exporting({"As": "D", "Values": {"Name": "d"}}, Condition="X"),
        E=exporting({"As": "E"}, Condition="X"),
        F=exporting({"As": "F", "Values": {"Name": {"Fn::If": ["X", {"Ref": "F"}, "f"]}}}),
        G=exporting({"As": "G", "Values": {"Names": [{"Fn::GetAtt": ["G", "Arn"]}]}}),
        H=exporting({"As": "H", "Values": {"Name": {"Fn::Sub": ["${V}", {"V": {"Fn::GetAtt": "H.Arn"}}]}}}),
        I=exporting({"As": "I", "Values": {"Name": {"Fn::Join": ["", ["i", {"Ref": "I"}]]}}}),
    ).values()
    assert made["DependsOn"] == ["B", "F"]
    assert made["Metadata"] == {"Exports": [when("X", {"Ref": "D"})]}


# What does not go together.


@pytest.mark.parametrize(
    ("one", "other", "reported"),
    [
        ({"Values": {"A": {"B": "x"}}}, {"Values": {"A": {"B": "y"}}}, "the value of A.B"),
        ({"Values": {"A": {"B": "x"}}}, {"As": "A"}, "the value of A"),
        ({"Values": {"A": True}}, {"Values": {"A": 1}}, "the value of A"),
        ({"As": "A", "OnChange": "refuse"}, {"As": "B", "OnChange": "propagate"}, "OnChange"),
        ({"As": "A", "OnChange": "propagate"}, {"As": "B"}, "OnChange"),
        ({"As": "A", "Revision": 1}, {"As": "B", "Revision": 2}, "Revision"),
    ],
)
def test_two_that_do_not_agree_are_reported_with_both_places(one: object, other: object, reported: str) -> None:
    (text,) = problems(template(A=exporting(one), B=exporting([other]))) or [""]
    paths, _, rest = text.partition(" in ")
    assert set(paths.split(": differs from ")) == {"A.Exports", "B.Exports[0]"}
    assert rest.startswith(f"{reported}, and both go into one Export")


def test_on_change_that_is_left_out_by_the_first_is_reported_as_well() -> None:
    (text,) = problems(template(A=exporting({"As": "A"}), B=exporting({"As": "B", "OnChange": "propagate"})))
    assert text.startswith("A.Exports: differs from B.Exports in OnChange")


def test_a_revision_may_be_given_by_one_of_them() -> None:
    (made,) = exports(A=exporting({"As": "A", "Revision": 2}), B=exporting({"As": "B"})).values()
    assert made["Properties"]["Revision"] == "2"


def test_values_that_are_a_function_stand_alone() -> None:
    function = {"Values": {"Fn::If": ["C", {"A": "a"}, {}]}}
    (text,) = problems(template(A=exporting(function), B=exporting({"As": "B"})))
    assert text.startswith(
        "A.Exports.Values: must be a map of names to values, since other resources export to the same target, got"
    )


# Loops.


def in_loop(given: object, **more: object) -> dict[str, Any]:
    return {"Fn::ForEach::Topics": ["Name", ["A", "B"], {"Topic${Name}": exporting(given, **more)}]}


TEAM = {"Consumer": {"Fn::Sub": "team-${Name}"}}


def test_in_a_loop_each_resource_has_its_export() -> None:
    given = [{"As": "T", "Consumer": {"Ref": "Name"}}, {"Values": {"T": "t"}, **TEAM}]
    body = transformed(template(**in_loop(given, Condition="C")))["Resources"]["Fn::ForEach::Topics"][2]
    made = [(name, each) for name, each in body.items() if each["Type"] == EXPORTS]
    assert [name.startswith("Topic${Name}Exports") for name, _ in made] == [True, True]
    own = {"Ref": {"Fn::Sub": "Topic${Name}"}}
    values = [each["Properties"]["Values"] for _, each in made]
    assert values == [{"T": when("C", own)}, {"T": when("C", "t")}]
    assert made[1][1]["Metadata"] == {"Exports": [when("C", own)]}
    turned = transformed(template(**in_loop(given[::-1], Condition="C")))["Resources"]
    assert turned["Fn::ForEach::Topics"][2] == body


def test_in_a_loop_an_export_depends_on_its_resource_by_a_function() -> None:
    """CloudFormation replaces no variable in `DependsOn`."""
    body = transformed(template(**in_loop({"Values": {"T": "t"}, **TEAM})))["Resources"]["Fn::ForEach::Topics"][2]
    (made,) = [each for each in body.values() if each["Type"] == EXPORTS]
    assert made["Metadata"] == {"Exports": [{"Ref": {"Fn::Sub": "Topic${Name}"}}]}
    assert "DependsOn" not in made


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"Ref": "Topic${Name}"}, {"Ref": {"Fn::Sub": "Topic${Name}"}}),
        ({"Fn::GetAtt": ["Topic${Name}", "Arn"]}, {"Fn::GetAtt": [{"Fn::Sub": "Topic${Name}"}, "Arn"]}),
        ({"Fn::GetAtt": "Topic${Name}.A.B"}, {"Fn::GetAtt": [{"Fn::Sub": "Topic${Name}"}, "A.B"]}),
        *(
            (each, each)
            for each in (
                {"Fn::GetAtt": [{"Fn::Sub": "Topic${Name}"}, "Arn"]},
                {"Fn::GetAtt": {"Fn::Sub": "Topic${Name}.Arn"}},
                {"Ref": {"Fn::Sub": ["${P}${Name}", {"P": "Topic"}]}},
            )
        ),
        (
            [{"Fn::Sub": ["${Name}-${A}", {"A": {"Ref": "Name"}}]}],
            [{"Fn::Sub": ["${Name}-${A}", {"A": {"Ref": "Name"}}]}],
        ),
    ],
)
def test_in_a_loop_values_have_its_variable_where_cloudformation_replaces_it(given: object, expected: object) -> None:
    body = transformed(template(**in_loop({"Values": {"T": given}, **TEAM})))["Resources"]["Fn::ForEach::Topics"][2]
    (made,) = [each for each in body.values() if each["Type"] == EXPORTS]
    assert made["Properties"]["Values"] == {"T": expected}


@pytest.mark.parametrize(
    "given",
    [
        {"As": "T", "Region": {"Ref": "Name"}},
        {"As": "T", "Consumer": {"Ref": "Team${Name}"}},
        {"As": "T", "Region": ["us-east-1", {"Fn::Sub": "${Name}"}], "Values": {"A": "x"}, "SecureKeys": ["A"]},
        {"Values": {"Fn::FindInMap": ["M", {"Ref": "Name"}, "Values"]}},
    ],
)
def test_in_a_loop_targets_may_depend_on_its_variable(given: dict[str, Any]) -> None:
    assert problems(template(**in_loop(given))) == []


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"As": "T${Name}"}, "As"),
        ({"As": "T&{Name}"}, "As"),
        ({"As": "T", "Consumer": "${Name}"}, "Consumer"),
        ({"As": "T", "Region": ["${Name}"]}, "Region[0]"),
        ({**TEAM, "Values": {"${Name}": "x"}}, "Values.${Name}"),
        ({**TEAM, "Values": {"A": {"B${Name}": "x"}}}, "Values.A.B${Name}"),
        ({**TEAM, "Values": {"A": ["x", "${Name}"]}}, "Values.A[1]"),
        ({**TEAM, "Values": {"A": {"Fn::Sub": "&{Name}"}}}, "Values.A.Fn::Sub"),
        ({**TEAM, "Values": {"A": {"Ref": "Topic&{Name}"}}}, "Values.A.Ref"),
        ({**TEAM, "Values": {"A": {"Fn::Sub": ["${B}", {"B": "${Name}"}]}}}, "Values.A.Fn::Sub[1].B"),
        ({"As": "T", "Consumer": {"Fn::Join": ["", ["a", "${Name}"]]}}, "Consumer.Fn::Join[1][1]"),
    ],
)
def test_in_a_loop_its_variable_is_refused_where_it_would_stay(given: dict[str, Any], place: str) -> None:
    (text,) = problems(template(**in_loop(given)))
    exports = "Fn::ForEach::Topics[2].Topic${Name}.Exports"
    assert text.startswith(f"{exports}.{place}: CloudFormation does not replace Name of Fn::ForEach here; use !Sub or")


def test_in_a_loop_the_resource_needs_a_name_that_functions_can_have_and_one_condition() -> None:
    body = {"T&{Name}": exporting({"As": "T", **TEAM})}
    (text,) = problems(template(**{"Fn::ForEach::Topics": ["Name", ["a.b"], body]}))
    assert text.startswith("Fn::ForEach::Topics[2].T&{Name}: CloudFormation does not replace Name of Fn::ForEach here;")
    assert text.endswith("write $ in place of &, as !Sub needs it")
    (text,) = problems(template(**in_loop({"As": "T", **TEAM}, Condition="Is${Name}")))
    assert text.endswith(
        "Condition: CloudFormation does not replace Name of Fn::ForEach here; use one condition for all"
    )


def test_what_every_iteration_of_a_loop_would_export_alike_is_refused() -> None:
    (text,) = problems(template(**in_loop({"As": "T", "Values": {"Arn": {"Ref": "Topic${Name}"}}})))
    assert text.startswith("Fn::ForEach::Topics[2].Topic${Name}.Exports: neither Region, Account nor Consumer depends")
    assert text.endswith("use !Sub with ${Name} in one of them")


def test_more_conditions_than_an_export_can_nest_are_reported() -> None:
    def some(count: int) -> dict[str, Any]:
        names = range(count)
        return {f"R{each}": exporting({"Values": {f"K{each}": "v"}}, Condition=f"C{each}") for each in names}

    assert problems(template(**some(100))) == []
    (problem,) = problems(template(**some(400)))
    assert problem == (
        "R0.Exports: must have at most 100 conditions among the exports of one target, got 400; give some of them "
        "another Consumer"
    )
