"""What Exports and Imports leave in an account, put into the local service without deploying a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from strongref.contract.hold_stacks import HoldStack
from strongref.contract.index import Place, encode_hold, encode_place, index_name, path_of
from strongref.contract.names import PRODUCER_TAG, SHARED, ExportScope, Key, StackArn, claim_tag, owner_tag
from strongref.contract.record import Record, RequestStamp, encode, part_name
from strongref.contract.values import ParameterType, Value
from tests.support.local_ssm.control import LocalSsm
from tests.support.local_ssm.service import ACCOUNT

_EXPORT, _IMPORT = "Exports", "Imports"
_BEFORE, _AFTER = "2024-06-01T00:00:00Z", "2025-06-01T00:00:00Z"
"""When a stack was created: before the values of the local service were written, or after."""


@dataclass(frozen=True)
class Stack:
    """A stack by name and region. The imports of an old one may have to be deployed again, so they are listed."""

    name: str
    region: str
    old: bool = False

    @property
    def arn(self) -> StackArn:
        return StackArn("aws", self.region, ACCOUNT, self.name, "6e1b0a20-da77-11e4-9c0a-1234567db123")

    @property
    def _import_id(self) -> str:
        return f"strongref-import-{self.name}"

    @property
    def claim(self) -> str:
        """The key of its claims' tag."""
        return claim_tag(self._import_id)

    @property
    def described(self) -> dict[str, Any]:
        """As the local service takes it."""
        return {
            "StackId": str(self.arn),
            "StackName": self.name,
            "StackStatus": "UPDATE_COMPLETE",
            "CreationTime": _BEFORE if self.old else _AFTER,
            "Resources": [
                {
                    "LogicalResourceId": _IMPORT,
                    "PhysicalResourceId": self._import_id,
                    "ResourceType": "Custom::CrossRegionImport",
                }
            ],
        }


def store(service: LocalSsm, producer: Stack, region: str, values: Mapping[str, str], by: Sequence[Stack]) -> None:
    """Store an Export of a stack to a region, imported whole by stacks of that region, with its index and its holds."""
    scope, hold = ExportScope(SHARED, producer.arn.producer), f"{producer.name}-Exports"
    written = {Key(key): Value(ParameterType.STRING, text) for key, text in values.items()}
    stamp = RequestStamp(datetime(2025, 1, 1, tzinfo=UTC), "request-1")
    for part in encode(Record(str(producer.arn), written, hold, last=stamp), frozenset()):
        service.preload(region, [part_name(scope, _EXPORT, part.number)], part.text)
    claims = {importer.claim: str(importer.arn) for importer in by}
    tags = {PRODUCER_TAG: str(producer.arn), owner_tag(_EXPORT): _EXPORT, **claims}
    service.preload(region, map(scope.parameter_name, written), "a value", tags)
    place = Place(ACCOUNT, region, SHARED)
    arn, home = str(producer.arn), producer.region
    service.preload(
        home, [f"{index_name(producer.name, _EXPORT)}{path_of(place)}"], encode_place(arn, datetime.now(UTC))
    )
    service.preload(home, [index_name(producer.name, _EXPORT)], encode_hold(arn, hold))
    holds = [HoldStack.of_import(importer.arn, importer.claim, scope).parameter(hold) for importer in by]
    service.preload(producer.region, holds)
