"""What a stack exports, rule by rule; what is refused has written nothing."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref_objects import CrossRegion, Parameters, PlainTarget, ResolveType, Stack
from strongref_objects.base.errors import (
    BadNameError,
    BadValueError,
    ExportedTwiceError,
    LogicalIdTakenError,
    NameClashError,
    ObjectError,
)
from strongref_objects.channels import CloudFormation
from tests.support.builders import ACCOUNT
from tests.support.objects import EU, US, Tree, World, custom, item, template

if TYPE_CHECKING:
    from pathlib import Path

    from strongref_objects.channels import Channel

AT_DEPLOYMENT = ResolveType.DEPLOYMENT
BUCKET = Tree({"BucketArn": {"Fn::GetAtt": ["Bucket", "Arn"]}, "BucketName": {"Ref": "Bucket"}})
TO_WEB = CrossRegion(regions=[US], consumer="web")
OTHER = "222222222222"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "context.json")


def test_a_string_makes_an_output_with_an_exports_name_and_a_description(world: World) -> None:
    stack = world.stack("network")
    stack.export_string("app:VpcId", {"Ref": "Vpc"}, description="The network's")
    ((logical_id, output),) = template(stack)["Outputs"].items()
    assert output == {"Description": "The network's", "Value": {"Ref": "Vpc"}, "Export": {"Name": "app:VpcId"}}
    assert logical_id.startswith("ExportappVpcId")


def test_a_list_makes_one_output_whose_items_are_joined_by_commas_and_one_for_each_item(world: World) -> None:
    stack = world.stack("network")
    stack.export_string_list("Zones", ["a", "b"])
    stack.export_string_list("Ids", ["a", {"Ref": "B"}])
    outputs = {each["Export"]["Name"]: each["Value"] for each in template(stack)["Outputs"].values()}
    assert outputs == {
        "Zones": "a,b",
        f"Zones{item('a')}": "a",
        f"Zones{item('b')}": "b",
        "Ids": {"Fn::Join": [",", ["a", {"Ref": "B"}]]},
        f"Ids{item('a')}": "a",
        f"Ids{item({'Ref': 'B'})}": {"Ref": "B"},
    }


def test_an_objects_description_is_that_of_its_values_which_have_none(world: World) -> None:
    class Described:
        def serialize(self, ctx: Any) -> None:
            ctx.write_string("A", "a", description="of A")
            ctx.write_string("B", "b")
            ctx.write_object("C", Tree({"D": "d"}))
            ctx.write_object("E", Tree({"F": "f"}), description="of E")

    stack = world.stack("network")
    stack.export_object("Thing", Described(), description="d" * 2000)
    stack.export_object("Thing", Described(), description="d" * 2000, via=Parameters("/shared"))
    outputs = {each["Export"]["Name"]: each["Description"] for each in template(stack)["Outputs"].values()}
    assert outputs == {"Thing-A": "of A", "Thing-B": "d" * 1024, "Thing-C-D": "d" * 1024, "Thing-E-F": "of E"}
    parameters = [each["Properties"] for each in template(stack)["Resources"].values()]
    assert [each["Description"] for each in parameters] == ["of A", "d" * 1024, "d" * 1024, "of E"]


def test_several_exports_to_one_consumer_are_one_resource_with_all_their_values(world: World) -> None:
    stack = world.stack("network")
    stack.export_object("Johnny", BUCKET, via=TO_WEB)
    stack.export_object("Jenny", Tree({"Zones": ["a", "b"], "Group": Tree({"Id": "1"})}), via=TO_WEB)
    stack.export_string("Name", "n", via=CrossRegion(regions=[US, US], consumer="web"))
    ((logical_id, _),) = template(stack)["Resources"].items()
    assert custom(stack) == [
        {
            "ServiceToken": {"Fn::ImportValue": "strongref-exporter"},
            "Region": US,
            "Consumer": "web",
            "Hold": {"Fn::Sub": f"${{AWS::StackName}}-{logical_id}"},
            "Values": {
                "Johnny": {"BucketArn": {"Fn::GetAtt": ["Bucket", "Arn"]}, "BucketName": {"Ref": "Bucket"}},
                "Jenny": {
                    "Zones": ["a", "b"],
                    "Group": {"Id": "1"},
                    f"Zones-{item('a')}": "a",
                    f"Zones-{item('b')}": "b",
                },
                "Name": "n",
            },
        }
    ]


def test_each_export_resource_names_a_hold_and_has_an_output_that_exports_it(world: World) -> None:
    stack = world.stack("network")
    stack.export_string("Name", "n", via=CrossRegion(regions=[US, "us-west-2"], consumer="web"))
    made = template(stack)
    assert len(made["Resources"]) == 2
    assert made["Outputs"] == {
        f"{logical_id}Hold": {"Value": {"Fn::GetAtt": [logical_id, "Hold"]}, "Export": {"Name": export["Hold"]}}
        for logical_id, export in zip(made["Resources"], custom(stack), strict=True)
    }
    world.deploy(stack)
    assert [name.rpartition("-")[2] for name in world.exports[EU]] == list(made["Resources"])
    assert all(name == each.value for name, each in world.exports[EU].items())


def test_an_export_has_a_hold_if_any_of_its_values_wants_one(world: World) -> None:
    stack = world.stack("network")
    stack.export_string("A", "a", via=CrossRegion(hold=False))
    assert "Outputs" not in template(stack)
    assert "Hold" not in custom(stack)[0]
    for name, hold in (("B", True), ("C", False)):
        stack.export_string(name, "b", via=CrossRegion(hold=hold))
        assert len(template(stack)["Outputs"]) == 1
        assert "Hold" in custom(stack)[0]
    assert list(custom(stack)[0]["Values"]) == ["A", "B", "C"]


def test_another_consumer_or_other_regions_have_a_resource_of_their_own(world: World) -> None:
    stack = world.stack("network")
    for via in (TO_WEB, CrossRegion(regions=[US, EU], consumer="web"), CrossRegion(regions=[US]), CrossRegion()):
        stack.export_string("Name", "n", via=via)
    assert [(each.get("Consumer"), each.get("Region")) for each in custom(stack)] == [
        ("web", US),
        ("web", None),
        (None, US),
        (None, None),
    ]
    world.deploy(stack)
    assert sorted(world.cloud.values(US)) == [
        f"_shared/{ACCOUNT}/{EU}/network/Name",
        f"web/{ACCOUNT}/{EU}/network/Name",
    ]


@pytest.mark.parametrize("account", [ACCOUNT, None])
def test_each_account_in_each_region_has_a_resource_of_its_own(world: World, account: str | None) -> None:
    stack = Stack(PlainTarget("network", EU, account), synthesis=world.run())
    via = CrossRegion(regions=[US, EU], accounts=[OTHER, ACCOUNT])
    for name in ("A", "B"):
        stack.export_string(name, "x", via=via)
    stack.export_string("C", "x", via=CrossRegion(accounts=[OTHER]))
    own = None if account else ACCOUNT  # Whether it is the stack's own is not known if that is not.
    assert [(each.get("Account"), each.get("Region"), *each["Values"]) for each in custom(stack)] == [
        (OTHER, US, "A", "B"),
        (OTHER, None, "A", "B", "C"),
        (own, US, "A", "B"),
        (own, None, "A", "B"),
    ]


def test_a_name_that_no_other_account_accepts_is_refused(world: World) -> None:
    """The policy that keeps producers apart denies it."""
    stack, via = world.stack("network"), CrossRegion(accounts=[OTHER])
    with pytest.raises(BadNameError, match=f"Ids.{ACCOUNT}.*other accounts accept no name with the level {ACCOUNT}"):
        stack.export_object("Ids", Tree({OTHER: "x", ACCOUNT: "x"}), via=via)
    stack.export_object("Ids", Tree({OTHER: "x"}), via=via)
    stack.export_object("All", Tree({ACCOUNT: "x"}), via=CrossRegion(accounts=[ACCOUNT]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CrossRegion(), CrossRegion(consumer="shared")),
        (CrossRegion(regions=[US]), CrossRegion(consumer=US)),
        (CrossRegion(consumer="a", regions=[US]), CrossRegion(consumer=f"a-{US}")),
        (CrossRegion(accounts=[OTHER]), CrossRegion(consumer=OTHER)),
    ],
)
def test_no_consumer_is_taken_for_another_or_for_all(world: World, one: Channel, other: Channel) -> None:
    stack = world.stack("network")
    for via in (one, other):
        stack.export_string("Name", "n", via=via)
    assert len(template(stack)["Resources"]) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CrossRegion(stack="a", shared=True), CrossRegion(stack="a", consumer="shared")),
        (CrossRegion(stack="a-", consumer="b"), CrossRegion(stack="a", consumer="-b")),
        (CrossRegion(stack="a", region=US), CrossRegion(stack=f"a-{US}")),
    ],
)
def test_no_stack_is_taken_for_another(world: World, one: Channel, other: Channel) -> None:
    stack = world.stack("web", EU)
    for via in (one, other):
        stack.import_string("Name", type=AT_DEPLOYMENT, via=via)
    assert len(template(stack)["Resources"]) == 2


def test_a_parameter_is_made_for_each_value_below_the_prefix(world: World) -> None:
    stack = world.stack("network")
    stack.export_object("Net", Tree({"Zones": ["a", {"Ref": "B"}], "Vpc": Tree({"Id": "1"})}), via=Parameters("/a/b/"))
    assert [(each["Type"], each["Properties"]) for each in template(stack)["Resources"].values()] == [
        (
            "AWS::SSM::Parameter",
            {
                "Name": "/a/b/Net/Zones",
                "Type": "StringList",
                "Value": {"Fn::Join": [",", ["a", {"Ref": "B"}]]},
                "Tier": "Intelligent-Tiering",
            },
        ),
        (
            "AWS::SSM::Parameter",
            {"Name": "/a/b/Net/Vpc/Id", "Type": "String", "Value": "1", "Tier": "Intelligent-Tiering"},
        ),
    ]


@pytest.mark.parametrize("via", [None, TO_WEB, Parameters("/shared")])
def test_req5_a_name_stands_for_one_thing_in_every_channel(world: World, via: Channel | None) -> None:
    stack = world.stack("network")
    stack.export_object("Johnny", BUCKET, via=via)
    stack.export_string("Name", "n", via=via)
    once = template(stack)
    stack.export_object("Johnny", BUCKET, via=via)
    stack.export_string("Name", "n", description="another one is no other value", via=via)
    refused: list[tuple[str, Any]] = [
        ("Johnny", Tree({"BucketArn": "other", "BucketName": {"Ref": "Bucket"}})),
        ("Johnny", Tree({"BucketArn": {"Fn::GetAtt": ["Bucket", "Arn"]}})),
        ("Johnny", Tree({**BUCKET.parts, "More": "m"})),
        ("Name", Tree({"Name": "n"})),
    ]
    for name, thing in refused:
        with pytest.raises(ExportedTwiceError, match=f"{name} is already exported with another value"):
            stack.export_object(name, thing, via=via)
    for value in ("m", {"Ref": "n"}):
        with pytest.raises(ExportedTwiceError):
            stack.export_string("Name", value, via=via)
    with pytest.raises(ExportedTwiceError):
        stack.export_string_list("Name", ["n"], via=via)
    assert template(stack) == once


def test_one_name_may_stand_for_other_things_in_other_places(world: World) -> None:
    stack = world.stack("network")
    places: list[Channel] = [
        CloudFormation(),
        TO_WEB,
        CrossRegion(regions=[EU], consumer="web"),
        CrossRegion(regions=[US]),
        CrossRegion(),
        Parameters("/a"),
        Parameters("/b"),
    ]
    for number, via in enumerate(places):
        stack.export_string("Name", str(number), via=via)
    world.deploy(stack)


def test_what_goes_to_several_regions_is_one_thing_in_each_of_them(world: World) -> None:
    stack = world.stack("network")
    stack.export_string("Name", "n", via=TO_WEB)
    with pytest.raises(ExportedTwiceError):
        stack.export_string("Name", "m", via=CrossRegion(regions=[EU, US], consumer="web"))
    stack.export_string("Name", "n", via=CrossRegion(regions=[EU, US], consumer="web"))


@pytest.mark.parametrize(
    ("first", "second", "written"),
    [
        (("my-bucket", Tree({"A": "1"})), ("mybucket", Tree({"A": "1"})), "mybucket-A"),
        (("B", Tree({"A": "1"})), ("b", Tree({"A-b": "1", "Ab": "1"})), "b-Ab"),
    ],
)
def test_req5_two_names_that_would_be_one_without_their_hyphens_are_refused(
    world: World, first: tuple[str, Tree], second: tuple[str, Tree], written: str
) -> None:
    stack = world.stack("network")
    stack.export_object(*first)
    once = template(stack)
    with pytest.raises(NameClashError) as caught:
        stack.export_object(*second)
    assert caught.value.written == written
    assert template(stack) == once


def test_two_prefixes_that_would_have_one_parameter_are_refused(world: World) -> None:
    stack = world.stack("network")
    stack.export_object("b", Tree({"c": "1"}), via=Parameters("/a"))
    with pytest.raises(NameClashError):
        stack.export_string("c", "1", via=Parameters("/a/b"))


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        (["a", "b,c"], "item 2 contains a comma"),
        (["a", ""], "item 2 is empty"),
        ([], "it is an empty list"),
        ("", "it is empty"),
        (" \n", "it is empty"),
        (3, "it must be a string, got a number"),
        (None, "it must be a string, got None"),
        ({"a": "b"}, "it must be a string, got a map that is not an intrinsic function"),
        ({"Ref": "A", "Fn::Sub": "B"}, "it must be a string, got a map"),
        ({1: "b"}, "it must be a string, got a map"),
    ],
)
def test_what_cloudformation_cannot_export_is_refused_and_nothing_of_the_object_is_written(
    world: World, part: object, problem: str
) -> None:
    stack = world.stack("network")
    with pytest.raises(BadValueError) as caught:
        stack.export_object("Thing", Tree({"Good": "g", "Bad": part}))
    assert f"Thing.Bad cannot be exported: {problem}" in str(caught.value)
    assert "Outputs" not in template(stack)


@pytest.mark.parametrize("given", ["text", b"bytes", None, {"a": "b"}, 3])
def test_a_list_has_to_be_one(world: World, given: object) -> None:
    with pytest.raises(BadValueError, match="it must be a list, got"):
        world.stack("network").export_string_list("Zones", cast("list[str]", given))


def test_a_lists_items_have_to_be_strings(world: World) -> None:
    with pytest.raises(BadValueError, match="item 2 must be a string, got a list"):
        world.stack("network").export_string_list("Zones", cast("list[str]", ["a", ["b"]]))
    with pytest.raises(BadValueError, match="item 1 must be a string, got a number"):
        world.stack("network").export_string_list("Zones", cast("list[str]", [1]))


@pytest.mark.parametrize("via", [TO_WEB, Parameters("/shared")])
@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ("", "it must not be empty"),
        ("a{{b", "'{{'"),
        ("a" * 8193, "it must be at most 8192 bytes, got 8193"),
        (["a,"], "comma"),
        ([" a"], "white space"),
        ([{"Ref": "A"}, ""], "empty"),
        ([], "empty list"),
        ("\ud800", "lone surrogate"),
    ],
)
def test_what_parameter_store_cannot_hold_is_refused(world: World, via: Channel, part: object, problem: str) -> None:
    stack = world.stack("network")
    with pytest.raises(BadValueError) as caught:
        stack.export_object("Thing", Tree({"Good": "g", "Bad": part}), via=via)
    assert str(caught.value).startswith("Thing.Bad cannot be exported: ")
    assert problem in str(caught.value)
    assert "Resources" not in template(stack)


@pytest.mark.parametrize("via", [None, TO_WEB, Parameters("/shared")])
def test_a_name_that_a_channel_cannot_carry_is_refused(world: World, via: Channel | None) -> None:
    stack = world.stack("network")
    for name in ("a b", "a/b", ""):
        with pytest.raises(ObjectError):
            stack.export_string(name, "x", via=via)
    assert template(stack) == {"AWSTemplateFormatVersion": "2010-09-09"}


def test_an_object_that_writes_a_key_twice_writes_the_same(world: World) -> None:
    class Twice:
        def __init__(self, *parts: Any) -> None:
            self.parts = parts

        def serialize(self, ctx: Any) -> None:
            for part in self.parts:
                if isinstance(part, Tree):
                    ctx.write_object("A", part)
                else:
                    ctx.write_string("A", part)

    stack = world.stack("network")
    stack.export_object("Same", Twice("a", "a"))
    stack.export_object("Parts", Twice(Tree({"B": "b"}), Tree({"B": "b"})))
    for parts in (("a", "b"), ("a", Tree({})), (Tree({}), "a"), (Tree({"B": "b"}), Tree({"B": "c"}))):
        with pytest.raises(BadValueError):
            stack.export_object("Other", Twice(*parts))


def test_an_object_is_no_part_of_itself(world: World) -> None:
    parts: dict[str, Any] = {"A": "a"}
    parts["Self"] = Tree({"Deeper": Tree(parts)})
    whole = Tree(parts)
    parts["Self"].parts["Deeper"] = whole
    with pytest.raises(BadValueError, match="a part of itself"):
        world.stack("network").export_object("Whole", whole)


def test_an_output_of_the_templates_own_that_has_the_exports_name_is_seen(world: World) -> None:
    outputs = {
        "Mine": {"Value": "1", "Export": {"Name": "Web-A"}},
        "Built": {"Value": "1", "Export": {"Name": {"Fn::Sub": "${AWS::StackName}-B"}}},
        "Plain": {"Value": "1"},
    }
    stack = world.stack("web", template={"Outputs": outputs})
    with pytest.raises(NameClashError, match=r"'output Mine' and 'Web\.A' would both be written as Web-A\."):
        stack.export_object("Web", Tree({"B": "b", "A": "a"}))
    assert template(stack)["Outputs"] == outputs
    for _ in range(2):
        stack.export_object("Web", Tree({"B": "b"}))


@pytest.mark.parametrize("via", [None, TO_WEB, Parameters("/shared")])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Tree({"A": "a"}), Tree({"B": "b"})),
        (Tree({"A": "a"}), Tree({"A": "a", "B": "b"})),
        (Tree({"A": "a", "B": Tree({"C": "c"})}), Tree({"A": "a"})),
        (Tree({"A": "a"}), Tree({"A": "a", "B": Tree({})})),
        (Tree({}), Tree({"A": "a"})),
    ],
)
def test_two_parts_under_one_key_are_the_same(world: World, via: Channel | None, one: Tree, other: Tree) -> None:
    class Both:
        def __init__(self, *parts: Tree) -> None:
            self.parts = parts

        def serialize(self, ctx: Any) -> None:
            for part in self.parts:
                ctx.write_object("Part", part)

    stack = world.stack("network")
    for parts in ((one, other), (other, one)):
        with pytest.raises(
            BadValueError, match=r"Web\.Part cannot be exported: the object writes it twice, with different values"
        ):
            stack.export_object("Web", Both(*parts), via=via)
    assert template(stack) == {"AWSTemplateFormatVersion": "2010-09-09"}
    stack.export_object("Web", Both(one, one), via=via)


@pytest.mark.parametrize("turned", [False, True])
def test_below_a_value_there_is_no_other_parameter(world: World, turned: bool) -> None:
    """Else what has one name would be a string and an object."""
    ways = [("One", "/x"), ("Sub", "/x/One")]
    (first, at), (second, below) = ways[::-1] if turned else ways
    stack = world.stack("network")
    stack.export_string(first, "1", via=Parameters(at))
    once = template(stack)
    with pytest.raises(NameClashError, match="would both be written as /x/One, or below it"):
        stack.export_string(second, "2", via=Parameters(below))
    assert template(stack) == once
    stack.export_string("OneSub", "3", via=Parameters("/x"))


def test_an_export_of_cloudformations_is_text_that_can_be_written(world: World) -> None:
    stack = world.stack("network")
    with pytest.raises(BadValueError, match="a lone surrogate"):
        stack.export_string("Name", "a\ud800")
    with pytest.raises(BadValueError, match="a lone surrogate"):
        stack.export_string_list("Names", ["a", {"Ref": "B"}, "\udfff"])
    stack.export_string_list("Names", {"Fn::GetAZs": "\ud800"})
    stack.export_string("Name", "\U0001f600")


@pytest.mark.parametrize("via", [None, TO_WEB, Parameters("/shared")])
def test_a_logical_id_that_the_template_has_already_is_refused(world: World, via: Channel | None) -> None:
    stack = world.stack("network")
    stack.export_string("Name", "n", via=via)
    made = template(stack)
    added = [*made.get("Resources", {}), *made.get("Outputs", {})]
    assert len(added) == (2 if via == TO_WEB else 1)
    for section, taken in itertools.product(("Resources", "Outputs"), added):
        other = world.stack("network", template={section: {taken: {"Type": "AWS::SNS::Topic"}}})
        with pytest.raises(LogicalIdTakenError, match=f"has its own output or resource {taken}, but"):
            other.export_string("Name", "n", via=via)
