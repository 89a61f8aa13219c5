"""What docs/extras/objects.md says of types, look-ups and the command is so."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # type: ignore[import-untyped]

from strongref_cli import main
from strongref_objects.base import errors
from strongref_objects.channels import CloudFormation, CrossRegion, Parameters
from strongref_objects.lookups import finding, tagged_resource, vpc_network
from strongref_objects.plain import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.types import READY, Bucket
from strongref_objects.types.members import key_of, members
from strongref_toolkit.session import ToolSession
from tests.support.commands import arguments_of, commands_of, parser_of
from tests.support.deployed_objects import deploy
from tests.support.documents import ROOT, blocks, names_in, rows
from tests.support.fake_cloudcontrol import limiter
from tests.support.fake_ssm import FakeClock
from tests.support.watched import EU, OWN, Watched, in_moto

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.errors import StrongRefError
    from strongref_objects.types import Declared

PAGE = "docs/extras/objects.md"
TEXT = (ROOT / PAGE).read_text()
LONG = "x" * 3000


def ticked(text: str) -> list[str]:
    return re.findall("`([^`]+)`", text)


def needed(of: type[Declared]) -> list[str]:
    """What a resource's attributes in a template do not tell."""
    required = {each.name for each in dataclasses.fields(of) if each.default is dataclasses.MISSING}
    return [name for name, member in members(of).items() if name in required and member.attribute is None]


def test_the_documented_types_are_the_ready_ones_with_their_keys() -> None:
    documented = {}
    for name, type_name, keys, given in rows(PAGE, "Ready types"):
        own = [key for key in ticked(re.sub(r"\([^)]*\)|`\w+` each", "", keys)) if key != "Subnets"]
        documented[ticked(name)[0]] = (ticked(type_name), own, ticked(given))
    assert documented == {
        name: (
            [of.declared.type_name] if of.declared.type_name else [],
            [key_of(member) for member in members(of)],
            needed(of) if of.declared.type_name else [],
        )
        for name, of in READY.items()
    }


def test_the_documented_parts_are_of_their_types() -> None:
    table = rows(PAGE, "Ready types")
    for name, _, keys, _ in table:
        for key, of in re.findall(r"`(\w+)` \(an? `(\w+)`\)", keys):
            found = {key_of(each): member.of for each, member in members(READY[ticked(name)[0]]).items()}
            assert found[key] is READY[of]
    assert sum(len(re.findall(r"\(an? `", keys)) for _, _, keys, _ in table) == 9


def test_the_documented_options_are_those_that_there_are() -> None:
    there: dict[str, set[str]] = {}
    for name in commands_of(parser_of("objects")):
        for option in arguments_of("objects", name):
            there.setdefault(option, set()).add(name)
    documented = {ticked(option)[0]: set(ticked(of)) for option, of, _ in rows(PAGE, "Options")}
    assert documented == there


def test_the_documented_permissions_are_those_of_the_types_that_are_read_and_listed() -> None:
    used: set[str] = set()
    for type_name, handlers in (
        ("AWS::EC2::VPC", ("read",)),
        (vpc_network._SUBNET, ("read", "list")),
        (vpc_network._ASSOCIATION, ("read", "list")),
        (vpc_network._TABLE, ("read", "list")),
        (vpc_network._ROUTE, ("read",)),
        (vpc_network._NAT, ("read", "list")),
    ):
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", type_name).schema
        used |= {action for handler in handlers for action in schema["handlers"][handler]["permissions"]}
    assert names_in(rows(PAGE, "Permissions of look-ups")) == used


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setenv("AWS_REGION", EU)
    for watched in in_moto(monkeypatch):
        tools = ToolSession(watched, limiter(), FakeClock())
        monkeypatch.setattr(ToolSession, "start", lambda _, tools=tools: tools)
        yield watched


