"""Transforms that need nothing but the template."""

from __future__ import annotations

from typing import Any

import pytest

from strongref.contract.requests import EXPORT_TYPE
from strongref.macro.errors import TooDeepError, TransformFailedError
from strongref_cli.check.expansion import expand
from strongref_cli.check.serverless import SERVERLESS
from strongref_cli.check.unknown import SourceKind, unknown_of
from strongref_cli.check.version import StackVersion
from strongref_manifests.text.template_writing import Bare
from strongref_manifests.text.templates import read
from strongref_toolkit.cloudformation import NESTED_STACK
from strongref_toolkit.errors import UsageError

LOOPS = "AWS::LanguageExtensions"
NAMES: dict[str, Any] = {"Names": ["One", "t-wo"], "AWS::Region": "eu-west-1"}
FUNCTION: dict[str, Any] = {
    "Type": "AWS::Serverless::Function",
    "Properties": {"Handler": "a.b", "Runtime": "python3.13", "CodeUri": "src/"},
}


def resources(body: object, transform: object = LOOPS) -> Any:
    return expand({"Transform": transform, "Resources": body}, NAMES).template["Resources"]


def test_a_loop_is_unrolled_in_keys_in_sub_and_in_ref() -> None:
    body = {
        "Bucket&{Name}": {
            "Type": "AWS::S3::Bucket",
            "Properties": {"A": {"Ref": "Name"}, "B": {"Fn::Sub": "${Name}-${AWS::Region}"}},
        }
    }
    found = resources({"Fn::ForEach::Buckets": ["Name", {"Ref": "Names"}, body]})
    assert set(found) == {"BucketOne", "Buckettwo"}
    assert found["Buckettwo"]["Properties"] == {"A": "t-wo", "B": "t-wo-eu-west-1"}


def test_loops_are_nested_and_unrolled_in_properties() -> None:
    inner = {"Fn::ForEach::Inner": ["Y", ["a", "b"], {"Bucket${X}${Y}": {"Type": "T"}}]}
    assert set(resources({"Fn::ForEach::Outer": ["X", ["1", "2"], inner]})) == {
        *("Bucket1a", "Bucket1b", "Bucket2a", "Bucket2b")
    }
    loop = {"Fn::ForEach::Settings": ["X", ["1"], {"S${X}": {"Fn::Sub": ["${X}${V}", {"V": {"Ref": "X"}}]}}]}
    assert resources({"B": {"Properties": loop}})["B"]["Properties"] == {"S1": "11"}


WRONG_COLLECTIONS = (
    "text",
    [{"a": "b"}],
    {"Ref": "Typo"},
    ["1", {"Ref": "Typo"}],
    {"Fn::GetAtt": ["B", "C"]},
    {"Fn::FindInMap": ["No", "such", "map"]},
)


