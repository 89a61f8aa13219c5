"""What docs/extras/objects.md says of types, lookups and the command is so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from strongref_cli import main
from strongref_objects.base import errors
from strongref_objects.channels import CloudFormation, CrossRegion, Parameters
from strongref_objects.lookups import finding, vpc_network
from strongref_objects.lookups.vpc_network import TIER_TAG
from strongref_objects.plain_target import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.types import READY, Bucket, HostedZone
from strongref_objects.types.members import key_of, members
from strongref_toolkit.session import ToolSession
from tests.support.deployed_objects import deploy
from tests.support.documents import ROOT, rows
from tests.support.fake_cloudcontrol import limiter
from tests.support.fake_ssm import FakeClock
from tests.support.schemas import schema_of_type
from tests.support.watched import EU, OWN, Watched, in_moto

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.errors import StrongRefError

PAGE = "docs/extras/objects.md"
TEXT = (ROOT / PAGE).read_text()
LONG = "x" * 3000


def ticked(text: str) -> list[str]:
    return re.findall("`([^`]+)`", text)


def test_the_documented_types_are_the_ready_ones_with_their_keys() -> None:
    documented: dict[str, list[str]] = {}
    for name, keys in rows(PAGE, "Ready types"):
        wider = re.match(r"as `(\w+)`, ", keys)
        own = ticked(re.sub(r"^as `\w+`, |\([^)]*\)", "", keys))
        documented[ticked(name)[0]] = [*(documented[wider[1]] if wider else []), *own]
    assert documented == {name: [key_of(member) for member in members(of)] for name, of in READY.items()}


def test_the_documented_parts_are_of_their_types() -> None:
    table = rows(PAGE, "Ready types")
    for name, keys in table:
        for key, of in re.findall(r"`(\w+)` \((?:each )?`(\w+)`\)", keys):
            found = {key_of(each): member.of for each, member in members(READY[ticked(name)[0]]).items()}
            assert found[key] is READY[of]
    parts = {
        (name, key_of(each))
        for name, of in READY.items()
        for each, member in members(of).items()
        if member.of is not None
    }
    assert len(parts) == sum(keys.count(" (") for _, keys in table) + 2  # One mark is for three tiers.


def test_what_a_resource_does_not_return_is_passed_as_well() -> None:
    with pytest.raises(errors.MissingMembersError, match="zone_name"):
        HostedZone.of_resource("Zone")


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
        schema = schema_of_type(type_name).schema
        used |= {action for handler in handlers for action in schema["handlers"][handler]["permissions"]}
    section = TEXT[TEXT.index("### Permissions of lookups") : TEXT.index("## Limits")]
    assert set(re.findall(r"`(ec2:\w+)`", section)) == used


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    for watched in in_moto(monkeypatch, EU):
        tools = ToolSession(watched, limiter(), FakeClock())
        monkeypatch.setattr(ToolSession, "start", lambda _, tools=tools, **_more: tools)
        yield watched


def test_the_documented_permissions_of_the_command_are_those_of_its_calls(clients: Watched) -> None:
    target = PlainTarget("network", EU, OWN)
    stack = Stack(target)
    for via in (CloudFormation(), CrossRegion(), Parameters("/shared")):
        stack.export_object("JohnnyBucket", Bucket("arn:aws:s3:::photos", "photos"), via=via)
    deploy(target)
    ways = {"CloudFormation": "cloudformation", "strongref": "strongref", "Parameters": "ssm"}
    table = {channel: re.findall(r"`(\w+:\w+)`", actions) for channel, actions, _ in rows(PAGE, "Permissions")}
    documented = {ways[channel]: set(actions) for channel, actions in table.items() if channel in ways}
    # Where secrets are asked for, Parameter Store decrypts them in the caller's name (see test_cli_objects.py).
    assert "kms:Decrypt" in documented["ssm"]
    made = {}
    for way in documented:
        clients.calls.clear()
        more = ["--prefix", "/shared"] if way == "ssm" else []
        assert main(["objects", "show", "JohnnyBucket", "--via", way, *more]) == 0
        services = {"ListExports": "cloudformation", "GetParametersByPath": "ssm"}
        made[way] = {f"{services[call]}:{call}" for call in clients.calls if call != "GetCallerIdentity"}
        assert ("GetCallerIdentity" in clients.calls) == (way == "cloudformation")
    assert all(made[way] for way in ways.values())
    assert all(made[way] <= documented[way] for way in ways.values())


def test_roles_alone_have_no_tags_to_be_looked_up_by() -> None:
    assert {"AWS::IAM::Role"} == finding.UNTAGGED
    assert "except roles" in " ".join(TEXT.split())
    assert TIER_TAG in TEXT


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
