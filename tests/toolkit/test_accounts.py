"""Clients of other accounts: by the caller's own credentials in its own, by an assumed role elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from strongref.aws.clients import Clients
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref_toolkit.aws import Accounts
from strongref_toolkit.errors import NoWayInError, UnknownCallerError
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator

EU = "eu-west-1"
OWN, OTHER = "123456789012", "222222222222"
READER = "arn:aws:iam::ACCOUNT:role/reader"


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield


class Sts:
    """STS that refuses, and counts."""

    def __init__(self, refuses: str = "") -> None:
        self.refuses = refuses
        self.calls: list[str] = []

    def clients(self) -> Clients:
        clients = Clients(boto3.Session())
        client: Any = clients.sts(EU)
        client.meta.events.register("before-call.sts", self.count)
        return clients

    def count(self, model: Any, **_: Any) -> Any:
        self.calls.append(model.name)
        if model.name == self.refuses:
            error = b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>m</Message></Error></ErrorResponse>"
            return type("Answer", (), {"status_code": 403, "content": error, "headers": {}})(), _parsed()
        return None


def _parsed() -> dict[str, Any]:
    return {"Error": {"Code": "AccessDenied", "Message": "m"}, "ResponseMetadata": {"HTTPStatusCode": 403}}


def accounts(sts: Sts, role: str | None = READER) -> Accounts:
    return Accounts(sts.clients(), EU, RateLimiter(RateLimits()), FakeClock(), role)


def whose(clients: Clients) -> str:
    return clients.sts(EU).get_caller_identity()["Account"]


def test_no_account_means_no_call() -> None:
    sts = Sts()
    assert accounts(sts).clients()
    assert sts.calls == []


def test_in_the_callers_own_account_no_role_is_assumed() -> None:
    sts = Sts()
    found = accounts(sts)
    assert found.clients(OWN) is found.clients(None)
    assert sts.calls == ["GetCallerIdentity"]


def test_in_another_account_its_role_is_assumed_once() -> None:
    sts = Sts()
    found = accounts(sts)
    assert found.clients(OTHER) is found.clients(OTHER)
    assert sts.calls == ["GetCallerIdentity", "AssumeRole"]
    assert whose(found.clients(OTHER)) == OTHER


def test_without_a_role_there_is_no_way_in() -> None:
    with pytest.raises(NoWayInError, match=r"Account 222222222222 is not the caller's own. Give the role to assume"):
        accounts(Sts(), None).clients(OTHER)


@pytest.mark.parametrize("role", ["arn:aws:iam::333333333333:role/reader", "reader", "arn:aws:iam::ACCOUNT:user/me"])
def test_a_role_of_another_account_than_is_asked_for_is_not_assumed(role: str) -> None:
    sts = Sts()
    with pytest.raises(NoWayInError, match=rf"is not a role in account {OTHER}. Write ACCOUNT in place"):
        accounts(sts, role).clients(OTHER)
    assert "AssumeRole" not in sts.calls


def test_a_role_that_cannot_be_assumed_is_named() -> None:
    with pytest.raises(NoWayInError, match=r"^arn:aws:iam::222222222222:role/reader could not be assumed: AccessDeni"):
        accounts(Sts("AssumeRole")).clients(OTHER)


def test_unknown_credentials_are_reported() -> None:
    with pytest.raises(UnknownCallerError, match=r"could not be determined: AccessDenied. Check the credentials"):
        accounts(Sts("GetCallerIdentity")).clients(OTHER)