@pytest.mark.parametrize(
    ("loop", "problem"),
    [
        (["X", ["1"]], "it must be a list of an identifier, a collection and a map."),
        *((["X", each, {}], "its collection must be a list of texts: written out, or") for each in WRONG_COLLECTIONS),
    ],
)
def test_a_loop_that_cannot_be_unrolled_is_an_error(loop: object, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        resources({"Fn::ForEach::Loop": loop})


@pytest.mark.parametrize("collection", [{"Ref": "Stored"}, ["1", {"Ref": "Stored"}], {"Fn::GetAZs": ""}])
def test_a_loop_over_what_only_cloudformation_knows_is_left_to_it(collection: object) -> None:
    given = {"Transform": LOOPS, "Resources": {"Fn::ForEach::Loop": ["X", collection, {"B${X}": {}}]}}
    names = {"Stored": unknown_of(SourceKind.CHANGING, "parameter Stored", {"Ref": "Stored"})}
    assert expand(given, names).left == ("Fn::ForEach::Loop",)


@pytest.mark.parametrize(
    "text",
    [
        *("x-${X}", "&{X}", {"Fn::GetAtt": ["B${X}", "Arn"]}, {"Fn::Sub": ["x", {"V": "${X}"}]}),
        *({"Deep${X}": "1"}, {"Fn::Sub": "&{X}"}, {"Fn::ForEach::Y": ["Y", ["${X}"], {"${Y}": "1"}]}),
    ],
)
def test_a_loop_with_its_identifier_where_tools_disagree_is_left_to_cloudformation(text: object) -> None:
    given = {"Transform": LOOPS, "Resources": {"Fn::ForEach::Loop": ["X", ["a"], {"B${X}": {"Properties": text}}]}}
    assert expand(given, {}).left == ("Fn::ForEach::Loop",)


def test_the_key_of_a_loop_is_shown_as_it_is_written() -> None:
    """With its identifiers replaced it may have the value of a parameter."""
    for inner, left in ((["Y", {"Ref": "Stored"}, {}], True), (["Y", "text", {}], False)):
        loop = {"Fn::ForEach::Outer": ["X", {"Ref": "Secrets"}, {"Fn::ForEach::In${X}": inner}]}
        names: dict[str, Any] = {
            "Secrets": ["a-secret"],
            "Stored": unknown_of(SourceKind.CHANGING, "parameter Stored", {"Ref": "Stored"}),
        }
        given = {"Transform": LOOPS, "Resources": loop}
        if left:
            assert expand(given, names).left == ("Fn::ForEach::In${X}",)
        else:
            with pytest.raises(UsageError, match=r"^Fn::ForEach::In\$\{X\} cannot"):
                expand(given, names)


def test_a_loop_of_loops_ends() -> None:
    body: Any = {"B": {}}
    for level in range(5):
        body = {f"Fn::ForEach::L{level}": [f"X{level}", [str(each) for each in range(10)], body]}
    with pytest.raises(UsageError, match="it would make more than 10,000 copies"):
        resources(body)


def test_the_macro_makes_its_exports() -> None:
    exports = {"Region": "us-east-1", "Consumer": "web", "As": "Bucket"}
    expanded = expand(
        {"Transform": "StrongRef", "Resources": {"B": {"Type": "AWS::S3::Bucket", "Exports": exports}}}, NAMES
    )
    version = StackVersion.of(expanded.template, NAMES)
    assert [version.resources[each].type for each in version.exports] == [EXPORT_TYPE]
    with pytest.raises(TransformFailedError):
        resources({"B": {"Type": "AWS::S3::Bucket", "Exports": {"Vaules": {}}}}, "StrongRef")


def test_other_transforms_are_left_to_cloudformation() -> None:
    given = {"Transform": ["StrongRef", "AWS::Serverless-2016-10-31", {"Name": "Mine"}], "Resources": {}}
    assert expand(given, {}).left == ("Mine",)
    assert expand({"Resources": {"Fn::Transform": {"Name": "AWS::Include"}}}, {}).left == ("Fn::Transform",)
    assert expand({"Resources": {"A": {"Type": "Acme::S3::MODULE"}}}, {}).left == ("Acme::S3::MODULE",)


def test_serverless_resources_are_what_aws_makes_of_them() -> None:
    """With the code that AWS runs; local files have not been uploaded yet, and the macro goes first."""
    function: dict[str, Any] = {
        "Type": "AWS::Serverless::Function",
        "Properties": {"CodeUri": "src/", "Handler": "a.b", "Runtime": "python3.13", "AutoPublishAlias": "live"},
        "Exports": {"Region": "us-east-1", "Consumer": "web", "As": "Arn"},
    }
    table = {"Type": "AWS::Serverless::SimpleTable", "Properties": {"TableName": {"Ref": "Name"}}}
    found = expand(
        {"Transform": ["StrongRef", SERVERLESS], "Resources": {"F": function, "T": table}}, {**NAMES, "Name": "secret"}
    )
    made: Any = found.template["Resources"]
    kinds = {each["Type"] for each in made.values()}
    assert kinds == {
        *("AWS::Lambda::Function", "AWS::Lambda::Version", "AWS::Lambda::Alias", "AWS::IAM::Role"),
        *("AWS::DynamoDB::Table", EXPORT_TYPE),
    }
    assert made["T"]["Properties"]["TableName"] == {"Ref": "Name"}
    assert function["Properties"]["CodeUri"] == "src/"
    broken = {"Type": "AWS::Serverless::Function", "Properties": {"Handler": "a.b", "CodeUri": "src/"}}
    with pytest.raises(UsageError, match=r"refuses the template: .*\[F\] is invalid. .*Runtime"):
        expand({"Transform": SERVERLESS, "Resources": {"F": broken}}, NAMES)


def function(**properties: Any) -> Any:
    """What AWS::Serverless makes of a function."""
    given = {
        "Type": "AWS::Serverless::Function",
        "Properties": {"Handler": "a.b", "Runtime": "python3.13", **properties},
    }
    return resources({"F": given}, SERVERLESS)["F"]["Properties"]


def test_an_application_of_the_repository_is_a_nested_stack_and_the_repository_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The transform would have it make a template, with credentials and a region that are not those of the command."""
    calls: list[object] = []
    monkeypatch.setattr("boto3.client", lambda *given, **_: calls.append(given))
    location = {"ApplicationId": "arn:aws:serverlessrepo:us-east-1:1:applications/a", "SemanticVersion": "1.0.0"}
    app = {"Type": "AWS::Serverless::Application", "Properties": {"Location": location}}
    assert resources({"App": app}, SERVERLESS)["App"]["Type"] == NESTED_STACK
    assert calls == []


def test_what_sam_packages_by_default_has_been_uploaded() -> None:
    """`sam package` takes the folder of the template, an image, and the value of a parameter for code."""
    for given in ({}, {"CodeUri": {"Ref": "Folder"}}):
        assert set(function(**given)["Code"]) == {"S3Bucket", "S3Key"}
    image = {"Type": "AWS::Serverless::Function", "Properties": {"PackageType": "Image"}}
    assert set(resources({"F": image}, SERVERLESS)["F"]["Properties"]["Code"]) == {"ImageUri"}
    assert function(InlineCode="pass")["Code"] == {"ZipFile": "pass"}
    common = {"Globals": {"Function": {"CodeUri": "s3://mine/code"}}, "Transform": SERVERLESS}
    of_globals: Any = expand(
        {**common, "Resources": {"F": {**FUNCTION, "Properties": {"Handler": "a", "Runtime": "b"}}}}, NAMES
    ).template
    assert of_globals["Resources"]["F"]["Properties"]["Code"] == {"S3Bucket": "mine", "S3Key": "code"}


def test_the_location_of_another_resource_is_no_local_file() -> None:
    table = {"Type": "AWS::Glue::Table", "Properties": {"TableInput": {"StorageDescriptor": {"Location": "a/b"}}}}
    assert resources({"T": table}, SERVERLESS)["T"] == table


def test_scalars_without_quotes_are_what_cloudformation_reads_for_serverless_as_well() -> None:
    properties = "StageName: a, TracingEnabled: yes, Description: 1.50"
    written = f"Resources: {{F: {{Type: 'AWS::Serverless::Api', Properties: {{{properties}}}}}}}"
    found = resources(read("x.yaml", written).content["Resources"], SERVERLESS)
    assert found["FaStage"]["Properties"]["TracingEnabled"] is True
    assert isinstance(found["F"]["Properties"]["Description"], Bare)  # what that is only CloudFormation knows


def test_serverless_has_the_values_of_functions_that_language_extensions_know() -> None:
    """It accepts no function for the path of an API."""
    event = {"Type": "Api", "Properties": {"Path": {"Fn::Sub": "/${Name}"}, "Method": "get"}}
    loop = [
        "Name",
        ["a", "b"],
        {"F${Name}": {**FUNCTION, "Properties": {**FUNCTION["Properties"], "Events": {"E": event}}}},
    ]
    made = resources({"Fn::ForEach::Functions": loop}, [LOOPS, SERVERLESS])
    assert set(made["ServerlessRestApi"]["Properties"]["Body"]["paths"]) == {"/a", "/b"}


def test_what_serverless_refuses_shows_no_value_of_a_parameter() -> None:
    function = {**FUNCTION, "Properties": {**FUNCTION["Properties"], "AutoPublishAlias": {"Ref": "Alias"}}}
    with pytest.raises(UsageError, match=r"AutoPublishAlias name \('\$\{Alias\}'\) must contain"):
        expand({"Transform": SERVERLESS, "Resources": {"F": function}}, {**NAMES, "Alias": "/not-to-be-shown"})


def test_a_loop_without_its_transform_is_an_error() -> None:
    with pytest.raises(UsageError, match="Fn::ForEach::A cannot be expanded: the template has no Transform: AWS::Lang"):
        expand({"Resources": {"Fn::ForEach::A": ["X", ["1"], {"B${X}": {}}]}}, {})


def test_a_template_that_is_nested_too_deeply_is_refused() -> None:
    node: Any = {}
    for _ in range(300):
        node = {"A": node}
    with pytest.raises(TooDeepError):
        expand({"Resources": node}, {})
