"""What an account that is trusted with trust.yaml can do, and what nobody can: over HTTP, with IAM on.

A exports into B, and so does C. It has an emulator of its own, in which nothing else is deployed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.e2e.harness import Aws, assumed
from tests.e2e.templates import EU, US

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

A, B, C = "111111111111", "282828282828", "333333333333"
EXPORTER = "strongref-ExporterRole-1ABC2DEF3GHI"
JANITOR = "strongref-JanitorRole-4JKL5MNO6PQR"
WRITER = f"arn:aws:iam::{B}:role/strongref-writer-{A}"
OURS = f"{A}/{EU}/network"
VALUE = f"/strongref/exports/web/{OURS}/Vpc.Id"
CLAIM, OWNER = "strongref:claim:0123456789abcdef", "strongref:export:fedcba9876543210"
STRING = {"Value": "x", "Type": "String"}
COMMAND = str(Path(sys.executable).with_name("strongref"))

FOREIGN = [
    *(f"/strongref/{tree}/web/{C}/{EU}/network/Vpc" for tree in ("exports", "records", "fences")),
    # By depth: each is C's, and has A's number where a pattern with `*` may look for it.
    *(f"/strongref/{tree}/web/{C}/{EU}/{A}/Vpc" for tree in ("exports", "records", "fences")),
    *(f"/strongref/{tree}/web/{C}/{A}/network/Vpc" for tree in ("exports", "records", "fences")),
    f"/strongref/exports/web/{C}/{EU}/network/{A}/Vpc",
    f"/strongref/exports/web/{B}/{EU}/network/Vpc",
    f"/strongref/exports/{A}/{B}/{EU}/network/Vpc",
    f"/strongref/export/web/{OURS}/Vpc",
    f"/strongref/index/network/{OURS}",
    f"/strongref/holds/network-Exports/{OURS}/hash",
    f"/strongref/releases/web/{OURS}/Vpc",
    f"/strongref/service-tokens/{A}/exporter",
    f"/app/exports/web/{OURS}/Vpc",
    f"/{A}/password",
]
"""Parameters of B that are not A's."""


def policy(*actions: str, **more: Any) -> str:
    statement = {"Effect": "Allow", "Action": list(actions), **(more or {"Resource": "*"})}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def role(aws: Aws, name: str, *actions: str, path: str = "/") -> tuple[str, ...]:
    """The key of a session of a new role of an account, which may do this."""
    iam = aws.client("iam", US)
    trust = policy("sts:AssumeRole", Principal={"AWS": aws.account})
    arn = iam.create_role(RoleName=name, Path=path, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    iam.put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=policy(*actions))
    return assumed(aws.client("sts", US), arn)


def user(aws: Aws, name: str) -> tuple[str, ...]:
    """The key of a new user of an account, who may do everything there."""
    iam = aws.client("iam", US)
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="all", PolicyDocument=policy("*"))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return key["AccessKeyId"], key["SecretAccessKey"]


def trust(aws: Aws, producer: str, *options: str) -> None:
    command = [COMMAND, "trust", producer, "--yes", *options]
    subprocess.run(command, env=aws.emulator.env(aws.account, EU), capture_output=True, text=True, check=True)  # noqa: S603


@dataclass(frozen=True)
class World:
    """The three accounts as their roots see them, and the exporter of A."""

    a: Aws
    b: Aws
    c: Aws
    exporter: tuple[str, ...] = field(repr=False)

    def as_writer(self, service: str = "ssm", region: str = US) -> Any:
        return self.b.emulator.client(service, region, key=self.assume(self.exporter))

    def assume(self, key: tuple[str, ...], **request: Any) -> tuple[str, ...]:
        return assumed(self.b.emulator.client("sts", US, key=key), WRITER, **request)

    def stored(self) -> dict[str, Any]:
        """What B has in Parameter Store, with all tags."""
        found = self.b.parameters(US, "/")
        return {name: (each["Value"], each["Version"], self.b.tags(US, name)) for name, each in found.items()}


@pytest.fixture(scope="module")
def world(bare: Aws) -> World:
    a, b, c = (Aws(bare.emulator, account) for account in (A, B, C))
    trust(b, A)
    tags = {CLAIM: "a stack", OWNER: "Exports"}
    b.put_foreign(US, VALUE, tags=tags)
    for name in FOREIGN:
        b.put_foreign(US, name, tags=tags)
    return World(a, b, c, role(a, EXPORTER, "sts:AssumeRole"))


def refused(code: str, call: Callable[..., object], *given: object, **request: object) -> None:
    with pytest.raises(ClientError) as caught:
        call(*given, **request)
    assert caught.value.response["Error"]["Code"] == code


def test_the_functions_of_the_account_assume_the_role(world: World) -> None:
    keys = [world.assume(world.exporter), world.assume(role(world.a, JANITOR, "sts:AssumeRole"))]
    callers = [world.b.emulator.client("sts", US, key=key).get_caller_identity() for key in keys]
    assert [each["Arn"] for each in callers] == [f"arn:aws:sts::{B}:assumed-role/strongref-writer-{A}/session"] * 2


