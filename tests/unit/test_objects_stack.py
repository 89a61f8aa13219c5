"""What a stack exports and imports, rule by rule; what is refused has written nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref.objects import CrossRegion, Parameters, PlainTarget, ResolveType, Stack
from strongref.objects.channels import CloudFormation
from strongref.objects.errors import (
    BadChannelError,
    BadNameError,
    BadValueError,
    ExportedTwiceError,
    NameClashError,
    NoPlaceError,
    NotHeldError,
    NothingToImportError,
    ObjectError,
    OwnExportError,
    SecureObjectError,
    TakenError,
    UnresolvedError,
    WrittenTwiceError,
    WrongKindError,
)
from tests.support.cloud import ACCOUNT
from tests.support.objects import EU, US, Tree, World

if TYPE_CHECKING:
    from pathlib import Path

    from strongref.objects.channels import Channel

AT_DEPLOYMENT = ResolveType.DEPLOYMENT
BUCKET = Tree({"BucketArn": {"Fn::GetAtt": ["Bucket", "Arn"]}, "BucketName": {"Ref": "Bucket"}})
TO_WEB = CrossRegion(regions=[US], consumer="web")
FROM_NETWORK = CrossRegion(stack="network", region=EU)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "context.json")


def template(stack: Stack) -> dict[str, Any]:
    return cast("PlainTarget", stack.target).template()


def values(stack: Stack) -> list[dict[str, Any]]:
    """The properties of a stack's custom resources."""
    found = template(stack).get("Resources", {}).values()
    return [each["Properties"] for each in found if each["Type"].startswith("Custom::")]


def produced(world: World, *, via: Channel | None = None, **exported: Any) -> Stack:  # noqa: ANN401 (any value)
    """A deployed stack network, which exports strings, lists and objects."""
    stack = world.stack("network")
    for name, value in exported.items():
        if isinstance(value, Tree):
            stack.export_object(name, value, via=via)
        elif isinstance(value, list):
            stack.export_string_list(name, value, via=via)
        else:
            stack.export_string(name, value, via=via)
    world.deploy(stack)
    return stack


# -- exporting ---------------------------------------------------------------------------------------------------


def test_a_string_makes_an_output_with_an_exports_name_and_a_description(world: World) -> None:
    stack = world.stack("network")
    stack.export_string("app:VpcId", {"Ref": "Vpc"}, description="The network's")
    ((logical_id, output),) = template(stack)["Outputs"].items()
    assert output == {"Description": "The network's", "Value": {"Ref": "Vpc"}, "Export": {"Name": "app:VpcId"}}
    assert logical_id.startswith("ExportappVpcId")


def test_a_list_makes_one_output_whose_items_are_joined_by_commas(world: World) -> None:
    stack = world.stack("network")
    stack.export_string_list("Zones", ["a", "b"])
    stack.export_string_list("Ids", ["a", {"Ref": "B"}])
    assert [each["Value"] for each in template(stack)["Outputs"].values()] == [
        "a,b",
        {"Fn::Join": [",", ["a", {"Ref": "B"}]]},
    ]


def test_an_objects_description_is_that_of_its_values_which_have_none(world: World) -> None:
    class Described:
        def serialize(self, ctx: Any) -> None:  # noqa: ANN401 (a context)
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
    assert values(stack) == [
        {
            "ServiceToken": {"Fn::ImportValue": "strongref-exporter"},
            "Region": US,
            "Consumer": "web",
            "Values": {
                "Johnny": {"BucketArn": {"Fn::GetAtt": ["Bucket", "Arn"]}, "BucketName": {"Ref": "Bucket"}},
                "Jenny": {"Zones": ["a", "b"], "Group": {"Id": "1"}},
                "Name": "n",
            },
        }
    ]


