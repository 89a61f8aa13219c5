"""Headless Chromium for tests and pictures: the system's own, since nothing is downloaded for it."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

REQUIRED = "STRONGREF_CHROMIUM_REQUIRED"
"""The variable that `.ci/run` sets: there, tests fail without Chromium, and are not skipped."""

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def executable() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


def is_required() -> bool:
    return bool(os.environ.get(REQUIRED))


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (every run of the tests would wait for it)

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()
