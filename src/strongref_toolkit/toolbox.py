"""What people's own programs work with, the command and apps: the caller's credentials, one limiter, their own time."""

from __future__ import annotations

import os
import random
import secrets
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from boto3.session import Session

from strongref.aws.clients import Clients
from strongref.aws.cloudformation import CloudFormationStacks
from strongref.aws.parameter_store import Stores
from strongref.aws.retry_and_rate_limit import RateLimiter, RateLimits
from strongref.log import log_to_stderr
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref.runtime.clock import SystemClock
from strongref_toolkit.accounts import Accounts
from strongref_toolkit.aws import Aws
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    from strongref.protocol.time import Clock

PATIENCE = 120.0
"""Seconds to wait for others: longer than a fence stands whose holder has died (`fencing.FENCE_SECONDS`)."""

PAUSE = 2.0
AN_HOUR = 3600.0


class Toolbox(NamedTuple):
    """Of one run of the command."""

    clients: Clients
    limiter: RateLimiter
    clock: Clock

    @classmethod
    def of_this_process(cls) -> Toolbox:
        """With botocore's whole descriptions of services: more of them are called than the functions do."""
        log_to_stderr()
        return cls(Clients(Session()), RateLimiter(RateLimits.from_environment()), SystemClock(AN_HOUR))

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


_STS_REGION = "us-east-1"
"""Whose STS is asked where the run has no region of its own."""


def aws(region: str | None, role: str | None, toolbox: Toolbox | None = None) -> Aws:
    """AWS for one run.

    Args:
        region: of what is in no region of its own; by default that of the environment or of its AWS profile.
        role: the ARN of the role to assume in another account, with `ACCOUNT` in the place of its number.
        toolbox: that of this process by default.
    """
    here = region or os.environ.get("AWS_REGION") or Session().region_name
    tools = toolbox or Toolbox.of_this_process()
    return Aws(tools.accounts(here or _STS_REGION, role), tools.limiter, tools.clock, here)
