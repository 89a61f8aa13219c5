"""`strongref lookup`: what it prints, and with which exit status it ends."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from strongref.aws.clients import Clients
from tests.support.fake_cloudcontrol import ACCOUNT, REGION, FakeCloudControl, FakeTagging
from tests.support.schemas import validate

if TYPE_CHECKING:
    from tests.support.commands import Run

TOPIC, STAGE, DATABASE = "AWS::SNS::Topic", "AWS::ApiGateway::Stage", "AWS::RDS::DBInstance"
PERMISSION, FUNCTION = "AWS::Lambda::Permission", f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:web"
NEWS = f"arn:aws:sns:{REGION}:{ACCOUNT}:news"
SECRET = "a-value-not-to-be-shown"


@pytest.fixture
def regions() -> set[str]:
    """Those that were asked."""
    return set()


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, regions: set[str]) -> FakeCloudControl:
    cloud = FakeCloudControl()
    cloud.add(TOPIC, NEWS, DisplayName="News", Password=SECRET)
    cloud.add(TOPIC, NEWS.replace("news", "other-news"))
    cloud.add(STAGE, "abc|prod")
    cloud.add(STAGE, "xyz|prod")
    cloud.add(DATABASE, "web", Endpoint={"Address": "web.example.com", "Port": 5432}, MultiAZ=True)
    cloud.needs[STAGE] = ("RestApiId",)
    tagging = FakeTagging({NEWS: {"app": "shop", "note": "a=b"}})

    def client(_clients: Clients, region: str) -> FakeCloudControl:
        regions.add(region)
        return cloud

    monkeypatch.setattr(Clients, "cloudcontrol", client)
    monkeypatch.setattr(Clients, "tagging", lambda _self, _region: tagging)
    monkeypatch.setenv("AWS_REGION", REGION)
    monkeypatch.setattr("strongref_toolkit.aws.Accounts.own", ACCOUNT)
    return cloud


@pytest.fixture
def run(cloud: FakeCloudControl, command_line: Run) -> Run:
    del cloud
    return partial(command_line, "lookup")


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ([TOPIC, "news"], NEWS),
        ([TOPIC, "--name", "news"], NEWS),
        ([TOPIC, "--arn", NEWS], NEWS),
        (["--arn", NEWS], NEWS),
        ([TOPIC, "--tag", "app=shop", "--tag", "note=a=b"], NEWS),
        ([STAGE, "prod", "--property", "RestApiId=abc"], "abc|prod"),
        ([DATABASE, "web", "--attribute", "Endpoint.Address"], "web.example.com"),
        ([DATABASE, "web", "--attribute", "MultiAZ", "--attribute", "Endpoint.Port"], "true\n5432"),
        ([DATABASE, "web", "--attribute", "Endpoint"], '{"Address": "web.example.com", "Port": 5432}'),
    ],
)
def test_the_identifier_or_the_attributes_are_printed(run: Run, arguments: list[str], printed: str) -> None:
    assert run(*arguments) == (0, f"{printed}\n", "")


@pytest.mark.parametrize(
    ("names", "attributes"),
    [
        ([], {}),
        (["Endpoint.Address"], {"Endpoint.Address": "web.example.com"}),
        (["Endpoint", "MultiAZ"], {"Endpoint": {"Address": "web.example.com", "Port": 5432}, "MultiAZ": True}),
    ],
)
def test_json_is_one_document_with_a_schema(run: Run, names: list[str], attributes: dict[str, object]) -> None:
    options = [each for name in names for each in ("--attribute", name)]
    status, printed, _ = run(DATABASE, "web", *options, "--output", "json")
    document = json.loads(printed)
    validate("lookup", document)
    assert (status, document) == (0, {**document, "type": DATABASE, "identifier": "web", "attributes": attributes})


def test_markdown_is_tables(run: Run) -> None:
    _, printed, _ = run(DATABASE, "web", "--attribute", "MultiAZ", "--output", "markdown")
    assert printed.splitlines() == [
        "| TYPE | IDENTIFIER |",
        "| --- | --- |",
        f"| {DATABASE} | web |",
        "",
        "",
        "| ATTRIBUTE | VALUE |",
        "| --- | --- |",
        "| MultiAZ | true |",
        "",
    ]


def test_scripts_get_values_as_they_are(run: Run, cloud: FakeCloudControl) -> None:
    """No table wraps, strips or styles them."""
    value = " missing\tone  \n" + "x" * 500 + "[bold] "
    cloud.add(TOPIC, NEWS, DisplayName=value)
    assert run(TOPIC, "news", "--attribute", "DisplayName")[1] == f"{value}\n"


def test_progress_is_shown_on_a_terminal_and_not_in_the_result(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    status, printed, error = run(TOPIC, "news")
    assert (status, printed) == (0, f"{NEWS}\n")
    assert f"Looking up {TOPIC}" in error


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ([TOPIC], "give one of physical ID, ARN, name and tags, got nothing"),
        ([TOPIC, "news", "--name", "news"], "got physical ID and name"),
        (["--name", "news"], "give the resource type: for example AWS::S3::Bucket; only some ARNs show it"),
        (["--arn", "news"], "give the resource type: for example AWS::S3::Bucket; only some ARNs show it"),
        (
            ["--arn", f"arn:aws:rds:{REGION}:{ACCOUNT}:db:web"],
            "type: the ARN can be of AWS::DocDB::DBInstance, AWS::Neptune::DBInstance and AWS::RDS::DBInstance",
        ),
        (["--arn", f"arn:aws:x:{REGION}:{ACCOUNT}:y/z"], "give the resource type: for example AWS::S3::Bucket"),
        (["--arn", NEWS.replace(REGION, "*")], "'*' is not a region that this botocore knows. Give a region code"),
        ([TOPIC, ""], "PHYSICAL_ID is empty: is a variable not set?"),
        ([TOPIC, " "], "the physical ID must not be empty"),
        ([STAGE, "prod", "--property", "RestApiID=abc"], "it has no property RestApiID; did you mean RestApiId?"),
        (["AWS::EC2::VPC", "--name", "main"], "it has no name property; give its tags, ARN or physical ID"),
        ([TOPIC, "--tag", "app"], "--tag must be a name and a value with = between them"),
        ([TOPIC, "news", "--property", "=x"], "--property must be a name and a value with = between them"),
        ([TOPIC, "news", "--property", "A=1", "--property", "A=2"], "--property A is given twice"),
        ([STAGE, "prod", "--property", "RestApiId="], "--property RestApiId must not be empty"),
        ([TOPIC, "news", "--region", "us-esat-1"], "is not a region that this botocore knows. Did you mean us-west-1"),
        (["AWS::SNS::Topics", "news"], "Did you mean AWS::SNS::Topic"),
    ],
)
def test_usage_errors_exit_with_2(run: Run, arguments: list[str], reported: str) -> None:
    status, printed, error = run(*arguments)
    assert (status, printed) == (2, "")
    assert error.startswith("strongref: ")
    assert reported in error


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ([TOPIC, "gone"], "No AWS::SNS::Topic with physical ID gone in eu-west-1 (2 checked)"),
        ([STAGE, "prod"], "AWS::ApiGateway::Stage cannot be looked up without RestApiId"),
        ([DATABASE, "web", "--attribute", "Endpoint.Adress"], "Did you mean Endpoint.Address"),
        (["AWS::SQS::Queue", "--name", "jobs"], "does not support ListResources"),
    ],
)
def test_failed_lookups_exit_with_1(run: Run, arguments: list[str], reported: str) -> None:
    status, printed, error = run(*arguments)
    assert (status, printed) == (1, "")
    assert reported in error
    assert len(error.splitlines()) == 1
    assert SECRET not in error


def test_an_attribute_that_is_not_there_leaves_the_others_unprinted(run: Run) -> None:
    assert run(DATABASE, "web", "--attribute", "MultiAZ", "--attribute", "Gone")[:2] == (1, "")


def test_it_looks_into_the_region_that_is_asked_for(run: Run, regions: set[str]) -> None:
    run(TOPIC, "news", "--region", "us-east-1")
    run(TOPIC, "news")
    assert regions == {"us-east-1", REGION}


def test_an_arn_of_another_account_is_none_of_the_callers(run: Run) -> None:
    status, _, error = run(TOPIC, "--arn", NEWS.replace(ACCOUNT, "222222222222"))
    assert status == 1
    assert f"No AWS::SNS::Topic with ARN {NEWS.replace(ACCOUNT, '222222222222')} in eu-west-1" in error


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (PERMISSION, [f"{FUNCTION}|sid"]),
        (PERMISSION, ["sid", "--property", f"FunctionArn={FUNCTION}"]),
        (PERMISSION, ["sid", "--property", f"FunctionName={FUNCTION}"]),
        ("AWS::Batch::JobDefinition", [f"arn:aws:batch:{REGION}:{ACCOUNT}:job-definition/resize:3"]),
        ("AWS::AppSync::ApiKey", [f"arn:aws:appsync:{REGION}:{ACCOUNT}:apis/a/apikey/k"]),
    ],
)
def test_what_an_arn_of_another_account_names_is_none_of_the_callers(
    run: Run, cloud: FakeCloudControl, kind: str, arguments: list[str]
) -> None:
    own = {PERMISSION: "web|sid", "AWS::Batch::JobDefinition": "resize"}.get(kind, "a|da2-k")
    cloud.add(kind, own)
    assert run(kind, *arguments) == (0, f"{own}\n", "")
    status, printed, error = run(kind, *[each.replace(ACCOUNT, "222222222222") for each in arguments])
    assert (status, printed) == (1, "")
    assert f"No {kind} with physical ID " in error


def test_without_an_arn_nobody_is_asked_for_the_callers_account(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongref_toolkit.aws.Accounts.own", property(lambda _: pytest.fail("asked")))
    assert run(DATABASE, "web") == (0, "web\n", "")
    assert run(STAGE, "prod", "--property", "RestApiId=abc")[0] == 0


def test_an_arn_is_looked_up_in_its_own_region(run: Run, regions: set[str]) -> None:
    run("--arn", NEWS.replace(REGION, "us-east-1"))
    assert regions == {"us-east-1"}


def test_another_account_needs_a_role(run: Run) -> None:
    assert run(TOPIC, "news", "--account", ACCOUNT)[0] == 0
    status, _, error = run(TOPIC, "news", "--account", "222222222222")
    assert status == 3
    assert "Give the role to assume in it" in error
