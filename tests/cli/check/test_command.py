"""`strongref check` in moto: a producer's stack, what it exports, and what a deployment would do. No value is shown."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.backends import get_backend
from moto.cloudformation.models import cloudformation_backends

import strongref_cli as cli
from strongref.contract.event import Event, RequestType
from strongref.contract.hold_stacks import HOLDS, HoldParameter, hold_stack_name
from strongref.contract.index import FORGOTTEN, Place, encode_place, index_name, path_of
from strongref.contract.names import claim_tag
from strongref.contract.requests import IMPORTER
from strongref.runtime.wiring import exporter, importer
from strongref_toolkit.aws import Aws
from strongref_toolkit.clock import AwsClock
from strongref_toolkit.errors import AwsCallError
from tests.support.checks import EU, US, Template, bucket, exporting, template
from tests.support.documents import rows
from tests.support.empty_aws import empty_aws, intercept
from tests.support.fake_ssm import FakeClock
from tests.support.moto_copies import made_once
from tests.support.schemas import validate
from tests.support.without_stacks import waited_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from mypy_boto3_ssm.type_defs import TagTypeDef

ACCOUNT = "123456789012"
SECRET, PASSWORD = "a-value-not-to-be-shown", "a-password-not-to-be-shown"
PARAMETERS = {
    "Password": {"Type": "String", "NoEcho": True, "Default": PASSWORD},
    "Name": {"Type": "String", "Default": SECRET},
}
UNKNOWN = "{{resolve:ssm:name}}"

if TYPE_CHECKING:
    Check = Callable[..., tuple[int, str]]


def producing(name: object = None, **values: object) -> Template:
    """A bucket, exported with a secret and a name."""
    given: dict[str, Any] = {"Bucket": {"Ref": "Bucket"}, "Password": {"Ref": "Password"}, "Name": {"Ref": "Name"}}
    exports = exporting({**given, **values}, SecureKeys=["Password"])
    outputs = {"Bucket": {"Value": {"Ref": "Bucket"}, "Export": {"Name": "network-Bucket"}}}
    return {"Parameters": PARAMETERS, **template(outputs, Bucket=bucket(name), Exports=exports)}


def importing(names: object = None, *attributes: str, path: str = "", **properties: object) -> Template:
    """The consumer, with an Import, and outputs of these attributes of it; a property that is None is left out."""
    given = {"ServiceToken": IMPORTER, "From": {"Stack": "network", "Region": EU}, "Names": names, **properties}
    given = {name: each for name, each in given.items() if each is not None}
    outputs: Template = {f"O{at}": {"Value": {"Fn::GetAtt": ["Imports", each]}} for at, each in enumerate(attributes)}
    if path:
        stored = f"/strongref/exports/web/{ACCOUNT}/{EU}/network/{path}"
        outputs["Path"] = {"Value": f"{{{{resolve:ssm:{stored}}}}}"}
    return template(outputs, Bucket=bucket(), Imports={"Type": "Custom::CrossRegionImport", "Properties": given})


def deployed(name: str, region: str, given: Template) -> str:
    """A stack with this template, in moto: without its custom resources, for which moto would need docker."""
    plain = {key: each for key, each in given["Resources"].items() if not each["Type"].startswith("Custom::")}
    body = json.dumps({**given, "Resources": plain or {"Bucket": bucket()}})
    arn: str = boto3.client("cloudformation", region).create_stack(StackName=name, TemplateBody=body)["StackId"]
    get_backend("cloudformation")[ACCOUNT][region].stacks[arn].template = json.dumps(given)
    return arn


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def answered(_: object, action: str, given: dict[str, Any]) -> None:
        if action == "ListImports":  # moto has none
            text = f"Export '{given['ExportName']}' is not imported by any stack."
            raise ClientError({"Error": {"Code": "ValidationError", "Message": text}}, action)

    intercept(monkeypatch, answered)
    with empty_aws(monkeypatch):
        made_once(network_and_web, network_and_web)
        yield


def network_and_web() -> None:
    deployed("strongref", EU, template({"X": {"Value": "x", "Export": {"Name": "strongref-exporter"}}}, B=bucket()))
    deployed("strongref", US, template({"X": {"Value": "x", "Export": {"Name": "strongref-importer"}}}, B=bucket()))
    producer = deployed("network", EU, producing())
    consumer = deployed("web", US, template(Bucket=bucket()))
    values = {"Bucket": SECRET, "Password": PASSWORD, "Name": SECRET}
    exported = {"Region": US, "Consumer": "web", "Values": values, "SecureKeys": ["Password"]}
    imported = {"From": {"Stack": "network", "Region": EU}, "Consumer": "web", "Names": ["Bucket", "Password"]}
    made = Event(RequestType.CREATE, producer, "Exports", "1", None, exported, None, "https://x", "Custom::X")
    with waited_for():
        exporter().handle(made, FakeClock())
    taken = Event(RequestType.CREATE, consumer, "Imports", "1", None, imported, None, "https://x", "Custom::X")
    stack = cloudformation_backends[ACCOUNT][US].stacks[consumer]
    stack.status = "UPDATE_IN_PROGRESS"  # so that its claims are live without a custom resource in moto
    importer().handle(taken, FakeClock())


@pytest.fixture
def check(aws: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """Runs the command; its status, and what it printed."""
    del aws

    def run(given: Template | None, *more: str, stack: str = "network", region: str = EU) -> tuple[int, str]:
        asked = ["--stack", stack]
        if given is not None:
            (tmp_path / "template.json").write_text(json.dumps(given))
            asked += ["--template", str(tmp_path / "template.json")]
        status = cli.main(["check", "--region", region, *(asked if given is not None else []), *more])
        printed = capsys.readouterr()
        shown = printed.out + printed.err
        if "json" in more and printed.out:
            validate("check", json.loads(printed.out))
        assert SECRET not in shown
        assert PASSWORD not in shown
        return status, shown

    return run


@pytest.mark.parametrize("output", ["table", "json", "markdown"])
def test_nothing_changes_and_no_value_is_shown(check: Check, output: str) -> None:
    status, shown = check(producing(), "--output", output)
    assert (status, "accepted" in shown) == (0, True)


def test_progress_is_shown_on_a_terminal_and_not_in_the_result(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = check(producing())[1]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    status, shown = check(producing())
    assert (status, "Checking network" in shown, plain in shown) == (0, True, True)


@pytest.mark.parametrize("output", ["table", "json", "markdown"])
def test_a_change_of_an_imported_value_is_refused(check: Check, output: str) -> None:
    status, shown = check(producing(Bucket="another"), "--output", output)
    assert status == 1
    assert "Bucket cannot be changed: it is imported by stack web (us-east-1, 123456789012)." in shown


def _only(shown: str) -> dict[str, Any]:
    """The one stack of a JSON document."""
    (stack,) = json.loads(shown)["stacks"]
    return dict(stack)


def test_every_kind_of_answer_is_a_document_with_a_schema(check: Check) -> None:
    answers: tuple[tuple[Template | None, list[str]], ...] = (
        (producing(Bucket=UNKNOWN), []),
        ({**producing(), "Transform": "Mine"}, []),
        (template(Bucket=bucket()), []),
        (None, ["--delete", "network"]),
    )
    shown = [check(given, *more, "--output", "json")[1] for given, more in answers]
    assert [_only(each)["verdict"] for each in shown] == ["unknown", "unknown", "lost", "refused"]


def test_a_new_secret_is_compared_and_not_shown(check: Check) -> None:
    status, shown = check(producing(), "--parameters", "Password=another-secret")
    assert (status, "another-secret" in shown) == (1, False)
    assert "Password cannot be changed" in shown
    assert check(producing(), "--parameters", f"Password={PASSWORD}")[0] == 0


def test_what_is_unknown_fails_only_if_it_is_to(check: Check) -> None:
    status, shown = check(producing(Bucket=UNKNOWN))
    text = "unknown: Bucket: dynamic reference ssm:name may change. Refused if that is so: Bucket cannot"
    assert (status, text in shown) == (0, True)
    assert check(producing(Bucket=UNKNOWN), "--strict")[0] == 1
    status, shown = check({**producing(), "Transform": "Mine"})
    assert "has Mine, which only CloudFormation carries out: create a change set" in shown
    assert status == 0


def test_what_replaces_a_resource_is_refused_and_what_does_not_passes_strict(check: Check) -> None:
    """cfn-lint knows which properties do: no change set is needed."""
    status, shown = check(producing("another-name"), "--strict")
    assert (status, "Bucket cannot be changed: it is imported by stack web" in shown) == (1, True)
    assert "Bucket is replaced: its BucketName changes" in shown
    given = producing()
    given["Resources"]["Bucket"]["Properties"]["Tags"] = [{"Key": "team", "Value": "blue"}]
    assert check(given, "--strict")[0] == 0


def test_a_deletion_is_predicted(check: Check) -> None:
    status, shown = check(None, "--delete", "network")
    assert (status, "Bucket and Password cannot be dropped: they are imported by stack web" in shown) == (1, True)


@pytest.fixture
def imports(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The stacks that import a CloudFormation export."""
    found: dict[str, list[str]] = {}

    def answered(_: object, action: str, given: dict[str, Any]) -> dict[str, Any] | None:
        if action != "ListImports" or given["ExportName"] not in found:
            return None
        listed, start = found[given["ExportName"]], int(given.get("NextToken", "0"))
        return {"Imports": listed[start : start + 1], "NextToken": str(start + 1) if listed[start + 1 :] else ""}

    intercept(monkeypatch, answered)
    return found


