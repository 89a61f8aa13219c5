"""What commands show of exports to other accounts: from either side, with a role for the other one and without."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError

from strongref.contract.hold_stacks import HoldStack
from strongref.contract.index import FORGOTTEN, Place, encode_place, index_name, path_of
from strongref.contract.names import CLAIM_TAG, Producer, StackArn
from strongref.protocol.stored_exports import physical_id
from strongref.runtime.wiring import EXPORT_ACCOUNTS
from strongref_cli.overview.reading import OverviewReader
from strongref_toolkit.clock import AwsClock
from tests.support.commands import SECRET
from tests.support.empty_aws import intercept
from tests.support.overview import ACCOUNT, Account
from tests.support.schemas import messages, validate

if TYPE_CHECKING:
    from tests.support.commands import Run

EU, US = "eu-west-1", "us-east-1"
B, C = "222222222222", "333333333333"
ROLE = ["--role", "arn:aws:iam::ACCOUNT:role/reader"]
NAME = f"/strongref/exports/web/{ACCOUNT}/{EU}/network/VpcId"
HOLD = "network-Exports"


def credentials(account: str) -> dict[str, str]:
    role = f"arn:aws:iam::{account}:role/reader"
    given = boto3.client("sts", US).assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    return dict(zip(names, (given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]), strict=True))


def client(account: str, service: str = "ssm") -> Any:
    return boto3.client(service, US, **credentials(account))  # type: ignore[call-overload]


def importing(account: str) -> str:
    """The ARN of a stack there, which imports the value."""
    template = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
    found = client(account, "cloudformation")
    arn = str(found.create_stack(StackName="web", TemplateBody=template)["StackId"])
    tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": arn}]
    client(account).add_tags_to_resource(ResourceType="Parameter", ResourceId=NAME, Tags=tags)
    return arn


@pytest.fixture
def run(account: Account, command_line: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, where `network` exports `VpcId` to one region of three accounts, with a stack `web` in two."""
    monkeypatch.setenv(EXPORT_ACCOUNTS, f"{B},{C}")
    account.stack("network", EU, exported=HOLD)
    values, to = {"VpcId": SECRET}, [ACCOUNT, B, C]
    account.export("network", EU, US, Account=to, Consumer="web", Values=values, Hold=HOLD)
    account.claim("web", US, "network", EU, "VpcId")
    importing(B)
    return command_line


def hold(account: Account, owner: str) -> None:
    """Make the hold of a place as the janitor makes it."""
    export = physical_id(StackArn.parse(account.stack("network", EU)), "Exports")
    made = HoldStack.of_place(Place(owner, US, "web"), export, Producer(ACCOUNT, EU, "network"))
    account.ssm(EU).put_parameter(Name=made.parameter(HOLD), Type="String", Value=HOLD)


def forget(account: Account, owner: str) -> None:
    name = f"{index_name('network', 'Exports')}{path_of(Place(owner, US, 'web'), FORGOTTEN)}"
    text = encode_place(account.stack("network", EU), AwsClock(60).now())
    account.ssm(EU).put_parameter(Name=name, Type="String", Value=text)


def lines(out: str) -> list[str]:
    return [" ".join(line.split()) for line in out.splitlines()]


def shown(run: Run, *command: str) -> dict[str, Any]:
    _, out, _ = run(*command, "--output", "json")
    document: dict[str, Any] = json.loads(out)
    validate(command[0], document)
    return document


@pytest.mark.parametrize("command", [["list", "--region", EU], ["who", "network", "--region", EU]])
def test_without_a_role_places_come_from_the_index_and_importers_from_holds(
    run: Run, account: Account, command: list[str]
) -> None:
    hold(account, B)
    status, out, _ = run(*command)
    assert status == 0
    assert f"{B} us-east-1 network (eu-west-1, {ACCOUNT}) web at least one import" in lines(out)
    assert f"{C} us-east-1 network (eu-west-1, {ACCOUNT}) web {C} (not read)" in lines(out)
    document = shown(run, *command)
    places = (document if command[0] == "list" else document["stacks"][0])["places"]
    assert [(each["account"], each["isImported"], each["isForgotten"]) for each in places] == [
        (B, True, False),
        (C, None, False),
    ]


def test_a_place_that_was_given_up_says_so(run: Run, account: Account) -> None:
    forget(account, C)
    assert f"{C} us-east-1 network (eu-west-1, {ACCOUNT}) web {C} (forgotten)" in lines(run("list", "--region", EU)[1])
    document = shown(run, "list", "--region", EU, *ROLE)
    read = [[each["account"] for each in document[name]] for name in ("exports", "places", "unread")]
    assert read == [[B], [C], []]  # It may be out of reach.
    graph = shown(run, "graph", "--region", EU, *ROLE)
    assert [each["importer"]["account"] for each in graph["references"]] == [ACCOUNT, B]