def test_another_consumer_or_other_regions_have_a_resource_of_their_own(world: World) -> None:
    stack = world.stack("network")
    for via in (TO_WEB, CrossRegion(regions=[US, EU], consumer="web"), CrossRegion(regions=[US]), CrossRegion()):
        stack.export_string("Name", "n", via=via)
    assert [(each.get("Consumer"), each.get("Region")) for each in values(stack)] == [
        ("web", US),
        ("web", [US, EU]),
        (None, US),
        (None, None),
    ]
    world.deploy(stack)
    assert sorted(world.cloud.values(US)) == [
        f"_shared/{ACCOUNT}/{EU}/network/Name",
        f"web/{ACCOUNT}/{EU}/network/Name",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CrossRegion(), CrossRegion(consumer="shared")),
        (CrossRegion(regions=[US]), CrossRegion(consumer=US)),
        (CrossRegion(consumer="a", regions=[US]), CrossRegion(consumer=f"a-{US}")),
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
        with pytest.raises(ExportedTwiceError, match=f"{name} is exported already, with another value"):
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
        (["a", "b,c"], "its item 2 holds a comma"),
        (["a", ""], "its item 2 is empty"),
        ([], "it is an empty list"),
        ("", "it is empty"),
        (" \n", "it is empty"),
        (3, "it is a number, and a string is needed"),
        (None, "it is nothing"),
        ({"a": "b"}, "it is a map, and none of CloudFormation's functions"),
        ({"Ref": "A", "Fn::Sub": "B"}, "it is a map"),
        ({1: "b"}, "it is a map"),
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
    with pytest.raises(BadValueError, match="a list is needed"):
        world.stack("network").export_string_list("Zones", cast("list[str]", given))


def test_a_lists_items_have_to_be_strings(world: World) -> None:
    with pytest.raises(BadValueError, match="its item 2 is a list, and a string is needed"):
        world.stack("network").export_string_list("Zones", cast("list[str]", ["a", ["b"]]))
    with pytest.raises(BadValueError, match="its item 1 is a number, and a string is needed"):
        world.stack("network").export_string_list("Zones", cast("list[str]", [1]))


@pytest.mark.parametrize("via", [TO_WEB, Parameters("/shared")])
@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ("", "it is empty"),
        ("a{{b", "'{{'"),
        ("a" * 8193, "8193 bytes"),
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
        def __init__(self, *parts: Any) -> None:  # noqa: ANN401 (any value)
            self.parts = parts

        def serialize(self, ctx: Any) -> None:  # noqa: ANN401 (a context)
            for part in self.parts:
                if isinstance(part, Tree):
                    ctx.write_object("A", part)
                else:
                    ctx.write_string("A", part)

    stack = world.stack("network")
    stack.export_object("Same", Twice("a", "a"))
    stack.export_object("Parts", Twice(Tree({"B": "b"}), Tree({"B": "b"})))
    for parts in (("a", "b"), ("a", Tree({})), (Tree({}), "a"), (Tree({"B": "b"}), Tree({"B": "c"}))):
        with pytest.raises(WrittenTwiceError):
            stack.export_object("Other", Twice(*parts))


def test_an_object_is_no_part_of_itself(world: World) -> None:
    parts: dict[str, Any] = {"A": "a"}
    parts["Self"] = Tree({"Deeper": Tree(parts)})
    whole = Tree(parts)
    parts["Self"].parts["Deeper"] = whole
    with pytest.raises(BadValueError, match="a part of itself"):
        world.stack("network").export_object("Whole", whole)


@pytest.mark.parametrize("via", [None, TO_WEB, Parameters("/shared")])
def test_a_logical_id_that_the_template_has_already_is_refused(world: World, via: Channel | None) -> None:
    stack = world.stack("network")
    stack.export_string("Name", "n", via=via)
    made = template(stack)
    (taken,) = {**made.get("Resources", {}), **made.get("Outputs", {})}
    for section in ("Resources", "Outputs"):
        other = world.stack("network", template={section: {taken: {"Type": "AWS::SNS::Topic"}}})
        with pytest.raises(TakenError, match=f"an output or resource {taken} of its own"):
            other.export_string("Name", "n", via=via)


