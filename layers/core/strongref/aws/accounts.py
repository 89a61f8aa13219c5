"""Other accounts: clients with the credentials of a role there, and the Parameter Stores that they give access to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from strongref.arns import partition_of
from strongref.aws.parameter_store import SsmStore, Stores
from strongref.aws.retry import CallFailedError, RetryingCaller
from strongref.contract.names import Site, writer_role
from strongref.errors import (
    ACCESS_DENIED,
    AccountNotListedError,
    DeniedAbroadError,
    OutOfTimeError,
    RoleDeniedError,
    ThrottledError,
)

if TYPE_CHECKING:
    from strongref.aws.clients import Clients
    from strongref.aws.rate_limit import RateLimiter
    from strongref.protocol.ports import SideBySide
    from strongref.protocol.time import Clock

ASSUME = "AssumeRole"

_SESSION_SECONDS = 3600
"""As long as a role that a role assumes allows (AWS: STS, role chaining), which is longer than any invocation."""

_SESSION_NAME = 64
"""Characters of a session's name, which may have those of a stack's (AWS: AssumeRole, RoleSessionName)."""

_NOT_ENABLED = "RegionDisabledException"
"""The code of an STS endpoint in whose region the account that is asked for is not enabled (AWS: AssumeRole)."""


def assumed(clients: Clients, caller: RetryingCaller, region: str, role: str, session: str) -> Clients:
    """The clients of a role, with a session of this name; raises `CallFailedError`."""
    assume = clients.sts(region).assume_role
    given = caller.call(ASSUME, assume, RoleArn=role, RoleSessionName=session, DurationSeconds=_SESSION_SECONDS)
    return clients.with_credentials(given["Credentials"])


@dataclass
class Accounts:
    """`ports.Abroad` for one invocation: a role is assumed once, and its session lasts longer than the invocation."""

    listed: tuple[str, ...]  # the accounts that the installation may write to
    own: str  # this account
    session: str  # the name of sessions, for the other account's CloudTrail: that of the stack whose event it is
    region: str  # where the installation is
    clients: Clients
    limiter: RateLimiter
    side_by_side: SideBySide
    _stores: dict[str, Stores] = field(default_factory=dict)  # by account

    def store(self, site: Site, clock: Clock) -> SsmStore:
        if site.account not in self.listed:
            raise AccountNotListedError(
                ASSUME, ACCESS_DENIED, "", site.region, account=site.account, listed=self.listed
            )
        if site.account not in self._stores:
            self._stores[site.account] = self._assume(site, clock)
        return self._stores[site.account](site.region, clock)

    def _assume(self, site: Site, clock: Clock) -> Stores:
        role = writer_role(partition_of(self.region), site.account, self.own)
        attempt = partial(assumed, self.clients, role=role, session=self.session[:_SESSION_NAME])
        try:
            try:
                clients = attempt(RetryingCaller(self.region, self.limiter, clock), self.region)
            except CallFailedError as error:
                if error.code != _NOT_ENABLED:
                    raise
                clients = attempt(RetryingCaller(site.region, self.limiter, clock), site.region)
        except CallFailedError as error:
            failed = error
        else:
            denied = partial(DeniedAbroadError, role=role)
            return Stores(
                clients.ssm,
                self.limiter,
                denied,
                settings=lambda *_: "",  # Those of the installation are for its own account.
                side_by_side=self.side_by_side,
                account=site.account,
            )
        # Another invocation can go on where only time is missing.
        late = ThrottledError if failed.throttled else OutOfTimeError
        raise (late if failed.out_of_time else RoleDeniedError)(
            ASSUME, failed.code, role, site.region, account=site.account
        )
