"""Consumers as people read and write them."""

from __future__ import annotations

from strongref.contract.names import SHARED

ALL = "all"
"""What people read and write for `SHARED`."""


def consumer_text(consumer: str) -> str:
    """A consumer as people see it."""
    return ALL if consumer == SHARED else consumer


def consumer_given(text: str) -> str:
    """The consumer that people mean; also as it is stored."""
    return SHARED if text == ALL else text
