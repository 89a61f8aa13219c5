"""AWS in any account and region, for one run: rate limited, retried, and with its errors turned into ours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import BotoCoreError

from strongref.aws.parameter_store import Stores
from strongref.aws.retry_and_rate_limit import CallFailedError, RetryingCaller
from strongref.protocol.time import Until
from strongref_toolkit.errors import FetchFailedError, NoRegionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.aws.clients import Clients
    from strongref.aws.retry_and_rate_limit import RateLimiter
    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock
    from strongref_toolkit.accounts import Accounts

CALL_TIMEOUT = timedelta(minutes=2)
"""For one call with all its retries: someone is waiting at a terminal."""


class Where(NamedTuple):
    """An account and a region. The caller's own account is None, so that its ID need not be looked up."""

    account: str | None
    region: str


@dataclass(eq=False)
class Aws:
    """AWS's services in any account and region."""

    accounts: Accounts
    limiter: RateLimiter  # shared by everything that calls AWS
    clock: Clock
    region: str | None  # the default region; None if every token has to name one

    def where(self, region: str | None, account: str | None) -> Where:
        """An account and region; None stands for the default region and the caller's own account.

        Raises:
            NoRegionError: no region is given, and there is no default.
            UnknownCallerError: an account is given, and STS does not return the caller's own.
        """
        chosen = region or self.region
        if not chosen:
            raise NoRegionError
        own = account is None or account == self.accounts.own
        return Where(None if own else account, chosen)

    def clients(self, where: Where) -> Clients:
        """The clients of an account; errors as for `Accounts.clients`."""
        return self.accounts.clients(where.account)

    def store(self, where: Where) -> Store:
        """Parameter Store of an account and region; errors as for `Accounts.clients`."""
        return Stores(self.clients(where).ssm, self.limiter)(where.region, self.clock)

    def call(
        self,
        where: Where,
        action: str,
        target: str,
        service: Callable[[Clients, str], Any],
        method: str,
        **request: Any,  # noqa: ANN401 (as botocore)
    ) -> Any:  # noqa: ANN401 (the same)
        """The response to one call.

        Args:
            where: whose service is called.
            action: the API action, as in `DescribeStacks`.
            target: what the call is about, for errors.
            service: the client, as in `Clients.cloudformation`.
            method: the client's name for the action.
            **request: its parameters.

        Raises:
            FetchFailedError: the call failed; it has AWS's error code.
            StrongRefError: as for `Accounts.clients`.
        """
        clients = self.clients(where)
        try:
            function = getattr(service(clients, where.region), method)
            return RetryingCaller(where.region, self.limiter, Until(self.clock, self.clock.now() + CALL_TIMEOUT)).call(
                action, function, **request
            )
        except CallFailedError as error:
            code = error.code
        except BotoCoreError as error:  # no region has that name
            code = type(error).__name__
        raise FetchFailedError(action, target, where.region, code)
