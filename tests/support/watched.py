"""AWS in moto as resolvers meet it: clients that count their calls, and services that refuse."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import boto3

from strongref.aws.clients import Clients
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref_manifests.tokens import Token, tokens_in
from strongref_toolkit.aws import Accounts, Aws
from tests.support.empty_aws import empty_aws
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

EU, US = "eu-west-1", "us-east-1"
OWN, OTHER = "123456789012", "222222222222"  # moto's own, and another one
HIDDEN = "a-value-not-to-be-shown"


class Watched(Clients):
    """Clients that count their calls, by action, account and region; and throttle or deny some."""

    def __init__(self, session: boto3.Session | None = None) -> None:
        super().__init__(session or boto3.Session())
        self.calls: Counter[str] = Counter()

    def _make(self, service: str, region: str) -> object:
        client: Any = super()._make(service, region)
        client.meta.events.register("before-call", lambda model, **_: self.calls.update([model.name]))
        return client


def in_moto(monkeypatch: pytest.MonkeyPatch, region: str = "") -> Iterator[Watched]:
    """Clients of an empty AWS, for a fixture."""
    with empty_aws(monkeypatch, region):
        yield Watched()


def aws_of(clients: Clients, region: str | None = EU, role: str | None = None) -> Aws:
    limiter, clock = RateLimiter(RateLimits()), FakeClock()
    return Aws(Accounts(clients, region or US, limiter, clock, role), limiter, clock, region)


def token(text: str) -> Token:
    (found,) = tokens_in(text)
    return found


def denied(clients: Watched, action: str, code: str = "AccessDenied", *, only: Callable[[Any], bool] = bool) -> None:
    """From now on, a service refuses an action."""
    services = {"DescribeStacks": "cloudformation", "DescribeStackResource": "cloudformation", "GetParameters": "ssm"}
    services |= {"GetTemplate": "cloudformation"}
    client: Any = clients._client(services.get(action, "secretsmanager"), EU)

    def refuse(model: Any, params: Any, **_: Any) -> Any:
        if model.name != action or not only(params):
            return None
        clients.calls[action] += 1
        answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": 400}}
        return SimpleNamespace(status_code=400), answer

    client.meta.events.register_first("before-call", refuse)
