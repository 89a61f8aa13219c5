"""The error classes that modules define, for tests that none of them is without its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.errors import StrongRefError

if TYPE_CHECKING:
    from types import ModuleType


def errors_of(*modules: ModuleType) -> set[type[StrongRefError]]:
    """The classes of errors that these modules define; not those that they import."""
    return {
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, StrongRefError) and kind.__module__ == module.__name__
    }
