"""What the janitor does about what it cannot look after: it reports that, and goes on."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from strongref.errors import NewerFormatError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.protocol.findings import Finding, FindingType

if TYPE_CHECKING:
    from collections.abc import Iterator


class Failed(Protocol):
    """Takes what the janitor could not look after."""

    def __call__(self, message: str, error: StrongRefError, /, **about: str) -> None:
        """A message for the log, the reason, and the names of what it is about."""


def log_failure(message: str, error: StrongRefError, /, **about: str) -> None:
    logger.error(message, extra={**about, "error": str(error)})


@contextmanager
def tolerated(
    failed: Failed, found: list[Finding], message: str, name: str, *stacks: str, **about: str
) -> Iterator[None]:
    """What cannot be looked after is reported and found, and stops nothing else. Raises `UnfinishedError` only.

    Args:
        failed: takes the error.
        found: gets the finding.
        message: for the log.
        name: of the parameter, or the path, that it is about.
        stacks: the ARNs of the stacks concerned.
        about: names of what else it is about.
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
