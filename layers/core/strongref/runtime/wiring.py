"""The use cases wired to AWS, for the functions: one session, one client per service and region, one limiter."""

from __future__ import annotations

import random
import secrets
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from strongref.aws.clients import Clients
from strongref.aws.lambda_functions import Invoker
from strongref.aws.retry_and_rate_limit import RateLimiter, RateLimits
from strongref.contract.event import RequestType

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.contract.event import Event
    from strongref.contract.response import Response
    from strongref.lookup.finder import Finder
    from strongref.protocol.janitor import Janitor
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock

PATIENCE = 120.0
"""Seconds to wait for others: longer than a fence stands whose holder has died (`fencing.FENCE_SECONDS`)."""

PATIENCE_TO_CREATE_AN_IMPORT = 20.0
"""Seconds. Nothing is lost if that fails; an Update may be a roll-back, which must not."""

JANITORS_PATIENCE = 5.0
"""Seconds. What is left is found again the next time."""

JANITORS_SHARE = 0.5
"""Of the calls a second that are allowed to a function."""

PAUSE = 2.0


class CustomResourceFunction(NamedTuple):
    """What a custom resource's function is made of."""

    handle: Callable[[Event, Clock], Response]
    hand_over: Invoker


def exporter() -> CustomResourceFunction:
    """What the exporter's function does with each event."""
    from strongref.protocol.exports import Exporter  # noqa: PLC0415 (each function starts with its own use case alone)

    clients, limiter = Clients(), RateLimiter(RateLimits.from_environment())

    def handle(event: Event, clock: Clock) -> Response:
        return Exporter(_ports(clients, limiter, event.account, clock, PATIENCE)).handle(event, clock)

    return CustomResourceFunction(handle, Invoker(clients.functions, limiter))


def importer() -> CustomResourceFunction:
    """What the importer's function does with each event."""
    from strongref.protocol.imports import Importer  # noqa: PLC0415 (as above)

    clients, limiter = Clients(), RateLimiter(RateLimits.from_environment())

    def handle(event: Event, clock: Clock) -> Response:
        patience = PATIENCE_TO_CREATE_AN_IMPORT if event.request_type is RequestType.CREATE else PATIENCE
        return Importer(_ports(clients, limiter, event.account, clock, patience)).handle(event, clock)

    return CustomResourceFunction(handle, Invoker(clients.functions, limiter))


def lookup() -> CustomResourceFunction:
    """What the lookup function does with each event."""
    from strongref.lookup.custom_resource import ResourceLookup  # noqa: PLC0415 (as above)

    clients, limiter = Clients(), RateLimiter(RateLimits.from_environment())

    def finder(region: str, clock: Clock) -> Finder:
        # The events that find something need these, and the table of all types; a Delete does not.
        from strongref.aws.cloud_control import CloudControlApi  # noqa: PLC0415
        from strongref.aws.tagging import TaggingApi  # noqa: PLC0415
        from strongref.lookup.finder import Finder  # noqa: PLC0415

        return Finder(
            CloudControlApi(clients.cloudcontrol, region, limiter, clock),
            TaggingApi(clients.tagging, region, limiter, clock),
        )

    return CustomResourceFunction(ResourceLookup(finder).handle, Invoker(clients.functions, limiter))


class JanitorFunction(NamedTuple):
    """What the janitor's function is made of."""

    janitor: Callable[[str, str, Clock], Janitor]
    """Given an account, a region and the invocation's time."""
    hand_over: Invoker


def janitor() -> JanitorFunction:
    """What the janitor's function does, in no hurry: others need the quotas more."""
    from strongref.protocol.janitor import Janitor  # noqa: PLC0415 (as above)

    clients, limiter = Clients(), RateLimiter(RateLimits.from_environment().share(JANITORS_SHARE))

    def make(account: str, region: str, clock: Clock) -> Janitor:
        return Janitor(_ports(clients, limiter, account, clock, JANITORS_PATIENCE), region)

    return JanitorFunction(make, Invoker(clients.functions, limiter))


def _ports(clients: Clients, limiter: RateLimiter, account: str, clock: Clock, patience: float) -> Ports:
    """An invocation's ports, over clients and a limiter that live as long as the function."""
    # Not needed by lookups.
    from strongref.aws.cloudformation import CloudFormationStacks  # noqa: PLC0415
    from strongref.aws.parameter_store import Stores  # noqa: PLC0415
    from strongref.protocol.ports import Ports  # noqa: PLC0415
    from strongref.protocol.time import Patience  # noqa: PLC0415

    return Ports(
        stores=Stores(clients.ssm, limiter),
        # The function runs in the account of its stack, so the clients have that account's credentials.
        stacks=CloudFormationStacks(clients.cloudformation, limiter, clock, account=account),
        patience=Patience(patience, PAUSE, random.random),
        token=partial(secrets.token_hex, 4),
    )