# -- importing ---------------------------------------------------------------------------------------------------


def test_what_is_imported_at_synthesis_is_held_by_one_resource(world: World) -> None:
    produced(world, Johnny=BUCKET, Name="n", Zones=["a", "b"])
    stack = world.stack("web")
    assert stack.import_string("Name") == "n"
    assert stack.import_string_list("Zones") == ["a", "b"]
    assert stack.import_object("Johnny").read_string("BucketArn") == "Bucket-Arn"
    assert stack.import_string("Name") == "n"
    assert template(stack)["Resources"] == {
        "StrongrefImports": {
            "Type": "AWS::CloudFormation::WaitConditionHandle",
            "Metadata": {
                "strongref:imports": [
                    {"Fn::ImportValue": "Johnny-BucketArn"},
                    {"Fn::ImportValue": "Name"},
                    {"Fn::ImportValue": "Zones"},
                ]
            },
        }
    }
    assert world.asked["ListExports"] == 1


def test_of_an_object_only_what_is_read_is_held(world: World) -> None:
    produced(world, Johnny=BUCKET)
    stack = world.stack("web")
    stack.import_object("Johnny")
    assert template(stack) == {"AWSTemplateFormatVersion": "2010-09-09"}


@pytest.mark.parametrize("via", [None, FROM_NETWORK])
def test_imported_weakly_here_and_strongly_there_an_object_is_one_and_held(world: World, via: Channel | None) -> None:
    produced(world, via=TO_WEB if via else None, Johnny=BUCKET, Jenny=BUCKET)
    stack = world.stack("web", US if via else EU)
    weak = stack.import_object("Johnny", weak=True, via=via)
    weak.read_string("BucketArn")
    stack.import_object("Jenny", weak=True, via=via).read_string("BucketArn")
    assert "Resources" not in template(stack)
    assert stack.import_object("Johnny", via=via) is weak
    weak.read_string("BucketName")
    assert stack.import_object("Johnny", weak=True, via=via) is weak
    ((logical_id, resource),) = template(stack)["Resources"].items()
    if via:
        assert resource["Properties"]["Names"] == ["Johnny.BucketArn", "Johnny.BucketName"]
    else:
        held = [each["Fn::ImportValue"] for each in resource["Metadata"]["strongref:imports"]]
        assert held == ["Johnny-BucketArn", "Johnny-BucketName"]
        assert logical_id == "StrongrefImports"


def test_several_imports_from_one_stack_are_one_resource_with_all_their_names(world: World) -> None:
    stack = world.stack("web", US)
    ctx = stack.import_object("Johnny", type=AT_DEPLOYMENT, via=FROM_NETWORK)
    arn = ctx.read_string("BucketArn")
    zones = stack.import_string_list("Zones", type=AT_DEPLOYMENT, via=FROM_NETWORK)
    ctx.read_object("Group").read_string("Id", allow_unresolved=True)
    ((logical_id, resource),) = template(stack)["Resources"].items()
    assert resource == {
        "Type": "Custom::CrossRegionImport",
        "Properties": {
            "ServiceToken": {"Fn::ImportValue": "strongref-importer"},
            "From": {"Stack": "network", "Region": EU},
            "Names": ["Johnny.BucketArn", "Johnny.Group.Id", "Zones"],
        },
    }
    assert arn == {"Fn::GetAtt": [logical_id, "Johnny.BucketArn"]}
    assert zones == {"Fn::GetAtt": [logical_id, "Zones"]}


