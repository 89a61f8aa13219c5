"""The regions of an account, as EC2 lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from strongref.aws.clients import Clients
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.session import ToolSession, enabled_regions
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        yield


def session(clients: Clients | None = None) -> ToolSession:
    return ToolSession(clients or Clients(boto3.Session()), RateLimiter(RateLimits()), FakeClock())


def test_they_are_those_that_are_enabled_and_no_others() -> None:
    found = enabled_regions(session())
    assert found == sorted(found)
    assert {"us-east-1", "eu-west-1"} <= set(found)
    assert "ap-east-1" not in found  # moto lists it as not-opted-in


class Ec2(Clients):
    """EC2 of one region that refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.called: list[str] = []

    def _make(self, service: str, region: str) -> Ec2:
        self.called += [region] if service == "ec2" else []
        return self

    def describe_regions(self) -> None:
        raise ClientError({"Error": {"Code": "UnauthorizedOperation", "Message": "secret"}}, "DescribeRegions")


def test_they_are_asked_for_in_the_partition_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-gov-west-1")
    ec2 = Ec2()
    with pytest.raises(AwsCallError):
        enabled_regions(session(ec2))
    assert ec2.called == ["us-gov-west-1"]


def test_a_refusal_says_what_was_called_and_where() -> None:
    with pytest.raises(AwsCallError, match="DescribeRegions of the account's regions in us-east-1 failed") as error:
        enabled_regions(session(Ec2()))
    assert error.value.code == "UnauthorizedOperation"
    assert "secret" not in str(error.value)
