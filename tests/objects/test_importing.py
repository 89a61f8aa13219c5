"""What a stack imports, and how it is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.contract.names import short_hash
from strongref_objects import CrossRegion, Parameters, PlainTarget, ResolveType, Stack
from tests.support.builders import ACCOUNT
from tests.support.objects import EU, US, Tree, World, custom, held_by, item, produced, template, use

if TYPE_CHECKING:
    from pathlib import Path

    from strongref_objects.channels import Channel

AT_DEPLOYMENT = ResolveType.DEPLOYMENT
LINE = "\n"
BUCKET = Tree({"BucketArn": {"Fn::GetAtt": ["Bucket", "Arn"]}, "BucketName": {"Ref": "Bucket"}})
TO_WEB = CrossRegion(regions=[US], consumer="web")
FROM_NETWORK = CrossRegion(stack="network", region=EU)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "context.json")


def test_what_is_imported_at_synthesis_is_held_by_one_resource(world: World) -> None:
    produced(world, Johnny=BUCKET, Name="n", Zones=["a", "b"])
    stack = world.stack("web")
    assert stack.import_string("Name") == "n"
    assert stack.import_string_list("Zones") == ["a", "b"]
    assert stack.import_object("Johnny").read_string("BucketArn") == "Bucket-Arn"
    assert stack.import_string("Name") == "n"
    names = ["Johnny-BucketArn", "Name", *sorted(f"Zones{item(each)}" for each in ("a", "b"))]
    imports = [{"Fn::ImportValue": each} for each in names]
    assert template(stack)["Resources"] == {
        f"StrongrefHolder{short_hash(LINE.join(names))}": {
            "Type": "AWS::SSM::Parameter",
            "Properties": {
                "Type": "String",
                "Tier": "Standard",
                "Name": {"Fn::Sub": f"/strongref/object-holds/${{AWS::StackName}}/{short_hash(LINE.join(names))}"},
                "Description": "Holds the CloudFormation exports that this stack uses. Nothing reads it.",
                "Value": {"Fn::Select": [0, {"Fn::Split": ["|", {"Fn::Join": ["|", ["held", *imports]]}]}]},
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
    use(stack, weak.read_string("BucketArn"), weak.read_string("BucketName"))
    assert stack.import_object("Johnny", weak=True, via=via) is weak
    found = template(stack)["Resources"].items()
    ((logical_id, resource),) = (each for each in found if each[0].startswith("Strongref"))
    if via:
        assert resource["Properties"]["Names"] == ["Johnny.BucketArn", "Johnny.BucketName"]
    else:
        held = held_by({logical_id: resource})
        assert held == ["Johnny-BucketArn", "Johnny-BucketName"]
        assert logical_id == f"StrongrefHolder{short_hash(LINE.join(held))}"


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
        {key: value for key, value in each.items() if key not in ("ServiceToken", "Names")} for each in custom(stack)
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
    whole = Tree({f"Value{number:02d}": f"{number:02d}" * 125 for number in range(40)})
    produced(world, via=TO_WEB, Many=whole)
    for kind in ResolveType:
        stack = world.stack("web", US)
        read = whole.read(stack.import_object("Many", type=kind, via=FROM_NETWORK))
        use(stack, *read.parts.values())
        names = [each["Names"] for each in custom(stack)]
        assert len(names) > 3
        assert sorted(name for each in names for name in each) == [f"Many.{key}" for key in whole.parts]
        assert read.evaluated(world.deploy(stack)) == whole
        world.cloud.delete("web", US)


def test_values_that_are_known_to_be_short_share_one_answer(world: World) -> None:
    whole = Tree({f"Value{number:02d}": "v" for number in range(40)})
    produced(world, via=TO_WEB, Many=whole)
    stack = world.stack("web", US)
    whole.read(stack.import_object("Many", via=FROM_NETWORK))
    assert len(custom(stack)) == 1
    world.deploy(stack)


def test_at_deployment_a_parameter_is_a_dynamic_reference(world: World) -> None:
    found = world.stack("web").import_string("Name", type=AT_DEPLOYMENT, weak=True, via=Parameters("/shared"))
    assert found == "{{resolve:ssm:/shared/Name}}"


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
