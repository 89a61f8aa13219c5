"""`strongref transform`: what is written, that nothing else in a template is touched, what is told, how it ends."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from strongref import cli
from strongref.macro.transform import Settings, plan
from strongref.resolvers.errors import ManifestError
from strongref.resolvers.template_edits import changed
from strongref.resolvers.template_text import content, read
from tests.support.macro import IMPORTS, imports

if TYPE_CHECKING:
    from pathlib import Path

HIDDEN = "a-value-not-to-be-shown"
FROM = "{Stack: network, Region: eu-west-1, Name: %s}"

TEMPLATE = """\
# The service of the site.
AWSTemplateFormatVersion: 2010-09-09   # kept as it is
Transform: [StrongRef, AWS::Serverless-2016-10-31]

Parameters:
  Account: {Type: String, Default: '0123', AllowedValues: ["yes", 0.10, 1e3]} # even this
Conditions:
  HasTopic: !Equals [!Ref Account, yes]

Resources:

  Service: # of the site
    Type: AWS::ECS::Service
    Properties:
      # In front of the tasks.
      LoadBalancers:
        - ContainerPort: 0080
          TargetGroupArnRef:
            From:
              Stack: network
              Region: eu-west-1
              Name: Alb.TargetGroupArn # of the site
          ContainerName: "web"   # behind
      NetworkConfiguration: !If
        - HasTopic
        - {SubnetsRefs: [{From: {Stack: !Ref Account, Name: SubnetId}}, !Ref Own]}
        - !Ref AWS::NoValue
      "RoleRef": {From: {Stack: network, Region: eu-west-1, Name: RoleArn}, Strength: weak}

    # What others may use.
    Exports:
      As: Service
      Region: us-east-1
      Values:
        Name: !GetAtt Service.Name
        Text: !Sub |
          a
          ${Account}: b

  Last:
    Type: AWS::SNS::Topic
    Condition: HasTopic
    Properties: {TopicName: x} # the end

Outputs:
  Role: {ValueRef: {From: {Stack: network, Region: eu-west-1, Name: RoleArn}}}
"""

EXPECTED = """\
# The service of the site.
AWSTemplateFormatVersion: 2010-09-09   # kept as it is
Transform: AWS::Serverless-2016-10-31

Parameters:
  Account: {Type: String, Default: '0123', AllowedValues: ["yes", 0.10, 1e3]} # even this
Conditions:
  HasTopic: !Equals [!Ref Account, yes]

Resources:

  Service: # of the site
    Type: AWS::ECS::Service
    Properties:
      # In front of the tasks.
      LoadBalancers:
        - ContainerPort: 0080
          TargetGroupArn: !GetAtt NETWORK.Alb.TargetGroupArn # of the site
          ContainerName: "web"   # behind
      NetworkConfiguration: !If
        - HasTopic
        - {Subnets: [!GetAtt ACCOUNT.SubnetId, !Ref Own]}
        - !Ref AWS::NoValue
      "Role": !GetAtt WEAK.RoleArn


  Last:
    Type: AWS::SNS::Topic
    Condition: HasTopic
    Properties: {TopicName: x} # the end

  # What others may use.
  ServiceExports:
    Type: Custom::CrossRegionExport
    Properties:
      ServiceToken: !ImportValue strongref-exporter
      Region: us-east-1
      Values:
        Service:
          Name: !GetAtt Service.Name
          Text: !Sub |
            a
            ${Account}: b

  NETWORK:
    Type: Custom::CrossRegionImport
    Properties:
      ServiceToken: !ImportValue strongref-importer
      From: {Stack: network, Region: eu-west-1}
      Names: [Alb.TargetGroupArn, RoleArn]

  ACCOUNT:
    Type: Custom::CrossRegionImport
    Condition: HasTopic
    Properties:
      ServiceToken: !ImportValue strongref-importer
      From: {Stack: !Ref Account}
      Names: [SubnetId]

  WEAK:
    Type: Custom::CrossRegionImport
    Properties:
      ServiceToken: !ImportValue strongref-importer
      From: {Stack: network, Region: eu-west-1}
      Names: [RoleArn]
      Strength: weak

