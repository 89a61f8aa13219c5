"""Typos in the properties of Exports, Imports and lookups are found at their line, and nothing else is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.requests import EXPORT_TYPE, IMPORT_TYPE
from strongref_cli.lint.problems import problems
from tests.cfn_lint.linting import (
    LOOKUP_TYPE,
    NO_VALUE,
    TEMPLATES,
    custom_resources,
    documented,
    either,
    lint,
    with_functions,
)
from tests.support.documents import blocks, load

if TYPE_CHECKING:
    from pathlib import Path

HERE = "  # here"
EXPORT = f"""\
Parameters: {{P: {{Type: String}}}}
Conditions: {{C: !Equals [!Ref P, x]}}
Resources:
  Typo:
    Type: {EXPORT_TYPE}
    Properties:
      ServiceToken: !ImportValue strongref-exporter
"""
IMPORT = EXPORT.replace(EXPORT_TYPE, IMPORT_TYPE)
LOOKUP = EXPORT.replace(EXPORT_TYPE, LOOKUP_TYPE)


@pytest.mark.parametrize(
    ("above", "properties", "text"),
    [
        (EXPORT, "Values: {A: x}\nHoldd: x  # here", "Holdd is unknown; must be one of .* (did you mean Hold?)"),
        (
            EXPORT,
            "Values: {A: x}\nOnChange: propogate  # here",
            "OnChange must be refuse or propagate, got 'propogate'",
        ),
        (
            EXPORT,
            "Region: Ireland  # here\nValues: {A: x}",
            "Region must be a region code such as us-east-1, got 'Ireland'",
        ),
        (EXPORT, "Values: [A]  # here", "Values must be a map of names to values, got a list"),
        (EXPORT, "Values:\n  A: x\n  B: [a, 'b,c']  # here", "Values.B must have items without commas, .*"),
        (EXPORT, "Values: {A: x}\nSecureKeys: A  # here", "SecureKeys must be a list of strings, got 'A'"),
        (EXPORT, "Values: {A: x}\nSecureKeys: [B]  # here", "SecureKeys must be keys of Values, .*, got B"),
        (IMPORT, "From: network  # here", "From must be a map with Stack, .*, got 'network'"),
        (IMPORT, "From:\n  Stack: network\n  Regin: x  # here", "From.Regin is unknown; .* (did you mean Region?)"),
        (IMPORT, "From: {Region: eu-west-1}  # here", "From.Stack is missing; must be the producing stack's name"),
        (IMPORT, "From: {Stack: network}\nShared: maybe  # here", "Shared must be true or false, got 'maybe'"),
        (IMPORT, "From: {Stack: network}\nNames:\n  - A\n  - a b  # here", r"Names\[1\] must consist of letters, .*"),
        (
            IMPORT,
            "From: {Stack: a}\nShared: true\nConsumer: b  # here",
            "Consumer has no meaning with Shared: true; .*",
        ),
        (LOOKUP, "TypeName: S3  # here\nName: x", "TypeName must be a resource type, as in AWS::S3::Bucket, got 'S3'"),
        (LOOKUP, "TypeName: AWS::S3::Bucket\nTags: x  # here", "Tags must be a map of keys to values, got 'x'"),
        (
            LOOKUP,
            "TypeName: AWS::S3::Bucket\nArn: arn:aws:s3:eu-west-1::x\nRegion: us-east-1  # here",
            "Region must be the ARN's region, eu-west-1, .*",
        ),
        # Next to functions, and in their branches.
        (EXPORT, "Values: {A: !Ref P}\nConsumr: !Ref P  # here", "Consumr is unknown; .* (did you mean Consumer?)"),
        (EXPORT, "Values:\n  A: !If [C, !Ref P, '']  # here\n  B: !Ref P", "Values.A must not be empty: .*"),
        (
            EXPORT,
            "Values: {A: x}\nRegion:\n  - !Ref P\n  - us-est  # here",
            r"Region\[1\] must be a region code .*'us-est'",
        ),
        (
            EXPORT,
            "Values: {A: x}\nAccount:\n  - !Ref P\n  - '2222'  # here",
            r"Account\[1\] must be an account's twelve digits, in quotes, got '2222'",
        ),
        (
            EXPORT,
            "Values: {A: x}\nOnChange: !If [C, refuse, !If [C, propagate, propogate]]  # here",
            "OnChange .*'propogate'",
        ),
        (EXPORT, "Values: {A: !Ref P}\nOnChange: !Ref P\nSecureKeys: [B]  # here", "SecureKeys must be keys .* got B"),
        (IMPORT, "From: !If [C, {Stack: a}, {Stak: b}]  # here", "From.Stak is unknown; .* (did you mean Stack?)"),
        (IMPORT, "From: {Stack: !Ref P, Account: 1234}  # here", "From.Account must be an account's twelve digits, .*"),
    ],
)
def test_a_typo_is_found_at_its_line(above: str, properties: str, text: str) -> None:
    whole = above + re.sub("^", "      ", properties, flags=re.MULTILINE)
    (line,) = [number for number, each in enumerate(whole.splitlines(), 1) if each.endswith(HERE)]
    ((found, rule, said),) = lint(whole, alone=True)
    assert (rule, found) == ("E9701", line)
    assert re.fullmatch(text.replace("(did", r"\(did").replace("?)", r"\?\)"), said)


NO_FROM = "From is missing; must be a map with Stack, and where they differ Region and Account"


@pytest.mark.parametrize(
    ("above", "properties", "text"),
    [
        (EXPORT, "Region: eu-west-1", "Values is missing; must be a map of names to values ({} publishes nothing)"),
        (IMPORT, "Revision: a", f"{NO_FROM}. Names is required without it"),
        (LOOKUP, "Name: a", "TypeName is missing; must be a resource type, as in AWS::S3::Bucket"),
        (LOOKUP, "TypeName: AWS::S3::Bucket", "PhysicalId must be given, or one of Arn, Name and Tags"),
        (
            LOOKUP,
            "TypeName: AWS::S3::Bucket\nName: !Ref P\nPhysicalId: x",
            "PhysicalId and Name: cannot be combined; give one of PhysicalId, Arn, Name and Tags",
        ),
    ],
)
def test_what_is_missing_is_found_at_the_properties(above: str, properties: str, text: str) -> None:
    whole = above + re.sub("^", "      ", properties, flags=re.MULTILINE)
    assert lint(whole, alone=True) in ([(6, "E9701", text)], [(8, "E9701", text)])


def test_every_typo_is_found_at_once() -> None:
    found = lint(
        f"{EXPORT}      Holdd: x\n      Consumr: x\n      OnChange: x\n      Values: {{A: '', B: []}}", alone=True
    )
    assert [(each.line, each.text.split()[0]) for each in found] == [
        *((8, "Holdd"), (9, "Consumr"), (10, "OnChange")),
        *((11, "Values.A"), (11, "Values.B")),
    ]


def test_nothing_is_found_in_the_examples_and_on_the_pages() -> None:
    texts = {str(path): path.read_text() for path in TEMPLATES} | {str(block): text for block, text in documented()}
    assert len(texts) > 30
    assert {name: found for name, text in texts.items() if (found := lint(text, alone=True))} == {}


TOPIC = {"TypeName": "AWS::SNS::Topic"}
SECURE = {"Values": {"A": "x"}, "SecureKeys": ["A"]}
ACCOUNTS = ["111111111111", "222222222222"]


def test_nothing_is_found_where_functions_return_what_is_right() -> None:
    tried = 0
    for kind, properties in custom_resources():
        for given in with_functions(properties):
            tried += 1
            assert list(problems(kind, given)) == [], given
    assert tried > 500


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (EXPORT_TYPE, {"Values": {"Fn::Transform": {}}, "SecureKeys": ["A"]}),
        (EXPORT_TYPE, {"Values": {"A": {"Fn::Transform": {}}}, "SecureKeys": ["A.B"]}),
        (EXPORT_TYPE, {"Values": {"A": {"B": {"Fn::GetAtt": ["C", "D"]}}}, "SecureKeys": ["A.B.C", "A.B"]}),
        (EXPORT_TYPE, {"Values": {"A": "x"}, "SecureKeys": {"Ref": "P"}}),
        (EXPORT_TYPE, {"Values": {"A": "x"}, "SecureKeys": ["A", {"Ref": "P"}]}),
        (EXPORT_TYPE, {"Values": {"A": 1, "B": True, "C": [1, 2], 4: 5}, "SecureKeys": ["A", 4], "Revision": 2.5}),
        (EXPORT_TYPE, {"Values": {"A": "x"}, "Region": ["cn-north-1", {"Ref": "P"}]}),
        (EXPORT_TYPE, {"Values": {"A": "x"}, "Region": ["cn-north-1", "cn-northwest-1"]}),
        (EXPORT_TYPE, {"Values": {"A": "x"}, "Region": "us-gov-west-1", "Account": "222222222222"}),
        # Whether it is the stack's own account, which may have secure values and a level of its number.
        (EXPORT_TYPE, SECURE | {"Account": ["222222222222", 222222222222]}),
        (EXPORT_TYPE, SECURE | {"Account": ["222222222222", {"Ref": "P"}]}),
        (EXPORT_TYPE, {"Values": dict.fromkeys(ACCOUNTS, "x"), "Account": [*map(int, ACCOUNTS)]}),
        (IMPORT_TYPE, {"From": {"Stack": "a", "Region": "cn-north-1", "Account": 222222222222}}),
        (IMPORT_TYPE, {"From": {"Stack": "a"}, "Shared": {"Ref": "P"}, "Consumer": "b"}),
        (IMPORT_TYPE, {"From": {"Stack": "a"}, "Shared": either(True, False), "Consumer": "b"}),
        (IMPORT_TYPE, {"From": {"Stack": "a"}, "Shared": either(True, False), "Consumer": either(NO_VALUE, "b")}),
        (IMPORT_TYPE, {"From": {"Stack": "a"}, "Shared": either(True, False), "Consumer": either("b", NO_VALUE)}),
        (LOOKUP_TYPE, TOPIC | {"Arn": "arn:aws:sns:eu-west-1:222222222222:x", "Region": {"Ref": "P"}}),
        (LOOKUP_TYPE, TOPIC | {"Name": either("a", NO_VALUE), "Arn": either(NO_VALUE, "arn:aws:s3:::x")}),
        (LOOKUP_TYPE, TOPIC | {"PhysicalId": NO_VALUE, "Name": "x"}),
        (EXPORT_TYPE, {"Fn::Transform": {"Name": "AWS::Include"}}),
        (EXPORT_TYPE, {"Region": "eu-west-1", "Fn::Transform": {"Name": "AWS::Include"}}),
        (EXPORT_TYPE, None),
    ],
)
def test_nothing_is_found_that_depends_on_the_deployment(kind: str, given: Any) -> None:
    assert list(problems(kind, given)) == []


def test_of_several_accounts_one_is_not_the_stacks_own() -> None:
    ((path, text),) = problems(EXPORT_TYPE, SECURE | {"Account": ACCOUNTS})
    assert (path, "secure values are not exported to other accounts" in text) == (("Values", "A"), True)


def test_a_branch_is_checked_wherever_it_stands() -> None:
    given = {"Values": {"A": {"Fn::If": ["C", {"B": {"Fn::If": ["D", "x", {"Fn::If": ["E", "y", ""]}]}}, NO_VALUE]}}}
    assert [path for path, _ in problems(EXPORT_TYPE, given)] == [("Values", "A", "B")]


LOOP = """\
Transform: AWS::LanguageExtensions
Parameters: {Regions: {Type: CommaDelimitedList}}
Resources:
  Fn::ForEach::Exports:
    - R
    - !Ref Regions
    - Exports&{R}:
        Type: Custom::CrossRegionExport
        Properties:
          ServiceToken: !ImportValue strongref-exporter
          Region: !Sub '${R}'
          Values: {A: x}
"""
AFTER = (
    LOOP[LOOP.index("    - Exports&") :]
    .replace("    - Exports&{R}", "  After")
    .replace("          Region: !Sub '${R}'\n", "")
)


def test_in_a_loop_names_are_checked_and_not_what_cfn_lint_makes_up() -> None:
    assert lint(LOOP, alone=True) == []
    found = lint(f"{LOOP}          Holdd: x\n{AFTER}          Region: x", alone=True)
    assert {(each.line, each.text.split()[0]) for each in found} == {(13, "Holdd"), (19, "Region")}
    assert len(lint(f"{LOOP}          Holdd: x", alone=True, read=load)) == 1


def test_the_configuration_of_the_page_appends_the_rules(tmp_path: Path) -> None:
    from cfnlint.config import ConfigMixIn  # noqa: PLC0415 (it takes a second)

    (block,) = blocks("yaml cfnlintrc")
    (tmp_path / "rc").write_text(block.text)
    assert ConfigMixIn(["--config-file", str(tmp_path / "rc")]).append_rules[1:] == ["strongref_cli.lint"]
