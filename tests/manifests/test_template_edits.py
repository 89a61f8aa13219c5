"""A template's text with its references replaced: read again it is what becomes of the data, the rest is untouched."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import strongref_cli as cli
from strongref.macro.transform import Settings, plan
from strongref_manifests.errors import ManifestError
from strongref_manifests.text.template_edits import changed
from strongref_manifests.text.templates import content, read
from tests.support.macro import IMPORTS, cdk_name, get, reader, ref, resource, template, writer

if TYPE_CHECKING:
    from pathlib import Path

FROM = "{Stack: network, Region: eu-west-1, Name: %s}"

STYLES = [
    "Resources: {A: {Type: T, Properties: {XRef: {From: {Stack: a, Name: b}}}}}\n",
    "{Resources: {A: {Type: T, Properties: {XRef: {From: {Stack: a, Name: b}}}, Exports: {As: c}}}}\n",
    "{Resources: {A: {Exports: {As: c}, Type: T}}, Transform: StrongRef}\n",
    "Resources: {A: {Type: T, Properties: {B: !If [C, {XRef: {From: {Stack: a, Name: b}}}, 1]}, Condition: D}}\n",
    (
        "Resources:\n"
        "  A:\n"
        "    Type: T\n"
        "    Properties:\n"
        "      XRef:\n"
        "        From:\n"
        "          Stack: a\n"
        "          Name: b"
    ),
    ("Resources:\r\n  A:\r\n    Type: T\r\n    Properties:\r\n      XRef: {From: {Stack: a, Name: b}}\r\n"),
    ("Resources:\n  A:\n    Exports: {As: c}\n    Type: T\n"),
    ("Resources:\n  A:\n    Type: T\n    Exports:\n      - As: c\n      - {As: d, Region: us-east-1}\n"),
    (
        "Resources:\n"
        "  A:\n"
        "    Type: T\n"
        "    Properties:\n"
        "      B: !If\n"
        "        - C\n"
        "        - XRef: {From: {Stack: a, Name: b}}\n"
        "        - !Ref AWS::NoValue\n"
    ),
    (
        "Resources:\n"
        "    A:\n"
        "        Type: T\n"
        "        Properties:\n"
        "            Bs:\n"
        "            - XRefs:\n"
        "              - {From: {Stack: a, Name: b}}\n"
        "              Y: |\n"
        "                text\n"
        "\n"
        "\n"
        "    B: {Type: T}\n"
    ),
    (
        "Resources:\n"
        "  A:\n"
        "    Type: T\n"
        "    Properties:\n"
        "      Last: >-\n"
        "        folded\n"
        "        text\n"
        "      XRef: {From: {Stack: a, Name: b}}\n"
        "      Text: |+\n"
        "        kept\n"
        "\n"
    ),
    (
        "Resources:\n"
        "  'Fn::ForEach::X':\n"
        "    - V\n"
        "    - [a, b]\n"
        "    - 'T${V}':\n"
        "        Type: T\n"
        "        Properties: {KRef: {From: {Stack: a, Name: b}}}\n"
        "        Exports: {As: c, Consumer: !Ref V}\n"
    ),
    ("\ufeffResources:\n  A: {Type: T, Properties: {XRef: {From: {Stack: a, Name: b}}}}\n"),
    ("---\nResources:\n  A: {Type: T, Properties: {XRef: {From: {Stack: a, Name: b}}}}\n...\n"),
    (
        "Resources:\n"
        "  A:\n"
        "    Type: T\n"
        "    Properties:\n"
        "      XRef: {From: {Stack: !Sub '${A}-b', Region: !Ref \"AWS::Region\", Name: b}}\n"
        "      Y: !GetAtt [A, B.C]\n"
    ),
]
"""Templates in every style that YAML has."""


def text_of(given: str) -> str:
    template = read("t.yaml", given)
    return changed(template, plan(template.content, Settings()))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Transform: StrongRef\n{R}", "{R}"),
        ("Transform: StrongRef # a comment\n{R}", "# a comment\n{R}"),
        ("{R}Transform: StrongRef", "{R}"),
        ("Transform: [StrongRef]\n{R}", "{R}"),
        ("Transform:\n  - StrongRef\n{R}", "{R}"),
        (
            "Transform:\n  - Name: StrongRef\n    Parameters: {{ValueBytes: 100}}\n  - Other\n{R}",
            "Transform:\n  - Other\n{R}",
        ),
        ("Transform: {{Name: StrongRef, Parameters: {{ValueBytes: 9}}}}\n{R}", "{R}"),
        ("Transform:\n  - A\n  - StrongRef\n  - B\n{R}", "Transform:\n  - A\n  - B\n{R}"),
        ("Transform: AWS::Serverless-2016-10-31\n{R}", "Transform: AWS::Serverless-2016-10-31\n{R}"),
    ],
)
def test_the_macro_is_taken_out_of_the_transforms(given: str, expected: str) -> None:
    rest = "Resources:\n  A: {Type: T} # end\n"
    assert text_of(given.format(R=rest)).strip() == expected.format(R=rest).strip()


def test_comments_about_the_transforms_stay() -> None:
    above = "# Copyright Example Ltd\n# cfn-lint: disable=E3001\n"
    rest = "Resources:\n  A: {Type: T}\n"
    assert text_of(f"{above}Transform: [StrongRef]\n{rest}") == f"{above}{rest}"
    given = """\