Outputs:
  Role: {Value: !GetAtt NETWORK.RoleArn}
"""


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
        "        Exports: {As: c}\n"
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


def named(text: str) -> str:
    """With the logical ids that the Imports of `TEMPLATE` get."""
    made = imports(dict(read("", TEMPLATE).content))
    for logical_id, each in made.items():
        weak = "Strength" in each["Properties"]
        name = "ACCOUNT" if "Condition" in each else "WEAK" if weak else "NETWORK"
        text = text.replace(name, logical_id)
    return text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "template.yaml"
    path.write_text(TEMPLATE)
    return path


def text_of(given: str) -> str:
    template = read("t.yaml", given)
    return changed(template, plan(template.content, Settings()))


def test_a_template_comes_out_as_it_was_but_for_its_references(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["transform", str(file)]) == 0
    told = capsys.readouterr()
    assert told.out == named(EXPECTED)
    assert told.err == "strongref: 4 references, 3 Imports, 1 Export\n"
    assert file.read_text() == TEMPLATE


def test_what_was_transformed_comes_out_as_it_is() -> None:
    assert text_of(named(EXPECTED)) == named(EXPECTED)


def test_it_is_written_to_a_file(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out" / "processed.yaml"
    assert cli.main(["transform", str(file), "-o", str(out)]) == 0
    assert out.read_text() == named(EXPECTED)
    assert capsys.readouterr().out == ""


def test_a_check_writes_nothing(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["transform", str(file), "--check"]) == 0
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == [file]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEMPLATE.encode())))
    assert cli.main(["transform", "-"]) == 0
    assert capsys.readouterr().out == named(EXPECTED)


def test_every_problem_is_told_with_file_line_and_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        f"""\
Resources:
  Service:
    Type: AWS::ECS::Service
    Properties:
      Cluster: {HIDDEN}
      ClusterRef: {{From: {FROM % "A"}}}
      LoadBalancers:
        - TargetGroupArnRef:
            From:
              Stack: network
              Nmae: B
