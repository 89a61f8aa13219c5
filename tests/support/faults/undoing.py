"""What CloudFormation does about an event that failed, or was never answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from tests.support.faults.world import ROLL_BACK, ROLL_BACK_CLEAN_UP, Request, Visit, World

if TYPE_CHECKING:
    from tests.support.faults.functions import Delivery


def undo(world: World, request: Request | Visit, *, again: bool) -> list[Delivery]:
    """Roll a Create or an Update back, as it stands in the stack's list of resources; the stack comes to rest.

    Args:
        world: where.
        request: what failed.
        again: it cannot be rolled back: the same is asked once more.
    """
    if again or isinstance(request, Visit):
        return [_ask(world, request)]
    return _delete(world, request) if request.kind is RequestType.CREATE else _update(world, request)


def _delete(world: World, request: Request) -> list[Delivery]:
    stack = world.stacks[request.stack]
    created = stack.status == "CREATE_IN_PROGRESS"
    # A resource whose Create was never answered has an id that CloudFormation made up.
    physical_id = stack.resources[request.logical_id].physical_id or f"{stack.name}-{request.logical_id}-1ABCDEF"
    world.in_phase(stack.arn, "ROLLBACK_IN_PROGRESS" if created else ROLL_BACK_CLEAN_UP)
    delivery = _ask(world, Request(RequestType.DELETE, stack.arn, request.logical_id, request.properties, physical_id))
    if delivery.status == "SUCCESS":
        world.stacks[stack.arn] = world.stacks[stack.arn].having(request.logical_id, None)
    world.in_phase(stack.arn, "ROLLBACK_COMPLETE" if created else "UPDATE_ROLLBACK_COMPLETE")
    return [delivery]


def _update(world: World, request: Request) -> list[Delivery]:
    assert request.old is not None
    arn, logical_id = request.stack, request.logical_id
    current = world.stacks[arn].resources[logical_id].physical_id
    world.in_phase(arn, ROLL_BACK)
    deliveries = [_ask(world, Request(RequestType.UPDATE, arn, logical_id, request.old, current, request.properties))]
    world.in_phase(arn, ROLL_BACK_CLEAN_UP)
    if world.stacks[arn].resources[logical_id].physical_id != current:
        deliveries.append(_ask(world, Request(RequestType.DELETE, arn, logical_id, request.properties, current)))
    world.in_phase(arn, "UPDATE_ROLLBACK_COMPLETE")
    return deliveries


def _ask(world: World, request: Request | Visit) -> Delivery:
    delivery = world.ask(request)
    world.note(request, delivery)
    return delivery