CALLERS: dict[str, Callable[[World], tuple[str, ...]]] = {
    "another role": lambda world: role(world.a, "deployer", "sts:*"),
    "a role of a similar name": lambda world: role(world.a, f"not-{EXPORTER}", "sts:*"),
    "a role in a path": lambda world: role(world.a, f"{EXPORTER}-2", "sts:*", path="/team/"),
    "root": lambda world: (world.a.account, "test"),
    "a user": lambda world: user(world.a, "admin"),
    "a user of the name": lambda world: user(world.a, EXPORTER),
    "root of C": lambda world: (world.c.account, "test"),
    "the role of C": lambda world: role(world.c, EXPORTER, "sts:*"),
    "a user of B": lambda world: user(world.b, "admin"),
}


@pytest.mark.parametrize("caller", CALLERS)
def test_nobody_else_assumes_the_role(world: World, caller: str) -> None:
    refused("AccessDenied", world.assume, CALLERS[caller](world))


@pytest.mark.parametrize(
    ("code", "request_"),
    [
        ("AccessDenied", {"Tags": [{"Key": "team", "Value": "payments"}]}),
        ("AccessDenied", {"Tags": [{"Key": "team", "Value": "payments"}], "TransitiveTagKeys": ["team"]}),
        ("ValidationError", {"DurationSeconds": 3601}),
    ],
    ids=["a tag", "a tag that stays", "longer"],
)
def test_a_session_has_no_tags_and_ends_within_an_hour(world: World, code: str, request_: dict[str, Any]) -> None:
    refused(code, world.assume, world.exporter, **request_)


@pytest.mark.parametrize("region", [EU, US])
def test_the_account_writes_lists_tags_and_deletes_what_is_its_own(world: World, region: str) -> None:
    ssm, before = world.as_writer(region=region), world.stored()
    value = f"/strongref/exports/shop/{OURS}/Subnets/0"
    of_it, tag = {"ResourceType": "Parameter", "ResourceId": value}, {"Key": OWNER, "Value": "Exports"}
    ssm.put_parameter(Name=value, **STRING, Tags=[tag, {"Key": CLAIM, "Value": "of a value that is stored anew"}])
    ssm.put_parameter(Name=value, **STRING, Overwrite=True)
    ssm.add_tags_to_resource(**of_it, Tags=[tag])
    assert {each["Key"] for each in ssm.list_tags_for_resource(**of_it)["TagList"]} == {OWNER, CLAIM}
    ssm.remove_tags_from_resource(**of_it, TagKeys=[OWNER])
    others = [f"/strongref/{tree}/shop/{OURS}/Exports" for tree in ("records", "fences")]
    for name in others:
        ssm.put_parameter(Name=name, **STRING)
        ssm.put_parameter(Name=name, **STRING, Overwrite=True)
    for name in (value, *others):
        path = name.partition(f"{OURS}/")[0] + OURS
        listed = ssm.get_parameters_by_path(Path=path, Recursive=True, WithDecryption=True)["Parameters"]
        assert [each["Name"] for each in listed] == [name]
        assert ssm.delete_parameters(Names=[name])["DeletedParameters"] == [name]
    assert world.stored() == before


def attacks(name: str) -> Sequence[tuple[str, dict[str, Any]]]:
    """Calls about a parameter that is not the account's own."""
    of_it, tag = {"ResourceType": "Parameter", "ResourceId": name}, {"Key": OWNER, "Value": "Exports"}
    return (
        ("put_parameter", {"Name": name, **STRING, "Overwrite": True}),
        ("put_parameter", {"Name": f"{name}-new", **STRING}),
        ("put_parameter", {"Name": f"{name}-new", **STRING, "Tags": [tag]}),
        ("delete_parameters", {"Names": [name]}),
        ("delete_parameters", {"Names": [VALUE, name]}),
        ("get_parameters_by_path", {"Path": name.rpartition("/")[0] or "/", "Recursive": True}),
        ("list_tags_for_resource", of_it),
        ("add_tags_to_resource", {**of_it, "Tags": [tag]}),
        ("remove_tags_from_resource", {**of_it, "TagKeys": [OWNER]}),
    )


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_not_the_accounts_own_stays_and_is_not_read(world: World, name: str) -> None:
    ssm, before = world.as_writer(), world.stored()
    for method, request in attacks(name):
        refused("AccessDeniedException", getattr(ssm, method), **request)
    assert world.stored() == before


OF_VALUE = {"ResourceType": "Parameter", "ResourceId": VALUE}
RECORD = f"/strongref/records/web/{OURS}/Exports"
FOREIGN_TAG, OUR_TAG = {"Key": "team", "Value": "payments"}, {"Key": OWNER, "Value": "Exports"}

