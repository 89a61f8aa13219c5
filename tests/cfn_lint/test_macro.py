"""Templates of the macro lint clean, typos in them are found at their line, and all rules see what the macro makes."""

from __future__ import annotations

import json

import pytest

from strongref.macro.template import MACRO
from tests.cfn_lint.linting import TEMPLATES, documented, lint
from tests.support.documents import load
from tests.support.macro import cdk_name, get, reader, template

HERE = "  # here"

REFERENCE = "From: {Stack: network, Region: eu-west-1, Name: A.B}"
SERVERLESS = f"""\
Transform: [StrongRef, AWS::Serverless-2016-10-31]
Globals:
  Function:
    Runtime: python3.13
    Layers: [!Sub 'arn:${{AWS::Partition}}:lambda:us-east-1:111111111111:layer:x:1']
    Environment: {{Variables: {{TableRef: {{{REFERENCE}}}}}}}
Resources:
  Web:
    Type: AWS::Serverless::Function
    Properties: {{Handler: web.handler, CodeUri: ./, RoleRef: {{{REFERENCE}}}}}
    Exports: {{As: Web, Region: eu-west-1, Values: {{Arn: !GetAtt Web.Arn}}}}
"""
LOOPS = f"""\
Transform: [{{Name: StrongRef, Parameters: {{ValueBytes: 1000}}}}, AWS::LanguageExtensions]
Parameters: {{Regions: {{Type: CommaDelimitedList}}}}
Resources:
  Fn::ForEach::Queues:
    - Name
    - [A, B]
    - Queue${{Name}}:
        Type: AWS::SQS::Queue
        Properties: {{KmsMasterKeyIdRef: {{{REFERENCE}}}}}
        Exports: {{As: Queue, Consumer: !Ref Name, Values: {{Arn: !GetAtt [!Sub 'Queue${{Name}}', Arn]}}}}
  Fn::ForEach::Topics:
    - R
    - !Ref Regions
    - Fn::ForEach::Kinds:
        - Kind
        - [News, Ads]
        - Topic${{Kind}}${{R}}:
            Type: AWS::SNS::Topic
            Exports: {{Region: !Sub '${{R}}', Consumer: !Ref Kind, Values: {{Kind: x}}}}
  Last:
    Type: AWS::SQS::Queue
    Exports: {{As: Last}}
"""
FUNCTION = f"""\
Transform: StrongRef
Resources:
  Web:
    Type: AWS::Lambda::Function
    Properties:
      Role: arn:aws:iam::111111111111:role/web
      Runtime: python3.13
      Handler: web.handler
      Code: {{S3BucketRef: {{{REFERENCE}}}, S3Key: web.zip}}
"""


@pytest.mark.parametrize(
    "text", [*(path.read_text() for path in TEMPLATES if "macro" in path.parts), SERVERLESS, LOOPS]
)
def test_a_template_of_the_macro_lints_clean(text: str) -> None:
    assert MACRO in text
    assert lint(text) == []


def test_in_the_templates_of_the_pages_nothing_is_found_but_what_they_leave_out() -> None:
    ours = [lint(text) for block, text in documented() if block.language == "yaml macro"]
    assert len(ours) >= 5
    left_out = ("E1010", "E1020", "E1001")  # resources and parameters that are not shown, or all of them
    assert [each for found in ours for each in found if each.rule not in left_out] == []


TEMPLATE = f"""\
Transform: {MACRO}
Resources:
  Topic:
    Type: AWS::SNS::Topic
"""


@pytest.mark.parametrize(
    ("members", "rule", "text"),
    [
        ("Properties: {XRef: {From: {Stak: a, Name: B}}}  # here", "E9702", "From.Stak: no such key (did you mean St"),
        ("Properties:\n  XRef:\n    From: {Stack: a, Name: B}\n    Strenth: x  # here", "E9702", "you mean Strength"),
        ("Exports:\n  As: A\n  OnChange: propogate  # here", "E9702", "must be refuse or propagate, got 'propogate'"),
        ("Exports:\n  As: A\n  Regin: eu-west-1  # here", "E9702", "no such key (did you mean Region?)"),
        ("Exports:\n  As: A\n  Values:\n    B: ''  # here", "E9702", "Topic.Exports.Values.B: must not be empty"),
        ("Exports:  # here\n  Region: eu-west-1", "E9702", "Topic.Exports.Values: a map of names to values"),
        # What other rules find in what the macro makes.
        ("Properties:\n  FifoTopicRef: {From: {Stack: !Ref Nope, Name: B}}  # here", "E1020", "'Nope' is not one of"),
        ("Properties:\n  DisplayNmeRef: {From: {Stack: a, Name: B}}  # here", "E3002", "'DisplayNme' was unexpected"),
        ("Exports:\n  As: A\n  Values:\n    B: !GetAtt Topic.Arm  # here", "E1010", "'Arm' is not one of"),
        ("Exports:  # here\n  As: A\n  Region: !If [Nope, eu-west-2, eu-west-1]", "E1028", "'Nope' is not one of"),
    ],
)  # fmt: skip
def test_a_typo_is_found_at_its_line(members: str, rule: str, text: str) -> None:
    whole = TEMPLATE + "".join(f"    {line}\n" for line in members.splitlines())
    (line,) = [number for number, each in enumerate(whole.splitlines(), 1) if each.endswith(HERE)]
    found = lint(whole)
    assert [each for each in found if each.line == line and each.rule == rule and text in each.text], found
    assert {each.line for each in found} == {line}


