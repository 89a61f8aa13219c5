"""Sessions in other accounts, on moto: its roles are assumed for real, and each account has parameters of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from strongref.aws.accounts import Accounts
from strongref.aws.clients import Clients
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.contract.names import Site, writer_role
from strongref.contract.values import ParameterType
from strongref.errors import AccountNotListedError, DeniedAbroadError, OutOfTimeError, RoleDeniedError
from strongref.protocol.side_by_side import in_turn
from tests.support.builders import ACCOUNT, NETWORK
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator

B, C = "222222222222", "333333333333"
US, EU = Site("us-east-1", B), Site("eu-central-1", B)
NAME = "/strongref/exports/web/111111111111/eu-west-1/network/A"


class Asked(Clients):
    """Clients whose calls of STS are noted, and may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.codes: dict[str, str] = {}

    def sts(self, region: str) -> Any:
        client, asked = super().sts(region), self

        class Sts:
            @staticmethod
            def assume_role(**request: Any) -> Any:
                asked.calls.append((region, request))
                if code := asked.codes.get(region):
                    raise ClientError({"Error": {"Code": code, "Message": "secret"}}, "AssumeRole")
                return client.assume_role(**request)

        return Sts


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, "testing")
    with mock_aws():
        yield Asked()


def accounts(clients: Clients) -> Accounts:
    return Accounts((B,), ACCOUNT, "network", "eu-west-1", clients, RateLimiter(RateLimits()), in_turn)


def test_a_role_is_assumed_once_and_its_session_writes_in_its_account(clients: Asked) -> None:
    abroad, clock = accounts(clients), FakeClock()
    abroad.store(US, clock).create(NAME, ParameterType.STRING, "a", {"strongref:producer": NETWORK})
    assert abroad.store(US, clock).get([NAME])[NAME].text == "a"
    assert abroad.store(EU, clock).get([NAME]) == {}
    assert boto3.client("ssm", region_name="us-east-1").get_parameters(Names=[NAME])["Parameters"] == []
    role = {"RoleArn": writer_role("aws", B, ACCOUNT), "RoleSessionName": "network", "DurationSeconds": 3600}
    assert clients.calls == [("eu-west-1", role)]


def test_where_the_account_has_not_enabled_the_region_another_one_is_asked(clients: Asked) -> None:
    clients.codes = {"eu-west-1": "RegionDisabledException"}
    accounts(clients).store(US, FakeClock())
    assert [region for region, _ in clients.calls] == ["eu-west-1", "us-east-1"]


def test_who_is_not_let_in_is_told_what_to_do(clients: Asked) -> None:
    clients.codes = {"eu-west-1": "AccessDenied"}
    with pytest.raises(RoleDeniedError) as denied:
        accounts(clients).store(US, FakeClock())
    assert (denied.value.account, denied.value.region, denied.value.code) == (B, "us-east-1", "AccessDenied")
    with pytest.raises(AccountNotListedError):
        accounts(clients).store(Site("us-east-1", C), FakeClock())
    assert len(clients.calls) == 1


@pytest.mark.parametrize(("code", "seconds"), [("ThrottlingException", 60.0), ("AccessDenied", 0.0)])
def test_who_has_no_time_to_be_let_in_goes_on_in_another_invocation(clients: Asked, code: str, seconds: float) -> None:
    clients.codes = {"eu-west-1": code}
    with pytest.raises(OutOfTimeError):
        accounts(clients).store(US, FakeClock(remaining=seconds))


def test_a_denied_call_of_a_session_names_its_role(clients: Asked) -> None:
    store = accounts(clients).store(US, FakeClock())

    def denied(**_: Any) -> Any:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "secret"}}, "PutParameter")

    store.client.put_parameter = denied  # type: ignore[method-assign]
    with pytest.raises(DeniedAbroadError, match=f"in us-east-1 of account {B}.* role {writer_role('aws', B, ACCOUNT)}"):
        store.create(NAME, ParameterType.STRING, "a", {})