def test_the_names_of_outputs_are_those_that_cloudformation_knows(check: Check, imports: dict[str, list[str]]) -> None:
    """The name comes from a parameter that CloudFormation does not show, and one hold stack has a parameter."""
    given = template({"Plain": {"Value": "x", "Export": {"Name": {"Fn::Sub": "${Env}-Plain"}}}}, Bucket=bucket())
    given["Parameters"] = {"Env": {"Type": "String", "NoEcho": True, "Default": "prod"}}
    deployed("zones", EU, given)
    hold = HoldParameter("prod-Plain", ACCOUNT, US, "web", "0123456789abcdef")
    name = f"{HOLDS}/{'/'.join(hold)}"
    boto3.client("ssm", EU).put_parameter(Name=name, Value="x", Type="String")
    imports["prod-Plain"] = ["billing", hold_stack_name(ACCOUNT, "web", hold.hash), "strongref-hold-of-nobody"]
    assert check(given, stack="zones")[0] == 0
    status, shown = check(given | {"Outputs": {}}, stack="zones")
    users = f"strongref-hold-… for web (us-east-1, {ACCOUNT}) and by stack billing and stack strongref-hold-of-nobody."
    assert (status, f"remove export prod-Plain: it is in use by {users}" in shown) == (1, True)
    assert check(None, "--delete", "zones")[0] == 1


