"""The end of a history: everything is taken away, and nothing refuses to go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.names import SHARED, ExportScope
from strongref.contract.record import decode
from strongref.contract.values import Kind, Parameter
from tests.support.fuzz_properties import CONSUMERS, PRODUCERS

if TYPE_CHECKING:
    from tests.support.cloud import Resources
    from tests.support.fuzz_history import History

LONG = 4_000.0
"""Seconds after which no fence stands any more."""


def take_all_away(history: History) -> None:
    """Consumers are deleted first, producers emptied then; what stacks that are gone have left is adopted, and goes."""
    cloud = history.cloud
    history.tell("everybody has come to an end; now everything is taken away")
    history.wait(LONG)
    for which in CONSUMERS:
        if cloud.find(*which):
            _delete(history, *which)
    for name, region in PRODUCERS:
        _empty(history, name, region)
    for scope, region in _left(history):
        producer = (scope.producer.stack, scope.producer.region)
        history.deploy(*producer, _as_recorded(history, scope, region))
        history.finish()
        _empty(history, *producer)
    left = [f"{name} in {region}" for region in cloud.regions for name in cloud.texts(region)]
    if left:
        history.fail(f"left for ever: {', '.join(left)}")


def _empty(history: History, name: str, region: str) -> None:
    stack = history.cloud.find(name, region)
    if stack is None:
        return
    if stack.status == "UPDATE_ROLLBACK_FAILED":
        history.go_on_rolling_back(name, region)
        history.finish()
    if not stack.status.endswith("_FAILED"):
        resources = {
            logical_id: {**resource.properties, "Values": {}, "SecureKeys": []}
            for logical_id, resource in stack.resources.items()
        }
        history.deploy(name, region, resources)
        history.finish()
        if stack.status != "UPDATE_COMPLETE":
            history.fail(f"nobody imports anything, and stack {name} cannot be emptied")
    _delete(history, name, region)


def _delete(history: History, name: str, region: str) -> None:
    history.delete(name, region)
    history.finish()
    if history.cloud.find(name, region):
        history.fail(f"nobody imports anything, and stack {name} cannot be deleted")


def _left(history: History) -> list[tuple[ExportScope, str]]:
    scopes = set()
    for region in history.cloud.regions:
        for name in history.cloud.texts(region):
            branch = name.split("/")[1]
            scope = ExportScope.of(branch, f"/strongref/{name.removeprefix('strongref/')}")
            if scope:
                scopes.add((scope, region))
    return sorted(scopes)


def _as_recorded(history: History, scope: ExportScope, region: str) -> Resources:
    """The Exports that a stack which is gone had there; if only values are left, one that will find them."""
    below = f"{scope.records}/"
    parts = {
        name: Parameter(name, Kind(slot.record.kind), slot.record.text)
        for name, slot in history.cloud.ssm(region)._slots.items()
        if slot.record and name.startswith(below)
    }
    resources: Resources = {}
    for logical_id, found in decode(scope.records, parts).items():
        secure = []
        values: dict[str, object] = {}
        for key, value in (found.record.values if found.record else {}).items():
            *above, last = key.split("/")
            inner = values
            for level in above:
                inner = inner.setdefault(level, {})  # type: ignore[assignment]
            inner[last] = value.attribute
            secure += [key.replace("/", ".")] if value.kind is Kind.SECURE else []
        resources[logical_id] = {"Region": region, "Values": values, "SecureKeys": secure}
        if scope.consumer != SHARED:
            resources[logical_id]["Consumer"] = scope.consumer
    if not resources:
        resources["Z"] = {"Region": region, "Values": {}}
        if scope.consumer != SHARED:
            resources["Z"]["Consumer"] = scope.consumer
    return resources
