"""strongref's exports as a channel out of a stack: custom resources that write values for stacks elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from strongref.contract.hold_stacks import HOLD, hold_name, hold_output, hold_output_id
from strongref.contract.names import SHARED
from strongref.contract.requests import EXPORT_TYPE, EXPORTER
from strongref_objects.base.errors import BadNameError
from strongref_objects.base.names import Path, export_key, logical_id, shown
from strongref_objects.channels.exporting import WritePlan, check_free, check_storable, with_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_objects.base import Target
    from strongref_objects.base.values import Leaf
    from strongref_objects.channels import CrossRegion


class ExportResources:
    """A stack's `Custom::CrossRegionExport` resources: one for each consumer and place, with all values for them.

    So adding or removing a place, or changing their order, changes nothing for the others: each resource keeps its
    logical ID, and the exporter sees the values that it loses and changes. Each has a hold and the output that exports
    it, so none can be removed while its values are imported.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._values: dict[str, dict[str, Any]] = {}
        self._held: set[str] = set()

    def add(self, consumer: str | None, place: _Place, leaves: Mapping[Path, Leaf], *, hold: bool) -> None:
        """Export values to an importing stack or label (None for all) in a place.

        The Export has a hold if one is wanted for any of its values.
        """
        export, (account, region) = _export_id(consumer, place), place
        values = self._values.setdefault(export, {})
        for (*levels, key), leaf in leaves.items():
            level = values
            for each in levels:
                level = cast("dict[str, Any]", level.setdefault(each, {}))
            level[key] = leaf.value
        if values:
            self._held |= {export} if hold else set()
            properties = {
                "ServiceToken": EXPORTER,
                **({"Region": region} if region else {}),
                **({"Account": account} if account else {}),
                **({"Consumer": consumer} if consumer else {}),
                **({HOLD: hold_name(export)} if export in self._held else {}),
                "Values": values,
            }
            self._target.put_resource(export, EXPORT_TYPE, properties)
            if export in self._held:
                output = hold_output(export, {})
                name = output["Export"]["Name"]
                self._target.put_output(hold_output_id(export), output["Value"], export=name, description=None)


_Place: TypeAlias = tuple[str, str]
"""An account and a region; empty for the stack's own."""


def _namespace(consumer: str | None, place: _Place) -> str:
    account, region = place
    return "/".join([consumer or SHARED, *([account] if account else []), region])


def _export_id(consumer: str | None, place: _Place) -> str:
    return logical_id("StrongrefExport", _namespace(consumer, place))


def plan_exports(target: Target, exports: ExportResources, via: CrossRegion, leaves: Mapping[Path, Leaf]) -> WritePlan:
    """The Exports of these values to one consumer in some places; errors as for `WritePlan`."""
    leaves = with_items(target, leaves)
    places = dict.fromkeys(
        ("" if account == target.account else account, "" if region == target.region else region)
        for account, region in via.places
    )
    for path, leaf in leaves.items():
        export_key(path)
        if target.account in path and any(account for account, _ in places):
            raise BadNameError(shown(path), f"other accounts accept no name with the level {target.account}")
        check_storable(target, path, leaf)
    for export in (_export_id(via.consumer, place) for place in places):
        for needed in (export, *([hold_output_id(export)] if via.hold else [])):
            check_free(target, needed, f"exports to {via.consumer or 'all stacks'}")

    def put() -> None:
        for place in places:
            exports.add(via.consumer, place, leaves, hold=via.hold)

    return WritePlan(tuple(_namespace(via.consumer, place) for place in places), {}, put)
