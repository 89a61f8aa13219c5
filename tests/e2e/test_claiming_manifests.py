"""Manifests that claim what they use hold it as a stack does: against deployed functions, by the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.templates import EU, US
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
    shown = strongref(world, "ls", "--consumer", world.consumer).stdout
    assert f"VpcId  published, imported by manifests {name} ({world.aws.account})\n    Zone  published\n" in shown

    freed = strongref(world, "resolve", "--unclaim", name)
    assert freed.returncode == 0, freed.stderr
    world.publish({"VpcId": "vpc-2"}, "UPDATE_COMPLETE")
    assert world.values() == {"VpcId": "vpc-2"}


def test_a_manifest_that_cannot_be_claimed_for_is_not_written(world: World, tmp_path: Path) -> None:
    manifest, out = tmp_path / "service.yaml", tmp_path / "out"
    manifest.write_text(f"a: ${{export:{world.producer}.VpcId@{EU}}}\nb: ${{export:{world.producer}.Subnet@{EU}}}\n")
    done = strongref(world, "resolve", manifest, "-o", out, "--claim", "shop", "--consumer", world.consumer)
    assert done.returncode == 1
    assert "service.yaml, document 1, b: " in done.stderr
    assert not out.exists()
    assert world.claims("VpcId") == []