def test_a_template_of_the_cdk_lints_clean() -> None:
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": get("Reader", cdk_name("A"))}}
    queue = {"Type": "AWS::SQS::Queue", "DependsOn": "Reader"}
    given = template(Reader=reader([cdk_name("A")]), Topic=topic, Queue=queue)
    assert lint(json.dumps({"Transform": "StrongRef", **given})) == []


def test_after_a_problem_of_the_macro_other_rules_find_nothing() -> None:
    found = lint(f"{TEMPLATE}    Exports: {{}}\n    Nonsense: {{NameRef: {{From: {{}}}}}}\n")
    assert {each.rule for each in found} == {"E9702"}


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        ("{Name: StrongRef, Parameters: {ValueBites: 3}}", "Parameter ValueBites of the transform StrongRef does not"),
        ("[AWS::LanguageExtensions, {Name: StrongRef, Parameters: {Hold: maybe}}]", "must be true or false"),
    ],
)
def test_a_wrong_parameter_is_found_at_the_transform(transform: str, text: str) -> None:
    ((line, rule, found),) = lint(TEMPLATE.replace(MACRO, transform, 1))
    assert (rule, line) == ("E9702", 1)
    assert text in found


def test_a_template_that_is_none_is_reported() -> None:
    ((line, rule, text),) = lint(f"Transform: {MACRO}\n")
    assert (rule, line) == ("E9702", 1)
    assert "it has no Resources" in text


def test_without_the_macro_its_keys_are_what_cfn_lint_does_not_know() -> None:
    found = lint(TEMPLATE.replace(f"Transform: {MACRO}\n", "") + "    Exports: {As: A}\n")
    assert [each.rule for each in found] == ["E3001"]


def test_typos_in_loops_are_found_once_at_their_line() -> None:
    found = lint(LOOPS.replace("As: Queue", "As: Que ue").replace("Type: AWS::SNS::Topic", "Type: AWS::SNS::Topc"))
    assert [(each.rule, each.line) for each in found] == [("E9702", 10)]
    found = lint(LOOPS.replace("Type: AWS::SNS::Topic", "Type: AWS::SNS::Topc"))
    line = LOOPS.splitlines().index("            Type: AWS::SNS::Topic") + 1
    assert {(each.rule, each.line) for each in found} == {("E3006", line)}
    own = "  Own: {Type: Custom::CrossRegionExport, Properties: {ServiceToken: x, Values: {}, Region: Ireland}}\n"
    assert [(each.rule, each.line) for each in lint(f"{LOOPS}{own}")] == [("E9701", LOOPS.count("\n") + 1)]


def test_globals_are_merged_once_and_checked() -> None:
    """cfn-lint merges SAM's Globals before it runs rules."""
    layers = "CodeUri: ./, Layers: [a, b, c, d],"
    assert "E3032" not in {each.rule for each in lint(SERVERLESS.replace("CodeUri: ./,", layers))}  # five are allowed
    found = lint(SERVERLESS.replace("Globals:\n", "Globals:\n  Functon: {}\n"))
    assert [each.line for each in found] == [3]


def test_what_cfn_lint_knows_of_the_file_and_of_the_deployment_stays() -> None:
    aliased = f"{TEMPLATE}    Properties: {{DisplayName: &same x, TopicName: *same}}\n"
    assert [(each.line, each.rule) for each in lint(aliased)] == [(5, "W1101")]
    missing = f"{TEMPLATE}    Exports: {{As: A, Values: {{B: !GetAtt Topic.Arm}}}}\n"
    assert "in ['eu-west-1']" in lint(missing, region="eu-west-1")[0].text


def test_a_loop_that_cfn_lint_drops_is_no_problem() -> None:
    given = TEMPLATE.replace(MACRO, f"[{MACRO}, AWS::LanguageExtensions]")
    assert lint(f"{given}    Properties: {{DisplayName: !Sub [x, {{V: {{Fn::ForEach::L: [N, [a], {{}}]}}}}]}}\n") == []


def test_keys_may_be_numbers() -> None:
    assert lint(f"{TEMPLATE}    Exports: {{Values: {{80: x, yes: y}}}}\n") == []
    ((line, _, text),) = lint(f"{TEMPLATE}    Exports:\n      Values:\n        80: ''\n")
    assert (line, text) == (6, "Topic.Exports.Values.80: must not be empty: Parameter Store holds no empty value")


def test_a_template_that_a_program_made_has_no_lines() -> None:
    assert lint(SERVERLESS, read=load) == []
    looped = TEMPLATE.replace(MACRO, f"[{MACRO}, AWS::LanguageExtensions]") + "    Exports: {As: A}\n"
    assert lint(f"{looped}Outputs: {{Fn::ForEach::L: [N, [a], {{'O${{N}}': {{Value: x}}}}]}}\n", read=load) == []
    ((line, rule, _),) = lint(f"{TEMPLATE}    Exports: {{Az: A, As: B}}\n", read=load)
    assert (line, rule) == (1, "E9702")
