"""What reads parameters at run time: in a function of somebody's, or a script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from strongref.aws.clients import Clients
from strongref.aws.parameter_store import Stores
from strongref.aws.retry_and_rate_limit import RateLimiter, RateLimits
from strongref.runtime.clock import SystemClock
from strongref_objects.errors import BadChannelError

if TYPE_CHECKING:
    from strongref.protocol.ports import Store

SECONDS = 60.0
"""For all calls of one read, tries included."""


def store_in(region: str | None) -> Store:
    """The caller's own Parameter Store.

    Args:
        region: by default that of the environment, as Lambda sets it.

    Raises:
        BadChannelError: there is none.
    """
    here = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not here:
        raise BadChannelError("no region: give region, or set AWS_REGION")
    return Stores(Clients().ssm, RateLimiter(RateLimits.from_environment()))(here, SystemClock(SECONDS))
