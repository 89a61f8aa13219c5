"""Settings of objects: how something was made, for programs that generate templates. Nothing refers to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref_objects import CrossRegion, Parameters, ResolveType
from strongref_objects.base.errors import NothingToImportError
from strongref_objects.channels.texts import JsonSerializationContext, from_json
from strongref_objects.types import SecurityGroup
from tests.support.objects import EU, US, Tree, World, custom, produced, template

if TYPE_CHECKING:
    from pathlib import Path

    from strongref_objects.channels import Channel

ID = {"Fn::GetAtt": ["Group", "GroupId"]}
OLD = Tree({"SecurityGroupId": ID})
NEW = Tree({"SecurityGroupId": ID, "AllowAllOutbound": "false"})
CHANNELS: dict[str, tuple[Channel | None, Channel | None]] = {
    "CloudFormation": (None, None),
    "strongref": (CrossRegion(regions=[US], consumer="web"), CrossRegion(stack="network", region=EU)),
    "parameters": (Parameters("/shared"), Parameters("/shared")),
}
every_channel = pytest.mark.parametrize("channel", CHANNELS)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "context.json")


def imported(world: World, channel: str, when: ResolveType = ResolveType.SYNTHESIS) -> tuple[SecurityGroup, str]:
    """The group that a stack imports, and what its template has of it."""
    stack = world.stack("web", US if channel == "strongref" else EU)
    via = CHANNELS[channel][1]
    found = stack.import_object("Group", via=via, type=when, weak=channel == "parameters")
    return SecurityGroup.deserialize(found), str(template(stack)) + str(custom(stack))


@every_channel
def test_a_setting_is_read_at_synthesis_and_nothing_holds_it(world: World, channel: str) -> None:
    produced(world, via=CHANNELS[channel][0], Group=NEW)
    group, held = imported(world, channel)
    assert group == SecurityGroup("Group-GroupId", allow_all_outbound=False)
    assert ("SecurityGroupId" in held) is (channel != "parameters")
    assert "AllowAllOutbound" not in held


@every_channel
def test_at_deployment_no_setting_is_read(world: World, channel: str) -> None:
    produced(world, via=CHANNELS[channel][0], Group=NEW)
    group, used = imported(world, channel, ResolveType.DEPLOYMENT)
    assert group.allow_all_outbound is None
    assert "AllowAllOutbound" not in used


@every_channel
def test_what_was_exported_without_its_settings_is_imported_and_not_looked_up_again(world: World, channel: str) -> None:
    produced(world, via=CHANNELS[channel][0], Group=OLD)
    assert imported(world, channel)[0] == SecurityGroup("Group-GroupId")
    asked = dict(world.asked)
    assert imported(world, channel)[0] == SecurityGroup("Group-GroupId")
    assert world.asked == asked


@every_channel
def test_its_owner_can_change_a_setting_while_it_is_imported(world: World, channel: str) -> None:
    produced(world, via=CHANNELS[channel][0], Group=NEW)
    stack = world.stack("web", US if channel == "strongref" else EU)
    SecurityGroup.deserialize(stack.import_object("Group", via=CHANNELS[channel][1], weak=channel == "parameters"))
    world.deploy(stack)
    produced(world, via=CHANNELS[channel][0], Group=OLD)


def test_an_object_that_is_not_there_is_refused_although_settings_need_not_be_there(world: World) -> None:
    produced(world, Other=NEW)
    with pytest.raises(NothingToImportError, match="Group-SecurityGroupId"):
        imported(world, "CloudFormation")


@pytest.mark.parametrize(("given", "written"), [(False, "false"), (True, "true"), (443, "443"), ("x", "x")])
def test_settings_are_written_as_texts(given: bool | int | str, written: str) -> None:
    ctx = JsonSerializationContext()
    SecurityGroup("sg-1", allow_all_outbound=given).serialize(ctx)
    assert ctx.json == {"securityGroupId": "sg-1", "allowAllOutbound": written}
    assert SecurityGroup.deserialize(from_json(ctx.json)) == SecurityGroup("sg-1", allow_all_outbound=given)
