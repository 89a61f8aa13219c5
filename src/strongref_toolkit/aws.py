"""AWS in any account and region, for one run: rate limited, retried, and with its errors turned into ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore import xform_name
from botocore.exceptions import ClientError

from strongref.arns import Arn
from strongref.aws.accounts import assumed
from strongref.aws.parameter_store import Stores
from strongref.aws.retry import CallFailedError, RetryingCaller, client_for, pages
from strongref.memo import Memo
from strongref.protocol.time import Clock, Until
from strongref.untyped import Untyped
from strongref_toolkit import errors

if TYPE_CHECKING:
    from strongref.aws.clients import Clients
    from strongref.aws.rate_limit import RateLimiter
    from strongref.protocol.ports import Store

CALL_TIMEOUT = timedelta(minutes=2)
"""For one call with all its retries: someone is waiting at a terminal."""


class Accounts:
    """Clients by account: the caller's own credentials in its own account, those of a role in any other one.

    STS is called in `region`. The role, for another account, is an ARN with `ACCOUNT` in place of the account ID.
    """

    def __init__(self, own: Clients, region: str, limiter: RateLimiter, clock: Clock, role: str | None = None) -> None:
        self._own = own
        self._sts = region
        self._caller = RetryingCaller(region, limiter, clock)
        self._role = role
        self._clients: Memo[str, Clients] = Memo()

    @property
    def own(self) -> str:
        """The caller's account ID; errors as for `caller`."""
        return Arn.of(self.caller).account

    @cached_property
    def caller(self) -> str:
        """The ARN of the caller. Raises `UnknownCallerError`: STS does not return it."""
        try:
            return self._caller.call("GetCallerIdentity", self._own.sts(self._sts).get_caller_identity)["Arn"]
        except CallFailedError as error:
            raise errors.UnknownCallerError(error.code) from None

    def clients(self, account: str | None = None) -> Clients:
        """The clients of an account. None is the caller's own, without a call to STS.

        Raises:
            NoWayInError: it is another account, and its role is not given or cannot be assumed.
            UnknownCallerError: as `own`.
        """
        if account is None:
            return self._own
        return self._clients.get(account, lambda: self._own if account == self.own else self._assumed(account))

    def _assumed(self, account: str) -> Clients:
        if self._role is None:
            raise errors.NoWayInError(account)
        role = self._role.replace(errors.PLACEHOLDER, account)
        arn = Arn.parse(role)
        if not arn or (arn.service, arn.account, arn.resource_type) != ("iam", account, "role"):
            raise errors.NoWayInError(account, role)
        try:
            return assumed(self._own, self._caller, self._sts, role, "strongref")
        except CallFailedError as error:
            raise errors.NoWayInError(account, role, error.code) from None


class Where(NamedTuple):
    """An account and a region. The caller's own account is None, so that its ID need not be looked up."""

    account: str | None
    region: str


@dataclass(eq=False)
class Aws:
    accounts: Accounts
    limiter: RateLimiter  # shared by everything that calls AWS
    clock: Clock
    region: str | None  # the default region; None if every token has to name one
    shows_texts: bool = False  # whether errors have AWS's own text: only where it cannot quote a value

    def where(self, region: str | None, account: str | None) -> Where:
        """An account and region; None stands for the default region and the caller's own account.

        Raises:
            NoRegionError: no region is given, and there is no default.
            UnknownCallerError: an account is given, and STS does not return the caller's own.
        """
        chosen = region or self.region
        if not chosen:
            raise errors.NoRegionError
        own = account is None or account == self.accounts.own
        return Where(None if own else account, chosen)

    def clients(self, where: Where) -> Clients:
        """The clients of an account; errors as for `Accounts.clients`."""
        return self.accounts.clients(where.account)

    def store(self, where: Where) -> Store:
        """Parameter Store of an account and region; errors as for `Accounts.clients`."""
        stores = Stores(self.clients(where).ssm, self.limiter, errors.CallerDeniedError, account=where.account or "")
        return stores(where.region, self.clock)

    def call(
        self, where: Where, action: str, target: str, service: Callable[[Clients, str], Any], **request: Any
    ) -> Untyped:
        """The response to one call of an action, as in `DescribeStacks`; `target` is what it is about, for errors.

        `service` makes the client, as `Clients.cloudformation` does.

        Raises:
            AwsCallError: the call failed; it has AWS's error code.
            StrongRefError: as for `Accounts.clients`.
        """
        clients, message = self.clients(where), ""

        def attempt(**given: Untyped) -> Untyped:
            nonlocal message
            message = ""
            try:
                return method(**given)
            except ClientError as error:
                message = error.response.get("Error", {}).get("Message", "")
                raise

        caller = RetryingCaller(where.region, self.limiter, Until(self.clock, self.clock.now() + CALL_TIMEOUT))
        try:
            method = getattr(client_for(partial(service, clients), where.region), xform_name(action))
            return caller.call(action, attempt, **request)
        except CallFailedError as error:
            text = message if self.shows_texts else ""
            raise errors.AwsCallError(action, target, where.region, error.code, text) from None

    def pages(
        self, where: Where, action: str, target: str, service: Callable[[Clients, str], Any], **request: Any
    ) -> Iterator[Any]:
        """Every page of a response; arguments and errors as for `call`. A page may be empty and not be the last."""
        return pages(partial(self.call, where, action, target, service), **request)
