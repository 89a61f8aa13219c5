"""AWS in any account and region, for one run: paced, tried again, and its errors turned into ours."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import BotoCoreError

from strongref.aws.retry_and_rate_limit import CallFailedError, RetryingCaller
from strongref.protocol.time import Until
from strongref_toolkit.errors import FetchFailedError, NoRegionError
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.aws.clients import Clients
    from strongref.aws.retry_and_rate_limit import RateLimiter
    from strongref.protocol.time import Clock
    from strongref_toolkit.accounts import Accounts


PATIENCE = timedelta(minutes=2)
"""For one call, all its tries together: somebody is waiting, who is to be told that a service is down."""


class Where(NamedTuple):
    """An account and a region. The caller's own account is None: nobody has to be asked for its number."""

    account: str | None
    region: str


class Aws:
    """AWS's services in any account and region, paced and tried again."""

    def __init__(self, accounts: Accounts, limiter: RateLimiter, clock: Clock, region: str | None) -> None:
        """Make one.

        Args:
            accounts: clients by account.
            limiter: shared by everyone who calls.
            clock: time, and how much of it is left.
            region: the run's own; None if it has none, and every token has to name one.
        """
        self.accounts = accounts
        self.limiter = limiter
        self.clock = clock
        self.region = region
        self._clients: Memo[str | None, Clients] = Memo()

    def where(self, region: str | None, account: str | None) -> Where:
        """Where something is; what is not given is the run's own.

        Raises:
            NoRegionError: no region is given, and the run has none.
            UnknownCallerError: an account is given, and it cannot be found out whether it is the caller's own.
        """
        there = region or self.region
        if not there:
            raise NoRegionError
        own = account is None or account == self.accounts.own
        return Where(None if own else account, there)

    def clients(self, where: Where) -> Clients:
        """The clients of an account.

        Raises:
            NoWayInError: nobody told how to get into it.
            UnknownCallerError: STS does not say whose credentials these are.
        """
        return self._clients.get(where.account, lambda: self.accounts.clients(where.account))

    def call(
        self,
        where: Where,
        action: str,
        target: str,
        service: Callable[[Clients, str], Any],
        method: str,
        **request: Any,  # noqa: ANN401 (as botocore)
    ) -> Any:  # noqa: ANN401 (the same)
        """The answer to one call.

        Args:
            where: it is made.
            action: the API's name of it, as in `DescribeStacks`.
            target: what it is about, for errors.
            service: the client, as in `Clients.cloudformation`.
            method: the client's name of the action.
            **request: what it is given.

        Raises:
            FetchFailedError: with AWS's code.
            NoWayInError: nobody told how to get into that account.
            UnknownCallerError: STS does not say whose credentials these are.
        """
        clients = self.clients(where)
        try:
            function = getattr(service(clients, where.region), method)
            return RetryingCaller(where.region, self.limiter, Until(self.clock, self.clock.now() + PATIENCE)).call(
                action, function, **request
            )
        except CallFailedError as error:
            code = error.code
        except BotoCoreError as error:  # no region can be called so
            code = type(error).__name__
        raise FetchFailedError(action, target, where.region, code)
