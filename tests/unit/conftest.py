"""What the quick tests have in common."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from strongref.log import logger
from tests.support.node import use_own_node

if TYPE_CHECKING:
    from collections.abc import Iterator

use_own_node()


@pytest.fixture(autouse=True)
def _the_log_goes_where_it_went() -> Iterator[None]:
    """The command has it go to standard error, and functions' tests look for it where functions write it."""
    handlers = [handler for handler in logger.handlers if isinstance(handler, logging.StreamHandler)]
    streams = [handler.stream for handler in handlers]
    yield
    for handler, stream in zip(handlers, streams, strict=True):
        handler.stream = stream
