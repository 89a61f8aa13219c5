"""Waits: what reads that lag add to the time of an event."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.bench import Bench, Data, Verdict
from benchmarks.sides import EU, US
from benchmarks.tables import table
from strongref.contract.response import Response
from strongref.protocol.lag import DEFAULT_LAG, MAX_LAG, ReadLag
from strongref.refusals import ExportsInUseError
from tests.support.cloud import Cloud
from tests.support.cloudformation.requests import ResourceRequest

TITLE = "Waits for reads that lag"
METHOD = """
Reads may lag behind writes by up to `ReadLag` seconds, so changes [wait](../../docs/how-it-works.md#reads-may-lag).
The table has the seconds that an event waits in addition to the time of its calls, on a clock that only waits move.
The Export publishes to two regions; it waits once for both. A refused update is followed by its rollback, which has a
wait of its own.
"""

_LAGS = (0.0, 1.0, DEFAULT_LAG, 5.0, MAX_LAG)
_CREATE, _CHANGE, _REFUSAL, _STALE = "Create exports", "Change an export", "Refuse a change", "Change, a claim is stale"
_BOUNDS: dict[str, tuple[int, str]] = {
    _CREATE: (0, "0"),
    _CHANGE: (3, "3·D + 1"),
    _REFUSAL: (1, "D + 1"),
    _STALE: (4, "4·D + 2"),
}
"""By event, how many lags it may wait at most, and the bound in words."""


def run(bench: Bench) -> Data:  # noqa: ARG001 (as every table's)
    """Play a story for each lag."""
    logging.disable()
    try:
        return {"lags": list(_LAGS), "rows": [{"lag": lag, "waits": dict(_story(_Timed(), lag))} for lag in _LAGS]}
    finally:
        logging.disable(logging.NOTSET)


class _Timed(Cloud):
    """A cloud that notes how long each event waits."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def send(self, request: ResourceRequest) -> Response:
        before, at = sum(self.clock.slept), len(self.waits)
        try:
            return super().send(request)
        finally:
            self.waits.insert(at, round(sum(self.clock.slept) - before, 1))


def _story(cloud: _Timed, lag: float) -> Iterator[tuple[str, float]]:
    cloud.lag = ReadLag(lag)

    def waited(work: Callable[[], object]) -> float:
        cloud.clock.slept.append(MAX_LAG + 10)  # Reads show what was done before, and its fences have expired.
        events = len(cloud.waits)
        work()
        return cloud.waits[events]

    def publish(value: str, **more: str) -> Callable[[], object]:
        exports = {"Region": [US, EU], "Consumer": "web", "Values": {"A": value}, **more}
        return lambda: cloud.deploy("network", EU, {"Exports": exports})

    def refused() -> None:
        try:
            publish("3")()
        except ExportsInUseError:
            return
        raise AssertionError

    imports = {"From": {"Stack": "network", "Region": EU}, "Names": ["A"]}
    yield _CREATE, waited(publish("1"))
    yield "Update exports, nothing changes", waited(publish("1", OnChange="propagate"))
    yield _CHANGE, waited(publish("2"))
    yield "Create an import", waited(lambda: cloud.deploy("web", US, {"Imports": imports}))
    yield _REFUSAL, waited(refused)
    del cloud.stack("web", US).resources["Imports"]
    yield _STALE, waited(publish("3"))
    yield "Delete exports", waited(lambda: cloud.delete("network", EU))


def render(data: Data) -> list[str]:
    """The waits by event and lag."""
    events = data["rows"][0]["waits"]
    header = ["Seconds", *(f"`ReadLag` {lag:g}" for lag in data["lags"])]
    return table(header, [[event, *(f"{row['waits'][event]:g}" for row in data["rows"])] for event in events])


def verdicts(data: Data) -> list[Verdict]:
    """Each bound must hold for every lag."""
    return [_verdict(data, event, *bound) for event, bound in _BOUNDS.items()]


def _verdict(data: Data, event: str, lags: int, words: str) -> Verdict:
    margin = {0: 0, 4: 2}.get(lags, 1)
    misses = [row["lag"] for row in data["rows"] if row["waits"][event] > lags * row["lag"] + margin]
    default: dict[str, Any] = next(row["waits"] for row in data["rows"] if row["lag"] == DEFAULT_LAG)
    return Verdict(
        f"{event}: waits at most {words} seconds", not misses, f"{default[event]:g} s with D = {DEFAULT_LAG:g}"
    )
