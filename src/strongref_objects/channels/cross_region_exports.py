"""strongref's exports as a channel out of a stack: custom resources that write values for other regions' stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from strongref.contract.hold_stacks import HOLD, hold_name, hold_output, hold_output_id
from strongref.contract.names import SHARED
from strongref.contract.requests import EXPORT_TYPE, EXPORTER
from strongref_objects.base.names import Path, export_key, logical_id
from strongref_objects.channels.exporting import WritePlan, check_free, check_storable, with_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_objects.base import Target
    from strongref_objects.base.values import Leaf
    from strongref_objects.channels import CrossRegion


class ExportResources:
    """A stack's `Custom::CrossRegionExport` resources: one for each consumer and region, with all values for them.

    So adding or removing a region, or changing their order, changes nothing for the others: each resource keeps its
    logical ID, and the exporter sees the values that it loses and changes. Each has a hold and the output that exports
    it, so none can be removed while its values are imported.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._values: dict[tuple[str, str], dict[str, Any]] = {}
        self._held: set[str] = set()

    def add(self, consumer: str | None, region: str, leaves: Mapping[Path, Leaf], *, hold: bool) -> None:
        """Export values to an importing stack or label (None for all), in a region (empty for the stack's own).

        The Export has a hold if one is wanted for any of its values.
        """
        values = self._values.setdefault((consumer or SHARED, region), {})
        for (*levels, key), leaf in leaves.items():
            level = values
            for each in levels:
                level = cast("dict[str, Any]", level.setdefault(each, {}))
            level[key] = leaf.value
        if values:
            export = _export_id(consumer, region)
            self._held |= {export} if hold else set()
            properties = {
                "ServiceToken": EXPORTER,
                **({"Region": region} if region else {}),
                **({"Consumer": consumer} if consumer else {}),
                **({HOLD: hold_name(export)} if export in self._held else {}),
                "Values": values,
            }
            self._target.put_resource(export, EXPORT_TYPE, properties)
            if export in self._held:
                output = hold_output(export, {})
                name = output["Export"]["Name"]
                self._target.put_output(hold_output_id(export), output["Value"], export=name, description=None)


def _export_id(consumer: str | None, region: str) -> str:
    return logical_id("StrongrefExport", f"{consumer or SHARED}/{region}")


def plan_exports(target: Target, exports: ExportResources, via: CrossRegion, leaves: Mapping[Path, Leaf]) -> WritePlan:
    """The Exports of these values to one consumer in some regions; errors as for `WritePlan`."""
    leaves = with_items(target, leaves)
    regions = dict.fromkeys("" if region == target.region else region for region in via.regions or [""])
    for path, leaf in leaves.items():
        export_key(path)
        check_storable(target, path, leaf)
    for export in (_export_id(via.consumer, region) for region in regions):
        for needed in (export, *([hold_output_id(export)] if via.hold else [])):
            check_free(target, needed, f"exports to {via.consumer or 'all stacks'}")

    def put() -> None:
        for region in regions:
            exports.add(via.consumer, region, leaves, hold=via.hold)

    return WritePlan(tuple(f"{via.consumer or SHARED}@{region}" for region in regions), {}, put)
