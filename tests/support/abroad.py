"""Other accounts, as `aws.accounts.Accounts` meets them: who assumes their roles, and what their roles may do."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from strongref.aws.accounts import Accounts
from strongref.protocol.side_by_side import in_turn
from tests.support.builders import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.aws.rate_limit import RateLimiter
    from strongref.protocol.ports import SideBySide

OTHER, THIRD = "222222222222", "333333333333"

TRUST = Path(__file__).resolve().parents[2] / "src/strongref_cli/install/trust.yaml"


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


def forbidden(action: str, request: Mapping[str, Any]) -> list[str]:
    """What the role of `trust.yaml` may not do of what this call of the producer's account does, for people."""
    tags = [each["Key"] for each in request.get("Tags", ())] + list(request.get("TagKeys", ()))
    actions = [action, *(["AddTagsToResource"] if action == "PutParameter" and tags else [])]
    names = request.get("Names") or [request.get("Name") or request.get("Path") or request.get("ResourceId")]
    return [
        f"The role of another account may not do this: {each} of {name} {tags}"
        for name in names
        for each in actions
        if {effect for effect, matches in _statements() if matches(f"ssm:{each}", f"{name}", tags)} != {"Allow"}
    ]


@cache
def _statements() -> list[tuple[str, Callable[[str, str, list[str]], bool]]]:
    """The effect of each statement of the role, and whether it is about a call: its action, a name, and tags."""

    class Loader(yaml.SafeLoader):
        """Reads CloudFormation's short forms as what they stand at."""

    def short(loader: Loader, _tag: str, node: yaml.Node) -> object:
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return node.value

    Loader.add_multi_constructor("!", short)
    template = yaml.load(TRUST.read_text(), Loader)  # noqa: S506 (a safe one)
    (policy,) = template["Resources"]["WriterRole"]["Properties"]["Policies"]
    return [(each["Effect"], _matcher(each)) for each in policy["PolicyDocument"]["Statement"]]


def _matcher(statement: Mapping[str, Any]) -> Callable[[str, str, list[str]], bool]:
    def one_of(given: Any) -> re.Pattern[str]:
        texts = [given] if isinstance(given, str) else given
        shown = [each.rpartition(":parameter")[2].replace("${Producer}", ACCOUNT) for each in texts]
        return re.compile("|".join(re.escape(each).replace(r"\*", ".*") for each in shown))

    actions, names = one_of(statement["Action"]), one_of(statement["Resource"])
    keys = one_of(statement.get("Condition", {}).get("ForAllValues:StringLike", {}).get("aws:TagKeys", "*"))

    def matches(action: str, name: str, tags: list[str]) -> bool:
        return bool(actions.fullmatch(action) and names.fullmatch(name) and all(map(keys.fullmatch, tags)))

    return matches
