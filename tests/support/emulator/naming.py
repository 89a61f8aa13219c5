"""Names that CloudFormation makes up, different in each region and account.

The emulator makes them from the stack's name alone. Roles are global: of one application in two regions, the one that
was deployed last would give its role, which is narrow and knows its region, to both. And when a function is configured
anew, the emulator ends the processes of all functions of that name, those of other accounts included.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ministack.core.responses import get_account_id, get_region
from ministack.services.cloudformation import provisioners

if TYPE_CHECKING:
    from collections.abc import Callable

_SUFFIX = 13


def install() -> None:
    """Replace the emulator's way to make up names."""
    provisioners._physical_name = regional(provisioners._physical_name)


def regional(name: Callable[..., str]) -> Callable[..., str]:
    """Names with the account and the region in the hash that they end in."""

    def named(stack_name: str, logical_id: str, **options: object) -> str:
        made = name(stack_name, logical_id, **options)
        own = hashlib.sha256(f"{get_account_id()}:{get_region()}:{made}".encode()).hexdigest()[:_SUFFIX]
        return made[:-_SUFFIX] + (own if made.islower() else own.upper())

    return named