def test_other_ways_of_importing_have_resources_of_their_own(world: World) -> None:
    stack = world.stack("web", US)
    ways: list[tuple[CrossRegion, bool]] = [
        (FROM_NETWORK, False),
        (FROM_NETWORK, True),
        (CrossRegion(stack="network", region=EU, shared=True), False),
        (CrossRegion(stack="network", region=EU, consumer="fleet"), False),
        (CrossRegion(stack="network"), False),
        (CrossRegion(stack="network", account="222222222222"), False),
    ]
    for via, weak in ways:
        stack.import_string("Name", type=AT_DEPLOYMENT, weak=weak, via=via)
    found = [
        {key: value for key, value in each.items() if key not in ("ServiceToken", "Names")} for each in values(stack)
    ]
    assert found == [
        {"From": {"Stack": "network", "Region": EU}},
        {"From": {"Stack": "network", "Region": EU}, "Strength": "weak"},
        {"From": {"Stack": "network", "Region": EU}, "Shared": "true"},
        {"From": {"Stack": "network", "Region": EU}, "Consumer": "fleet"},
        {"From": {"Stack": "network"}},
        {"From": {"Stack": "network", "Account": "222222222222"}},
    ]


def test_what_has_no_room_in_one_answer_is_imported_by_several_resources(world: World) -> None:
    whole = Tree({f"Value{number:02d}": "v" * 250 for number in range(40)})
    produced(world, via=TO_WEB, Many=whole)
    for kind in ResolveType:
        stack = world.stack("web", US)
        read = whole.read(stack.import_object("Many", type=kind, via=FROM_NETWORK))
        names = [each["Names"] for each in values(stack)]
        assert len(names) > 3
        assert sorted(name for each in names for name in each) == [f"Many.{key}" for key in whole.parts]
        assert read.evaluated(world.deploy(stack)) == whole
        world.cloud.delete("web", US)


def test_values_that_are_known_to_be_short_share_one_answer(world: World) -> None:
    whole = Tree({f"Value{number:02d}": "v" for number in range(40)})
    produced(world, via=TO_WEB, Many=whole)
    stack = world.stack("web", US)
    whole.read(stack.import_object("Many", via=FROM_NETWORK))
    assert len(values(stack)) == 1
    world.deploy(stack)


def test_a_value_that_no_answer_has_room_for_cannot_be_held(world: World) -> None:
    produced(world, via=TO_WEB, Policy="p" * 4000)
    with pytest.raises(NotHeldError, match=r"Policy .* it takes 40\d\d bytes.* Say weak=True"):
        world.stack("web", US).import_string("Policy", via=FROM_NETWORK)
    assert world.stack("web", US).import_string("Policy", weak=True, via=FROM_NETWORK) == "p" * 4000


@pytest.mark.parametrize(
    ("name", "via", "close"),
    [
        ("JohnnyBucketArn", None, "Did you mean Johnny-BucketArn"),
        ("Nam", None, "Did you mean Name"),
        ("Nam", FROM_NETWORK, "Did you mean Name"),
        ("Nam", Parameters("/shared"), "Nam"),
    ],
)
def test_what_is_not_there_is_told_with_what_is_close(world: World, name: str, via: Channel | None, close: str) -> None:
    produced(world, via=TO_WEB if isinstance(via, CrossRegion) else via, Name="n", Johnny=BUCKET)
    stack = world.stack("web", US if isinstance(via, CrossRegion) else EU)
    with pytest.raises(NothingToImportError, match=close):
        stack.import_string(name, weak=True, via=via)
    assert not world.context_file.exists()


def test_nothing_is_told_of_what_is_not_close(world: World) -> None:
    with pytest.raises(NothingToImportError) as caught:
        world.stack("web").import_string("Name")
    assert str(caught.value) == (
        f"There is no Name in the CloudFormation exports of account {ACCOUNT} in {EU}. Deploy the stack that exports "
        "it first, or correct the name."
    )


def test_below_an_object_of_parameters_what_is_not_there_is_told(world: World) -> None:
    produced(world, via=Parameters("/shared"), Johnny=BUCKET)
    with pytest.raises(NothingToImportError, match="Did you mean /shared/Johnny/BucketArn"):
        world.stack("web").import_object("Johnny", weak=True, via=Parameters("/shared")).read_string("BucketArm")