"""
    )
    assert cli.main(["transform", str(path), "-o", str(tmp_path / "out.yaml")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert [line.partition(" (")[0] for line in told.err.splitlines()] == [
        (
            f"{path}, line 6: ResourceReferenceAndIDNotSupported: Service.Properties.ClusterRef: Cluster and "
            "ClusterRef are given together; leave all but one of them out"
        ),
        f"{path}, line 11: Service.Properties.LoadBalancers[0].TargetGroupArnRef.From.Nmae: no such key",
        (
            f"{path}, line 9: Service.Properties.LoadBalancers[0].TargetGroupArnRef.From.Name: the name of an export "
            "is needed, as text"
        ),
        "strongref: 3 problems. Nothing was written.",
    ]
    assert HIDDEN not in told.err
    assert list(tmp_path.iterdir()) == [path]


def test_lines_are_told_of_json_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.json"
    wrong = {"Resources": {"A": {"Type": "T", "Properties": {"B": [1, {"XRef": {"From": {"Stack": "a"}}}]}}}}
    path.write_text(json.dumps(wrong, indent=2))
    assert cli.main(["transform", str(path)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        (
            f"{path}, line 10: A.Properties.B[1].XRef.From.Name: the name of an export is needed, as text (it cannot "
            "be a function); for a part of a map as in Alb.Arn"
        ),
        "strongref: 1 problem. Nothing was written.",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", ", line 1: "),
        ("Resources: {}\nResources: {}\n", ", line 2: the key Resources stands twice in one map."),
        ("- a\n", ": it is no template: there is no map in it."),
        ("", ": it is no template: there is no map in it."),
        ("\x00", ": it is no YAML (ReaderError)."),
        ('{"Resources": {}} {"a": 1}', ": there is more than one JSON document in it; a template is one."),
        ('{"Resources": }', ", line 1: Expecting value."),
        ("Parameters: {}\n", "This is no template: it has no Resources."),
        ("a: 1\n---\nb: 2\n", ", line 2: "),
        ("[" * 3000, "it is nested too deeply"),
    ],
)
def test_what_is_no_template_is_told(text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t"
    path.write_text(text)
    assert cli.main(["transform", str(path)]) == 1
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["transform", str(tmp_path / "none.yaml")]) == 1
    assert capsys.readouterr().err.endswith("none.yaml: no such file or directory.\n")
    (tmp_path / "binary").write_bytes(b"\xff")
    assert cli.main(["transform", str(tmp_path / "binary")]) == 1
    assert capsys.readouterr().err.endswith("binary: it is no text in UTF-8.\n")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--region", "us-east-1"], "--region is for --iam alone"),
        (["--partition", "aws-cn"], "--partition is for --iam alone"),
        (["--parameter", "a=b"], "--parameter is for --iam alone"),
        (["--iam", "deployer", "--stack", ""], "--stack is empty: is a variable not set?"),
        (["--iam", "deployer", "--parameter", "a"], "--parameter: a name and a value with = between them are needed"),
        (["-o", ""], "-o is empty: is a variable not set?"),
    ],
)
def test_options_that_do_not_go_together_are_told(
    options: list[str], told: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["transform", str(file), *options]) == 2
    assert capsys.readouterr().err == f"strongref: {told}\n"


def test_the_policies_of_a_template(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--region", "us-east-1", "--account", "111111111111", "--stack", "web", "--parameter", "Account=shop"]
    assert cli.main(["transform", str(file), "--iam", "importer", *where]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    document = json.loads(told.out)
    values = next(each for each in document["Statement"] if each["Sid"] == "Values")["Resource"]
    prefix = "arn:aws:ssm:us-east-1:111111111111:parameter/strongref/exports/web/111111111111"
    assert f"{prefix}/us-east-1/shop/SubnetId" in values
    assert f"{prefix}/eu-west-1/network/Alb/TargetGroupArn" in values
    assert cli.main(["transform", str(file), "--iam", "deployer", "--application", "refs"]) == 0
    assert "function:refs-Importer-*" in capsys.readouterr().out


class TestText:
    """YAML in all its styles: what is read from the result is what becomes of the data, and the rest is untouched."""

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ("Transform: StrongRef\n{R}", "{R}"),
            ("Transform: StrongRef # a comment\n{R}", "{R}"),
            ("{R}Transform: StrongRef", "{R}"),
            ("Transform: [StrongRef]\n{R}", "{R}"),
            ("Transform:\n  - StrongRef\n{R}", "{R}"),
            (
                "Transform:\n  - Name: StrongRef\n    Parameters: {{ValueBytes: 100}}\n  - Other\n{R}",
                "Transform:\n  Other\n{R}",
            ),
            ("Transform: {{Name: StrongRef, Parameters: {{ValueBytes: 9}}}}\n{R}", "{R}"),
            ("Transform:\n  - A\n  - StrongRef\n  - B\n{R}", "Transform:\n  [A, B]\n{R}"),
            ("Transform: AWS::Serverless-2016-10-31\n{R}", "Transform: AWS::Serverless-2016-10-31\n{R}"),
        ],
    )
    def test_the_macro_is_taken_out_of_the_transforms(self, given: str, expected: str) -> None:
        rest = "Resources:\n  A: {Type: T} # end\n"
        assert text_of(given.format(R=rest)).strip() == expected.format(R=rest).strip()

    def test_the_transforms_parameters_are_read(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    def test_of_every_style(self, given: str) -> None:
        before = dict(read("t", given).content)
        after = dict(read("t", text_of(given)).content)
        for each in (before, after):
            each.pop("Transform", None)
        assert after == plan(before, Settings()).apply(before)

    def test_a_style_in_which_nothing_can_be_replaced_is_told(self) -> None:
        given = "Resources:\n  ? A\n  : Type: T\n    Properties: {XRef: {From: {Stack: a, Name: b}}}\n"
        with pytest.raises(ManifestError, match="cannot be replaced in the style in which it is written"):
            text_of(given)

    def test_comments_stay_with_what_they_are_about(self) -> None:
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
        values = "[!GetAtt ImportsAa29792c8.b, 'sg # 1', !GetAtt ImportsAa29792c8.c]"
        about = "      # Above.\n      # of both\n      # The first.\n      # behind it\n"
        assert f"{about}      X: {values} # stays\n  # Of B.\n  B: {{" in result
        assert (
            "  # Of the exports,\n  # in two lines.\n  # the arn\n  # The second.\n  # the end\n  AExports:\n" in result
        )
        for comment in re.findall("# [A-Za-z].*", given):
            assert result.count(comment) == 1, comment

    def test_lines_end_as_they_did(self) -> None:
        given = "Resources:\r\n  A:\r\n    Type: T\r\n    Properties:\r\n      XRef: {From: {Stack: a, Name: b}}\r\n"
        result = text_of(given)
        assert result.count("\n") == result.count("\r\n") == 11

    def test_what_stands_beside_is_not_touched(self) -> None:
        odd = "  Odd:   { Type:  T ,Properties: {A: 0x1F,B: 012, C: 1_000,D: !!str 3, E: ~ , F: on}}   # so\n\n\n"
        given = f"Resources:\n{odd}  A: {{Type: T, Properties: {{XRef: {{From: {{Stack: a, Name: b}}}}}}}}\n"
        assert odd in text_of(given)

    def test_an_alias_is_not_changed_behind_somebodys_back(self) -> None:
        shared = "Resources:\n  A:\n    Type: T\n    Properties: &p\n      XRef: {From: {Stack: a, Name: b}}\n"
        for given in (f"{shared}  B: {{Type: T, Properties: *p}}\n", f"{shared}Metadata: *p\n"):
            with pytest.raises(ManifestError, match="stands under an anchor that is used elsewhere too"):
                text_of(given)
        unused = "Metadata: {A: &a [1], B: *a}\n"
        assert unused in text_of(f"{shared.replace(' &p', '')}{unused}")

    @pytest.mark.parametrize("indent", [None, 2, 4, "\t"])
    def test_json_comes_out_as_json_laid_out_alike(self, indent: Any) -> None:  # noqa: ANN401
        given = {
            "Transform": ["StrongRef", "B"],
            "Resources": {"A": {"Type": "é", "Properties": {"XRef": {"From": {"Stack": "a", "Name": "b"}}}}},
        }
        text = json.dumps(given, indent=indent, ensure_ascii=False) + "\n"
        result = text_of(text)
        bare = {"Resources": given["Resources"]}
        expected = {"Transform": "B", **plan(bare, Settings()).apply(bare)}
        assert result == json.dumps(expected, indent=indent, ensure_ascii=False) + "\n"
        untouched = '{ "Resources" :{"A":{"Type":1.0}}}'
        assert text_of(untouched) == untouched

    def test_every_short_form_is_read_as_its_long_one(self) -> None:
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
    def test_text_that_moves_is_read_as_it_was(self, value: str) -> None:
        values = {"K": value or "x", "M": {"N": value or "x"}}
        exports = json.dumps({"Values": values})
        text = f"Resources:\n  A:\n    Type: T\n    Exports: {exports}\n"
        assert read("t", text_of(text)).content["Resources"]["AExports"]["Properties"]["Values"] == values


def test_the_help_names_the_macro(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["transform", "--help"])
    assert re.search("macro\\s+StrongRef", capsys.readouterr().out)
