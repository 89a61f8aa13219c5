"""strongref's exports as a channel out of a stack: custom resources that write values for other regions' stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from strongref.contract.names import SHARED
from strongref.contract.requests import EXPORT_TYPE, EXPORTER
from strongref_objects.base.names import export_key, logical_id
from strongref_objects.channels.exporting import WritePlan, check_free, check_storable, with_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_objects.base import Target
    from strongref_objects.base.names import Path
    from strongref_objects.base.values import Leaf
    from strongref_objects.channels import CrossRegion


class ExportResources:
    """A stack's `Custom::CrossRegionExport` resources: one for each consumer and region, with all values for them.

    So adding or removing a region, or changing their order, changes nothing for the others: each resource keeps its
    logical ID, and the exporter sees the values that it loses and changes.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._values: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, consumer: str | None, region: str, leaves: Mapping[Path, Leaf]) -> None:
        """Export values to an importing stack or label (None for all), in a region (empty for the stack's own)."""
        values = self._values.setdefault((consumer or SHARED, region), {})
        for (*levels, key), leaf in leaves.items():
            level = values
            for each in levels:
                level = cast("dict[str, Any]", level.setdefault(each, {}))
            level[key] = leaf.value
        if values:
            properties = {
                "ServiceToken": EXPORTER,
                **({"Region": region} if region else {}),
                **({"Consumer": consumer} if consumer else {}),
                "Values": values,
            }
            self._target.put_resource(_export_id(consumer, region), EXPORT_TYPE, properties)


def _export_id(consumer: str | None, region: str) -> str:
    return logical_id("StrongrefExport", f"{consumer or SHARED}/{region}")


class CrossRegionWriter:
    """`ExportWriter`: to one consumer in some regions."""

    def __init__(self, target: Target, exports: ExportResources, via: CrossRegion) -> None:
        self._target = target
        self._exports = exports
        self._consumer = via.consumer
        regions = ["" if region == target.region else region for region in via.regions] or [""]
        self._regions = tuple(dict.fromkeys(regions))

    def plan(self, leaves: Mapping[Path, Leaf]) -> WritePlan:
        leaves = with_items(self._target, leaves)
        for path, leaf in leaves.items():
            export_key(path)
            check_storable(self._target, path, leaf)
        for region in self._regions:
            check_free(self._target, _export_id(self._consumer, region), f"exports to {self._consumer or 'all stacks'}")

        def put() -> None:
            for region in self._regions:
                self._exports.add(self._consumer, region, leaves)

        return WritePlan(tuple(f"{self._consumer or SHARED}@{region}" for region in self._regions), {}, put)
