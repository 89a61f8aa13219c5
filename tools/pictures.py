"""Writes the pictures in `docs/pictures`: what commands print on a terminal, and the page of a small company's graph.

Run it with `make pictures` after one of them has changed; it needs Debian's package `chromium`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from strongref_cli.graph.formats.page import as_page
from tests.support.chromium import chromium, executable
from tests.support.graphs import shop
from tools import terminal

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TARGET = Path(__file__).resolve().parents[1] / "docs/pictures"
WIDTH, HEIGHT = 1280, 860


def write_pictures(browser: Browser, folder: Path) -> None:
    """The whole graph in light, and in dark with a stack selected."""
    page = folder / "graph.html"
    page.write_text(as_page(shop()), "utf-8")
    for scheme, selected in (("light", ""), ("dark", "#stack/111111111111/eu-west-1/orders")):
        view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)  # type: ignore[arg-type]
        view.goto(page.as_uri() + selected)
        view.screenshot(path=TARGET / f"graph-{scheme}.png")
        view.close()


def main() -> int:
    path = executable()
    if path is None:
        sys.stderr.write("Chromium is not installed: apt-get install chromium\n")
        return 1
    TARGET.mkdir(exist_ok=True)
    with chromium(path) as browser, tempfile.TemporaryDirectory() as folder:
        write_pictures(browser, Path(folder))
    terminal.write_pictures()
    return 0


if __name__ == "__main__":
    sys.exit(main())
