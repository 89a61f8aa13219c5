"""How each command adds its own parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import argparse

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 (it has no other name)
"""Where each command adds its own parser."""


def register(commands: Commands, name: str, what: str, **more: Any) -> argparse.ArgumentParser:  # noqa: ANN401
    """A command's own parser: `what` is its line of help, and how its page begins."""
    return commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.", **more)