def test_a_new_stack_is_predicted(check: Check) -> None:
    status, shown = check(producing(), stack="new")
    assert (status, shown.count("added")) == (0, 3)
    note = (
        "note: Stack new does not exist in eu-west-1: this creates it. If it should exist, check the name, the region"
    )
    assert note in shown


def test_an_export_in_a_region_without_strongref_is_refused(check: Check) -> None:
    text = (
        "refused: No stack in us-east-1 exports strongref-exporter, which the ServiceToken of Exports imports. Install "
        "strongref in us-east-1 first."
    )
    status, shown = check(producing(), stack="new", region=US)
    assert (status, text in shown) == (1, True)
    given = producing()
    given["Resources"]["Exports"]["Properties"]["ServiceToken"] = "arn:aws:lambda:us-east-1:1:function:exporter"
    assert check(given, stack="new", region=US)[0] == 0


def test_what_no_stack_can_be_made_of_is_unknown(check: Check) -> None:
    given = producing()
    given["Resources"]["Bucket"]["Condition"] = "Nope"
    given["Resources"]["Other"] = bucket({"Fn::Unheard": "x"})
    given["Outputs"]["Bucket"]["Value"] = {"Ref": "Nowhere"}
    status, shown = check(given, "--strict")
    text = (
        "unknown: invalid expression Condition Nope in Bucket, invalid expression Fn::Unheard in Other and invalid "
        "expression Ref of Nowhere in Outputs: CloudFormation refuses that, unless it knows a function that check does "
        "not know. Correct it, or create a change set."
    )
    assert (status, text in shown) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--template", "x"], "--template and --change-set require --stack"),
        (["--stack", "a", "--delete", "b"], "--delete and --stacks name the stacks themselves: leave --stack out"),
        (["--delete", "b", "--parameters", "A=1"], "--parameters requires --template"),
        (["--stack", "a", "--template", "x", "--parameters", "A"], "is neither NAME=VALUE nor a file that exists"),
        (["--stack", "a", "--template", "x", "--parameters", "A=1", "A=2"], "--parameters A is given twice"),
    ],
)
def test_wrong_usage_is_one_line(check: Check, arguments: list[str], problem: str) -> None:
    status, shown = check(None, *arguments)
    assert (status, problem in shown, len(shown.splitlines())) == (2, True, 1)


@pytest.mark.parametrize(
    ("resources", "problem"),
    [
        ([], "it has no Resources, got a list."),
        ({}, "it has no Resources, got an empty map."),
        (None, "it has no Resources, got nothing."),
        (SECRET, "it has no Resources, got a single value."),
        ({"A": SECRET}, "A in Resources must be a map with a Type."),
        ({"A": {"Properties": {}}}, "A in Resources must be a map with a Type."),
    ],
)
def test_a_file_that_is_no_template_is_an_error(check: Check, resources: object, problem: str) -> None:
    status, shown = check({"Resources": resources})
    assert (status, f"template.json: {problem} Pass a CloudFormation template." in shown) == (2, True)


