"""What of an object an import holds, and what its owner can still change meanwhile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref.errors import StrongRefError
from strongref_objects import CrossRegion, ResolveType
from strongref_objects.synthesis.context_file import reset
from strongref_objects.types import Bucket, Cluster, Function, Subnets, Vpc
from tests.support.objects import EU, US, ExportInUseError, Tree, World, custom, imported, produced, template, use

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from strongref_objects import PlainTarget, Stack
    from strongref_objects.channels import Channel

ZONES = ["eu-west-1a", "eu-west-1b"]
TO_WEB = CrossRegion(regions=[US], consumer="web")
FROM_NETWORK = CrossRegion(stack="network", region=EU)
channels = pytest.mark.parametrize("across", [False, True], ids=["cloudformation", "strongref"])
REFUSED = (ExportInUseError, StrongRefError)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "context.json")


def vpc(*tiers: str, zones: Sequence[str] = ZONES, **more: Any) -> Vpc:
    """A VPC that is made in the template which exports it."""
    subnets = {tier: [f"{tier}{zone[-1]}" for zone in zones] for tier in tiers}
    parts = {
        f"{tier}_subnets": Subnets(
            subnet_ids=[{"Ref": subnet} for subnet in found],
            availability_zones=zones,
            route_table_ids=[{"Ref": f"{subnet}Table"} for subnet in found],
        )
        for tier, found in subnets.items()
    }
    names = {f"{tier}_subnet_names": [tier.title()] * len(zones) for tier in tiers}
    return Vpc.of_resource("Vpc", **{**parts, **names, **more})


def produce(world: World, of: Vpc, *, across: bool) -> None:
    stack = world.stack("network")
    stack.export_object("Network", of, via=TO_WEB if across else None)
    world.deploy(stack)


def importing(world: World, *, across: bool, name: str = "web") -> tuple[Stack, Vpc]:
    stack = world.stack(name, US if across else EU)
    via = FROM_NETWORK if across else None
    return stack, Vpc.deserialize(stack.import_object("Network", via=via))


def ids(subnets: Subnets | None) -> list[str]:
    assert subnets
    return list(cast("Sequence[str]", subnets.subnet_ids))


def held(stack: Stack) -> list[str]:
    """What a stack holds, with dots between the levels."""
    at_synthesis = [name.replace("-", ".") for name in imported(template(stack)) if not name.startswith("strongref-")]
    return sorted([*at_synthesis, *(name for each in custom(stack) for name in each["Names"])])


@channels
def test_for_one_id_one_export_is_held(world: World, across: bool) -> None:
    produce(world, vpc("public", "private"), across=across)
    stack, network = importing(world, across=across)
    use(stack, network.vpc_id)
    assert held(stack) == ["Network.VpcId"]


@channels
def test_before_the_template_is_finished_everything_but_bookkeeping_is_held(world: World, across: bool) -> None:
    """So nothing is lost where nobody finishes it, as in a synthesis without validation."""
    produce(world, vpc("public"), across=across)
    stack, _ = importing(world, across=across)
    resources = cast("PlainTarget", stack.target)._whole()["Resources"]
    names = json.dumps(resources)
    assert names.count("SubnetIds") == names.count("RouteTableIds") == 2
    assert not any(name in names for name in ("Parts", "AvailabilityZones", "SubnetNames"))


@channels
@pytest.mark.parametrize(
    "grown",
    [
        vpc("public", "private", "isolated"),
        vpc("public", "private", zones=[*ZONES, "eu-west-1c"]),
        vpc("public", "private", zones=["eu-west-1-new", *ZONES]),
        vpc("public", "private", zones=ZONES[::-1]),
    ],
    ids=["tier", "zone", "zone before the others", "other order"],
)
def test_a_vpc_can_gain_what_nobody_has_imported(world: World, grown: Vpc, across: bool) -> None:
    produce(world, vpc("public", "private"), across=across)
    stack, network = importing(world, across=across)
    assert network.private_subnets
    use(stack, network.vpc_id, *network.private_subnets.subnet_ids, *network.private_subnets.route_table_ids)
    world.deploy(stack)
    produce(world, grown, across=across)
    world.deploy(importing(world, across=across)[0])


@channels
@pytest.mark.parametrize("smaller", [vpc("public"), vpc("public", "private", zones=ZONES[:1])], ids=["tier", "zone"])
def test_a_vpc_cannot_lose_a_subnet_that_is_used(world: World, smaller: Vpc, across: bool) -> None:
    produce(world, vpc("public", "private"), across=across)
    stack, network = importing(world, across=across)
    use(stack, ids(network.private_subnets)[1])
    assert len(held(stack)) == 1
    world.deploy(stack)
    with pytest.raises(REFUSED):
        produce(world, smaller, across=across)


@channels
def test_a_vpc_can_lose_a_tier_that_nobody_uses(world: World, across: bool) -> None:
    produce(world, vpc("public", "private"), across=across)
    stack, network = importing(world, across=across)
    assert network.public_subnets
    use(stack, *network.public_subnets.subnet_ids)
    world.deploy(stack)
    produce(world, vpc("public"), across=across)


@channels
def test_what_a_template_does_not_use_at_all_is_held_by_its_first_value(world: World, across: bool) -> None:
    """The program may have used it where nobody can look, as in a file."""
    produce(world, vpc("public", vpc_cidr_block="10.0.0.0/16"), across=across)
    stack, _ = importing(world, across=across)
    assert held(stack) == ["Network.VpcId"]


@channels
def test_what_is_imported_by_its_own_name_is_held_however_it_is_used(world: World, across: bool) -> None:
    produced(world, via=TO_WEB if across else None, Name="name", Zones=["a", "b"])
    stack, via = world.stack("web", US if across else EU), FROM_NETWORK if across else None
    stack.import_string("Name", via=via)
    stack.import_string_list("Zones", via=via)
    assert held(stack)[0] == "Name"
    assert len(held(stack)) == 3
    world.deploy(stack)
    produced(world, via=TO_WEB if across else None, Name="name", Zones=["c", "b", "a"])
    for values in ({"Name": "other", "Zones": ["a", "b"]}, {"Name": "name", "Zones": ["a"]}):
        with pytest.raises(REFUSED):
            produced(world, via=TO_WEB if across else None, **values)


@channels
def test_a_name_is_not_held_for_the_arn_that_it_is_a_part_of(world: World, across: bool) -> None:
    via = FROM_NETWORK if across else None
    producer = world.stack("network")
    for name, obj in {"Photos": Bucket.from_arn("arn:aws:s3:::photos"), "Jobs": Cluster.from_name("jobs")}.items():
        producer.export_object(name, obj, via=TO_WEB if across else None)
    world.deploy(producer)
    stack = world.stack("web", US if across else EU)
    photos = Bucket.deserialize(stack.import_object("Photos", via=via))
    jobs = Cluster.deserialize(stack.import_object("Jobs", via=via))
    use(stack, f"{photos.bucket_arn}/*", {"Fn::Sub": f"${{AWS::Region}}/{jobs.cluster_name}"})
    assert held(stack) == ["Jobs.ClusterName", "Photos.BucketArn"]
    use(stack, photos.bucket_arn, photos.bucket_name, jobs.cluster_name)
    assert held(stack) == ["Jobs.ClusterName", "Photos.BucketArn", "Photos.BucketName"]


@channels
def test_a_value_is_found_in_json_within_text(world: World, across: bool) -> None:
    text = 'say "ü" \\ and\nmore'
    produced(world, via=TO_WEB if across else None, Web=Tree({"A": "first", "B": text}))
    stack = world.stack("web", US if across else EU)
    ctx = stack.import_object("Web", via=FROM_NETWORK if across else None)
    value = (ctx.read_string("A"), ctx.read_string("B"))[1]
    for nested in (value, json.dumps({"b": value}), json.dumps(json.dumps([value], ensure_ascii=False))):
        use(stack, nested)
        assert held(stack) == ["Web.B"]


@channels
def test_what_a_program_uses_later_is_held_when_the_template_is_made_again(world: World, across: bool) -> None:
    produce(world, vpc("public"), across=across)
    stack, network = importing(world, across=across)
    use(stack, network.vpc_id)
    first = held(stack)
    use(stack, network.vpc_id, ids(network.public_subnets)[0])
    assert len(held(stack)) == 2
    use(stack, network.vpc_id, "none")
    assert held(stack) == first


def test_an_import_that_is_held_is_no_use_of_a_value_of_the_same_text(world: World) -> None:
    produced(world, Web=Tree({"A": "Web-A", "B": "StrongrefImports"}))
    stack = world.stack("web")
    ctx = stack.import_object("Web")
    ctx.read_string("A")
    ctx.read_string("B")
    assert held(stack) == ["Web.A"]
    use(stack, "Web-A")
    assert held(stack) == ["Web.A"]
    use(stack, "x")
    ctx.read_string("B")
    assert held(stack) == ["Web.A"]


def test_at_deployment_what_the_template_refers_to_is_imported(world: World) -> None:
    stack = world.stack("web", US)

    def read(name: str) -> Function:
        ctx = stack.import_object(name, type=ResolveType.DEPLOYMENT, via=FROM_NETWORK)
        return Function.deserialize(ctx)

    jobs, mail, _ = read("Jobs"), read("Mail"), read("Unused")
    assert isinstance(mail.function_name, dict)
    logical_id, attribute = mail.function_name["Fn::GetAtt"]
    use(stack, jobs.function_arn, {"Fn::Sub": f"${{{logical_id}.{attribute}}}/x"})
    rest = ["Unused.FunctionArn", "Unused.FunctionName"]
    assert held(stack) == ["Jobs.FunctionArn", "Mail.FunctionName", *rest]
    use(stack, jobs.function_name)
    assert held(stack)[:3] == ["Jobs.FunctionName", "Mail.FunctionName", "Unused.FunctionArn"]


def test_at_deployment_an_import_of_which_nothing_is_left_goes(world: World) -> None:
    stack = world.stack("web", US)
    via = CrossRegion(stack="network", region=EU, value_bytes=1500)
    ctx = stack.import_object("Web", type=ResolveType.DEPLOYMENT, via=via)
    values = [ctx.read_string(name) for name in ("A", "B", "C")]
    assert len(custom(stack)) == 2
    use(stack, values[0])
    assert [each["Names"] for each in custom(stack)] == [["Web.A"]]
    use(stack, values[2])
    assert [each["Names"] for each in custom(stack)] == [["Web.C"]]


class TestOlderVersions:
    """What an older version of strongref has exported, looked up or deployed."""

    @pytest.fixture
    def exported(self, world: World, across: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        """By a version that exported no items."""
        with monkeypatch.context() as patch:
            for module in ("cloudformation", "cross_region"):
                patch.setattr(f"strongref_objects.channels.{module}.with_items", lambda _target, leaves: dict(leaves))
            produce(world, vpc("public", "private"), across=across)

    @channels
    @pytest.mark.usefixtures("exported")
    def test_a_list_without_items_is_imported_and_held_whole_if_used(self, world: World, across: bool) -> None:
        stack, network = importing(world, across=across)
        assert network.public_subnets
        use(stack, network.vpc_id)
        assert held(stack) == ["Network.VpcId"]
        use(stack, network.vpc_id, ids(network.public_subnets)[0])
        assert held(stack) == ["Network.PublicSubnets.SubnetIds", "Network.VpcId"]
        world.deploy(stack)
        with pytest.raises(REFUSED):
            produce(world, vpc("public", zones=[*ZONES, "eu-west-1c"]), across=across)
        produce(world, vpc("public", "private", "isolated"), across=across)

    @channels
    @pytest.mark.usefixtures("exported")
    def test_after_both_are_updated_and_the_list_is_looked_up_again_it_can_grow(
        self, world: World, across: bool
    ) -> None:
        def deploy() -> list[str]:
            stack, network = importing(world, across=across)
            assert network.public_subnets
            use(stack, *network.public_subnets.subnet_ids)
            world.deploy(stack)
            return held(stack)

        whole = deploy()
        produce(world, vpc("public", "private"), across=across)
        world.asked.clear()
        assert deploy() == whole
        assert not world.asked
        reset(world.context_file, ["Network"])
        items = deploy()
        assert len(items) == 2
        assert not set(items) & set(whole)
        produce(world, vpc("public", "private", zones=[*ZONES, "eu-west-1c"]), across=across)

    @channels
    def test_a_context_file_without_items_is_enough_to_make_the_template(self, world: World, across: bool) -> None:
        produce(world, vpc("public"), across=across)
        importing(world, across=across)
        entries = json.loads(world.context_file.read_text())
        older = {key: value for key, value in entries.items() if not key.endswith("*")}
        assert len(older) < len(entries)
        world.context_file.write_text(json.dumps(older))
        world.asked.clear()
        stack, network = importing(world, across=across)
        use(stack, ids(network.public_subnets)[0])
        assert held(stack) == ["Network.PublicSubnets.SubnetIds"]
        assert not world.asked


def test_items_are_kept_with_their_list_and_forgotten_with_it(world: World) -> None:
    produce(world, vpc("public"), across=False)
    importing(world, across=False)
    names = {each.name for each in reset(world.context_file, ["Network"])}
    assert "Network-PublicSubnets-SubnetIds-*" in names
    assert json.loads(world.context_file.read_text()) == {}


@pytest.mark.parametrize("via", [None, CrossRegion(regions=[US])])
def test_a_list_that_is_one_function_has_no_items(world: World, via: Channel | None) -> None:
    stack = world.stack("network")
    stack.export_string_list("Zones", {"Fn::Split": [",", "a,b"]}, via=via)
    text = json.dumps(template(stack))
    assert text.count("Zones") == text.count('"Zones"') + (1 if via is None else 0)


def test_one_security_group_of_a_list_can_be_replaced_unless_it_is_used(world: World) -> None:
    def export(*ids: str) -> None:
        produced(world, Web=Tree({"Groups": [{"Ref": each} for each in ids], "Main": {"Ref": "Main"}}))

    export("A", "B")
    stack = world.stack("web")
    first, _ = stack.import_object("Web").read_string_list("Groups")
    use(stack, first)
    world.deploy(stack)
    export("A", "C", "D")
    with pytest.raises(ExportInUseError):
        export("C", "D")