@pytest.mark.parametrize("via", [FROM_NETWORK, Parameters("/shared")])
def test_what_is_of_another_kind_is_told(world: World, via: Channel) -> None:
    out = TO_WEB if isinstance(via, CrossRegion) else via
    produced(world, via=out, Thing=Tree({"Text": "t", "List": ["a"], "Object": Tree({"A": "a"})}))
    ctx = world.stack("web", US if out is TO_WEB else EU).import_object("Thing", weak=True, via=via)
    with pytest.raises(WrongKindError, match=r"Thing.List is a list: read it with read_string_list\."):
        ctx.read_string("List")
    with pytest.raises(WrongKindError, match=r"Thing.Text is a string: read it with read_string\."):
        ctx.read_string_list("Text")
    with pytest.raises(WrongKindError, match=r"Thing.Object is an object: read it with read_object\."):
        ctx.read_string("Object")
    with pytest.raises(WrongKindError, match="read_object"):
        ctx.read_string_list("Object")


def test_a_stack_does_not_import_its_own_exports(world: World) -> None:
    stack = world.stack("network")
    stack.export_string("Name", "n")
    for kind in ResolveType:
        with pytest.raises(OwnExportError) as caught:
            stack.import_string("Name", type=kind)
    assert str(caught.value) == (
        "Name is exported by stack network itself, and a stack cannot import its own exports. Use the value that it "
        "exports."
    )
    own = CrossRegion(stack="network", region=EU, account=ACCOUNT)
    for via in (own, CrossRegion(stack="network")):
        with pytest.raises(OwnExportError):
            stack.import_string("Name", via=via)
    stack.import_string("Name", type=AT_DEPLOYMENT, via=CrossRegion(stack="network", region=US))


def test_a_stack_does_not_export_what_it_imports(world: World) -> None:
    stack = world.stack("web")
    stack.import_string("Name", type=AT_DEPLOYMENT)
    with pytest.raises(OwnExportError):
        stack.export_string("Name", "n")


def test_a_stack_does_not_import_what_it_exported_when_it_was_deployed_last(world: World) -> None:
    produced(world, Name="n")
    with pytest.raises(OwnExportError):
        world.stack("network").import_string("Name")


@pytest.mark.parametrize("via", [None, FROM_NETWORK, Parameters("/shared")])
def test_without_a_region_nothing_is_looked_up(world: World, via: Channel | None) -> None:
    stack = world.stack("web", None)
    with pytest.raises(NoPlaceError) as caught:
        stack.import_string("Name", weak=True, via=via)
    assert str(caught.value) == (
        "Name cannot be looked up: the region of stack web is not known. Give the stack its region, or import with "
        "type=ResolveType.DEPLOYMENT."
    )
    stack.import_string("Name", type=AT_DEPLOYMENT, weak=via is not None, via=via)


def test_import_value_always_holds_so_it_is_not_weak(world: World) -> None:
    with pytest.raises(NotHeldError, match="Fn::ImportValue always holds what it imports"):
        world.stack("web").import_string("Name", type=AT_DEPLOYMENT, weak=True)


@pytest.mark.parametrize(
    ("via", "said"),
    [
        (None, "it is a list, which this channel joins to one"),
        (Parameters("/shared"), "it is a list, which this channel joins to one"),
        (FROM_NETWORK, "it is a list, and the program needs to know how long it is"),
    ],
)
def test_req8_at_deployment_a_list_is_refused_where_the_program_has_to_count_it(
    world: World, via: Channel | None, said: str
) -> None:
    stack = world.stack("web")
    ctx = stack.import_object("Net", type=AT_DEPLOYMENT, weak=isinstance(via, Parameters), via=via)
    with pytest.raises(UnresolvedError, match=said):
        ctx.read_string_list("Zones")
    assert template(stack) == {"AWSTemplateFormatVersion": "2010-09-09"}


