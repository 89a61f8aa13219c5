"""An Export says in which regions nothing can import yet: strongref is not installed there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.protocol.lag import ReadLag
from tests.support.cloud import Cloud
from tests.support.fake_ssm import error

if TYPE_CHECKING:
    from strongref.contract.response import Response
    from tests.support.cloudformation.requests import ResourceRequest

EU, US, AP = "eu-west-1", "us-east-1", "ap-south-1"


class Told(Cloud):
    """Keeps what the stack's events say: `told`."""

    def __init__(self, lag: float) -> None:
        super().__init__()
        self.sees_installations, self.lag = True, ReadLag(lag)
        self.told: list[str] = []
        self.ssm(US).put_parameter(Name="/strongref/service-tokens/importer", Value="arn", Type="String")

    def send(self, request: ResourceRequest) -> Response:
        response = super().send(request)
        self.told.append(response.reason)
        return response

    def export(self, *regions: str, value: str = "1", **more: str) -> str:
        self.deploy("network", EU, {"Exports": {"Region": list(regions), "Values": {"A": value}, **more}})
        return self.told[-1]


@pytest.fixture(params=[0.0, 2.0])
def cloud(request: pytest.FixtureRequest) -> Told:
    return Told(request.param)


def test_regions_without_strongref_are_named_when_an_export_is_new_there(cloud: Told) -> None:
    assert cloud.export(EU, US) == ""
    told = "strongref is not installed in ap-south-1: install it before a stack there imports."
    assert cloud.export(EU, US, AP) == told
    assert cloud.export(EU, US, AP, value="2") == ""
    assert cloud.export(EU, US, AP, value="2", Consumer="web") == ""  # It was there before.
    cloud.delete("network", EU)
    assert cloud.told[-1] == ""


def test_what_may_not_be_read_is_no_warning(cloud: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(**_: Any) -> None:
        raise error("AccessDeniedException", "no", "GetParameters")

    monkeypatch.setattr(cloud.ssm(AP), "get_parameters", denied)
    assert cloud.export(AP) == ""


def test_the_look_takes_no_more_than_some_seconds(cloud: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    def throttled(**_: Any) -> None:
        cloud.clock.sleep(0.5)
        raise error("ThrottlingException", "Rate exceeded", "GetParameters")

    monkeypatch.setattr(cloud.ssm(AP), "get_parameters", throttled)
    before = cloud.clock.now()
    assert cloud.export(AP) == ""
    assert (cloud.clock.now() - before).total_seconds() < 30