Transform: # macros
  # ours
  - Name: StrongRef
    Parameters: {ValueBytes: 100}
  # theirs
  - AWS::LanguageExtensions # b
"""
    expected = """\
Transform: # macros
  # ours
  # theirs
  - AWS::LanguageExtensions # b
"""
    assert text_of(f"{given}{rest}") == f"{expected}{rest}"
    assert text_of(f"Transform: [A, StrongRef,\n  # b\n  B]\n{rest}") == f"Transform: [A,\n  # b\n  B]\n{rest}"


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("Conditions:\n", "Conditions:\n  {C}\n"),
        ("Conditions: # none\n", "Conditions:\n  {C} # none\n"),
        ("Conditions: {}\n", "Conditions:\n  {C}\n"),
        ("Conditions: null\n", "Conditions:\n  {C}\n"),
        ("'Conditions': ~\n", "Conditions:\n  {C}\n"),
    ],
)
def test_a_section_with_nothing_in_it_is_filled(section: str, expected: str) -> None:
    resources = "Resources:\n  A: {Type: T, Properties: {X: !If [D, a, {YRef: {From: {Stack: a, Name: b}}}]}}\n"
    condition = "StrongRef182006ba8fa0: !Not [!Condition D]"
    assert text_of(f"{section}{resources}").startswith(expected.replace("{C}", condition) + "Resources:\n")
    flat = (
        "{Conditions: {}, Resources: {A: {Type: T, Properties: {X: !If [D, a, {YRef: {From: {Stack: a, Name: b}}}]}}}}"
    )
    assert text_of(flat).startswith(f"{{Conditions: {{{condition}}}, Resources: {{A: ")


@pytest.mark.parametrize("empty", ["&b {}", "!!map {}", "{# nothing\n }"])
def test_a_section_that_is_empty_in_an_odd_way_is_reported(empty: str) -> None:
    resource = "{Type: T, Properties: {X: !If [D, a, {YRef: {From: {Stack: a, Name: b}}}]}}"
    with pytest.raises(ManifestError, match="cannot be replaced in the style"):
        text_of(f"Conditions: {empty}\nResources:\n  A: {resource}\n")
    with pytest.raises(ManifestError, match="Conditions is empty, in a style that cannot be added to"):
        text_of(f"? Conditions\n: {{}}\nResources:\n  A: {resource}\n")


def test_what_is_merged_has_no_references() -> None:
    reference = "XRef: {From: {Stack: a, Name: b}}"
    for given in (
        f"Metadata: &m {{{reference}}}\nResources:\n  A: {{Type: T, Properties: {{<<: *m, B: 1}}}}\n",
        f"Resources:\n  A:\n    <<: [{{Type: T}}, {{Properties: {{{reference}}}}}]\n",
        "Resources:\n  A:\n    Type: T\n    <<: {Exports: {As: A}}\n",
    ):
        with pytest.raises(ManifestError, match="what is merged by << has a reference, or Exports"):
            text_of(given)
    harmless = "Resources:\n  A: {Type: T, Properties: {<<: {Exports: 1}, B: 1}}\n"
    assert text_of(harmless) == harmless


def test_the_mark_at_the_beginning_stays() -> None:
    given = "\ufeffTransform: StrongRef\nResources:\n  A: {Type: T}\n"
    assert text_of(given) == "\ufeffResources:\n  A: {Type: T}\n"
    json_text = '{\r\n "Transform": "StrongRef",\r\n "Resources": {}}\r\n'
    assert text_of(f"\ufeff{json_text}") == '\ufeff{\r\n "Resources": {}}\r\n'


def test_the_transforms_parameters_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.yaml"
    references = "".join(f"      P{number}Ref: {{From: {FROM % f'N{number}'}}}\n" for number in range(3))
    resources = f"Resources:\n  A:\n    Type: T\n    Properties:\n{references}"
    path.write_text(f"Transform: {{Name: StrongRef, Parameters: {{ValueBytes: 3000}}}}\n{resources}")
    assert cli.main(["transform", str(path)]) == 0
    assert capsys.readouterr().out.count(IMPORTS) == 3
    path.write_text(f"Transform: [Other, {{Name: StrongRef, Parameters: {{Bytes: 3000}}}}]\n{resources}")
    assert cli.main(["transform", str(path)]) == 1
    assert "Parameter Bytes of the transform StrongRef" in capsys.readouterr().err
    path.write_text(f"Transform: {{Name: StrongRef, Parameters: 1}}\n{resources}")
    assert cli.main(["transform", str(path)]) == 0


@pytest.mark.parametrize("given", STYLES)
def test_of_every_style(given: str) -> None:
    before = dict(read("t", given).content)
    after = dict(read("t", text_of(given)).content)
    for each in (before, after):
        each.pop("Transform", None)
    assert after == plan(before, Settings()).apply(before)


def test_a_style_in_which_nothing_can_be_replaced_is_reported() -> None:
    given = "Resources:\n  ? A\n  : Type: T\n    Properties: {XRef: {From: {Stack: a, Name: b}}}\n"
    with pytest.raises(ManifestError, match="cannot be replaced in the style in which it is written"):
        text_of(given)


def test_comments_stay_with_what_they_are_about() -> None:
    given = """\
