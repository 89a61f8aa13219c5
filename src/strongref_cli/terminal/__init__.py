"""What all commands share: options, tables, progress and questions; and here, exit statuses and the word for all."""

from __future__ import annotations

from strongref.contract.names import SHARED

FAILED, WRONG_USAGE, AWS_FAILED = 1, 2, 3
"""Exit statuses; Ctrl-C has 130."""

CLOSED_PIPE = 141
"""What shells report for a command whose reader has read enough."""

ALL = "all"
"""What people read and write for `SHARED`."""


def consumer_text(consumer: str) -> str:
    """A consumer as people see it."""
    return ALL if consumer == SHARED else consumer


def consumer_given(text: str) -> str:
    """The consumer that people mean; also as it is stored."""
    return SHARED if text == ALL else text
