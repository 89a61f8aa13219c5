"""One request at a time in moto, which is not made for threads: what one deletes while another lists it raises."""

from __future__ import annotations

from threading import RLock
from typing import Any

from moto.core.responses import BaseResponse

_lock = RLock()
_dispatch = BaseResponse._dispatch


def install() -> None:
    """From now on, each request waits for the one before."""
    BaseResponse._dispatch = _one_by_one  # type: ignore[method-assign, assignment]


def _one_by_one(self: BaseResponse, request: Any, full_url: str, headers: Any) -> Any:
    with _lock:
        return _dispatch(self, request, full_url, headers)
