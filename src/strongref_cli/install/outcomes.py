"""How a command ended in one region. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RegionResult(StrEnum):
    """How it ended in one region, as the commands show it."""

    INSTALLED = "installed"
    UPDATED = "updated"
    UP_TO_DATE = "up to date"
    WOULD_INSTALL = "would install"
    WOULD_UPDATE = "would update"
    REMOVED = "removed"
    WOULD_REMOVE = "would remove"
    NOT_INSTALLED = "not installed"
    IN_USE = "in use"
    REFUSED = "refused"
    FAILED = "failed"
    UNTOUCHED = "not touched"  # since another region's removal was refused


BAD = (RegionResult.IN_USE, RegionResult.REFUSED, RegionResult.FAILED)
"""Results that make a command exit with 1."""


@dataclass(frozen=True, slots=True)
class RegionOutcome:
    """What happened in one region, or would happen."""

    region: str
    result: RegionResult
    before: str | None = None  # the version that was there
    details: tuple[str, ...] = ()  # changes, reasons, uses; one short line each
