"""Clients for other accounts, through a role there that the caller may assume."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from boto3.session import Session

from strongref.arns import Arn
from strongref.aws.clients import Clients
from strongref.aws.retry_and_rate_limit import CallFailedError, RetryingCaller
from strongref_toolkit.errors import PLACEHOLDER, NoWayInError, UnknownCallerError
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from strongref.aws.retry_and_rate_limit import RateLimiter
    from strongref.protocol.time import Clock


class Accounts:
    """Clients by account: the caller's own credentials in its own account, those of a role in any other one.

    Args:
        own: clients with the caller's credentials.
        region: the region in which STS is called.
        limiter: shared by everything that calls AWS.
        clock: the time, and how much of it is left.
        role: the ARN of the role to assume in another account, with `ACCOUNT` in place of the account ID.
    """

    def __init__(self, own: Clients, region: str, limiter: RateLimiter, clock: Clock, role: str | None = None) -> None:
        self._own = own
        self._sts = region
        self._caller = RetryingCaller(region, limiter, clock)
        self._role = role
        self._clients: Memo[str, Clients] = Memo()

    @cached_property
    def own(self) -> str:
        """The caller's account ID.

        Raises:
            UnknownCallerError: STS does not return it.
        """
        try:
            identity = self._caller.call("GetCallerIdentity", self._own.sts(self._sts).get_caller_identity)
        except CallFailedError as error:
            code = error.code
        else:
            return identity["Account"]
        raise UnknownCallerError(code)

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
            raise NoWayInError(account)
        role = self._role.replace(PLACEHOLDER, account)
        arn = Arn.parse(role)
        if not arn or (arn.service, arn.account, arn.resource_type) != ("iam", account, "role"):
            raise NoWayInError(account, role)
        try:
            answer = self._caller.call(
                "AssumeRole", self._own.sts(self._sts).assume_role, RoleArn=role, RoleSessionName="strongref"
            )
        except CallFailedError as error:
            code = error.code
        else:
            given = answer["Credentials"]
            return Clients(
                Session(
                    aws_access_key_id=given["AccessKeyId"],
                    aws_secret_access_key=given["SecretAccessKey"],
                    aws_session_token=given["SessionToken"],
                )
            )
        raise NoWayInError(account, role, code)
