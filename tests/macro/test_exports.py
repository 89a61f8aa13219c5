"""`Exports` on a resource: what it becomes, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest
from strongref.macro.export_properties import KEYS
from tests.support.builders import NETWORK
from tests.support.macro import EXPORTS, IMPORTS, get, problems, ref, resource, template, transformed

ALB = {"Arn": {"Ref": "Alb"}, "SecurityGroup": {"Id": {"Fn::GetAtt": ["Sg", "GroupId"]}}}
NO_VALUE = {"Ref": "AWS::NoValue"}
TOKEN = {"Fn::ImportValue": "strongref-exporter"}


def exported(exports: object, **more: object) -> dict[str, dict[str, Any]]:
    """The Exports of what becomes of a template with a load balancer, by logical id."""
    made = transformed(template(Alb=resource({}, Exports=exports, **more)))["Resources"]
    assert "Exports" not in made["Alb"]
    return {name: each for name, each in made.items() if each["Type"] == EXPORTS}


def the_export(exports: object, **more: object) -> dict[str, Any]:
    (made,) = exported(exports, **more).values()
    return made


def refusals(exports: object) -> list[str]:
    return problems(template(Alb=resource({}, Exports=exports)))


def test_exports_become_an_export_next_to_the_resource() -> None:
    given = {"Region": "us-east-1", "Consumer": "web", "Values": {"WebAlb": ALB}}
    ((logical_id, made),) = exported(given).items()
    hold = {"Fn::Sub": f"${{AWS::StackName}}-{logical_id}"}
    assert made == {"Type": EXPORTS, "Properties": {"ServiceToken": TOKEN, "Hold": hold, **given}}
    assert re.fullmatch(r"ExportsWeb[0-9a-f]{8}", logical_id)


def test_the_other_attributes_of_the_resource_stay() -> None:
    given = template(Alb=resource({"A": 1}, Exports={"As": "Alb"}, DependsOn=["B"], DeletionPolicy="Retain"))
    assert transformed(given)["Resources"]["Alb"] == resource({"A": 1}, DependsOn=["B"], DeletionPolicy="Retain")


@pytest.mark.parametrize(
    ("given", "values", "secure"),
    [
        ({"As": "AlbArn"}, {"AlbArn": {"Ref": "Alb"}}, None),
        ({"As": "WebAlb", "Values": ALB}, {"WebAlb": ALB}, None),
        ({"As": "Web.Alb", "Values": ALB}, {"Web": {"Alb": ALB}}, None),
        ({"As": "Web/Alb", "Values": {"Ref": "X"}}, {"Web": {"Alb": {"Ref": "X"}}}, None),
        (
            {"As": "Db", "Values": {"Password": "x"}, "SecureKeys": ["Password"]},
            {"Db": {"Password": "x"}},
            ["Db.Password"],
        ),
    ],
)
def test_as_is_the_name_that_values_stand_below(given: Any, values: Any, secure: Any) -> None:
    made = the_export(given)["Properties"]
    assert made["Values"] == values
    assert made.get("SecureKeys") == secure
    assert "As" not in made
    known = {"Values": {}, "SecureKeys": [], "Hold": "network-Exports"}
    sample = {key: value for key, value in made.items() if key != "ServiceToken"} | known
    ExportRequest.parse(sample, StackArn.parse(NETWORK))


def test_several_exports_of_one_resource() -> None:
    made = exported([{"As": "Alb", "Consumer": "web"}, {"As": "Alb", "Consumer": "shop"}])
    assert {name[:-8]: each["Properties"]["Consumer"] for name, each in made.items()} == {
        "ExportsWeb": "web",
        "ExportsShop": "shop",
    }


def test_an_imported_value_is_exported_again() -> None:
    given = template(
        Alb=resource({}, Exports={"Values": {"Alb": {**ALB, "CertArnRef": ref("CertArn")}}}, Condition="C")
    )
    made = transformed(given)["Resources"]
    (logical_id,) = [name for name, each in made.items() if each["Type"] == IMPORTS]
    (export,) = [each for each in made.values() if each["Type"] == EXPORTS]
    whole = {**ALB, "CertArn": get(logical_id, "CertArn")}
    assert export["Properties"]["Values"]["Alb"] == {"Fn::If": ["C", whole, NO_VALUE]}
    assert made[logical_id]["Condition"] == "C"


def test_a_property_called_exports_is_not_ours() -> None:
    given = template({"Exports": {"As": "x"}})
    assert transformed(given) == given


def test_every_property_of_the_exporter_may_be_given() -> None:
    given: dict[str, Any] = {
        "Region": ["us-east-1", {"Ref": "AWS::Region"}],
        "Account": {"Ref": "AWS::AccountId"},
        "Consumer": {"Ref": "Consumer"},
        "OnChange": "propagate",
        "Values": {"A": 1, "B": [True, {"Ref": "X"}], "C": {"Fn::Split": [",", "a,b"]}},
        "SecureKeys": ["A"],
        "Revision": "3",
    }
    assert set(given) == set(KEYS)
    made = the_export(given)["Properties"]
    assert made == {"ServiceToken": TOKEN, "Hold": made["Hold"], **given}


def test_several_accounts_are_passed_on_to_the_exporter() -> None:
    accounts = ["222222222222", 333333333333, {"Ref": "Account"}]
    made = the_export({"As": "A", "Region": "us-east-1", "Account": accounts})["Properties"]
    assert made["Account"] == ["222222222222", "333333333333", {"Ref": "Account"}]
    in_full = template(Export={"Type": EXPORTS, "Properties": {**made, "Hold": "x"}})
    in_full["Outputs"] = {"Hold": {"Value": get("Export", "Hold"), "Export": {"Name": "x"}}}
    assert transformed(in_full) == in_full


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("web", "Alb.Exports: must be a map with Values, or with the name to export it As, got text"),
        ({"Ref": "A"}, "Alb.Exports: must be a map with Values, or with the name to export it As, got a function"),
        (None, "Alb.Exports: must be a map with Values, or with the name to export it As, got nothing"),
        ({}, "Alb.Exports.Values: a map of names to values, or the name to export it As, is missing"),
        ({"Values": {}, "Regoin": "x"}, "Alb.Exports.Regoin: no such key (did you mean Region?); allowed are Region, "),
        ({"Values": []}, "Alb.Exports.Values: must be a map of names to values, got a list"),
        ({"Values": {"A b": "x"}}, "Alb.Exports.Values.A b: must consist of letters, digits, _ and -, got 'A b'"),
        (
            {"Values": {"A": {"B c": "x"}}},
            "Alb.Exports.Values.A.B c: must consist of letters, digits, _ and -, got 'B c'",
        ),
        ({"Values": {"A": ""}}, "Alb.Exports.Values.A: must not be empty: Parameter Store holds no empty value"),
        ({"Values": {"A": None}}, "Alb.Exports.Values.A: must be a string, a list of strings or a map, got nothing"),
        (
            {"Values": {"A": {}}},
            "Alb.Exports.Values.A: must hold a value, got an empty map; leave it out or give it a value",
        ),
        ({"Values": {"A": ["a,b"]}}, "Alb.Exports.Values.A: must have items without commas, got one in item 1"),
        (
            {"Values": {"A": "x"}, "SecureKeys": ["B"]},
            "Alb.Exports.SecureKeys: must be keys of Values, with dots between levels, got B",
        ),
        (
            {"Values": {"A": ["x"]}, "SecureKeys": ["A"]},
            "Alb.Exports.SecureKeys: must be a string to be secure, got a list",
        ),
        ({"Values": {"A": "x"}, "SecureKeys": "A"}, "Alb.Exports.SecureKeys: must be a list of strings, got 'A'"),
        ({"As": "A b"}, "Alb.Exports.As: must consist of letters, digits, _ and -, got 'A b'"),
        ({"As": {"Ref": "A"}}, "Alb.Exports.As: must be a string, got a map"),
        ({"As": "A", "Values": {}}, "Alb.Exports.Values: must not be empty; remove it or add a value"),
        (
            {"As": "A.B", "Values": {"C": {"D": {"E": {"F": {"G": {"H": {"I": {"J": "x"}}}}}}}}},
            "Alb.Exports.Values.C.D.E.F.G.H.I.J: must be at most 9 levels deep, got 10",
        ),
        ({"As": "A", "Values": {"B": {"C d": "x"}}}, "Alb.Exports.Values.B.C d: must consist of letters"),
        ({"As": "A b", "Values": {"B": "x"}}, "Alb.Exports.As: must consist of letters, digits, _ and -, got 'A b'"),
        ({"As": "A", "SecureKeys": {"Ref": "X"}}, "Alb.Exports.SecureKeys: must be a list of strings, got a map"),
        (
            {"As": "A", "Region": []},
            "Alb.Exports.Region: must not be an empty list; omit it for the stack's own region",
        ),
        (
            {"As": "A", "Region": "Ireland"},
            "Alb.Exports.Region: must be a region code such as us-east-1, got 'Ireland'",
        ),
        ({"As": "A", "Account": 1}, "Alb.Exports.Account: must be an account's twelve digits, in quotes, got '1'"),
        (
            {"As": "A", "Account": ["222222222222", 1]},
            "Alb.Exports.Account: must be an account's twelve digits, in quotes, got '1'",
        ),
        (
            {"As": "A", "Account": []},
            "Alb.Exports.Account: must not be an empty list; omit it for the stack's own account",
        ),
        ({"As": "A", "Consumer": "_x"}, "Alb.Exports.Consumer: must be a stack's name or a label"),
        ({"As": "A", "OnChange": "ignore"}, "Alb.Exports.OnChange: must be refuse or propagate, got 'ignore'"),
        ([{"As": "A"}, {"As": "B b"}], "Alb.Exports[1].As: must consist of letters, digits, _ and -, got 'B b'"),
    ],
)
def test_what_the_exporter_would_refuse_is_reported_before(given: object, reported: str) -> None:
    (text,) = refusals(given)
    assert text.startswith(reported)


def test_a_dynamic_reference_is_not_known_before_cloudformation_reads_it() -> None:
    value = {"A": "{{resolve:ssm:/site/a}}"}
    assert the_export({"Values": value})["Properties"]["Values"] == value


def test_everything_that_is_wrong_is_reported_at_once() -> None:
    reported = refusals({"Values": {"A b": 1, "B": "", "C": "ok"}, "Region": "x", "OnChange": "y", "SecureKeys": ["C"]})
    assert [text.partition(":")[0] for text in reported] == [
        "Alb.Exports.Values.A b",
        "Alb.Exports.Values.B",
        "Alb.Exports.Region",
        "Alb.Exports.OnChange",
    ]
