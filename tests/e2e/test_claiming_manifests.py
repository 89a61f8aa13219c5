"""Manifests that claim what they use hold it as a stack does: against deployed functions, by the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.templates import EU, US, export, held, stack, topic
from tests.e2e.test_holds import hold_stacks
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

COMMAND = Path(sys.executable).with_name("strongref")
REFUSED = "UPDATE_ROLLBACK_COMPLETE"


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    """Values for a cluster, whose consumer is no stack."""
    world = World.of(aws, names)
    world.publish({"VpcId": "vpc-1", "Zone": "z-1"}, "CREATE_COMPLETE")
    return world


def strongref(world: World, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = world.aws.emulator.env(world.aws.account, US)
    command = [str(COMMAND), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603


def test_what_manifests_claim_is_not_changed_until_they_let_go(world: World, tmp_path: Path) -> None:
    manifests, out, name = tmp_path / "manifests", tmp_path / "out", f"shop-{world.consumer}"
    manifests.mkdir()
    token = f"${{export:{world.producer}.VpcId@{EU}}}"
    (manifests / "service.yaml").write_text(f"kind: Service\nspec: {{vpc: '{token}'}} # ours\n")
    done = strongref(world, "resolve", manifests, "-o", out, "--claim", name, "--consumer", world.consumer)
    assert (done.returncode, done.stdout) == (0, "")
    assert (out / "service.yaml").read_text() == "kind: Service\nspec: {vpc: 'vpc-1'} # ours\n"

    world.publish({"VpcId": "vpc-2", "Zone": "z-1"}, REFUSED)
    assert f"VpcId cannot be changed: it is imported by manifests {name} ({world.aws.account})." in world.why()
    world.publish({"VpcId": "vpc-1", "Zone": "z-2"}, "UPDATE_COMPLETE")  # which they do not use
    shown = json.loads(strongref(world, "list", "--consumer", world.consumer, "--output", "json").stdout)
    importers = {each["key"]: [(who["kind"], who["name"]) for who in each["importers"]] for each in shown["exports"]}
    assert importers == {"VpcId": [("manifests", name)], "Zone": []}

    freed = strongref(world, "resolve", "--unclaim", name)
    assert freed.returncode == 0, freed.stderr
    world.publish({"VpcId": "vpc-2"}, "UPDATE_COMPLETE")
    assert world.values() == {"VpcId": "vpc-2"}


def test_with_hold_the_producer_is_not_deleted_until_they_are_unclaimed(
    aws: Aws, names: Callable[[str], str], tmp_path: Path
) -> None:
    """CloudFormation also refuses an update that removes the Export with what it exports."""
    world = World.of(aws, names)
    exports = export({"Arn": {"Ref": "Topic"}}, consumer=world.consumer)
    aws.deploy(world.producer, held({"Topic": topic(), "Exports": exports}), EU, "CREATE_COMPLETE")
    manifest, name = tmp_path / "service.yaml", f"shop-{world.consumer}"
    manifest.write_text(f"topic: ${{export:{world.producer}.Arn@{EU}}}\n")
    claim: list[str | Path] = [
        "resolve",
        manifest,
        "-o",
        tmp_path / "out",
        "--claim",
        name,
        "--consumer",
        world.consumer,
    ]

    done = strongref(world, *claim, "--hold")
    assert done.returncode == 0, done.stderr
    (hold,) = hold_stacks(world, consumer=name)
    before = aws.physical_ids(world.producer, EU)
    aws.delete(world.producer, EU, expect="CREATE_COMPLETE")
    assert f"Cannot delete export {world.producer}-Exports as it is in use by {hold}" in world.why()
    aws.deploy(world.producer, stack({"Other": topic()}), EU, REFUSED)
    assert aws.physical_ids(world.producer, EU) == before

    without = strongref(world, *claim)
    assert (without.returncode, hold_stacks(world, consumer=name)) == (0, []), without.stderr
    assert strongref(world, *claim, "--hold").returncode == 0
    assert hold_stacks(world, consumer=name) == [hold]
    freed = strongref(world, "resolve", "--unclaim", name)
    assert (freed.returncode, hold_stacks(world, consumer=name)) == (0, []), freed.stderr
    aws.delete(world.producer, EU)
    assert world.all_stored() == {}


def test_a_manifest_that_cannot_be_claimed_for_is_not_written(world: World, tmp_path: Path) -> None:
    manifest, out = tmp_path / "service.yaml", tmp_path / "out"
    manifest.write_text(f"a: ${{export:{world.producer}.VpcId@{EU}}}\nb: ${{export:{world.producer}.Subnet@{EU}}}\n")
    done = strongref(world, "resolve", manifest, "-o", out, "--claim", "shop", "--consumer", world.consumer)
    assert done.returncode == 1
    assert "service.yaml, document 1, b: " in done.stderr
    assert not out.exists()
    assert world.claims("VpcId") == []