def test_what_several_exports_share_is_read_once(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    intercept(monkeypatch, lambda _, action, __: made.append(action))
    check(producing())
    one = len(made)
    more = {f"More{number}": exporting({f"V{number}": "1"}) for number in range(9)}
    check({**producing(), "Resources": {**producing()["Resources"], **more}})
    assert len(made) == 2 * one + 2  # ListExports, as there are new Exports, and whether strongref is in their region


def test_a_region_without_strongref_is_named(check: Check) -> None:
    status, shown = check(producing(), "--parameters", "Password=x")
    assert (status, "is not installed" in shown) == (1, False)
    new = exporting({"A": "1"})
    more = {**producing()["Resources"], "More": new}
    new["Properties"]["Region"] = ["ap-south-1", EU, US]
    told = "More: strongref is not installed in ap-south-1 and us-east-1: install it before a stack there imports."
    assert f"note: {told}" in check({**producing(), "Resources": more})[1]


@pytest.mark.parametrize("arguments", [["--delete", "nowhere"], ["--stack", "nowhere", "--change-set", "next"]])
def test_a_stack_that_is_not_there_is_an_error(check: Check, arguments: list[str]) -> None:
    assert "Stack my_stack does not exist" in check(producing(), stack="my_stack")[1]
    assert check(None, "--stack", "network", "--template", "no-such-file")[0] == 2
    assert "no such file" in check(None, "--stack", "network", "--template", "no-such-file")[1]
    status, shown = check(None, *arguments)
    assert (status, "Stack nowhere does not exist in eu-west-1" in shown) == (2, True)


@pytest.mark.usefixtures("made_and_deleted")
def test_only_the_documented_calls_are_made(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    made: set[str] = set()
    intercept(monkeypatch, lambda _, action, __: made.add(action))
    check(producing(Bucket="another"))
    check(producing(), stack="new")
    check(None, "--delete", "network")
    check(None, "--stack", "network", "--change-set", "next")
    check(producing(), "--create-change-set", stack="new")
    check(producing(), "--strict", stack="new")
    check(importing(["Bucket"], "Bucket", path="Bucket"), stack="web", region=US)
    check(exporting_there("another"), "--role", ROLE)
    documented = {
        action.partition(":")[2]
        for first, on, *_ in rows("docs/check.md", "Permissions")
        for action in re.findall(r"`(\w+:\w+)`", f"{first} {on}")
    }
    assert made == documented


def changing(replacement: str, **more: Any) -> list[dict[str, Any]]:
    """The pages of a change set in which the bucket and its Export change."""
    bucket_change = {"Action": "Modify", "LogicalResourceId": "Bucket", "Replacement": replacement}
    export_change = {"Action": "Modify", "LogicalResourceId": "Exports", "Replacement": "False"}
    shown = [{"ParameterKey": "Name", "ParameterValue": SECRET}, {"ParameterKey": "Password", "ParameterValue": "****"}]
    first = {"Status": "CREATE_COMPLETE", "Parameters": shown, "Changes": [{"ResourceChange": bucket_change}], **more}
    return [{**first, "NextToken": "1"}, {**first, "Changes": [{"ResourceChange": export_change}]}]


@pytest.fixture
def change_sets(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[dict[str, Any]]]:
    """Change sets by name, with their pages: moto has none of stacks with custom resources."""
    found: dict[str, list[dict[str, Any]]] = {}
    original = Aws.call

    def call(self: Aws, where: Any, action: str, target: str, service: Any, **given: Any) -> Any:
        if action == "DescribeChangeSet":
            if given["ChangeSetName"] not in found:
                raise AwsCallError(action, target, EU, "ChangeSetNotFound")
            return found[given["ChangeSetName"]][int(given.get("NextToken", "0"))]
        if "ChangeSetName" in given:
            return {"TemplateBody": producing("another-name", Revision="2")}
        return original(self, where, action, target, service, **given)

    monkeypatch.setattr(Aws, "call", call)
    return found


def test_a_change_set_says_what_is_replaced(check: Check, change_sets: dict[str, list[dict[str, Any]]]) -> None:
    change_sets |= {"in-place": changing("False"), "replaced": changing("True"), "perhaps": changing("Conditional")}
    asked = ["--stack", "network", "--change-set"]
    statuses = {name: check(None, *asked, name, "--strict")[0] for name in change_sets}
    # Whether the password changes is not shown, and it is imported.
    assert statuses == {"in-place": 1, "replaced": 1, "perhaps": 1}
    status, shown = check(None, *asked, "replaced")
    assert (status, "Bucket cannot be changed" in shown) == (1, True)
    status, shown = check(None, *asked, "in-place")
    assert (status, "unknown: Password: parameter Password may change" in shown) == (0, True)


def test_a_change_set_that_is_not_ready_or_not_there_is_an_error(
    check: Check, change_sets: dict[str, list[dict[str, Any]]]
) -> None:
    asked = ["--stack", "network", "--change-set"]
    change_sets["next"] = changing("False", Status="CREATE_IN_PROGRESS")[1:]
    status, shown = check(None, *asked, "next")
    assert (status, "Change set next is CREATE_IN_PROGRESS: there is nothing to check in it." in shown) == (2, True)
    change_sets["old"] = changing("False", ExecutionStatus="OBSOLETE")
    assert "Change set old is OBSOLETE: there is nothing to check in it." in check(None, *asked, "old")[1]
    change_sets["done"] = changing("False", ExecutionStatus="EXECUTE_FAILED")
    assert "Change set done is EXECUTE_FAILED: there is nothing to check in it." in check(None, *asked, "done")[1]
    change_sets["foreign"] = changing("False", StackId="arn:aws:cloudformation:eu-west-1:123456789012:stack/shop/1")
    for name in ("other", "foreign"):
        status, shown = check(None, *asked, name)
        assert (status, f"Stack network has no change set {name}." in shown) == (2, True)
    for reason in ("The submitted information didn't contain changes.", "No updates are to be performed."):
        change_sets["same"] = changing("False", Status="FAILED", StatusReason=reason, Changes=[])[:1]
        change_sets["same"][0].pop("NextToken")
        assert check(None, *asked, "same")[0] == 0


@pytest.fixture
def made_and_deleted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """The calls that make and delete change sets and stacks, answered as CloudFormation does."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def answered(_: object, action: str, given: dict[str, Any]) -> dict[str, Any] | None:
        made = [each["ChangeSetName"] for name, each in calls if name == "CreateChangeSet"]
        if action in ("CreateChangeSet", "DeleteChangeSet", "DeleteStack"):
            calls.append((action, given))
            return {}
        if action == "DescribeChangeSet" and given["ChangeSetName"] in made:
            polls = sum(name == "poll" for name, _ in calls)
            calls.append(("poll", given))
            return {"Status": "CREATE_COMPLETE" if polls else "CREATE_IN_PROGRESS", "Changes": CHANGES}
        if action == "GetTemplate" and given.get("ChangeSetName") in made:
            return {"TemplateBody": json.dumps(producing())}
        return None

    intercept(monkeypatch, answered)
    monkeypatch.setattr(AwsClock, "sleep", lambda *_: None)
    return calls


CHANGES = [
    {"ResourceChange": {"Action": "Modify", "LogicalResourceId": each, "Replacement": replacement}}
    for each, replacement in (("Bucket", "True"), ("Exports", "False"))
]


def test_a_change_set_is_made_read_and_deleted(
    check: Check, made_and_deleted: list[tuple[str, dict[str, Any]]]
) -> None:
    """It knows what only CloudFormation knows; parameters that are not given keep their values."""
    given = {**producing(), "Transform": "Mine"}
    status, shown = check(given, "--create-change-set", "--parameters", "Name=another", "--strict")
    assert (status, "Bucket cannot be changed: it is imported by stack web" in shown) == (1, True)
    (_, made), *_, (last, deleted) = made_and_deleted
    assert (made["ChangeSetType"], json.loads(made["TemplateBody"])) == ("UPDATE", given)
    assert made["Parameters"] == [
        {"ParameterKey": "Password", "UsePreviousValue": True},
        {"ParameterKey": "Name", "ParameterValue": "another"},
    ]
    assert (last, deleted) == ("DeleteChangeSet", {"StackName": "network", "ChangeSetName": made["ChangeSetName"]})


def test_a_change_set_is_deleted_after_ctrl_c(
    check: Check, made_and_deleted: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(AwsClock, "sleep", interrupted)
    assert check(producing(), "--create-change-set")[0] == 130
    assert made_and_deleted[-1][0] == "DeleteChangeSet"


def test_the_change_set_of_a_new_stack_leaves_no_empty_stack(
    check: Check, made_and_deleted: list[tuple[str, dict[str, Any]]]
) -> None:
    check(producing(), "--create-change-set", stack="other")
    assert made_and_deleted[0][1]["ChangeSetType"] == "CREATE"
    assert [name for name, _ in made_and_deleted[-2:]] == ["DeleteChangeSet", "DeleteStack"]


def test_a_template_that_needs_a_bucket_is_refused_before_a_call(
    check: Check, made_and_deleted: list[tuple[str, dict[str, Any]]]
) -> None:
    status, shown = check(producing(Name="x" * 51_200), "--create-change-set")
    assert status == 2
    assert "Upload it, create the change set, and give its name with --change-set." in shown
    assert made_and_deleted == []


def test_a_stack_that_should_exist_and_does_not_is_no_answer(check: Check) -> None:
    status, shown = check(producing(), "--strict", stack="netwrok")
    assert (status, "Stack netwrok does not exist in eu-west-1. Did you mean network?" in shown) == (2, True)
    assert check(producing(), "--strict", "--new", stack="netwrok")[0] == 0
    status, shown = check(producing(), "--new")
    assert (status, "Stack network exists in eu-west-1. Leave --new out." in shown) == (2, True)
    for option in ("--new", "--create-change-set"):
        assert check(None, "--delete", "network", option)[0] == 2


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (importing(["Bukket"]), "does not export Bukket (did you mean Bucket?) to this consumer"),
        (importing(["Bucket"], From={"Stack": "netwrok", "Region": EU}), "does not exist. Check From"),
        (importing(["Bucket"], From={"Stack": "network", "Region": US}), "does not exist. Check From"),
        (
            importing(["Bucket"], From={"Stack": "network", "Region": EU, "Account": "999999999999"}),
            "Export's Account, Region (",
        ),
        (importing(["Bucket"], From={"Stack": "network", "Region": "eu-wst-1"}), "Did you mean eu-west-1"),
        (importing(["Bucket"], From={"Stack": "network", "Region": "cn-north-1"}), "must be in the partition aws"),
        (importing(["Bucket"], From={"Stak": "network"}), "Stack, Region and Account (did you mean Stack?)"),
        (importing(["Bucket"], From=None, Frm={"Stack": "network"}), "(did you mean From?)"),
        (importing(["Bucket"], Consumer="wbe"), "exports nothing to consumer wbe"),
        (importing(["Bucket"], Strength="strongly"), "Strength must be"),
        (importing(["Bucket"], Shared="ja"), "Shared must be"),
        (importing(["Bucket"], Shared="true"), "It exports to this consumer alone: leave Shared out."),
        (importing("Bucket"), "Names must be"),
        (importing(["Bucket"], "Name"), "cannot return Imports.Name: the Import has no such value. It imports Bucket."),
        (importing(None, "Bukket"), "cannot return Imports.Bukket: the Import has no such value. Did you mean Bucket?"),
        (importing(None, "Password"), "cannot return Imports.Password: it is a secret."),
        (importing(["Bucket"], path="Bukket"), "network/Bukket}} names a parameter that does not exist."),
    ],
)
def test_an_import_that_would_fail_is_refused_in_the_importers_words(
    check: Check, given: Template, reason: str
) -> None:
    status, shown = check(given, "--output", "json", stack="web", region=US)
    document = _only(shown)
    texts = [text for each in document["imports"] for text in each["reasons"]]
    texts += [each["text"] for each in document["findings"]]
    assert (status, document["verdict"]) == (1, "refused"), texts
    assert any(reason in text for text in texts), texts


def test_an_import_that_works_is_accepted(check: Check) -> None:
    for given in (importing(["Bucket"], "Bucket", path="Bucket"), importing(None, "Bucket", "Name"), importing([])):
        status, shown = check(given, stack="web", region=US)
        assert (status, "Imports: accepted" in shown) == (0, True), shown


def test_what_only_the_deployment_knows_of_an_import_is_unknown(check: Check) -> None:
    given = importing(["Bucket"], From={"Stack": UNKNOWN, "Region": EU})
    status, shown = check(given, stack="web", region=US)
    assert (status, "From is unknown: dynamic reference ssm:name may change." in shown) == (0, True)
    assert check(given, "--strict", stack="web", region=US)[0] == 1
    own = importing(["Bucket"], From={"Stack": "web", "Region": US})
    assert "stack web may export that in the same deployment" in check(own, stack="web", region=US)[1]


def test_what_another_stack_will_export_is_unknown(check: Check, tmp_path: Path) -> None:
    """A pipeline deploys it first: its template says what there will be."""
    file = tmp_path / "database.yaml"
    file.write_text(json.dumps(template(B=bucket(), Exports=exporting({"Url": {"Ref": "B"}, "Ports": {"Main": "1"}}))))
    for names, given, verdict in (
        (["Url", "Ports"], str(file), "unknown"),
        (["Ports.Main"], f"shop={file}", "unknown"),
        (["Urls"], str(file), "refused"),
    ):
        producer = "shop" if given.startswith("shop=") else "database"
        asked = importing(names, From={"Stack": producer, "Region": EU})
        _, shown = check(asked, "--assume", given, "--output", "json", stack="web", region=US)
        assert _only(shown)["verdict"] == verdict, shown
        assert _only(check(asked, "--output", "json", stack="web", region=US)[1])["verdict"] == "refused"


@pytest.mark.parametrize(
    ("region", "reason"),
    [
        ("eu-wst-1", "Did you mean eu-west-1"),
        ("cn-north-1", "must be in the partition aws of the stack; cn-north-1 is in aws-cn"),
        ("us-gov-west-1", "must be in the partition aws of the stack"),
        ("eu-west-1,us-east-1", "Region must be"),
        (["us-east-1", "eu-wst-1"], "Did you mean eu-west-1"),
    ],
)
def test_an_export_to_a_region_that_is_none_is_refused(check: Check, region: object, reason: str) -> None:
    given = producing()
    given["Resources"]["Exports"]["Properties"]["Region"] = region
    for stack in ("network", "new"):
        status, shown = check(given, stack=stack)
        assert (status, reason in shown) == (1, True), shown


def test_an_invalid_export_is_never_said_to_change_nothing(check: Check) -> None:
    given = producing()
    given["Resources"]["Exports"]["Properties"]["OnChange"] = "propogate"
    for output in ("table", "markdown"):
        status, shown = check(given, "--output", output)
        assert (status, "nothing changes" in shown) == (1, False)


def test_the_verdict_has_its_color_on_a_terminal(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" not in check(producing(Bucket="another"))[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for given, colored in ((producing(Bucket="another"), ": \x1b[31mrefused"), (producing(), ": \x1b[32maccepted")):
        assert colored in check(given)[1]


def test_parameters_may_be_in_a_file(check: Check, tmp_path: Path) -> None:
    file = tmp_path / "parameters.json"
    file.write_text(json.dumps([{"ParameterKey": "Password", "ParameterValue": "another-secret"}]))
    status, shown = check(producing(), "--parameter-overrides", str(file))
    assert (status, "Password cannot be changed" in shown) == (1, True)


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A file that lists a producer that is refused, and a consumer of what another stack will export."""
    templates = {
        "network": producing(Bucket="another"),
        "database": template(B=bucket(), Exports=exporting({"Url": {"Ref": "B"}})),
        "web": importing(["Url"], From={"Stack": "database", "Region": EU}),
    }
    for name, given in templates.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(given))
    regions = {"network": EU, "database": EU, "web": US}
    listed: list[dict[str, Any]] = [
        {"stack": name, "region": regions[name], "template": f"{tmp_path}/{name}.json"} for name in templates
    ]
    listed[0]["parameters"] = {"Name": SECRET}
    (tmp_path / "stacks.yaml").write_text(json.dumps(listed))
    return tmp_path / "stacks.yaml"


@pytest.mark.usefixtures("check")
def test_the_stacks_of_a_pipeline_are_checked_together(pipeline: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What one will export, another may import: nothing is said about the order in which they are deployed."""
    assert cli.main(["check", "--stacks", str(pipeline), "--output", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    validate("check", found)
    verdicts = {each["stack"]: each["verdict"] for each in found["stacks"]}
    assert verdicts == {"network": "refused", "database": "accepted", "web": "unknown"}
    assert cli.main(["check", "--stacks", str(pipeline), "--output", "markdown"]) == 1
    assert capsys.readouterr().out.count("### ") == 3


@pytest.mark.usefixtures("check")
def test_github_shows_each_reason_at_its_template_and_all_in_the_summary(
    pipeline: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = pipeline.with_name("summary.md")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert cli.main(["check", "--stacks", str(pipeline), "--github"]) == 1
    shown = capsys.readouterr().out
    at = f"::error file={pipeline.parent}/network.json,title=network (eu-west-1) refused::"
    assert f"{at}Bucket cannot be changed: it is imported by stack web" in shown
    assert (
        f"::warning file={pipeline.parent}/web.json,title=web (us-east-1) unknown::Stack database is assumed" in shown
    )
    assert summary.read_text().count("### ") == 3
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert cli.main(["check", "--stacks", str(pipeline), "--github"]) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "it is neither YAML nor JSON"),
        ("stack: a", "it must be a list of maps with stack and template"),
        ("[]", "it must be a list of maps with stack and template"),
        ("- a", "number 1: it must be a map with stack and template"),
        ("- {stack: a}", "number 1: template must be given as text"),
        ("- {stack: a, template: b, paramters: c}", "number 1: paramters is unknown; must be one of stack, template"),
        ("- {stack: a, template: b, parameters: [c]}", "parameters c is neither NAME=VALUE nor a file"),
        ("- {stack: a, template: b, region: eu-wst-1}", "Did you mean eu-west-1"),
        (None, "--stacks"),
    ],
)
@pytest.mark.usefixtures("aws")
def test_a_list_of_stacks_that_is_none_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, problem: str
) -> None:
    if text is not None:
        (tmp_path / "stacks.yaml").write_text(text)
    assert cli.main(["check", "--stacks", f"{tmp_path}/stacks.yaml"]) == 2
    assert problem in capsys.readouterr().err


OTHER, ROLE = "222222222222", "arn:aws:iam::ACCOUNT:role/reader"


def exporting_there(bucket_name: str = SECRET) -> Template:
    """The producer's template, with an Export to the other account, where nothing is secret."""
    exports = exporting({"Bucket": bucket_name, "Name": {"Ref": "Name"}}, Account=OTHER)
    return {"Parameters": PARAMETERS, **template(Bucket=bucket(), Exports=exports)}


def installation(*accounts: str) -> None:
    """Have the installation of the producer's region list these accounts."""
    listed = {"ExportAccounts": {"Type": "CommaDelimitedList", "Default": ",".join(accounts)}}
    outputs = {"X": {"Value": "x", "Export": {"Name": "strongref-exporter"}}}
    body = json.dumps({"Parameters": listed, **template(outputs, B=bucket())})
    boto3.client("cloudformation", EU).update_stack(StackName="strongref", TemplateBody=body)


@pytest.fixture
def abroad(aws: None) -> None:
    """The producer exports to the other account, where a stack imports. In its own account, nobody imports the same."""
    del aws
    installation(OTHER)
    found = get_backend("cloudformation")[ACCOUNT][EU].stacks
    (producer,) = (each for each in found.values() if each.name == "network")
    producer.template = json.dumps(exporting_there())
    deployed = {"Region": US, "Consumer": "web", "Values": {"Bucket": SECRET, "Name": SECRET}}
    event = Event(RequestType.CREATE, producer.stack_id, "Exports", "2", None, deployed, None, "https://x", "Custom::X")
    own = boto3.client("ssm", US)
    names = [each["Name"] for each in _below(own, "/strongref") if "service-tokens" not in each["Name"]]
    own.delete_parameters(Names=names)
    with waited_for():
        exporter().handle(event, FakeClock())
    role = boto3.client("sts", EU).assume_role(RoleArn=ROLE.replace("ACCOUNT", OTHER), RoleSessionName="test")
    key, secret, token = (role["Credentials"][each] for each in ("AccessKeyId", "SecretAccessKey", "SessionToken"))
    there = boto3.Session(key, secret, token).client("ssm", US)
    # No such stack exists, which only matters in the own account.
    claim: TagTypeDef = {"Key": claim_tag("1"), "Value": f"arn:aws:cloudformation:{US}:{ACCOUNT}:stack/site/1"}
    for each in _below(own, "/strongref"):
        tags = own.list_tags_for_resource(ResourceType="Parameter", ResourceId=each["Name"])["TagList"]
        tags += [claim] if each["Name"].endswith("/Bucket") else []
        there.put_parameter(Name=each["Name"], Value=each["Value"], Type=each["Type"], Tags=tags)
    stack, place = producer.stack_id, Place(OTHER, US, "web")
    text = encode_place(stack, datetime(2026, 1, 1, tzinfo=UTC), exact=True)
    name = f"{index_name('network', 'Exports')}{path_of(place)}"
    boto3.client("ssm", EU).put_parameter(Name=name, Value=text, Type="String")


def _below(client: Any, path: str) -> list[Any]:
    pages = client.get_paginator("get_parameters_by_path").paginate(Path=path, Recursive=True)
    return [each for page in pages for each in page["Parameters"]]


@pytest.mark.usefixtures("abroad")
def test_what_is_imported_in_another_account_is_read_with_a_role(check: Check) -> None:
    status, shown = check(exporting_there("another"), "--role", ROLE, "--output", "json")
    (export,) = _only(shown)["exports"]
    assert (status, export["verdict"]) == (1, "refused")
    assert f"Bucket cannot be changed: it is imported by stack site (us-east-1, {ACCOUNT})." in export["reasons"][0]
    changed = next(each for each in export["changes"] if each["key"] == "Bucket")
    assert (changed["account"], changed["region"], changed["importers"][0]["name"]) == (OTHER, US, "site")
    status, shown = check(exporting_there(), "--role", ROLE, "--strict")
    assert (status, "Exports: accepted" in shown) == (0, True)
    assert f"changed  Bucket  us-east-1 of account {OTHER}  web" in check(exporting_there("x"), "--role", ROLE)[1]
    assert check(None, "--delete", "network", "--role", ROLE)[0] == 1


@pytest.mark.usefixtures("abroad")
@pytest.mark.parametrize(
    ("options", "text"),
    [([], "Give the role to assume in it"), (["--role", ROLE], "could not be assumed: AccessDenied.")],
)
def test_what_is_not_read_in_another_account_is_unknown(
    check: Check, monkeypatch: pytest.MonkeyPatch, options: list[str], text: str
) -> None:
    asked: list[str] = []

    def denied(_: object, action: str, __: object) -> None:
        if action == "AssumeRole":
            asked.append(action)
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": SECRET}}, action)

    intercept(monkeypatch, denied)
    for given, *more in ((exporting_there("another"),), (None, "--delete", "network")):
        status, shown = check(given, *options, *more)
        assert (status, text in shown) == (0, True), shown
        assert check(given, *options, *more, "--strict")[0] == 1
        document = _only(check(given, *options, *more, "--output", "json")[1])
        assert document["verdict"] == "unknown"
        changes = [each for export in document["exports"] for each in export["changes"] if "account" in each]
        assert [who["name"] for each in changes for who in each["importers"]] == [f"{OTHER} (not read)"] * 2
    assert len(asked) == 6 * len(options[1:])
    assert check(exporting_there(), *options, "--strict")[0] == 0


@pytest.mark.usefixtures("abroad")
def test_the_installation_is_asked_for_the_accounts_that_it_exports_to(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation("333333333333")
    status, shown = check(exporting_there("another"), "--role", ROLE)
    assert (status, f"--parameter ExportAccounts=333333333333,{OTHER}" in shown) == (1, True)
    installation(OTHER)
    asked: list[str] = []

    def denied(_: object, action: str, given: dict[str, Any]) -> None:
        if given.get("StackName") == "strongref":
            asked.append(action)
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "Not allowed"}}, action)

    intercept(monkeypatch, denied)
    own = exporting_there()
    del own["Resources"]["Exports"]["Properties"]["Account"]
    status, shown = check(own, stack="new")
    assert (status, "Exports: accepted" in shown, asked) == (0, True, [])
    status, shown = check(exporting_there(), "--strict", "--new", stack="new")
    assert (status, asked) == (1, ["DescribeStacks"])
    assert "unknown: The installation's ExportAccounts are not read. At worst: DescribeStacks of " in shown


