"""What botocore reads, sorts and inspects again for each session and client, kept for the whole run.

Tests make thousands of both, and each session would search the folders of models and parse them again.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from botocore import hooks, session
from botocore.loaders import JSONFileLoader

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import FullArgSpec

_load_file = JSONFileLoader.load_file
_load_once = functools.cache(functools.partial(_load_file, JSONFileLoader()))
_takes_keywords = functools.cache(hooks.accepts_kwargs)
_event_names: dict[str, str] = {}


def install() -> None:
    """Keep it from now on."""
    JSONFileLoader.load_file = _load  # type: ignore[method-assign]
    for module, name, kept in (
        (session, "create_loader", functools.cache(session.create_loader)),
        (session, "EventAliaser", _Aliaser),
        (hooks, "accepts_kwargs", _accepts_keywords),
    ):
        setattr(module, name, kept)


def _load(self: JSONFileLoader, file_path: str) -> Any:
    """The endpoints are a loader's own: botocore writes into them what it finds out."""
    return _load_file(self, file_path) if file_path.endswith("endpoints") else _load_once(file_path)


class _Aliaser(hooks.EventAliaser):
    """Every session has the same aliases of events."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._alias_name_cache = _event_names


def _accepts_keywords(handler: Callable[..., Any]) -> FullArgSpec:
    return _takes_keywords(getattr(handler, "__func__", handler))  # A method would keep its client alive.