def test_the_list_that_is_shown_is_the_one_that_is_printed(
    clients: Watched, capsys: pytest.CaptureFixture[str]
) -> None:
    del clients
    target = PlainTarget("network", EU, OWN)
    Stack(target).export_object("JohnnyBucket", Bucket("arn:aws:s3:::photos", "photos"))
    deploy(target)
    assert main(["objects", "list", "--region", EU]) == 0
    assert [block.text for block in blocks("output objects")] == [capsys.readouterr().out]


def test_the_documented_permissions_of_the_command_are_those_of_its_calls(clients: Watched) -> None:
    target = PlainTarget("network", EU, OWN)
    stack = Stack(target)
    for via in (CloudFormation(), CrossRegion(), Parameters("/shared")):
        stack.export_object("JohnnyBucket", Bucket("arn:aws:s3:::photos", "photos"), via=via)
    deploy(target)
    table = TEXT[TEXT.index("| `--via` | Actions |") :].split("\n\n")[0].splitlines()[2:]
    documented = {ticked(line)[0]: re.findall(r"`(\w+:\w+)`", line.split("|")[2]) for line in table}
    # Where secrets are asked for, Parameter Store decrypts them in the caller's name (see test_cli_objects.py).
    assert documented["ssm"].pop() == "kms:Decrypt"
    made = {}
    for way in documented:
        clients.calls.clear()
        more = ["--prefix", "/shared"] if way == "ssm" else []
        assert main(["objects", "show", "JohnnyBucket", "--via", way, *more]) == 0
        services = {"ListExports": "cloudformation", "GetParametersByPath": "ssm"}
        made[way] = [f"{services[call]}:{call}" for call in clients.calls if call != "GetCallerIdentity"]
        assert ("GetCallerIdentity" in clients.calls) == (way == "cloudformation")
    assert made == documented


def test_the_documented_numbers_are_the_codes() -> None:
    plain = " ".join(TEXT.split())
    assert f"at most {vpc_network.READ_MOST} of a type" in plain
    assert all(f"`{each}`" in plain for each in vpc_network.EVERYWHERE)
    assert f"At most {tagged_resource.TAGS_MOST} tags" in plain
    assert {"AWS::IAM::Role"} == finding.UNTAGGED
    assert {"AWS::Route53::HostedZone"} == finding.GLOBAL


@pytest.mark.parametrize(
    "error",
    [
        errors.NotAnArnError(LONG[:60], LONG, is_name=False),
        errors.OtherArnError(LONG[:60], LONG, LONG[:120], LONG[:60]),
        errors.NotANameError(LONG[:60], LONG, LONG),
        errors.MissingMembersError(LONG[:60], [LONG[:100]] * 9, LONG[:60]),
        errors.UnknownMembersError(LONG[:60], [LONG] * 9, [LONG] * 9),
        errors.BadLocationError(LONG[:60], "account", LONG),
        errors.WrongTypeError(LONG[:60], LONG, LONG, LONG),
        errors.BadDeclarationError(LONG[:60], LONG),
        errors.UnevenListsError(LONG[:60], {LONG[:60]: 1, LONG[:50]: 2}),
        errors.NotTaggedError(LONG[:60]),
        errors.SeveralTaggedError(LONG[:60], LONG, [LONG] * 9),
        errors.TooManyTaggedError(LONG[:60], LONG, 101, 100),
        errors.TooManyInRegionError(LONG[:60], LONG, 301, 300),
        errors.NotReadableError(LONG[:60], "GetResource", "eu-west-1"),
        errors.BadTierError(LONG, "aws-cdk:subnet-type", LONG, ["Public", "Private", "Isolated"]),
        errors.NoRouteTableError([LONG] * 9, "vpc-0123456789abcdef0", [LONG] * 9),
        errors.SeveralPartsError(LONG, "security_group", [LONG] * 9),
        errors.SeveralStoredObjectsError(LONG, [LONG] * 9),
        errors.SecretPartsError(LONG, [LONG] * 9),
        errors.NotInContextError([LONG] * 9, LONG, [LONG] * 9),
    ],
    ids=lambda error: type(error).__name__,
)
def test_however_long_a_name_is_the_text_is_not(error: StrongRefError) -> None:
    assert len(str(error)) < 1000
