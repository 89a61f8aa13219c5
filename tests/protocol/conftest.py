"""Fixtures of the protocol's tests."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def quiet() -> Iterator[None]:
    """No log: an exploration runs the code millions of times, which would log as many lines."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
