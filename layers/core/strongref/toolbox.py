"""What people's own programs work with, the command and apps: the caller's credentials, one limiter, their own time."""

from __future__ import annotations

import os
import random
import secrets
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from boto3.session import Session

from strongref.accounts import Accounts
from strongref.clients import Clients
from strongref.clock import SystemClock
from strongref.errors import StrongRefError
from strongref.limiter import Limiter, Rates
from strongref.log import log_aside
from strongref.patience import Patience
from strongref.ports import Ports
from strongref.stacks import CloudFormationStacks
from strongref.store import Stores

if TYPE_CHECKING:
    from strongref.ports import Clock

PATIENCE = 120.0
"""Seconds to wait for others: longer than a fence stands whose holder has died (`fencing.FENCE_SECONDS`)."""

PAUSE = 2.0
AN_HOUR = 3600.0


class UsageError(StrongRefError):
    """The command was not given what it needs."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return self.problem


class Toolbox(NamedTuple):
    """Of one run of the command."""

    clients: Clients
    limiter: Limiter
    clock: Clock

    @classmethod
    def of_this_process(cls) -> Toolbox:
        """With botocore's whole descriptions of services: more of them are called than the functions do."""
        log_aside()
        return cls(Clients(Session()), Limiter(Rates.from_environment()), SystemClock(AN_HOUR))

    def ports(self, account: str = "") -> Ports:
        """The use cases' ports.

        Args:
            account: whose stacks may be asked about; none by default.
        """
        return Ports(
            stores=Stores(self.clients.ssm, self.limiter),
            stacks=CloudFormationStacks(self.clients.cloudformation, self.limiter, self.clock, account=account),
            patience=Patience(PATIENCE, PAUSE, random.random),
            token=partial(secrets.token_hex, 4),
        )

    def accounts(self, region: str, role: str | None) -> Accounts:
        return Accounts(self.clients, region, self.limiter, self.clock, role)


def regions(given: list[str] | None) -> list[str]:
    """The regions that were given, or the one of the environment or of its AWS profile.

    Raises:
        UsageError: there is none.
    """
    if given:
        return given
    here = os.environ.get("AWS_REGION") or Session().region_name
    if not here:
        raise UsageError("no region: give --region, or set AWS_REGION")
    return [here]
