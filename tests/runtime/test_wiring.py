"""The functions as they are wired: real clients, against moto."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from strongref.aws.clients import Clients
from strongref.contract.event import Event, RequestType
from strongref.runtime.wiring import exporter, importer, lookup
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STACK = "arn:aws:cloudformation:eu-west-1:123456789012:stack/network/1"
EXPORT = {
    "Region": ["us-east-1", "eu-west-1"],
    "Consumer": "web",
    "Values": {"A": "a1", "P": "p1"},
    "SecureKeys": ["P"],
}


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("STRONGREF_WRITES_PER_SECOND", "1000")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield


def event(
    kind: RequestType, logical_id: str, properties: Mapping[str, object], physical_id: str | None = None
) -> Event:
    return Event(kind, STACK, logical_id, "1", physical_id, properties, None, "https://example.com/", "Custom::Test")


def test_an_export_an_import_and_their_deletion_over_moto() -> None:
    export, take = exporter().handle, importer().handle
    imported: dict[str, object] = {"From": {"Stack": "network"}, "Consumer": "web"}
    made = export(event(RequestType.CREATE, "Exports", EXPORT), FakeClock())
    assert made.data == {"Prefix": "/strongref/exports/web/123456789012/eu-west-1/network", "Count": "2"}
    taken = take(event(RequestType.CREATE, "Imports", imported), FakeClock())
    assert taken.data == {"A": "a1"}
    for region in ("us-east-1", "eu-west-1"):
        stored = boto3.client("ssm", region).get_parameters_by_path(Path="/strongref/exports", Recursive=True)
        assert {each["Type"] for each in stored["Parameters"]} == {"String", "SecureString"}
    take(event(RequestType.DELETE, "Imports", imported, taken.physical_id), FakeClock())
    export(event(RequestType.DELETE, "Exports", EXPORT, made.physical_id), FakeClock())
    for region in ("us-east-1", "eu-west-1"):
        assert boto3.client("ssm", region).describe_parameters()["Parameters"] == []


class OneTopic:
    """boto3's client of Cloud Control, which moto does not have, where there is one topic."""

    def __init__(self, arn: str) -> None:
        self._arn = arn

    def get_resource(self, *, TypeName: str, Identifier: str) -> dict[str, object]:  # noqa: N803 (as boto3)
        assert (TypeName, Identifier) == ("AWS::SNS::Topic", self._arn)
        properties = json.dumps({"TopicArn": self._arn, "DisplayName": "News"})
        return {"TypeName": TypeName, "ResourceDescription": {"Identifier": Identifier, "Properties": properties}}


def test_a_lookup_by_tags_and_its_deletion(monkeypatch: pytest.MonkeyPatch) -> None:
    tags = [{"Key": "team", "Value": "web"}]
    arn = boto3.client("sns", "us-east-1").create_topic(Name="news", Tags=tags)["TopicArn"]
    monkeypatch.setattr(Clients, "cloudcontrol", lambda _clients, region: {"us-east-1": OneTopic(arn)}[region])
    wanted = {"TypeName": "AWS::SNS::Topic", "Tags": {"team": "web"}, "Region": "us-east-1"}
    look_up = lookup().handle
    found = look_up(event(RequestType.CREATE, "Found", wanted), FakeClock())
    assert found.data == {"Identifier": arn, "TopicArn": arn, "DisplayName": "News"}
    deleted = look_up(event(RequestType.DELETE, "Found", wanted, found.physical_id), FakeClock())
    assert (deleted.physical_id, deleted.data) == ("strongref-lookup/network/Found", {})
