"""How many functions one passes who follows an exported value through the code: counted, and held to a bound."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from strongref.protocol.exports import Exporter
from strongref.protocol.lag import DEFAULT_LAG, ReadLag
from tests.support.cloud import Cloud

if TYPE_CHECKING:
    from types import FrameType

    from strongref.contract.event import Event
    from strongref.contract.response import Response
    from strongref.protocol.time import Clock

MOST = 152

COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Functions only for some versions of Python."""


@pytest.mark.parametrize("lag", [0, DEFAULT_LAG])
def test_one_value_passes_few_functions_from_its_event_to_the_response(
    lag: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: set[str] = set()
    handle, profile = Exporter.handle, sys.getprofile()

    def note(frame: FrameType, what: str, _: object) -> None:
        code, module = frame.f_code, frame.f_globals.get("__name__", "")
        is_written = not code.co_filename.startswith("<")  # Dataclasses make functions, too.
        if what == "call" and module.startswith("strongref.") and is_written and code.co_name not in COMPREHENSIONS:
            passed.add(f"{module}.{code.co_qualname}")

    def counted(exporter: Exporter, event: Event, clock: Clock) -> Response:
        sys.setprofile(note)
        try:
            return handle(exporter, event, clock)
        finally:
            sys.setprofile(profile)

    monkeypatch.setattr(Exporter, "handle", counted)
    cloud = Cloud()
    cloud.lag = ReadLag(lag)
    exports = {"Region": "us-east-1", "Consumer": "web", "Values": {"CertArn": "arn:aws:acm:::certificate/1"}}
    cloud.deploy("network", "eu-west-1", {"Exports": exports})
    assert cloud.values("us-east-1") == {"web/111111111111/eu-west-1/network/CertArn": "arn:aws:acm:::certificate/1"}
    assert "strongref.aws.parameter_store.SsmStore.create" in passed
    assert len(passed) <= MOST, "\n".join(sorted(passed))