def test_with_a_role_the_values_and_importers_there_are_read(run: Run, account: Account) -> None:
    hold(account, B)
    theirs = NAME.replace(ACCOUNT, B)  # What that account exports itself is not shown.
    client(B).put_parameter(Name=theirs, Type="String", Value="x")
    document = shown(run, "who", "network", "--region", EU, *ROLE)
    exports = document["stacks"][0]["exports"]
    assert document["stacks"][0]["places"] == []
    assert [(each.get("account"), each["region"], each["state"]) for each in exports] == [
        (None, US, "published"),
        (B, US, "published"),
        (C, US, "published"),
    ]
    importers = [
        [(who["account"], who["name"], who["state"], who["protection"]) for who in each["importers"]]
        for each in exports
    ]
    assert importers == [[(ACCOUNT, "web", "current", "held")], [(B, "web", "current", "held")], []]
    _, out, _ = run("list", "--region", EU, *ROLE)
    assert any(
        f"us-east-1 of account {B} network (eu-west-1, {ACCOUNT}) VpcId web published" in line for line in lines(out)
    )
    assert ("(not read)" in out, f"network (eu-west-1, {B})" in out) == (False, False)
    assert {each["producer"]["account"] for each in shown(run, "list", "--region", EU, *ROLE)["exports"]} == {ACCOUNT}
    owners = [each["account"] for each in shown(run, "who", "web", "--region", EU, "--region", US, *ROLE)["stacks"]]
    assert owners == [ACCOUNT, B]


def test_an_account_that_cannot_be_read_is_named_and_its_places_are_not_read(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: object, action: str, request: dict[str, Any]) -> None:
        if action == "AssumeRole" and C in request["RoleArn"]:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, action)

    intercept(monkeypatch, denied)
    status, out, err = run("list", "--region", EU, *ROLE, "--output", "json")
    document = json.loads(out)
    validate("list", document)
    assert status == 3
    assert [(each["account"], each["region"]) for each in document["unread"]] == [(C, US)]
    assert [each["account"] for each in document["places"]] == [C]
    assert [each["account"] for each in document["exports"]] == [B]
    assert messages(err)[0].startswith(f"us-east-1 of account {C} was not read: ")


def test_the_graph_and_the_order_have_a_stack_of_each_account(run: Run, account: Account) -> None:
    hold(account, B)
    assert [
        (each["importer"]["kind"], each["importer"]["account"], each["protection"])
        for each in shown(run, "graph", "--region", EU)["references"]
    ] == [("stack", ACCOUNT, "held"), ("consumer", B, "held"), ("consumer", C, "unknown")]
    read = shown(run, "graph", "--region", EU, *ROLE)["references"]
    assert [(each["importer"]["kind"], each["importer"]["account"], each["keys"]) for each in read] == [
        ("stack", ACCOUNT, ["VpcId"]),
        ("stack", B, ["VpcId"]),
    ]
    _, out, _ = run("order", "--delete", "--region", EU)
    assert lines(out)[1:4] == [
        f"1 web (us-east-1, {ACCOUNT})",
        f"1 consumer web (us-east-1, {B})",
        f"1 consumer web (us-east-1, {C})",
    ]
    assert "only --role shows who imports there" in out


def test_filters_leave_no_place_out_whose_importers_are_unknown(run: Run, account: Account) -> None:
    hold(account, B)

    def accounts(*options: str) -> list[str]:
        return [each["account"] for each in shown(run, "list", "--region", EU, *options)["places"]]

    assert accounts("--stack", "network") == accounts("--consumer", "web") == accounts("--importer", "web") == [B, C]
    assert (accounts("--state", "imported"), accounts("--state", "unused")) == ([B], [])
    assert run("list", "--region", EU, "--stack", "another")[0] == 2


def test_a_key_may_be_one_that_only_an_unread_account_has(run: Run, account: Account) -> None:
    account.export("only", EU, US, Account=[B], Consumer="web", Values={"A": SECRET})
    status, _, err = run("who", "only", "A", "--region", EU)
    assert (status, f"It may export it to {B} (not read)." in err) == (2, True)
    assert run("who", "only", "A", "--region", EU, *ROLE)[0] == 0


def test_the_importers_account_shows_whose_the_values_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The producer is a stack that this account cannot ask about: it is neither gone, nor looked for here."""
    for name, text in credentials(B).items():
        monkeypatch.setenv(name.upper(), text)
    read: list[str] = []
    once = OverviewReader._read
    monkeypatch.setattr(OverviewReader, "_read", lambda self, region: read.append(region) or once(self, region))  # type: ignore[func-returns-value]
    assert any(
        f"us-east-1 network (eu-west-1, {ACCOUNT}) VpcId web published" in line
        for line in lines(run("list", "--region", US)[1])
    )
    (exported,) = shown(run, "list", "--region", US)["exports"]
    assert ("account" in exported, exported["producer"]["account"]) == (False, ACCOUNT)
    assert [(each["account"], each["protection"]) for each in exported["importers"]] == [(B, "unknown")]
    _, out, _ = run("who", "web", "--region", US)
    assert f"VpcId network (eu-west-1, {ACCOUNT}) current unknown" in lines(out)
    assert f"network (eu-west-1, {ACCOUNT}) exports" in lines(run("who", "network", "--region", US)[1])
    assert set(read) == {US}