@pytest.mark.parametrize("via", [None, Parameters("/shared")])
def test_req8_at_deployment_these_channels_have_no_lists(world: World, via: Channel | None) -> None:
    with pytest.raises(UnresolvedError, match=r"ResolveType\.SYNTHESIS"):
        world.stack("web").import_string_list("Zones", type=AT_DEPLOYMENT, weak=via is not None, via=via)


def test_at_deployment_a_parameter_is_a_dynamic_reference(world: World) -> None:
    found = world.stack("web").import_string("Name", type=AT_DEPLOYMENT, weak=True, via=Parameters("/shared"))
    assert found == "{{resolve:ssm:/shared/Name}}"


@pytest.mark.parametrize("via", [FROM_NETWORK, Parameters("/shared")])
def test_a_secret_is_put_into_no_template_and_no_file(world: World, via: Channel) -> None:
    if isinstance(via, CrossRegion):
        properties = {"Region": US, "Consumer": "web", "Values": {"Password": "hidden"}, "SecureKeys": ["Password"]}
        world.cloud.deploy("network", EU, {"Exports": properties})
    else:
        world.cloud.ssm(EU).put_parameter(Name="/shared/Password", Type="SecureString", Value="hidden")
    stack = world.stack("web", US if isinstance(via, CrossRegion) else EU)
    with pytest.raises(SecureObjectError) as caught:
        stack.import_string("Password", weak=True, via=via)
    assert "hidden" not in str(caught.value)
    assert caught.value.__context__ is None
    assert not world.context_file.exists()


def test_the_holders_name_has_to_be_free(world: World) -> None:
    produced(world, Name="n")
    stack = world.stack("web", template={"Resources": {"StrongrefImports": {"Type": "AWS::SNS::Topic"}}})
    assert stack.import_string("Name", weak=True) == "n"
    with pytest.raises(TakenError):
        stack.import_string("Name")


def test_the_import_resources_name_has_to_be_free(world: World) -> None:
    stack = world.stack("web", US)
    stack.import_string("Name", type=AT_DEPLOYMENT, via=FROM_NETWORK)
    (taken,) = template(stack)["Resources"]
    other = world.stack("web", US, template={"Resources": {taken: {"Type": "AWS::SNS::Topic"}}})
    with pytest.raises(TakenError, match="imports from stack network"):
        other.import_string("Name", type=AT_DEPLOYMENT, via=FROM_NETWORK)


def test_a_context_has_the_scope_and_an_id_that_is_the_objects_own(world: World) -> None:
    scope = object()
    stack = Stack(PlainTarget("web", US, ACCOUNT), synthesis=world.run(), scope=scope)
    imports: list[tuple[ResolveType, bool, Channel | None]] = [
        (ResolveType.SYNTHESIS, False, None),
        (AT_DEPLOYMENT, False, None),
        (ResolveType.SYNTHESIS, False, FROM_NETWORK),
        (AT_DEPLOYMENT, False, FROM_NETWORK),
        (AT_DEPLOYMENT, True, FROM_NETWORK),
        (ResolveType.SYNTHESIS, False, CrossRegion(stack="network", region=EU, shared=True)),
        (ResolveType.SYNTHESIS, True, Parameters("/a/b")),
    ]
    contexts = [stack.import_object("Web", type=kind, weak=weak, via=via) for kind, weak, via in imports]
    assert [each.id for each in contexts] == [
        "Web",
        "Web:deployment",
        f"Web:network.{EU}",
        f"Web:network.{EU}.deployment",
        f"Web:network.{EU}.deployment.weak",
        f"Web:network.{EU}._shared",
        "Web:a.b",
    ]
    assert all(each.scope is scope for each in contexts)
    part = contexts[0].read_object("Group")
    assert (part.id, part.scope) == ("Web-Group", scope)
    assert [stack.import_object(name).id for name in ("Web-Group", "Web:deployment")] == ["Web~Group", "Web+deployment"]


