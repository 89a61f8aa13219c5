"""What the janitor does about what it cannot look after: it reports that, and goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from strongref.errors import NewerFormatError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.protocol.fences import FenceHolder
from strongref.protocol.findings import Finding, FindingType

if TYPE_CHECKING:
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock

HOLDER = FenceHolder("janitor", "the janitor")


class Failed(Protocol):
    """Takes what the janitor could not look after."""

    def __call__(self, message: str, error: StrongRefError, /, **about: str) -> None:
        """A message for the log, the reason, and the names of what it is about."""


def log_failure(message: str, error: StrongRefError, /, **about: str) -> None:
    logger.error(message, extra={**about, "error": str(error)})


@dataclass(slots=True)
class Tender:
    """Looks after a part of what is stored for one region."""

    ports: Ports
    region: str
    account: str
    clock: Clock
    repairs: bool = True
    failed: Failed = log_failure  # takes what could not be looked after


@contextmanager
def tolerated(
    failed: Failed, found: list[Finding], message: str, name: str, *stacks: str, **about: str
) -> Iterator[None]:
    """What cannot be looked after is reported, and stops nothing else; `found` gets it. Raises `UnfinishedError` only.

    It is about the parameter or path of that name, about stacks, given by ARN, and about what else has a name.
    """
    try:
        yield
    except UnfinishedError:
        raise
    except NewerFormatError as error:
        found.append(Finding(FindingType.NEWER_FORMAT, name, stacks, str(error)))
    except StrongRefError as error:
        failed(message, error, parameter=name, **about)
        found.append(Finding(FindingType.FAILED_CALL, name, stacks, str(error)))
