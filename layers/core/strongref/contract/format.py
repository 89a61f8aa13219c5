"""The format of what is stored: records, index entries, fences, holds, ledgers and traces. Pure.

Format 1 has no field for it. A later format has `"format": <number>` and, as records do already, `"writer": <version of
strongref>`; a hold stack has the tags of `HOLD_FORMAT` and `HOLD_WRITER`. A version that does not know a format neither
overwrites nor deletes what has it: it refuses, and reports it. Fields that a version does not know are no new format.
"""

from __future__ import annotations

from collections.abc import Mapping

from strongref import __version__
from strongref.errors import NewerFormatError

FORMAT = 1
"""The latest format that this version reads; the one that it writes."""

FIELD, WRITER = "format", "writer"
HOLD_FORMAT, HOLD_WRITER = "strongref:format", "strongref:writer"


def check_format(name: str, stored: object) -> None:
    """Check the format of stored JSON, given the name of its parameter; raises `NewerFormatError`."""
    if isinstance(stored, dict) and stored.get(FIELD, FORMAT) not in range(1, FORMAT + 1):
        raise _newer(name, stored[FIELD], stored.get(WRITER))


def check_hold_format(name: str, tags: Mapping[str, str]) -> None:
    """Check the format of a hold stack, given its name and its tags; raises `NewerFormatError`."""
    if tags.get(HOLD_FORMAT, str(FORMAT)) not in map(str, range(1, FORMAT + 1)):
        raise _newer(name, tags[HOLD_FORMAT], tags.get(HOLD_WRITER))


def _newer(name: str, found: object, writer: object) -> NewerFormatError:
    by = str(writer) if writer else "of an unknown version"
    return NewerFormatError(name, str(found), by, str(FORMAT), __version__)
