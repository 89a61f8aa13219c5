"""`strongref transform`: what is written, that nothing else in a template is touched, what is reported, how it ends."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import pytest

import strongref_cli as cli
from strongref.macro.transform import Settings, plan
from strongref_manifests.text.template_edits import changed
from strongref_manifests.text.templates import read
from tests.support.macro import cdk_name, imports, reader, template, writer

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
Transform: [AWS::Serverless-2016-10-31]

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
  EXPORT:
    Type: Custom::CrossRegionExport
    Properties:
      ServiceToken: !ImportValue strongref-exporter
      Region: us-east-1
      Hold: !Sub '${AWS::StackName}-EXPORT'
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
  EXPORTHold:
    Value: !GetAtt EXPORT.Hold
    Export:
      Name: !Sub '${AWS::StackName}-EXPORT'
"""


def named(text: str) -> str:
    """With the logical ids that the Imports of `TEMPLATE` get."""
    made = imports(dict(read("", TEMPLATE).content))
    for logical_id, each in made.items():
        weak = "Strength" in each["Properties"]
        name = "ACCOUNT" if "Condition" in each else "WEAK" if weak else "NETWORK"
        text = text.replace(name, logical_id)
    return text.replace("EXPORT", "Exportsfe7a20c5")


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
    reported = capsys.readouterr()
    assert reported.out == named(EXPECTED)
    assert reported.err == "strongref: 4 references, 3 Imports, 1 Export\n"
    assert file.read_text() == TEMPLATE


def test_what_was_transformed_comes_out_as_it_is() -> None:
    assert text_of(named(EXPECTED)) == named(EXPECTED)


def test_it_is_written_to_a_file(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out" / "processed.yaml"
    assert cli.main(["transform", str(file), "-o", str(out)]) == 0
    assert out.read_text() == named(EXPECTED)
    assert capsys.readouterr().out == ""


def test_a_loop_is_counted_and_has_no_short_forms_that_do_not_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "loop.yaml"
    file.write_text(
        "Transform: [StrongRef, AWS::LanguageExtensions]\n"
        "Resources:\n"
        "  Fn::ForEach::Topics:\n"
        "    - Name\n"
        "    - [a, b]\n"
        "    - Topic${Name}:\n"
        "        Type: AWS::SNS::Topic\n"
        "        Properties: {KmsMasterKeyIdRef: {From: {Stack: keys, Name: Arn}}}\n"
        "        Exports: {As: Arn, Consumer: !Sub 'team-${Name}', Values: {Json: {Fn::ToJsonString: [!Ref Name]}}}\n"
    )
    assert cli.main(["transform", str(file)]) == 0
    written = capsys.readouterr()
    assert written.err == "strongref: 1 reference, 1 Import, 1 Export\n"
    assert "Fn::ToJsonString: [!Ref Name]" in written.out
    assert "Fn::ForEach::TopicsHold" in written.out
    assert not re.search("!(ForEach|ToJsonString)", written.out)


def test_a_reference_is_the_whole_argument_of_a_short_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "base64.yaml"
    data = "UserData: !Base64 {From: {Stack: n, Name: X}} # of the network"
    file.write_text(f"Resources:\n  A:\n    Type: T\n    Properties:\n      {data}\n")
    assert cli.main(["transform", str(file)]) == 0
    assert re.search("UserData: {Fn::Base64: !GetAtt Imports.*X} # of the network", capsys.readouterr().out)


def test_a_check_writes_nothing(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["transform", str(file), "--check"]) == 0
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == [file]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEMPLATE.encode())))
    assert cli.main(["transform", "-"]) == 0
    assert capsys.readouterr().out == named(EXPECTED)


def test_every_problem_is_reported_with_file_line_and_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    reported = capsys.readouterr()
    assert reported.out == ""
    assert [line.partition(" (")[0] for line in reported.err.splitlines()] == [
        (
            f"{path}, line 6: ResourceReferenceAndIDNotSupported: Service.Properties.ClusterRef: Cluster and "
            "ClusterRef cannot be combined; keep only one of them"
        ),
        f"{path}, line 11: Service.Properties.LoadBalancers[0].TargetGroupArnRef.From.Nmae: no such key",
        (
            f"{path}, line 9: Service.Properties.LoadBalancers[0].TargetGroupArnRef.From.Name: must be the name "
            "of an export, as text and not a function; for a part of a map, as in Alb.Arn"
        ),
        "strongref: 3 problems. Nothing was written.",
    ]
    assert HIDDEN not in reported.err
    assert list(tmp_path.iterdir()) == [path]


