"""What a program may say to a stack: channels, types, and several stacks of one template."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref_objects import CrossRegion, Parameters, PlainTarget, ResolveType, Stack
from strongref_objects.base.errors import (
    BadChannelError,
    BadNameError,
    BadTypeError,
    ExportedTwiceError,
    NothingToImportError,
    OwnExportError,
    WrongKindError,
)
from tests.support.builders import ACCOUNT
from tests.support.objects import EU, US, Tree, World, custom, held_by, produced, use

if TYPE_CHECKING:
    from pathlib import Path

    from strongref_objects.channels import Channel

AT_DEPLOYMENT = ResolveType.DEPLOYMENT
TO_WEB = CrossRegion(regions=[US], consumer="web")
FROM_NETWORK = CrossRegion(stack="network", region=EU)
OTHER = "222222222222"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "context.json")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"regions": ["Ireland"]}, "must be a region code such as us-east-1, got 'Ireland'"),
        ({"regions": "eu-west-1", "region": "nowhere"}, "must be a region code such as us-east-1, got 'nowhere'"),
        ({"stack": "network", "account": "1"}, "twelve digits"),
        ({"accounts": [OTHER, "1"]}, "an account must be an account's twelve digits, in quotes, got '1'"),
        ({"accounts": int(OTHER)}, "an account must be an account's twelve digits, in quotes, got 222222222222"),
        ({"consumer": "_shared"}, "a label"),
        ({"stack": "net_work"}, "stack must be the exporting stack's name, got 'net_work'"),
    ],
)
def test_a_cross_region_channel_that_cannot_be_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadChannelError, match=problem):
        CrossRegion(**given)


def test_one_region_or_account_may_be_given_as_a_string() -> None:
    assert CrossRegion(regions=US, accounts=OTHER) == CrossRegion(regions=[US], accounts=[OTHER])


@pytest.mark.parametrize("prefix", ["shared", "/", "", "/a b", "//a", "/aws/x", "/ssm", "/strongref/exports"])
def test_a_prefix_that_cannot_be_is_refused(prefix: str) -> None:
    with pytest.raises(BadChannelError):
        Parameters(prefix)


@pytest.mark.parametrize(
    "via",
    [CrossRegion(stack="network"), CrossRegion(shared=True), CrossRegion(region=EU), CrossRegion(account=ACCOUNT)],
)
def test_a_channel_that_says_whom_to_import_from_exports_nothing(world: World, via: Channel) -> None:
    with pytest.raises(BadChannelError, match="stack, region, account and shared are for imports"):
        world.stack("web").export_string("Name", "n", via=via)


@pytest.mark.parametrize(
    ("via", "problem"),
    [
        (TO_WEB, "an import must name the exporting stack"),
        (CrossRegion(stack="network", regions=[US]), "regions, accounts and hold are for exports"),
        (CrossRegion(stack="network", accounts=[OTHER]), "regions, accounts and hold are for exports"),
        (CrossRegion(stack="network", hold=False), "regions, accounts and hold are for exports"),
        (CrossRegion(stack="network", shared=True, consumer="web"), "exclude each other; leave one of them out"),
    ],
)
def test_a_channel_that_says_whom_to_export_to_imports_nothing(world: World, via: Channel, problem: str) -> None:
    with pytest.raises(BadChannelError, match=problem):
        world.stack("web").import_string("Name", via=via)


def test_a_name_that_cannot_be_exported_cannot_be_imported(world: World) -> None:
    for kind in ResolveType:
        with pytest.raises(BadNameError):
            world.stack("web").import_string("my_bucket", type=kind)


def test_what_is_no_channel_is_refused(world: World) -> None:
    for via in ("ssm", CrossRegion, {"regions": [US]}):
        with pytest.raises(BadChannelError, match="must be CloudFormation"):
            world.stack("web").export_string("Name", "n", via=cast("Channel", via))
        with pytest.raises(BadChannelError, match="or left out"):
            world.stack("web").import_string("Name", via=cast("Channel", via))


def test_a_type_may_be_given_by_its_word_and_no_other_word_is_one(world: World) -> None:
    stack = world.stack("web")
    assert stack.import_string("Name", type=cast("ResolveType", "Deployment")) == {"Fn::ImportValue": "Name"}
    with pytest.raises(NothingToImportError):
        stack.import_string("Other", type=cast("ResolveType", "Synthesis"))
    for word in ("Later", "deployment", 1):
        with pytest.raises(BadTypeError, match=f"type must be ResolveType.SYNTHESIS .*, got '{word}'"):
            stack.import_string("Name", type=cast("ResolveType", word))


@pytest.mark.parametrize("name", [5, None, "", ("a",)])
def test_what_is_no_name_is_refused(world: World, name: object) -> None:
    stack = world.stack("web")
    given = cast("str", name)
    for kind in ResolveType:
        for method in (stack.import_string, stack.import_string_list, stack.import_object):
            with pytest.raises(BadNameError, match="a name must be a string that is not empty"):
                method(given, type=kind)
    ctx = stack.import_object("Web", type=AT_DEPLOYMENT)
    for read in (ctx.read_string, ctx.read_string_list, ctx.read_object):
        with pytest.raises(BadNameError, match="a key must be a string that is not empty"):
            read(given)


def test_two_stacks_of_one_template_forget_nothing_of_each_other(world: World) -> None:
    produced(world, Name="n", Other="o")
    target = PlainTarget("web", EU, ACCOUNT)
    first, second = (Stack(target, synthesis=world.run()) for _ in range(2))
    first.import_string("Name")
    second.import_string("Other")
    assert len(target.template()["Resources"]) == 1
    assert held_by(target.template()["Resources"]) == ["Name", "Other"]
    first.export_string("Own", "1")
    with pytest.raises(ExportedTwiceError):
        second.export_string("Own", "2")
    with pytest.raises(OwnExportError):
        second.import_string("Own")
    for stack, name in ((first, "A"), (second, "B")):
        stack.import_string(name, type=AT_DEPLOYMENT, via=FROM_NETWORK)
        stack.export_string(name, "x", via=TO_WEB)
    assert [each.get("Names") or list(each["Values"]) for each in custom(first)] == [["A", "B"], ["A", "B"]]


def test_only_a_stack_of_the_account_that_is_exported_to_knows_what_the_program_exports(world: World) -> None:
    run, via = world.run(), CrossRegion(regions=[US], accounts=[OTHER], consumer="web")
    Stack(PlainTarget("network", EU, ACCOUNT), synthesis=run).export_object("Web", Tree({"Id": "1"}), via=via)
    there = CrossRegion(stack="network", region=EU, account=ACCOUNT)
    webs = [Stack(PlainTarget("web", US, account), synthesis=run) for account in (OTHER, ACCOUNT)]
    read = [web.import_object("Web", type=AT_DEPLOYMENT, via=there) for web in webs]
    assert [each.read_setting("Id") for each in read] == ["1", None]
    read[0].read_string("Id")
    assert custom(webs[0])[0]["From"] == {"Stack": "network", "Region": EU, "Account": ACCOUNT}


@pytest.mark.parametrize("via", [None, FROM_NETWORK])
def test_req6_what_two_stacks_of_one_template_import_is_one_thing(world: World, via: Channel | None) -> None:
    """Weakly in one of them and strongly in the other, it is held."""
    produced(world, via=TO_WEB if via else None, Web=Tree({"A": "a", "B": "b"}))
    target = PlainTarget("web", US if via else EU, ACCOUNT)
    first, second = (Stack(target, synthesis=world.run()) for _ in range(2))
    weak = first.import_object("Web", weak=True, via=via)
    weak.read_string("A")
    assert "Resources" not in target.template()
    assert second.import_object("Web", via=via) is weak
    assert second.made is first.made
    use(first, weak.read_string("A"), weak.read_string("B"))
    made = {name: each for name, each in target.template()["Resources"].items() if name.startswith("Strongref")}
    (resource,) = made.values()
    held = held_by(made) if via is None else resource["Properties"]["Names"]
    assert len(held) == 2
    at_deployment = [stack.import_object("Web", type=AT_DEPLOYMENT, via=via) for stack in (first, second)]
    assert at_deployment[0] is at_deployment[1]
    other = Stack(PlainTarget("other", US if via else EU, ACCOUNT), synthesis=world.run())
    assert other.import_object("Web", weak=True, via=via) is not weak


def test_of_what_was_read_in_the_wrong_way_nothing_is_kept(world: World) -> None:
    produced(world, via=TO_WEB, Thing=Tree({"Object": Tree({"A": "a"})}))
    with pytest.raises(WrongKindError):
        world.stack("web", US).import_object("Thing", via=FROM_NETWORK).read_string("Object")
    assert not world.context_file.exists()


def test_what_every_channel_writes_is_a_template_as_it_should_be(world: World) -> None:
    """As cfn-lint has it."""
    produced(world, Name="n")
    whole = Tree(
        {"Arn": {"Fn::GetAtt": ["Topic", "TopicArn"]}, "Zones": ["a", {"Ref": "Topic"}], "Part": Tree({"A": "a"})}
    )
    target = PlainTarget("web", EU, ACCOUNT, {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
    stack = Stack(target, synthesis=world.run())
    for out in (None, TO_WEB, CrossRegion(), Parameters("/shared")):
        stack.export_object("Web", whole, description="All of it", via=out)
    stack.import_string("Name")
    names: list[tuple[str, bool, Channel | None]] = [
        ("A", False, None),
        ("B", False, FROM_NETWORK),
        ("C", True, FROM_NETWORK),
        ("D", True, Parameters("/other")),
    ]
    for name, weak, via in names:
        value = stack.import_string(name, type=AT_DEPLOYMENT, weak=weak, via=via)
        target.put_resource(f"Uses{name}", "AWS::SNS::Topic", {"DisplayName": value})
    # cfn-lint takes a second to import, which every run of the tests would wait for.
    from cfnlint.api import ManualArgs, lint  # noqa: PLC0415

    assert [str(each) for each in lint(json.dumps(target.template()), config=ManualArgs(regions=[EU]))] == []