# -- channels ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"regions": ["Ireland"]}, "'Ireland' came"),
        ({"regions": "eu-west-1", "region": "nowhere"}, "'nowhere' came"),
        ({"stack": "network", "account": "1"}, "twelve digits"),
        ({"consumer": "_shared"}, "a label"),
        ({"stack": "net_work"}, "'net_work' came; the exporting stack's name is needed"),
    ],
)
def test_a_cross_region_channel_that_cannot_be_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadChannelError, match=problem):
        CrossRegion(**given)


def test_one_region_may_be_given_as_a_string() -> None:
    assert CrossRegion(regions=US) == CrossRegion(regions=[US])


@pytest.mark.parametrize("prefix", ["shared", "/", "", "/a b", "//a", "/aws/x", "/ssm", "/strongref/exports"])
def test_a_prefix_that_cannot_be_is_refused(prefix: str) -> None:
    with pytest.raises(BadChannelError):
        Parameters(prefix)


@pytest.mark.parametrize(
    "via",
    [CrossRegion(stack="network"), CrossRegion(shared=True), CrossRegion(region=EU), CrossRegion(account=ACCOUNT)],
)
def test_a_channel_that_says_whom_to_import_from_exports_nothing(world: World, via: Channel) -> None:
    with pytest.raises(BadChannelError, match="say whom to import from"):
        world.stack("web").export_string("Name", "n", via=via)


@pytest.mark.parametrize(
    ("via", "problem"),
    [
        (TO_WEB, "to import give the exporting stack's name"),
        (CrossRegion(stack="network", regions=[US]), "regions says where to export to"),
        (CrossRegion(stack="network", shared=True, consumer="web"), "leave one of the two out"),
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
        with pytest.raises(BadChannelError, match="give CloudFormation"):
            world.stack("web").export_string("Name", "n", via=cast("Channel", via))
        with pytest.raises(BadChannelError, match="or leave it out"):
            world.stack("web").import_string("Name", via=cast("Channel", via))


def test_a_type_may_be_given_by_its_word_and_no_other_word_is_one(world: World) -> None:
    stack = world.stack("web")
    assert stack.import_string("Name", type=cast("ResolveType", "Deployment")) == {"Fn::ImportValue": "Name"}
    with pytest.raises(NothingToImportError):
        stack.import_string("Other", type=cast("ResolveType", "Synthesis"))
    with pytest.raises(ValueError, match="Later"):
        stack.import_string("Name", type=cast("ResolveType", "Later"))


def test_two_stacks_of_one_template_forget_nothing_of_each_other(world: World) -> None:
    produced(world, Name="n", Other="o")
    target = PlainTarget("web", EU, ACCOUNT)
    first, second = (Stack(target, synthesis=world.run()) for _ in range(2))
    first.import_string("Name")
    second.import_string("Other")
    (holder,) = target.template()["Resources"].values()
    assert holder["Metadata"]["strongref:imports"] == [{"Fn::ImportValue": "Name"}, {"Fn::ImportValue": "Other"}]
    first.export_string("Own", "1")
    with pytest.raises(ExportedTwiceError):
        second.export_string("Own", "2")
    with pytest.raises(OwnExportError):
        second.import_string("Own")
    for stack, name in ((first, "A"), (second, "B")):
        stack.import_string(name, type=AT_DEPLOYMENT, via=FROM_NETWORK)
        stack.export_string(name, "x", via=TO_WEB)
    assert [each.get("Names") or list(each["Values"]) for each in values(first)] == [["A", "B"], ["A", "B"]]


def test_of_what_was_read_in_the_wrong_way_nothing_is_kept(world: World) -> None:
    produced(world, via=TO_WEB, Thing=Tree({"Object": Tree({"A": "a"})}))
    with pytest.raises(WrongKindError):
        world.stack("web", US).import_object("Thing", via=FROM_NETWORK).read_string("Object")
    assert not world.context_file.exists()
