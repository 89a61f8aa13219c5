"""A page of a graph, open in Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from strongref_cli.graph.formats.page import as_page
from tests.support.chromium import REQUIRED, chromium, executable, is_required

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from strongref_cli.overview.graph import Graph


class OpenPage(Protocol):
    def __call__(self, graph: Graph, width: int = 1600, **settings: Any) -> Page: ...


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = executable()
    if path is None:
        missing = "Chromium is not installed: apt-get install chromium"
        if is_required():
            pytest.fail(f"{missing} ({REQUIRED} is set)")
        pytest.skip(missing)
    with chromium(path) as running:
        yield running


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    """Open the page of a graph. In the end nothing may have been written to the console or asked of the network."""
    said: list[str] = []
    asked: list[str] = []
    contexts = []
    file = tmp_path / "graph.html"

    def opened(graph: Graph, width: int = 1600, **settings: Any) -> Page:
        file.write_text(as_page(graph), "utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert {url for url in asked if not url.startswith("data:")} <= {file.as_uri()}
