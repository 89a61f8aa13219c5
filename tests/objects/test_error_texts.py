"""The texts of the errors of objects that are exported and imported, to the letter."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from strongref.contract.names import short_hash
from strongref_objects import (
    CrossRegion,
    EnvironmentSerializationContext,
    JsonSerializationContext,
    Parameters,
    PlainTarget,
    ResolveType,
    Stack,
    from_json,
)
from strongref_objects.base.errors import ContextFileError, ObjectError
from strongref_objects.channels.cloudformation import StackExport
from strongref_objects.channels.importing import HOLDER
from strongref_objects.synthesis.context_file import CONTEXT_FILE, listing
from tests.support.builders import ACCOUNT
from tests.support.objects import EU, US, Tree, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.errors import StrongRefError

AT_DEPLOYMENT = ResolveType.DEPLOYMENT
FROM_NETWORK = CrossRegion(stack="network", region=EU)
WEB = Tree({"LoadBalancerArn": "arn:a", "SecurityGroup": Tree({"SecurityGroupId": "sg-1"})})
OTHER = Tree({"LoadBalancerArn": "arn:a", "SecurityGroup": Tree({"SecurityGroupId": "sg-2"})})


def met(do: Callable[[World], object]) -> Callable[[], StrongRefError]:
    """The error that something ends in."""

    def meet() -> StrongRefError:
        with tempfile.TemporaryDirectory() as folder:
            try:
                do(World(Path(folder) / CONTEXT_FILE))
            except ObjectError as error:
                return error
        raise AssertionError

    return meet


def stack(**taken: object) -> Stack:
    return Stack(PlainTarget("web", EU, ACCOUNT, {"Resources": taken}))


def _twice(first: object, second: object) -> Callable[[World], object]:
    def do(_: World) -> None:
        here = stack()
        for thing in (first, second):
            if isinstance(thing, Tree):
                here.export_object("Web", thing)
            else:
                here.export_string("VpcId", str(thing))

    return do


def _clashing(_: World) -> None:
    here = stack()
    here.export_string("my-vpc", "vpc-1")
    here.export_string("myvpc", "vpc-1")


def _clashing_variables(_: World) -> None:
    ctx = EnvironmentSerializationContext("Web")
    Tree({"VpcId": "1", "vpc_id": "2"}).serialize(ctx)
    list(ctx.variables)


def _reserved(_: World) -> None:
    ctx = EnvironmentSerializationContext("Aws")
    Tree({"Region": EU}).serialize(ctx)
    list(ctx.variables)


def _written_twice(_: World) -> None:
    ctx = JsonSerializationContext()
    ctx.write_string("Arn", "a")
    ctx.write_string("Arn", "b")


def _nothing(world: World) -> None:
    world.exports[EU]["Web-LoadBalancerArn"] = StackExport("network", "arn:a")
    world.stack("web").import_object("Web").read_string("LoadBalancerArm")


def _nothing_across(world: World) -> None:
    world.cloud.deploy("network", EU, {"Exports": {"Region": US, "Consumer": "web", "Values": {"VpcId": "vpc-1"}}})
    world.stack("web", US).import_string("VpcID", via=FROM_NETWORK)


def _too_large(world: World) -> None:
    values = {"Policy": "p" * 4000}
    world.cloud.deploy("network", EU, {"Exports": {"Region": US, "Consumer": "web", "Values": values}})
    world.stack("web", US).import_string("Policy", via=FROM_NETWORK)


def _secure(world: World) -> None:
    world.cloud.ssm(EU).put_parameter(Name="/shared/Password", Type="SecureString", Value="x")
    world.stack("web").import_string("Password", weak=True, via=Parameters("/shared"))


def _own(_: World) -> None:
    here = stack()
    here.export_string("VpcId", "vpc-1")
    here.import_string("VpcId")


def _late(world: World) -> None:
    run = world.run()
    network, web = (Stack(PlainTarget(name), synthesis=run) for name in ("network", "web"))
    web.import_object("Group", type=AT_DEPLOYMENT).read_setting("AllowAllOutbound")
    network.export_object("Group", Tree({"AllowAllOutbound": "false"}))


def _taken(world: World) -> None:
    world.exports[EU]["VpcId"] = StackExport("network", "vpc-1")
    target = PlainTarget(
        "web", EU, ACCOUNT, {"Resources": {f"{HOLDER}{short_hash('VpcId')}": {"Type": "AWS::SNS::Topic"}}}
    )
    Stack(target, synthesis=world.run()).import_string("VpcId")


def _context_file() -> StrongRefError:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / CONTEXT_FILE
        path.write_text('{\n"a": 1,\n}\n')
        try:
            listing(path)
        except ContextFileError as error:
            return ContextFileError(CONTEXT_FILE, error.problem)
    raise AssertionError


TEXTS = [
    pytest.param(
        met(_twice(WEB, OTHER)),
        (
            "Web is already exported with another value (Web.SecurityGroup.SecurityGroupId differs). Export the "
            "second one under its own name. Nothing of it was written."
        ),
        id="exported-twice",
    ),
    pytest.param(
        met(_twice("vpc-1", "vpc-2")),
        (
            "VpcId is already exported with another value. Export the second one under its own name. Nothing of "
            "it was written."
        ),
        id="exported-twice-string",
    ),
    pytest.param(
        met(_clashing),
        ("'my-vpc' and 'myvpc' would both be written as myvpc. Rename one of them. Nothing of the second was written."),
        id="name-clash",
    ),
    pytest.param(
        met(_clashing_variables),
        (
            "'Web.VpcId' and 'Web.vpc_id' would both be written as WEB_VPC_ID. Rename one of them. Nothing of the"
            " second was written."
        ),
        id="variable-clash",
    ),
    pytest.param(
        met(lambda _: stack().export_string("my_vpc", "vpc-1")),
        (
            "'my_vpc' is not a valid export name: a CloudFormation export name must consist of letters, digits, "
            "colons and hyphens, got 'my_vpc'. Choose another name."
        ),
        id="name",
    ),
    pytest.param(
        met(_reserved),
        ("'Aws.Region' is not a valid export name: Lambda sets the variable AWS_REGION itself. Choose another name."),
        id="variable",
    ),
    pytest.param(
        met(lambda _: stack().export_string_list("Zones", ["a", "b,c"])),
        (
            "Zones cannot be exported: item 2 contains a comma, which separates the items of a list; export the "
            "items as parts of an object. Nothing was written."
        ),
        id="comma",
    ),
    pytest.param(
        met(lambda _: stack().export_object("Web", Tree({"Port": cast("str", 443)}))),
        (
            "Web.Port cannot be exported: it must be a string, got a number; convert it to a string. Nothing was "
            "written."
        ),
        id="no-value",
    ),
    pytest.param(
        met(_written_twice),
        (
            "Arn cannot be exported: the object writes it twice, with different values; use another key for one. "
            "Nothing was written."
        ),
        id="written-twice",
    ),
    pytest.param(
        met(_taken),
        (
            "Stack web has its own output or resource StrongrefHolderc990303124258f42, but strongref needs this "
            "logical ID for holding its imports. Rename the stack's own one."
        ),
        id="taken",
    ),
    pytest.param(
        met(_nothing),
        (
            "There is no Web-LoadBalancerArm in the CloudFormation exports of account 111111111111 in eu-west-1. "
            "Did you mean Web-LoadBalancerArn? Deploy the stack that exports it first, or correct the name."
        ),
        id="nothing",
    ),
    pytest.param(
        met(_nothing_across),
        (
            "There is no VpcID in what stack network (eu-west-1, 111111111111) exports to consumer web in "
            "us-east-1. Did you mean VpcId? Deploy the stack that exports it first, or correct the name."
        ),
        id="nothing-across",
    ),
    pytest.param(
        met(lambda _: stack().import_string_list("Zones", type=AT_DEPLOYMENT)),
        (
            "Zones cannot be imported through CloudFormation's exports at deployment: it is a list, which this "
            "channel joins to one text. Import it with type=ResolveType.SYNTHESIS."
        ),
        id="list",
    ),
    pytest.param(
        met(lambda _: stack().import_object("Web", type=AT_DEPLOYMENT).read_string("VpcId", allow_unresolved=False)),
        (
            "Web.VpcId cannot be imported through CloudFormation's exports at deployment: the program needs the "
            "value itself. Import it with type=ResolveType.SYNTHESIS."
        ),
        id="concrete",
    ),
    pytest.param(
        met(lambda _: stack().import_object("Web", via=Parameters("/shared"))),
        (
            "Web cannot be imported this way through Parameter Store: nothing protects a parameter that others "
            "use. Set weak=True if that is acceptable, or use another channel."
        ),
        id="not-held",
    ),
    pytest.param(
        met(lambda _: stack().import_object("Web", type=AT_DEPLOYMENT, weak=True)),
        (
            "Web cannot be imported this way through CloudFormation's exports: Fn::ImportValue always holds what "
            "it imports. Leave weak out, or set type=ResolveType.SYNTHESIS."
        ),
        id="not-weak",
    ),
    pytest.param(
        met(_too_large),
        (
            "Policy cannot be imported this way through strongref's exports: it takes 4013 bytes, and a strong "
            "import passes through a response with room for 3296. Set weak=True."
        ),
        id="too-large",
    ),
    pytest.param(
        met(_own),
        (
            "VpcId is exported by stack web itself, and a stack cannot import its own exports. Use the exported "
            "value directly."
        ),
        id="own",
    ),
    pytest.param(
        met(_late),
        (
            "Group is already imported by stack web, at deployment, without the settings that this export has. Export "
            "it before the program imports it. Nothing was written."
        ),
        id="late",
    ),
    pytest.param(
        met(lambda _: Stack(PlainTarget("web")).import_string("VpcId")),
        (
            "VpcId cannot be looked up: the region of web is unknown. Set its region, or import with "
            "type=ResolveType.DEPLOYMENT."
        ),
        id="no-region",
    ),
    pytest.param(
        met(lambda _: from_json(json.dumps({"zones": ["a"]}), "Web").read_string("Zones")),
        "Zones is a list: read it with read_string_list.",
        id="kind",
    ),
    pytest.param(
        met(_secure),
        (
            "Password is a SecureString, and objects hold no secrets. Use {{resolve:ssm-secure:NAME}} in the "
            "template instead."
        ),
        id="secure",
    ),
    pytest.param(
        met(lambda _: stack().import_string("VpcId", via=CrossRegion(regions=[US]))),
        "via: an import must name the exporting stack: CrossRegion(stack=…).",
        id="via",
    ),
    pytest.param(
        met(lambda _: stack().import_string("VpcId", type=cast("ResolveType", "deployment"))),
        (
            "type must be ResolveType.SYNTHESIS ('Synthesis') or ResolveType.DEPLOYMENT ('Deployment'), got "
            "'deployment'."
        ),
        id="type",
    ),
    pytest.param(
        _context_file,
        (
            "strongref.context.json: it is not valid JSON (line 3): correct it, or delete it to look everything "
            "up again."
        ),
        id="context-file",
    ),
    pytest.param(
        met(lambda _: from_json("{", "Web")),
        "Web cannot be read: it is not valid JSON. Write it again with JsonSerializationContext.",
        id="json",
    ),
]


@pytest.mark.parametrize(("make", "text"), TEXTS)
def test_an_error_says_this(make: Callable[[], StrongRefError], text: str) -> None:
    assert str(make()) == text
