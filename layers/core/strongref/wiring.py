"""The use cases wired to AWS, for the functions: one session, one client per service and region, one limiter."""

from __future__ import annotations

import random
import secrets
from functools import partial
from typing import TYPE_CHECKING

from strongref.event import RequestType
from strongref.exports import Exports
from strongref.imports import Imports
from strongref.limiter import Limiter, Rates
from strongref.patience import Patience
from strongref.ports import Ports
from strongref.stacks import CloudFormationStacks
from strongref.store import Clients, Stores

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.answer import Answer
    from strongref.event import Event
    from strongref.ports import Clock

PATIENCE = 120.0
"""Seconds to wait for others: longer than the fence stands that a small export leaves when it dies."""

PATIENCE_TO_CREATE_AN_IMPORT = 20.0
"""Seconds. Nothing is lost if that fails; an Update may be a roll-back, which must not."""

PAUSE = 2.0


def exporter() -> Callable[[Event, Clock], Answer]:
    """What the exporter's function calls for each event."""
    ports = _ports()
    return lambda event, clock: Exports(ports(event, clock, PATIENCE)).handle(event, clock)


def importer() -> Callable[[Event, Clock], Answer]:
    """What the importer's function calls for each event."""
    ports = _ports()

    def handle(event: Event, clock: Clock) -> Answer:
        patience = PATIENCE_TO_CREATE_AN_IMPORT if event.request_type is RequestType.CREATE else PATIENCE
        return Imports(ports(event, clock, patience)).handle(event, clock)

    return handle


def _ports() -> Callable[[Event, Clock, float], Ports]:
    """An event's ports, over clients and a limiter that live as long as the function."""
    clients, limiter = Clients(), Limiter(Rates.from_environment())
    return lambda event, clock, patience: Ports(
        stores=Stores(clients.ssm, limiter),
        # The function runs in the account of its stack, so the clients have that account's credentials.
        stacks=CloudFormationStacks(clients.cloudformation, limiter, clock, account=event.account),
        patience=Patience(patience, PAUSE, random.random),
        token=partial(secrets.token_hex, 4),
    )
