"""The states of exports, imports and holds: the words of every command, of JSON and of docs/glossary.md. Data only."""

from __future__ import annotations

from enum import StrEnum


class ExportState(StrEnum):
    """How the parameter of a value compares with the records."""

    PUBLISHED = "published"
    MISSING = "missing"
    """A record has the value, but there is no parameter."""
    RESTORED = "restored"
    """The parameter was deleted and put back, and nobody has claimed the value since."""
    FOREIGN = "foreign"
    """A parameter among the values that strongref has not made."""
    WITHDRAWN = "withdrawn"
    """No record has the value anymore. The parameter stays for the stacks that import it."""
    ORPHANED = "orphaned"
    """The stack that exported the value does not exist anymore. The janitor removes it once nothing imports it."""
    UNREADABLE = "unreadable"
    """The record that may have the value is damaged, or is being written."""


class ImportState(StrEnum):
    """How an import compares with the value that it claims."""

    CURRENT = "current"
    OUTDATED = "outdated"
    """The value changed after the import was made."""
    STALE = "stale"
    """The importing stack, or its import, does not exist anymore: the claim protects nothing."""
    UNKNOWN = "unknown"
    """A manifest set, a stack of another account, or one in the middle of an operation."""


class Protection(StrEnum):
    """Whether CloudFormation itself protects the producer of an imported value, from the best to the worst."""

    HELD = "held"
    UNKNOWN = "unknown"
    """The record of the value could not be read, or the holds in the region of its producer, as in another account."""
    UNHELD = "unheld"
    """The Export names a hold, and this import does not have it yet."""
    UNPROTECTED = "unprotected"
    """The Export names no hold."""


STATES = (
    *ExportState,
    *("imported", "unused"),
    *(ImportState.OUTDATED, ImportState.STALE),
    *(Protection.UNHELD, Protection.UNPROTECTED),
)
"""What `strongref list --state` takes."""
