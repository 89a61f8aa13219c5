"""A template that is a dictionary."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strongref_objects.base import Intrinsic, Text, TextList


class PlainTarget:
    """`base.Target`: a stack, with or without an existing template.

    Attributes:
        name: the stack's.
        region: where the stack is deployed; needed for lookups at synthesis.
        account: the stack's account; the caller's own by default.
    """

    def __init__(
        self,
        name: str,
        region: str | None = None,
        account: str | None = None,
        template: Mapping[str, Any] | None = None,
    ) -> None:
        """The existing template is not changed: `template` returns it with everything added."""
        self.name = name
        self.region = region
        self.account = account
        self._template = template or {}
        self._outputs: dict[str, dict[str, Any]] = {}
        self._resources: dict[str, dict[str, Any]] = {}
        self._finish: list[Callable[[Sequence[Mapping[str, Any]]], None]] = []

    def template(self) -> dict[str, Any]:
        """A copy of the whole template, as it is now."""
        whole = self._whole()
        for each in self._finish:
            each([whole])
        return self._whole() if self._finish else whole

    def when_finished(self, finish: Callable[[Sequence[Mapping[str, Any]]], None]) -> None:
        self._finish.append(finish)

    def _whole(self) -> dict[str, Any]:
        whole = {"AWSTemplateFormatVersion": "2010-09-09", **self._template}
        for section, added in (("Resources", self._resources), ("Outputs", self._outputs)):
            if added:
                whole[section] = {**whole.get(section, {}), **added}
        return copy.deepcopy(whole)

    def put_output(self, logical_id: str, value: Text, *, export: Text | None, description: str | None) -> None:
        self._outputs[logical_id] = {
            **({"Description": description} if description else {}),
            "Value": value,
            **({"Export": {"Name": export}} if export else {}),
        }

    def put_resource(self, logical_id: str, type_name: str, properties: Mapping[str, Any]) -> None:
        self._resources[logical_id] = {
            "Type": type_name,
            **({"Properties": copy.deepcopy(dict(properties))} if properties else {}),
        }

    def drop_resource(self, logical_id: str) -> None:
        del self._resources[logical_id]

    def exports(self) -> dict[str, str]:
        outputs = self._template.get("Outputs", {})
        names = {logical_id: each.get("Export", {}).get("Name") for logical_id, each in outputs.items()}
        return {name: logical_id for logical_id, name in names.items() if isinstance(name, str)}

    def has(self, logical_id: str) -> bool:
        return any(logical_id in self._template.get(section, {}) for section in ("Resources", "Outputs", "Parameters"))

    def is_unresolved(self, value: object) -> bool:
        """In a plain template, only maps are unresolved: intrinsic functions."""
        if isinstance(value, Mapping):
            return True
        return isinstance(value, Sequence) and not isinstance(value, str) and any(map(self.is_unresolved, value))

    def canonical(self, value: object) -> object:
        """The value itself, with the arguments of each `Fn::GetAtt` as a list."""
        if isinstance(value, Mapping):
            return {
                key: each.split(".", 1) if key == "Fn::GetAtt" and isinstance(each, str) else self.canonical(each)
                for key, each in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self.canonical(each) for each in value]
        return value

    def stand_in(self, intrinsic: Intrinsic) -> Text:
        return intrinsic

    def stand_in_list(self, intrinsic: Intrinsic) -> TextList:
        return intrinsic