@pytest.mark.usefixtures("abroad")
def test_whether_strongref_is_installed_in_another_account_is_not_asked_of_the_own_one(check: Check) -> None:
    given = exporting_there()
    given["Resources"]["Exports"]["Properties"] |= {"Region": "ap-south-1", "Account": [ACCOUNT, OTHER]}
    assert "strongref is not installed in ap-south-1" in check(given, stack="new")[1]
    given["Resources"]["Exports"]["Properties"] |= {"Account": OTHER}
    status, shown = check(given, "--strict", "--new", stack="new")
    assert (status, "is not installed" in shown) == (0, False)


@pytest.mark.usefixtures("abroad")
def test_a_place_that_a_person_gave_up_has_nothing_if_it_cannot_be_read_either(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a role, nobody has tried: the function may still reach it, and then the mark does not count."""
    place = f"{index_name('network', 'Exports')}{path_of(Place(OTHER, US, 'web'))}"
    found = boto3.client("ssm", EU).get_parameter(Name=place)["Parameter"]["Value"]
    boto3.client("ssm", EU).put_parameter(Name=f"{place}/{FORGOTTEN}", Value=found, Type="String")

    def denied(_: object, action: str, __: object) -> None:
        if action == "AssumeRole":
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "Not allowed"}}, action)

    assert check(None, "--delete", "network", "--strict", "--role", ROLE)[0] == 1
    intercept(monkeypatch, denied)
    assert check(None, "--delete", "network", "--strict")[0] == 1
    assert check(None, "--delete", "network", "--strict", "--role", ROLE)[0] == 0
