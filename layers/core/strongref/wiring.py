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
    clients, limiter = Clients(), Limiter(Rates.from_environment())

    def handle(event: Event, clock: Clock) -> Answer:
        exports = Exports(
            stores=Stores(clients.ssm, limiter),
            stacks=CloudFormationStacks(clients.cloudformation, limiter, clock, account=event.account),
            patience=Patience(EXPORTERS_PATIENCE, PAUSE, random.random),
            token=partial(secrets.token_hex, 4),
        )
        return exports.handle(event, clock)

    return handle


def importer() -> Callable[[Event, Clock], Answer]:
    """What the importer's function calls for each event."""
    clients, limiter = Clients(), Limiter(Rates.from_environment())

    def handle(event: Event, clock: Clock) -> Answer:
        imports = Imports(
            stores=Stores(clients.ssm, limiter),
            stacks=CloudFormationStacks(clients.cloudformation, limiter, clock, account=event.account),
            patience=Patience(IMPORTERS_PATIENCE, PAUSE, random.random),
            token=partial(secrets.token_hex, 4),
        )
        return imports.handle(event, clock)

    return handle
