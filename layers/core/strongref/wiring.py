"""The use cases wired to AWS, for the functions: one session, one client per service and region, one limiter."""

from __future__ import annotations

import random
import secrets
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from strongref.clients import Clients
from strongref.event import RequestType
from strongref.invoking import Invoker
from strongref.limiter import Limiter, Rates
from strongref.patience import Patience
from strongref.ports import Ports
from strongref.stacks import CloudFormationStacks
from strongref.store import Stores

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.answer import Answer
    from strongref.event import Event
    from strongref.lookup.finding import Finder
    from strongref.ports import Clock
    from strongref.tending import Janitor

PATIENCE = 120.0
"""Seconds to wait for others: longer than a fence stands whose holder has died (`fencing.FENCE_SECONDS`)."""

PATIENCE_TO_CREATE_AN_IMPORT = 20.0
"""Seconds. Nothing is lost if that fails; an Update may be a roll-back, which must not."""

JANITORS_PATIENCE = 5.0
"""Seconds. What is left is found again the next time."""

JANITORS_SHARE = 0.5
"""Of the calls a second that are allowed to a function."""

PAUSE = 2.0


class Function(NamedTuple):
    """What a custom resource's function is made of."""

    handle: Callable[[Event, Clock], Answer]
    hand_over: Invoker


def exporter() -> Function:
    """What the exporter's function does with each event."""
    from strongref.exports import Exports  # noqa: PLC0415 (each function starts with its own use case alone)

    clients, limiter = Clients(), Limiter(Rates.from_environment())

    def handle(event: Event, clock: Clock) -> Answer:
        return Exports(_ports(clients, limiter, event.account, clock, PATIENCE)).handle(event, clock)

    return Function(handle, Invoker(clients.functions, limiter))


def importer() -> Function:
    """What the importer's function does with each event."""
    from strongref.imports import Imports  # noqa: PLC0415 (as above)

    clients, limiter = Clients(), Limiter(Rates.from_environment())

    def handle(event: Event, clock: Clock) -> Answer:
        patience = PATIENCE_TO_CREATE_AN_IMPORT if event.request_type is RequestType.CREATE else PATIENCE
        return Imports(_ports(clients, limiter, event.account, clock, patience)).handle(event, clock)

    return Function(handle, Invoker(clients.functions, limiter))


def lookup() -> Function:
    """What the look-up's function does with each event."""
    from strongref.lookups import Lookups  # noqa: PLC0415 (as above)

    clients, limiter = Clients(), Limiter(Rates.from_environment())

    def finder(region: str, clock: Clock) -> Finder:
        # The events that find something need these, and the table of all types; a Delete does not.
        from strongref.lookup.cloudcontrol import CloudControlApi  # noqa: PLC0415
        from strongref.lookup.finding import Finder  # noqa: PLC0415
        from strongref.lookup.tagging import TaggingApi  # noqa: PLC0415

        return Finder(
            CloudControlApi(clients.cloudcontrol, region, limiter, clock),
            TaggingApi(clients.tagging, region, limiter, clock),
        )

    return Function(Lookups(finder).handle, Invoker(clients.functions, limiter))


class Upkeep(NamedTuple):
    """What the janitor's function is made of."""

    janitor: Callable[[str, str, Clock], Janitor]
    """Given an account, a region and the invocation's time."""
    hand_over: Invoker


def janitor() -> Upkeep:
    """What the janitor's function does, in no hurry: others need the quotas more."""
    from strongref.tending import Janitor  # noqa: PLC0415 (as above)

    clients, limiter = Clients(), Limiter(Rates.from_environment().share(JANITORS_SHARE))

    def make(account: str, region: str, clock: Clock) -> Janitor:
        return Janitor(_ports(clients, limiter, account, clock, JANITORS_PATIENCE), region)

    return Upkeep(make, Invoker(clients.functions, limiter))


def _ports(clients: Clients, limiter: Limiter, account: str, clock: Clock, patience: float) -> Ports:
    """An invocation's ports, over clients and a limiter that live as long as the function."""
    return Ports(
        stores=Stores(clients.ssm, limiter),
        # The function runs in the account of its stack, so the clients have that account's credentials.
        stacks=CloudFormationStacks(clients.cloudformation, limiter, clock, account=account),
        patience=Patience(patience, PAUSE, random.random),
        token=partial(secrets.token_hex, 4),
    )