Resources:
  A:
    Type: T
    Properties:
      # Above.
      XRefs: # of both
        # The first.
        - From: {Stack: a, Name: b} # behind it
        - 'sg # 1'
        - {From: {Stack: a, Name: c}} # stays
    # Of the exports,
    # in two lines.
    Exports:
      - As: d # the arn
      # The second.
      - {As: e, Region: us-east-1} # the end
  # Of B.
  B: {Type: T}
"""
    result = text_of(given)
    assert (
        """\
      X: # of both
        # The first.
        - !GetAtt ImportsAa29792c8.b # behind it
        - 'sg # 1'
        - !GetAtt ImportsAa29792c8.c # stays
  # Of B.
  B: {"""
        in result
    )
    assert (
        "  # Of the exports,\n  # in two lines.\n  # the arn\n  # The second.\n  # the end\n  Exports44136fa3:\n"
        in result
    )
    for comment in re.findall("# [A-Za-z].*", given):
        assert result.count(comment) == 1, comment


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            "XRef: !If # a\n  # b\n  - C # c\n  # d\n  - {R} # e\n  - !Ref AWS::NoValue # f\n  # g\n",
            "X: !If # a\n  # b\n  - C # c\n  # d\n  - {G} # e\n  - !Ref AWS::NoValue # f\n  # g\n",
        ),
        (
            "XRefs:\n  Fn::If:\n  -   C\n  -   - {R}\n      # a-b\n      -  !Ref X\n  - [ {R} ,\n    !Ref Y]\n",
            "Xs:\n  Fn::If:\n  -   C\n  -   - {G}\n      # a-b\n      -  !Ref X\n  - [ {G} ,\n    !Ref Y]\n".replace(
                "Xs", "X"
            ),
        ),
        (
            "XRef: # a\n  # b\n  From: # c\n    Stack: a # d\n    # e\n    Name: b # f\n  # g\nY: 1\n",
            "# a\n# b\n# c\n# d\n# e\nX: {G} # f\n  # g\nY: 1\n",
        ),
        (
            "XRefs:\n- # a - b\n  From:\n    Stack: a # c\n    Name: b\n-   # d\n  {R}\n- &x\n  {R}\n",
            "X:\n# a - b\n# c\n- {G}\n# d\n- {G}\n- {G}\n",
        ),
        (
            "XRefs: [{From: {Stack: a, # a\n  Name: b}}, 'two\n  lines', {From: # b\n    {Stack: a, Name: b}}] # c\n",
            "# a\n# b\nX: [{G}, 'two\n  lines', {G}] # c\n",
        ),
        ('"XRef"  :   {R}   # a\n', '"X"  :   {G}   # a\n'),
        ('Y: {"XRef":{From: {Stack: a, Name: b}}}\n', 'Y: {"X": {G}}\n'),
        ("Y: !Sub\n- ${H}\n- # a\n  HRef:\n    {R} # b\n  J: 1\n", "Y: !Sub\n- ${H}\n- # a\n  H: {G} # b\n  J: 1\n"),
    ],
)
def test_a_reference_is_replaced_in_its_place(given: str, expected: str) -> None:
    """All around it stays, whatever the style: items, tags, comments, space."""
    head = "Conditions:\n  C: !Equals [a, a]\nResources:\n  A:\n    Type: T\n    Properties:\n"
    head += "      Z: {ARef: {From: {Stack: a, Name: b}}}\n"  # So that it is always imported.

    def within(text: str) -> str:
        filled = text.replace("{R}", "{From: {Stack: a, Name: b}}").replace("{G}", "!GetAtt ImportsAa29792c8.b")
        return head + "".join(f"      {line}\n" for line in filled.splitlines())

    result = text_of(within(given))
    assert result.startswith(
        within(expected).replace("ARef: {From: {Stack: a, Name: b}}", "A: !GetAtt ImportsAa29792c8.b")
    )
    assert text_of(within(given).replace("\n", "\r\n")) == result.replace("\n", "\r\n")


def test_a_comment_above_the_first_key_stays_when_that_is_exports() -> None:
    given = "Resources:\n  A:\n    # Of A.\n    Exports: # e\n      As: a\n    Type: T\n"
    result = text_of(given)
    assert result.startswith("Resources:\n  A:\n    # Of A.\n    Type: T\n  # e\n  Exports44136fa3:\n")


def test_comments_of_exports_between_brackets_stay() -> None:
    given = (
        "Resources:\n  A: {Type: T, # a\n    Exports: {As: a, # b\n      Values: {B: c}}, # d\n    Condition: E} # f\n"
    )
    result = text_of(given)
    assert [result.count(f"# {each}") for each in "abdf"] == [1, 1, 1, 1]


def test_what_is_added_comes_behind_the_comments_of_its_section() -> None:
    resource, below = "Resources:\n  A:\n    Type: T\n", "    # Of A.\n\n  # Off:\n  #   Type: T\n"
    result = text_of(f"{resource}    Exports: {{As: a}}\n{below}\n# Of the outputs.\nOutputs: {{}}\n")
    assert result.startswith(f"{resource}{below}  Exports44136fa3:\n")
    outputs = result.partition("\n\n# Of the outputs.\n")[2]
    assert outputs == (
        "Outputs:\n  Exports44136fa3Hold:\n    Value: !GetAtt Exports44136fa3.Hold\n"
        "    Export: {Name: !Sub '${AWS::StackName}-Exports44136fa3'}\n"
    )


def test_lines_end_as_they_did() -> None:
    given = "Resources:\r\n  A:\r\n    Type: T\r\n    Properties:\r\n      XRef: {From: {Stack: a, Name: b}}\r\n"
    result = text_of(given)
    assert result.count("\n") == result.count("\r\n") == 11


def test_what_stands_next_to_is_not_touched() -> None:
    odd = "  Odd:   { Type:  T ,Properties: {A: 0x1F,B: 012, C: 1_000,D: !!str 3, E: ~ , F: on}}   # so\n\n\n"
    given = f"Resources:\n{odd}  A: {{Type: T, Properties: {{XRef: {{From: {{Stack: a, Name: b}}}}}}}}\n"
    assert odd in text_of(given)


def test_an_alias_is_not_changed_behind_a_programs_back() -> None:
    shared = "Resources:\n  A:\n    Type: T\n    Properties: &p\n      XRef: {From: {Stack: a, Name: b}}\n"
    for given in (f"{shared}  B: {{Type: T, Properties: *p}}\n", f"{shared}  B: {{Type: T, Metadata: *p}}\n"):
        with pytest.raises(ManifestError, match="stands under an anchor that is used elsewhere too"):
            text_of(given)
    unused = "Metadata: {A: &a [1], B: *a}\n"
    assert unused in text_of(f"{shared.replace(' &p', '')}{unused}")


@pytest.mark.parametrize("indent", [None, 2, 4, "\t"])
def test_json_comes_out_as_json_laid_out_alike(indent: Any) -> None:
    given = {
        "Transform": ["StrongRef", "B"],
        "Resources": {"A": {"Type": "é", "Properties": {"XRef": {"From": {"Stack": "a", "Name": "b"}}}}},
    }
    text = json.dumps(given, indent=indent, ensure_ascii=False) + "\n"
    result = text_of(text)
    bare = {"Resources": given["Resources"]}
    expected = {"Transform": ["B"], **plan(bare, Settings()).apply(bare)}
    assert result == json.dumps(expected, indent=indent, ensure_ascii=False) + "\n"
    untouched = '{ "Resources" :{"A":{"Type":1.0}}}'
    assert text_of(untouched) == untouched


def test_every_short_form_is_read_as_its_long_one() -> None:
    forms = {
        "!Ref A": {"Ref": "A"},
        "!Condition A": {"Condition": "A"},
        "!GetAtt A.B.C": {"Fn::GetAtt": ["A", "B.C"]},
        "!GetAtt [A, B]": {"Fn::GetAtt": ["A", "B"]},
        "!Sub 'x'": {"Fn::Sub": "x"},
        "!Sub ['x', {A: !Ref B}]": {"Fn::Sub": ["x", {"A": {"Ref": "B"}}]},
        "!Join ['', [a, !Ref B]]": {"Fn::Join": ["", ["a", {"Ref": "B"}]]},
        "!Select [0, !GetAZs '']": {"Fn::Select": [0, {"Fn::GetAZs": ""}]},
        "!Split [',', a]": {"Fn::Split": [",", "a"]},
        "!FindInMap [A, b, c]": {"Fn::FindInMap": ["A", "b", "c"]},
        "!If [A, 1, 2]": {"Fn::If": ["A", 1, 2]},
        "!ImportValue a": {"Fn::ImportValue": "a"},
        "!Base64 a": {"Fn::Base64": "a"},
        "!Cidr [a, 1, 2]": {"Fn::Cidr": ["a", 1, 2]},
        "!Transform {Name: A}": {"Fn::Transform": {"Name": "A"}},
        "{'Fn::Base64': !Sub a}": {"Fn::Base64": {"Fn::Sub": "a"}},
        "!Not [!Equals [a, b]]": {"Fn::Not": [{"Fn::Equals": ["a", "b"]}]},
    }
    for text, expected in forms.items():
        assert content(f"A: {text}") == {"A": expected}, text


@pytest.mark.parametrize(
    "value",
    [
        "0123",
        "yes",
        "No",
        "2012-10-17",
        "1e3",
        "",
        " a",
        "a: b",
        "# c",
        "a\nb",
        "a\n",
        "\ta",
        "'",
        '"',
        "~",
        "null",
        "é",
        "*",
        "&a",
        "a:",
        "!a",
    ],
)
def test_text_that_moves_is_read_as_it_was(value: str) -> None:
    values = {"K": value or "x", "M": {"N": value or "x"}}
    exports = json.dumps({"Values": values})
    text = f"Resources:\n  A:\n    Type: T\n    Exports: {exports}\n"
    assert read("t", text_of(text)).content["Resources"]["Exports44136fa3"]["Properties"]["Values"] == values


@pytest.mark.parametrize(
    "written",
    [
        "0123",
        "012345678901",
        "5.10",
        "1.0",
        "1e3",
        ".5",
        "+1",
        "-0",
        "0x1F",
        "0o17",
        "1_000",
        "yes",
        "No",
        "on",
        "2012-10-17",
        "12:30:45",
        "123456789012345678901234567890",
        "'0123'",
        "'yes'",
        "-5",
    ],
)
def test_what_moves_is_written_as_it_was(written: str) -> None:
    """Quotes, or none, and every digit: readers do not agree about what is a number, a date or a boolean."""
    given = (
        "Resources:\n  A:\n    Type: T\n"
        f"    Properties: {{XRefs: [{{From: {{Stack: a, Name: b}}}}, {written}]}}\n"
        f"    Exports: {{Values: {{K: {written}, L: [{written}]}}}}\n"
    )
    result = text_of(given)
    assert f"{{X: [!GetAtt ImportsAa29792c8.b, {written}]}}" in result
    assert f"Values: {{K: {written}, L: [{written}]}}" in result


@pytest.mark.parametrize("written", ["5.10", "1E3", "1.0", "-0", "12345678901234567890123", "1e400"])
def test_numbers_of_json_are_written_as_they_were(written: str) -> None:
    given = (
        '{"Transform": "StrongRef", "Resources": {"A": {"Type": "T", "Properties": {"N": %s, '
        '"XRef": {"From": {"Stack": "a", "Name": "b"}}}}}}'
    )
    assert f'"Properties": {{"N": {written}, "X": ' in text_of(given % written)


def test_a_tag_makes_text() -> None:
    given = "Resources:\n  A:\n    Type: T\n    Exports: {Values: {K: !!str yes, L: !!str 1.0, M: &m yes}}\n"
    assert "Values: {K: 'yes', L: '1.0', M: 'yes'}" in text_of(given)


def test_json_stays_as_it_is_written_around_what_changes() -> None:
    given = """\
{ "Transform" : "StrongRef",
  "Resources": {
    "A": {"Type": "T", "Properties": {"E": "\\u00e9\\/", "XRefs": [{"From": {"Stack": "a", "Name": "b"}}, "c"]}},

    "B": { "Type" :"T",
      "Properties": {
        "YRef":{"From": {
            "Stack": "a", "Name": "b"}}, "N": [1, 2,
          3] }, "Exports": {"As": "E", "Values": {"K": [5.10]}} }
  }, "Outputs": {}
}
"""
    result = text_of(given)
    assert result.startswith("""\
{ "Resources": {
    "A": {"Type": "T", "Properties": {"E": "\\u00e9\\/", "X": [{"Fn::GetAtt": ["ImportsAa29792c8", "b"]}, "c"]}},

    "B": { "Type" :"T",
      "Properties": {
        "Y": {
          "Fn::GetAtt": [
            "ImportsAa29792c8",
            "b"
          ]
        }, "N": [1, 2,
          3] } },
    "Exports44136fa3": {
      "Type": "Custom::CrossRegionExport",
""")
    name = '{"Name": {"Fn::Sub": "${AWS::StackName}-Exports44136fa3"}}'
    output = f'{{"Value": {{"Fn::GetAtt": ["Exports44136fa3", "Hold"]}}, "Export": {name}}}'
    assert result.endswith(f'  }}, "Outputs": {{"Exports44136fa3Hold": {output}}}\n}}\n')
    assert '"K": [\n              5.10\n' in result


NEXT_TO_EACH_OTHER = """\
Resources:
  # Made by the CDK.
  Reader:
    Type: Custom::CrossRegionExportReader
    Properties:
      ServiceToken: !GetAtt Function.Arn
      ReaderProps: {region: eu-west-1, prefix: Site, imports: {/cdk/exports/Site/A: x, /cdk/exports/Site/B: y}}
  Role: {Type: AWS::IAM::Role} # of the function
  Function:
    Type: AWS::Lambda::Function
    Properties: {Role: !GetAtt Role.Arn}
  Writer:
    Type: Custom::CrossRegionExportWriter
    Properties:
      WriterProps:
        region: us-east-1
        # Of the shop.
        exports: {/cdk/exports/Shop/C: !GetAtt Reader./cdk/exports/Site/A}
"""


def test_what_stands_next_to_each_other_is_taken_out_and_inner_keys_are_added_first() -> None:
    imported = "Imports2fb6f13b"
    result = text_of(NEXT_TO_EACH_OTHER)
    assert result.startswith(f"""\
Resources:
  # Made by the CDK.
  # of the function
  Writer:
    Type: Custom::CrossRegionExportWriter
    Properties:
      WriterProps:
        region: us-east-1
        # Of the shop.
        exports: {{/cdk/exports/Shop/C: !GetAtt {imported}.A}}
    DependsOn: [ExportsShop51983f8d]
  ExportsShop51983f8d:
    Type: Custom::CrossRegionExport
""")
    assert f"      Values: {{C: !GetAtt {imported}.A}}\n  {imported}:\n" in result


@pytest.mark.parametrize("indent", [None, 2])
def test_all_that_is_in_a_map_of_json_is_taken_out(indent: int | None) -> None:
    given = content(NEXT_TO_EACH_OTHER)
    assert isinstance(given, dict)
    del given["Resources"]["Writer"]
    result = text_of(json.dumps(given, indent=indent))
    assert [*json.loads(result)["Resources"]] == ["Imports2fb6f13b"]
    assert result.startswith('{"Resources": {"Imports' if indent is None else '{\n  "Resources": {\n    "Imports')


@pytest.mark.parametrize(
    "name", ["/cdk/exports/Shop/B", f"/cdk/exports/Shop/CurrentVersion{'A' * 8}{'a' * 32}{'A' * 8}"]
)
def test_within_what_is_replaced_or_taken_out_nothing_else_is_edited(name: str) -> None:
    read_ = get("Reader", cdk_name("A"))
    given = template(
        Reader=reader([cdk_name("A")]),
        Writer=writer({cdk_name("C"): "c", name: "b", cdk_name("D"): read_}),
        Vpc=resource({"ARef": ref("A", stack=read_)}, Exports={"Values": {"Own": read_}}),
    )
    given["Metadata"] = {"StrongRef": {"Writers": "remove"}}
    assert content(text_of(json.dumps(given)), is_json=True) == plan(given, Settings()).apply(given)
