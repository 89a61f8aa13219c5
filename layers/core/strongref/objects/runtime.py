"""What reads parameters at run time: in a function of somebody's, or a script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from strongref.clients import Clients
from strongref.clock import SystemClock
from strongref.limiter import Limiter, Rates
from strongref.objects.errors import BadChannelError
from strongref.store import Stores

if TYPE_CHECKING:
    from strongref.ports import Store

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
    return Stores(Clients().ssm, Limiter(Rates.from_environment()))(here, SystemClock(SECONDS))
