"""SSM's JSON protocol over `FakeSsm`, with an index, so that a hundred thousand parameters cost no more than ten."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right, insort
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from tests.support.fake_ssm import EPOCH, FakeParameter, FakeSsm, Slot
from tests.support.local_ssm.wire import Response

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ACTIONS = {
    action: re.sub(r"(?<!^)(?=[A-Z])", "_", action).lower()
    for action in (
        "PutParameter",
        "GetParameters",
        "GetParametersByPath",
        "DescribeParameters",
        "DeleteParameter",
        "DeleteParameters",
        "ListTagsForResource",
        "AddTagsToResource",
        "RemoveTagsFromResource",
    )
}
"""What is answered, and the method that does it."""

_AFTER_SLASH = chr(ord("/") + 1)


class IndexedSsm(FakeSsm):
    """`FakeSsm` that keeps its names in order instead of sorting them at each call."""

    def __init__(self, region: str, account: str, **how: Any) -> None:
        super().__init__(region, account, **how)
        self._in_order: list[str] = []

    def preload(self, names: Iterable[str], text: str, tags: Mapping[str, str]) -> None:
        """Put parameters there that nobody wrote."""
        parameter = FakeParameter("String", "Standard", text, 1, EPOCH, tuple(sorted(tags.items())))
        self._slots.update((name, Slot(1, parameter)) for name in names)
        self._in_order = sorted(name for name, slot in self._slots.items() if slot.parameter)

    def get_parameters_by_path(self, **request: Any) -> dict[str, Any]:
        if not request.get("Recursive"):
            return super().get_parameters_by_path(**request)
        self._begin("GetParametersByPath", request)
        page, token = self._page(self._below(request["Path"]), request)
        return {"Parameters": [self._shown(name, self._known(name), request) for name in page], **token}

    def describe_parameters(self, **request: Any) -> dict[str, Any]:
        match request.get("ParameterFilters"):
            case [{"Key": "Path", "Option": "Recursive", "Values": [path]}]:
                self._begin("DescribeParameters", request)
                page, token = self._page(self._below(path), request)
                return {"Parameters": [self._described(name) for name in page], **token}
        return super().describe_parameters(**request)

    def after(self, name: str) -> Iterator[tuple[str, FakeParameter]]:
        """The parameters whose names come after a name, in order."""
        for at in range(bisect_right(self._in_order, name), len(self._in_order)):
            yield self._in_order[at], self._known(self._in_order[at])

    def _below(self, path: str) -> list[str]:
        path = path.rstrip("/")
        first = bisect_left(self._in_order, f"{path}/")
        return self._in_order[first : bisect_left(self._in_order, f"{path}{_AFTER_SLASH}")]

    def _names(self) -> list[str]:
        return self._in_order

    def _set(self, name: str, slot: Slot) -> None:
        there = self._find(name) is not None
        super()._set(name, slot)
        if slot.parameter and not there:
            insort(self._in_order, name)
        elif there and not slot.parameter:
            del self._in_order[bisect_left(self._in_order, name)]


def perform(ssm: FakeSsm, action: str, body: bytes, delay: float) -> Response:
    """Carry out a call and answer it as SSM does."""
    try:
        answer = getattr(ssm, ACTIONS[action])(**json.loads(body))
    except ClientError as failed:
        given = failed.response["Error"]
        return error(given["Code"], given["Message"], delay)
    return Response(body=json.dumps(answer, default=_timestamp).encode(), delay=delay)


def error(code: str, message: str, delay: float = 0.0) -> Response:
    """An error as SSM answers it."""
    return Response(400, json.dumps({"__type": code, "message": message}).encode(), delay=delay)


def _timestamp(given: object) -> float:
    if isinstance(given, datetime):
        return given.timestamp()
    raise TypeError(type(given).__name__)