def test_lines_of_json_are_reported_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.json"
    wrong = {"Resources": {"A": {"Type": "T", "Properties": {"B": [1, {"XRef": {"From": {"Stack": "a"}}}]}}}}
    path.write_text(json.dumps(wrong, indent=2))
    assert cli.main(["transform", str(path)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        (
            f"{path}, line 10: A.Properties.B[1].XRef.From.Name: must be the name of an export, as text and not a "
            "function; for a part of a map, as in Alb.Arn"
        ),
        "strongref: 1 problem. Nothing was written.",
    ]


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("a: [", ", line 1: "),
        ("Resources: {}\nResources: {}\n", ", line 2: the key Resources stands twice in one map."),
        ("- a\n", ": it is no template: there is no map in it."),
        ("", ": it is no template: there is no map in it."),
        ("\x00", ": it is not YAML (ReaderError)."),
        ('{"Resources": {}} {"a": 1}', ", line 1: there is more than one document in it; a template is one."),
        ('{"Resources": }', ", line 1: Expecting value; correct the JSON there."),
        ("Parameters: {}\n", "This is not a template: it has no Resources."),
        ("a: 1\n---\nb: 2\n", ", line 2: there is more than one document in it; a template is one."),
        (f"a: {'[' * 3000}{']' * 3000}", "it has more than 200 levels of maps and lists"),
    ],
)
def test_what_is_not_a_template_is_reported(
    text: str, reported: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t"
    path.write_text(text)
    assert cli.main(["transform", str(path)]) == 1
    err = capsys.readouterr().err
    assert reported in err
    assert err.count("\n") == 1


def test_half_a_character_in_json_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.json"
    reference = '"XRef": {"From": {"Stack": "a", "Name": "b"}}'
    path.write_text(f'{{"Resources": {{"A": {{"Type": "T", "Properties": {{"E": "\\ud83d", {reference}}}}}}}}}')
    assert cli.main(["transform", str(path)]) == 0
    assert '"E": "\\ud83d"' in capsys.readouterr().out


def test_an_unreadable_file_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["transform", str(tmp_path / "none.yaml")]) == 2
    assert capsys.readouterr().err.endswith("none.yaml: no such file or directory.\n")
    (tmp_path / "binary").write_bytes(b"\xff")
    assert cli.main(["transform", str(tmp_path / "binary")]) == 1
    assert capsys.readouterr().err.endswith("binary: it is not text in UTF-8.\n")


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (["--region", "us-east-1"], "--region requires --iam"),
        (["--partition", "aws-cn"], "--partition requires --iam"),
        (["--parameter", "a=b"], "--parameter requires --iam"),
        (["--iam", "deployer", "--stack", ""], "--stack is empty: is a variable not set?"),
        (["--iam", "deployer", "--parameter", "a"], "--parameter must be a name and a value with = between them"),
        (["--iam", "deployer", "--parameter", "Acount=b"], "--parameter: the template has no Acount"),
        (
            ["--iam", "deployer", "--region", "Ireland"],
            "'Ireland' is not a region that this botocore knows. Give a region code such as us-east-1.",
        ),
        (["--iam", "deployer", "--account", "12"], "--account must be an account's twelve digits, in quotes, got '12'"),
        (["-o", ""], "-o is empty: is a variable not set?"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: list[str], reported: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["transform", str(file), *options]) == 2
    assert capsys.readouterr().err == f"strongref: {reported}\n"


def test_the_policies_of_a_template(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--region", "us-east-1", "--account", "111111111111", "--stack", "web", "--parameter", "Account=shop"]
    assert cli.main(["transform", str(file), "--iam", "importer", *where]) == 0
    reported = capsys.readouterr()
    assert reported.err == ""
    document = json.loads(reported.out)
    values = next(each for each in document["Statement"] if each["Sid"] == "Values")["Resource"]
    prefix = "arn:aws:ssm:us-east-1:111111111111:parameter/strongref/exports/web/111111111111"
    assert f"{prefix}/us-east-1/shop/SubnetId" in values
    assert f"{prefix}/eu-west-1/network/Alb/TargetGroupArn" in values
    assert cli.main(["transform", str(file), "--iam", "deployer", "--application", "refs"]) == 0
    assert "function:refs-Importer-*" in capsys.readouterr().out


def test_the_help_names_the_macro(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["transform", "--help"])
    assert re.search("macro\\s+StrongRef", capsys.readouterr().out)


VERSION = "/cdk/exports/Site/FCurrentVersion58B8A55D7749ed525f29a5cb49be4da2f7c731104A799A6C"


def test_what_is_left_to_the_cdk_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = template(Reader=reader([cdk_name("A"), VERSION]), Writer=writer({VERSION: "a"}))
    (tmp_path / "t.json").write_text(json.dumps(given))
    assert cli.main(["transform", str(tmp_path / "t.json"), "--check"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "strongref: 0 references, 1 Import, 0 Exports",
        f"strongref: left to the CDK, since each deployment renames Lambda versions: {VERSION}",
    ]
