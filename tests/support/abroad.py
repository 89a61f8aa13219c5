"""Other accounts, as `aws.accounts.Accounts` meets them: who assumes their roles, and what their roles may do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from strongref.aws.accounts import Accounts
from strongref.protocol.side_by_side import in_turn
from tests.support.builders import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.aws.rate_limit import RateLimiter
    from strongref.protocol.ports import SideBySide

OTHER, THIRD = "222222222222", "333333333333"


@dataclass(frozen=True)
class SessionClients:
    """What `Accounts` takes of `aws.clients.Clients`.

    Attributes:
        assume: is called for each AssumeRole, with the account; may raise what botocore does.
        ssm_in: the Parameter Store client of an account's region.
        account: whose credentials these are.
    """

    assume: Callable[[str], object]
    ssm_in: Callable[[str, str], Any]
    account: str = ""

    def sts(self, _region: str) -> SessionClients:
        return self

    def assume_role(self, **request: Any) -> dict[str, Any]:
        account = request["RoleArn"].split(":")[4]
        self.assume(account)
        return {"Credentials": {"AccessKeyId": account}}

    def with_credentials(self, given: Mapping[str, str]) -> SessionClients:
        return replace(self, account=given["AccessKeyId"])

    def ssm(self, region: str) -> Any:
        return self.ssm_in(self.account, region)

    def accounts(self, listed: tuple[str, ...], limiter: RateLimiter, side_by_side: SideBySide = in_turn) -> Accounts:
        """`ports.Abroad` for one invocation, which may write to these accounts."""
        clients: Any = self
        return Accounts(
            listed=listed,
            own=ACCOUNT,
            session="network",
            region="eu-west-1",
            clients=clients,
            limiter=limiter,
            side_by_side=side_by_side,
        )
