"""Names that CloudFormation makes up, different in each region and account; and roles whose name is in use.

The emulator makes them from the stack's name alone. Roles are global: of one application in two regions, the one that
was deployed last would give its role, which is narrow and knows its region, to both. And when a function is configured
anew, the emulator ends the processes of all functions of that name, those of other accounts included.

A stack that names a role which exists would take it over. AWS refuses that.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from ministack.core.responses import get_account_id, get_region
from ministack.services import iam
from ministack.services.cloudformation import provisioners

if TYPE_CHECKING:
    from collections.abc import Callable

BELIEFS = ("made-up-names",)

_SUFFIX = 13


def install() -> None:
    """Replace the emulator's way to make up names, and to create roles."""
    provisioners._physical_name = regional(provisioners._physical_name)
    role = provisioners._RESOURCE_HANDLERS["AWS::IAM::Role"]
    role["create"] = refusing(role["create"])


def refusing(create: Callable[..., object]) -> Callable[..., object]:
    """Create no role whose name is in use."""

    def creating(logical_id: str, properties: dict[str, Any], stack_name: str) -> object:
        name = properties.get("RoleName")
        if name and iam._roles.get(name):
            raise ValueError(f"Role with name {name} already exists. (HandlerErrorCode: AlreadyExists)")
        return create(logical_id, properties, stack_name)

    return creating


def regional(name: Callable[..., str]) -> Callable[..., str]:
    """Names with the account and the region in the hash that they end in."""

    def named(stack_name: str, logical_id: str, **options: object) -> str:
        made = name(stack_name, logical_id, **options)
        own = hashlib.sha256(f"{get_account_id()}:{get_region()}:{made}".encode()).hexdigest()[:_SUFFIX]
        return made[:-_SUFFIX] + (own if made.islower() else own.upper())

    return named
