"""The metric that each failure counts towards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from strongref.contract.response import Response, ResponseTooLargeError
from strongref.errors import (
    BadRequestError,
    ErrorMetric,
    PartialCreateError,
    ReinvokeError,
    StackLookupError,
    StoreError,
    StrongRefError,
    WaitInterruptedError,
)
from strongref.refusals import ChangingError, ExportsInUseError, InUse, NoSuchProducerError
from strongref.runtime.custom_resource import CustomResource
from tests.support.response_server import FakeContext, ResponseServer
from tests.support.verifying import CREDULOUS

if TYPE_CHECKING:
    from strongref.contract.event import Event
    from strongref.protocol.time import Clock

EVENT = Path(__file__).parents[1] / "events/create_import.json"
DENIED = StoreError("PutParameter", "AccessDenied", "/a", "us-east-1")
IN_USE = ExportsInUseError([InUse("A", "changed", ("web",))])


def nobody(_function: str, _event: object, left: StrongRefError, _clock: Clock) -> NoReturn:
    raise ReinvokeError("AccessDeniedException", left)


def counted(outcome: Response | Exception, capsys: pytest.CaptureFixture[str], *, taken: bool = True) -> dict[str, Any]:
    """The metrics of an event that ends like this."""

    def handle(_event: Event, _clock: Clock) -> Response:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    with ResponseServer() as server:
        raw = json.loads(EVENT.read_text(encoding="utf-8")) | {"ResponseURL": server.url}
        CustomResource(handle, (lambda *_: None) if taken else nobody, CREDULOUS)(raw, FakeContext())
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    return {
        metric["Name"]: line[metric["Name"]]
        for line in lines
        for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }


@pytest.mark.parametrize(
    ("error", "metric"),
    [
        (DENIED, ErrorMetric.ERRORS),
        (ValueError("a defect"), ErrorMetric.ERRORS),
        (StackLookupError("web", "us-east-1", "AccessDenied"), ErrorMetric.ERRORS),
        (IN_USE, ErrorMetric.REFUSED),
        (PartialCreateError(IN_USE, "id"), ErrorMetric.REFUSED),
        (BadRequestError("Values", "missing"), ErrorMetric.REJECTED),
        (ChangingError("network", "somebody"), ErrorMetric.REJECTED),
        (NoSuchProducerError("network"), ErrorMetric.REJECTED),
        (ResponseTooLargeError(5000, ["A"]), ErrorMetric.REJECTED),
    ],
)
def test_a_failed_event_counts_once_towards_its_metric(
    error: Exception, metric: ErrorMetric, capsys: pytest.CaptureFixture[str]
) -> None:
    assert counted(error, capsys) == {metric.value: [1.0]}


def test_a_continuation_and_its_failure_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert counted(WaitInterruptedError(DENIED), capsys) == {"HandOvers": [1.0]}
    assert counted(WaitInterruptedError(DENIED), capsys, taken=False) == {"HandOvers": [1.0], "Errors": [1.0]}


def test_a_success_counts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert counted(Response("id"), capsys) == {}


@pytest.mark.parametrize("handler", ["exporter", "importer", "lookup"])
def test_a_function_starts_without_what_only_some_events_need(handler: str) -> None:
    """Nothing of the other functions, and nothing that guesses."""
    code = "import sys, app; print(sorted(sys.modules))"
    folder = Path(__file__).parents[2] / "handlers" / handler
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603
    loaded = set(json.loads(done.stdout.replace("'", '"')))
    use_cases = {
        "exporter": "strongref.protocol.exports",
        "importer": "strongref.protocol.imports",
        "lookup": "strongref.lookup.custom_resource",
    }
    own = use_cases.pop(handler)
    assert own in loaded
    others = {
        "strongref.protocol.janitor",
        "strongref_cli",
        "strongref.lookup.search",
        "strongref.lookup.resource_types",
        "difflib",
    }
    assert loaded & {*use_cases.values(), *others} == set()
