"""Deployed functions that think they may call faster than they may: throttled, and never failed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.templates import EMPTY, EU, US
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.harness import Aws

COUNT = 10


@pytest.fixture
def world(throttled: Aws, names: Callable[[str], str]) -> Iterator[World]:
    """An account whose quotas are far below its functions' rate limits, half of them taken by others.

    Far below what any machine does, too: that its calls are throttled does not depend on its speed.
    """
    throttled.emulator.limit(throttled.account, reads=20, puts=2, tags=4, deletes=2, others=0.5)
    yield World.of(throttled, names)
    throttled.emulator.limit(throttled.account)


def test_a_throttled_deployment_takes_longer_and_succeeds(world: World) -> None:
    values = {f"Key{number:03d}": f"value-{number}" for number in range(COUNT)}
    world.publish(values, "CREATE_COMPLETE")
    world.consume(*values, expect="CREATE_COMPLETE")
    world.aws.delete(world.consumer, US)
    world.aws.deploy(world.producer, EMPTY, EU, "UPDATE_COMPLETE")
    assert world.aws.emulator.throttled(world.aws.account) > COUNT / 3
    world.aws.emulator.limit(world.aws.account)
    assert world.all_stored() == {}
