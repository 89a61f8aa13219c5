"""The errors of objects that are exported and imported, each as docs/extras/objects.md shows it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

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
from strongref_objects.channels.holding import HOLDER
from strongref_objects.synthesis.context_file import CONTEXT_FILE, listing
from tests.support.builders import ACCOUNT
from tests.support.objects import EU, US, Tree, World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "objects-exported-twice": met(_twice(WEB, OTHER)),
    "objects-exported-twice-string": met(_twice("vpc-1", "vpc-2")),
    "objects-name-clash": met(_clashing),
    "objects-variable-clash": met(_clashing_variables),
    "objects-name": met(lambda _: stack().export_string("my_vpc", "vpc-1")),
    "objects-variable": met(_reserved),
    "objects-comma": met(lambda _: stack().export_string_list("Zones", ["a", "b,c"])),
    "objects-no-value": met(lambda _: stack().export_object("Web", Tree({"Port": cast("str", 443)}))),
    "objects-written-twice": met(_written_twice),
    "objects-taken": met(_taken),
    "objects-nothing": met(_nothing),
    "objects-nothing-across": met(_nothing_across),
    "objects-list": met(lambda _: stack().import_string_list("Zones", type=AT_DEPLOYMENT)),
    "objects-concrete": met(
        lambda _: stack().import_object("Web", type=AT_DEPLOYMENT).read_string("VpcId", allow_unresolved=False)
    ),
    "objects-not-held": met(lambda _: stack().import_object("Web", via=Parameters("/shared"))),
    "objects-not-weak": met(lambda _: stack().import_object("Web", type=AT_DEPLOYMENT, weak=True)),
    "objects-too-large": met(_too_large),
    "objects-own": met(_own),
    "objects-no-region": met(lambda _: Stack(PlainTarget("web")).import_string("VpcId")),
    "objects-kind": met(lambda _: from_json(json.dumps({"zones": ["a"]}), "Web").read_string("Zones")),
    "objects-secure": met(_secure),
    "objects-via": met(lambda _: stack().import_string("VpcId", via=CrossRegion(regions=[US]))),
    "objects-type": met(lambda _: stack().import_string("VpcId", type=cast("ResolveType", "deployment"))),
    "objects-context-file": _context_file,
    "objects-json": met(lambda _: from_json("{", "Web")),
}
