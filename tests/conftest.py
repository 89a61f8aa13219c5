"""Fixtures and settings of all tests."""

from __future__ import annotations

import gc
import logging
import os
import sys
from typing import TYPE_CHECKING

import pytest

from strongref.log import logger
from tests.support import botocore_caches, examples
from tests.support.node import use_own_node
from tests.support.run_times import RunTimes

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

use_own_node()
botocore_caches.install()
examples.use_profile()

# The stores that tests use show every write at once; what is waited for otherwise has tests of its own.
os.environ.setdefault("STRONGREF_READ_LAG", "0")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(RunTimes())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what is imported and collected: nearly all of it stays, and it only grows."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    if "moto" in sys.modules:
        # What moto answers to the library requests, which nobody here calls AWS with, takes it longer than many a test.
        sys.modules["moto.core.models"].RESPONSES_METHODS.clear()
        from tests.support import moto_threads  # noqa: PLC0415 (only where there is moto)

        moto_threads.install()
    return result


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest tests first, so that no worker is left alone with one at the end.

    Deployments are spread among the others: they wait, so that one worker alone would take longer than the rest.
    """
    for item in items:
        if item.get_closest_marker("exhaustive"):
            item.add_marker(pytest.mark.deep)
    items.sort(key=lambda item: [item.get_closest_marker(each) is None for each in ("deep", "slow", "e2e")])
    deployments = [item for item in items if item.get_closest_marker("e2e") and not item.get_closest_marker("deep")]
    chosen = set(deployments)
    others = [item for item in items if item not in chosen]
    if deployments and others:
        every = len(others) // len(deployments)
        items[:] = others
        for number, item in enumerate(deployments):
            items.insert(number * (every + 1), item)


@pytest.fixture(autouse=True)
def _restore_log_streams() -> Iterator[None]:
    """Undo what a test of the command line does: its log is lines on standard error."""
    handlers = [handler for handler in logger.handlers if isinstance(handler, logging.StreamHandler)]
    before = [(handler.stream, handler.formatter, handler.level) for handler in handlers]
    yield
    for handler, (stream, formatter, level) in zip(handlers, before, strict=True):
        handler.stream = stream
        handler.setFormatter(formatter)
        handler.setLevel(level)