ON_ITS_OWN: Sequence[tuple[str, dict[str, Any]]] = [
    ("remove_tags_from_resource", {**OF_VALUE, "TagKeys": [CLAIM]}),
    ("remove_tags_from_resource", {**OF_VALUE, "TagKeys": [OWNER, CLAIM]}),
    ("add_tags_to_resource", {**OF_VALUE, "Tags": [FOREIGN_TAG]}),
    ("add_tags_to_resource", {**OF_VALUE, "Tags": [OUR_TAG, FOREIGN_TAG]}),
    ("put_parameter", {"Name": f"{VALUE}2", **STRING, "Tags": [FOREIGN_TAG]}),
    ("put_parameter", {"Name": f"{VALUE}2", **STRING, "Tags": [OUR_TAG, FOREIGN_TAG]}),
    ("put_parameter", {"Name": RECORD, **STRING, "Tags": [OUR_TAG]}),
    ("get_parameters_by_path", {"Path": "/strongref/exports/web", "Recursive": True}),
    ("get_parameters_by_path", {"Path": f"/strongref/exports/web/{A}", "Recursive": True}),
    ("get_parameters_by_path", {"Path": "/", "Recursive": True}),
    ("get_parameters", {"Names": [VALUE]}),
    ("delete_parameter", {"Name": VALUE}),
    ("get_parameter_history", {"Name": VALUE}),
    ("label_parameter_version", {"Name": VALUE, "Labels": ["x"]}),
    ("describe_parameters", {}),
]


@pytest.mark.parametrize(("method", "request_"), ON_ITS_OWN)
def test_claims_stay_foreign_tags_are_refused_and_nothing_else_is_allowed(
    world: World, method: str, request_: dict[str, Any]
) -> None:
    before = world.stored()
    refused("AccessDeniedException", getattr(world.as_writer(), method), **request_)
    assert world.stored() == before


def test_other_services_are_out_of_reach(world: World) -> None:
    template = json.dumps({"Resources": {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}})
    cloudformation, iam = world.as_writer("cloudformation", EU), world.as_writer("iam")
    refused("AccessDenied", cloudformation.describe_stacks)
    refused("AccessDenied", cloudformation.create_stack, StackName="mine", TemplateBody=template)
    refused("AccessDenied", cloudformation.delete_stack, StackName=f"strongref-trust-{A}")
    refused(
        "AccessDenied",
        iam.put_role_policy,
        RoleName=WRITER.rsplit("/", maxsplit=1)[-1],
        PolicyName="all",
        PolicyDocument="{}",
    )
    refused("AccessDeniedException", world.as_writer("resourcegroupstaggingapi").get_resources)
    assert (world.b.status("mine", EU), world.b.status(f"strongref-trust-{A}", EU)) == (None, "CREATE_COMPLETE")


def test_the_session_goes_no_further(world: World) -> None:
    iam = world.b.client("iam", US)
    own = policy("sts:AssumeRole", Principal={"AWS": B})
    admin = iam.create_role(RoleName="admin", AssumeRolePolicyDocument=own)["Role"]["Arn"]
    sts = world.as_writer("sts")
    for arn in (admin, WRITER, f"arn:aws:iam::{A}:role/{EXPORTER}"):
        refused("AccessDenied", sts.assume_role, RoleArn=arn, RoleSessionName="further")


def test_without_the_stack_sessions_end_and_what_was_published_stays(world: World) -> None:
    d = Aws(world.b.emulator, "444444444444")
    writer, value = WRITER.replace(A, d.account), VALUE.replace(A, d.account)
    trust(world.b, d.account)
    sts = d.emulator.client("sts", US, key=role(d, EXPORTER, "sts:AssumeRole"))
    ssm = d.emulator.client("ssm", US, key=assumed(sts, writer))
    ssm.put_parameter(Name=value, **STRING)

    trust(world.b, d.account, "--remove")
    with pytest.raises(ClientError):
        ssm.put_parameter(Name=value, **STRING, Overwrite=True)
    refused("AccessDenied", assumed, sts, writer)
    assert world.b.values(US, "/")[value] == "x"


def test_a_role_of_that_name_is_not_taken_over(world: World) -> None:
    name = WRITER.rpartition("/")[2].replace(A, C)
    document = policy("sts:AssumeRole", Principal={"AWS": B})
    world.b.client("iam", US).create_role(RoleName=name, AssumeRolePolicyDocument=document)
    with pytest.raises(subprocess.CalledProcessError) as caught:
        trust(world.b, C)
    assert caught.value.stderr.startswith(f"strongref: The role {name} exists already. Did strongref trust create it ")
    assert not world.b.status(f"strongref-trust-{C}", EU)
    assert world.b.client("iam", US).get_role(RoleName=name)["Role"]["AssumeRolePolicyDocument"] == json.loads(document)
    with pytest.raises(subprocess.CalledProcessError):
        trust(world.b, A, "--region", US)  # since the stack is in the other one
