"""The picture of a refused deployment shows the times that its events take, but for those of the calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from strongref.protocol.lag import DEFAULT_LAG, ReadLag
from strongref.refusals import ExportsInUseError
from tests.support.cloud import Cloud
from tests.support.documents import ROOT

if TYPE_CHECKING:
    from strongref.contract.response import Response
    from tests.support.cloudformation.requests import ResourceRequest

US, EU = "us-east-1", "eu-west-1"
PICTURE = ROOT / "docs/pictures/refusal.svg"


class Timed(Cloud):
    """Notes when each response is sent, on a clock that only waits move."""

    def __init__(self) -> None:
        super().__init__()
        self.lag = ReadLag(DEFAULT_LAG)
        self.sent: list[float] = []

    def send(self, request: ResourceRequest) -> Response:
        try:
            return super().send(request)
        finally:
            self.sent.append(sum(self.clock.slept))


def test_the_picture_of_a_refusal_has_the_times_of_its_events() -> None:
    cloud = Timed()
    exports = {"Region": EU, "Consumer": "site"}
    cloud.deploy("certificate", US, {"Exports": exports | {"Values": {"CertificateArn": "old"}}})
    imports = {"From": {"Stack": "certificate", "Region": US}, "Names": ["CertificateArn"]}
    cloud.deploy("site", EU, {"Imports": imports})
    cloud.clock.slept.append(20)  # Reads show what was done before, and its fences have expired.
    began, before = sum(cloud.clock.slept), len(cloud.sent)
    with pytest.raises(ExportsInUseError):
        cloud.deploy("certificate", US, {"Exports": exports | {"Values": {"CertificateArn": "new"}}})
    took = [round(at - began, 1) for at in (began, *cloud.sent[before:])]
    shown = [float(time) for time in re.findall(r">([\d.]+) s</text>", PICTURE.read_text())]
    assert shown == took
