"""What a stack cannot import, each with a text that says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.contract.names import short_hash
from strongref_objects import CrossRegion, Parameters, ResolveType
from strongref_objects.base.errors import (
    BadStrengthError,
    LogicalIdTakenError,
    NothingToImportError,
    OwnExportError,
    SecureObjectError,
    UnknownLocationError,
    UnresolvedImportError,
    WrongKindError,
)
from tests.support.builders import ACCOUNT
from tests.support.objects import EU, US, Tree, World, produced, template

if TYPE_CHECKING:
    from pathlib import Path

    from strongref_objects.channels import Channel

AT_DEPLOYMENT = ResolveType.DEPLOYMENT
BUCKET = Tree({"BucketArn": {"Fn::GetAtt": ["Bucket", "Arn"]}, "BucketName": {"Ref": "Bucket"}})
TO_WEB = CrossRegion(regions=[US], consumer="web")
FROM_NETWORK = CrossRegion(stack="network", region=EU)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "context.json")


def test_a_value_that_no_answer_has_room_for_cannot_be_held(world: World) -> None:
    produced(world, via=TO_WEB, Policy="p" * 4000)
    with pytest.raises(BadStrengthError, match=r"Policy .* it takes 40\d\d bytes.* Set weak=True"):
        world.stack("web", US).import_string("Policy", via=FROM_NETWORK)
    assert world.stack("web", US).import_string("Policy", weak=True, via=FROM_NETWORK) == "p" * 4000


def test_a_value_is_as_large_as_its_bytes_in_an_answer(world: World) -> None:
    produced(world, via=TO_WEB, Policy="ü" * 1600)
    assert world.stack("web", US).import_string("Policy", via=FROM_NETWORK) == "ü" * 1600


@pytest.mark.parametrize(
    ("name", "via", "close"),
    [
        ("JohnnyBucketArn", None, "Did you mean Johnny-BucketArn"),
        ("Nam", None, "Did you mean Name"),
        ("Nam", FROM_NETWORK, "Did you mean Name"),
        ("Nam", Parameters("/shared"), "Nam"),
    ],
)
def test_what_is_not_there_is_reported_with_what_is_close(
    world: World, name: str, via: Channel | None, close: str
) -> None:
    produced(world, via=TO_WEB if isinstance(via, CrossRegion) else via, Name="n", Johnny=BUCKET)
    stack = world.stack("web", US if isinstance(via, CrossRegion) else EU)
    with pytest.raises(NothingToImportError, match=close):
        stack.import_string(name, weak=True, via=via)
    assert not world.context_file.exists()


def test_nothing_is_reported_of_what_is_not_close(world: World) -> None:
    with pytest.raises(NothingToImportError) as caught:
        world.stack("web").import_string("Name")
    assert str(caught.value) == (
        f"There is no Name in the CloudFormation exports of account {ACCOUNT} in {EU}. Deploy the stack that exports "
        "it first, or correct the name."
    )


def test_below_an_object_of_parameters_what_is_not_there_is_reported(world: World) -> None:
    produced(world, via=Parameters("/shared"), Johnny=BUCKET)
    with pytest.raises(NothingToImportError, match="Did you mean /shared/Johnny/BucketArn"):
        world.stack("web").import_object("Johnny", weak=True, via=Parameters("/shared")).read_string("BucketArm")


@pytest.mark.parametrize("via", [FROM_NETWORK, Parameters("/shared")])
def test_what_is_of_another_kind_is_reported(world: World, via: Channel) -> None:
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
        "Name is exported by stack network itself, and a stack cannot import its own exports. Use the exported value "
        "directly."
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


def test_an_import_that_fails_leaves_the_name_to_be_exported(world: World) -> None:
    for via in (None, Parameters("/shared")):
        stack = world.stack("web")
        for kind in (ResolveType.SYNTHESIS, AT_DEPLOYMENT):
            with pytest.raises((NothingToImportError, UnresolvedImportError)):
                stack.import_string_list("Name", type=kind, weak=via is not None, via=via)
        stack.import_object("Name", weak=True, via=via)
        stack.export_string("Name", "made here instead", via=via)
        with pytest.raises(OwnExportError):
            stack.import_string("Name", weak=True, via=via)


@pytest.mark.parametrize("kind", list(ResolveType))
def test_a_stack_knows_its_own_exports_by_what_they_are_called(world: World, kind: ResolveType) -> None:
    produced(world, Web=Tree({"A": "a"}), Webb="b")
    stack = world.stack("web")
    stack.export_string("my-vpc", "n")
    stack.export_object("Thing", Tree({"A-B": "1"}))
    with pytest.raises(OwnExportError):
        stack.import_string("myvpc", type=kind)
    with pytest.raises(OwnExportError, match=r"Thing\.AB is exported by stack web itself"):
        stack.import_object("Thing", type=kind).read_string("AB")
    stack.import_object("Web", type=kind).read_string("A")
    with pytest.raises(OwnExportError):
        stack.export_object("We-b", Tree({"-A": "a"}))
    stack.export_object("Web", Tree({"B": "another key of what somebody else exports"}))


@pytest.mark.parametrize("kind", list(ResolveType))
def test_a_stack_does_not_import_its_own_parameters(world: World, kind: ResolveType) -> None:
    via = Parameters("/shared")
    stack = world.stack("web")
    stack.export_object("Web", Tree({"A": "a"}), via=via)
    ctx = stack.import_object("Web", type=kind, weak=True, via=via)
    with pytest.raises(OwnExportError):
        ctx.read_string("A")
    with pytest.raises(OwnExportError):
        stack.import_string("A", type=kind, weak=True, via=Parameters("/shared/Web"))
    stack.import_string("B", type=AT_DEPLOYMENT, weak=True, via=via)
    with pytest.raises(OwnExportError):
        stack.export_string("B", "b", via=via)


def test_a_stack_does_not_import_its_own_exports_from_the_context_file_either(world: World) -> None:
    produced(world, Name="n")
    assert world.stack("web").import_string("Name") == "n"
    asked = world.asked["ListExports"]
    with pytest.raises(OwnExportError):
        world.stack("network").import_string("Name")
    assert world.stack("other").import_string("Name") == "n"
    assert world.asked["ListExports"] == asked


@pytest.mark.parametrize("via", [None, FROM_NETWORK, Parameters("/shared")])
def test_without_a_region_nothing_is_looked_up(world: World, via: Channel | None) -> None:
    stack = world.stack("web", None)
    with pytest.raises(UnknownLocationError) as caught:
        stack.import_string("Name", weak=True, via=via)
    assert str(caught.value) == (
        "Name cannot be looked up: the region of web is unknown. Set its region, or import with "
        "type=ResolveType.DEPLOYMENT."
    )
    stack.import_string("Name", type=AT_DEPLOYMENT, weak=via is not None, via=via)


def test_import_value_always_holds_so_it_is_not_weak(world: World) -> None:
    with pytest.raises(BadStrengthError, match="Fn::ImportValue always holds what it imports"):
        world.stack("web").import_string("Name", type=AT_DEPLOYMENT, weak=True)


@pytest.mark.parametrize(
    ("via", "said"),
    [
        (None, "it is a list, which this channel joins to one text"),
        (Parameters("/shared"), "it is a list, and a dynamic reference returns one text"),
        (FROM_NETWORK, "it is a list, and the program needs to know its length"),
    ],
)
def test_req8_at_deployment_a_list_is_refused_where_the_program_has_to_count_it(
    world: World, via: Channel | None, said: str
) -> None:
    stack = world.stack("web")
    ctx = stack.import_object("Net", type=AT_DEPLOYMENT, weak=isinstance(via, Parameters), via=via)
    with pytest.raises(UnresolvedImportError, match=said):
        ctx.read_string_list("Zones")
    assert template(stack) == {"AWSTemplateFormatVersion": "2010-09-09"}


@pytest.mark.parametrize("via", [None, Parameters("/shared")])
def test_req8_at_deployment_these_channels_have_no_lists(world: World, via: Channel | None) -> None:
    with pytest.raises(UnresolvedImportError, match=r"ResolveType\.SYNTHESIS"):
        world.stack("web").import_string_list("Zones", type=AT_DEPLOYMENT, weak=via is not None, via=via)


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
    taken = f"StrongrefHolder{short_hash('Name')}"
    stack = world.stack("web", template={"Resources": {taken: {"Type": "AWS::SNS::Topic"}}})
    assert stack.import_string("Name", weak=True) == "n"
    with pytest.raises(LogicalIdTakenError):
        stack.import_string("Name")


def test_the_import_resources_name_has_to_be_free(world: World) -> None:
    stack = world.stack("web", US)
    stack.import_string("Name", type=AT_DEPLOYMENT, via=FROM_NETWORK)
    (taken,) = template(stack)["Resources"]
    other = world.stack("web", US, template={"Resources": {taken: {"Type": "AWS::SNS::Topic"}}})
    with pytest.raises(LogicalIdTakenError, match="imports from stack network"):
        other.import_string("Name", type=AT_DEPLOYMENT, via=FROM_NETWORK)
