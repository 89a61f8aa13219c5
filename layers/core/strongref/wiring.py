"""The use cases wired to AWS, for the functions: one session, one client per service and region, one limiter."""

from __future__ import annotations

import random
import secrets
from functools import partial
from typing import TYPE_CHECKING

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

EXPORTERS_PATIENCE = 120.0
IMPORTERS_PATIENCE = 20.0
PAUSE = 2.0
"""Seconds. An exporter waits for whoever dies with a fence up (see `patience.Allowance`); an importer does not."""


def exporter() -> Callable[[Event, Clock], Answer]:
    """What the exporter's function calls for each event."""
    ports = _ports(EXPORTERS_PATIENCE)
    return lambda event, clock: Exports(ports(event, clock)).handle(event, clock)


def importer() -> Callable[[Event, Clock], Answer]:
    """What the importer's function calls for each event."""
    ports = _ports(IMPORTERS_PATIENCE)
    return lambda event, clock: Imports(ports(event, clock)).handle(event, clock)


def _ports(patience: float) -> Callable[[Event, Clock], Ports]:
    """An invocation's ports, over clients and a limiter that live as long as the function."""
    clients, limiter = Clients(), Limiter(Rates.from_environment())
    return lambda event, clock: Ports(
        stores=Stores(clients.ssm, limiter),
        # The function runs in the account of its stack, so the clients have that account's credentials.
        stacks=CloudFormationStacks(clients.cloudformation, limiter, clock, account=event.account),
        patience=Patience(patience, PAUSE, random.random),
        token=partial(secrets.token_hex, 4),
    )
