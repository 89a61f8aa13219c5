"""The built site in a browser: nothing overflows, nothing is loaded from elsewhere, the search finds error texts.

`make docs` builds it and runs these tests.
"""

from __future__ import annotations

import functools
import re
import threading
from contextlib import contextmanager
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote_plus

import pytest

from tests.support.chromium import chromium, executable, is_required
from tests.support.documents import ROOT
from tests.support.error_texts import CLOUDFORMATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.site

SITE = ROOT / ".build/site"
PAGES = sorted(str(page.relative_to(SITE)) for page in SITE.glob("**/*.html") if page.name != "404.html")

OPEN_SHADOWS = """
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (given) { return attach.call(this, {...given, mode: "open"}); };
"""
"""The theme's search is in a closed shadow root, which no test could look into."""

WIDE, NARROW = 1280, 390


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        del format, args


@contextmanager
def serving() -> Iterator[str]:
    """The site's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(SITE)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    assert PAGES, "the site is not built: make docs"
    with serving() as given:
        yield given


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = executable()
    if path is None:
        assert not is_required(), "Chromium is not installed"
        pytest.skip("Chromium is not installed")
    with chromium(path) as given:
        yield given


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_no_page_overflows_fails_or_loads_anything_from_elsewhere(
    browser: Browser, address: str, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    view = context.new_page()
    elsewhere: list[str] = []
    failed: list[str] = []
    view.on("request", lambda each: elsewhere.append(each.url) if not each.url.startswith((address, "data:")) else None)
    view.on("response", lambda each: failed.append(each.url) if each.status >= 400 else None)
    view.on("pageerror", lambda each: failed.append(str(each)))
    found = {}
    for page in PAGES:
        view.goto(address + page, wait_until="load")
        found[page] = view.evaluate(
            """() => ({
                overflow: document.documentElement.scrollWidth > document.documentElement.clientWidth,
                images: [...document.images].filter(each => !each.alt || !each.complete || !each.naturalWidth).length,
                headings: document.querySelectorAll("h1").length,
            })"""
        )
    context.close()
    assert {page: facts for page, facts in found.items() if facts["overflow"] or facts["images"]} == {}
    assert {page for page, facts in found.items() if facts["headings"] != 1} == set()
    assert elsewhere == []
    assert failed == []


def test_dark_is_dark(browser: Browser, address: str) -> None:
    brightness = {}
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        view = browser.new_page(color_scheme=scheme)
        view.goto(address + "index.html")
        brightness[scheme] = sum(
            view.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)")
        )
        view.close()
    assert brightness["dark"] < 3 * 64
    assert brightness["light"] > 3 * 192


def searching(view: Page) -> None:
    """Open the search with the keyboard, as its button says."""
    view.wait_for_load_state("networkidle")
    view.keyboard.press("Control+k")
    view.get_by_role("combobox", name="Search").wait_for(timeout=60_000)


def hits(view: Page, text: str) -> list[str]:
    """The pages that the search shows for a text, the best first."""
    box = view.get_by_role("combobox", name="Search")
    box.fill("")
    box.fill(text)
    listed = view.get_by_role("listbox", name="Search results").locator("a")
    # The results of the text before may still be listed: each link has the text that it was found by.
    queried = quote_plus(escape(text, quote=False))  # The site escapes the text for HTML first.
    its_own = listed.and_(view.locator(f"[href*='?h={queried}']"))
    found: list[str] = []
    while not found:  # The list is empty for a moment whenever it is drawn anew.
        its_own.first.wait_for(timeout=60_000)
        found = its_own.evaluate_all("each => each.map(link => link.href.split('?')[0])")
    return found


@pytest.fixture
def view(browser: Browser, address: str) -> Iterator[Page]:
    given = browser.new_page(viewport={"width": WIDE, "height": 900})
    given.add_init_script(OPEN_SHADOWS)
    given.goto(address + "index.html")
    yield given
    given.close()


def test_every_text_that_cloudformation_shows_is_found_by_its_first_six_words(view: Page, address: str) -> None:
    searching(view)
    missed = {}
    for name, make in CLOUDFORMATION.items():
        words = " ".join(str(make()).split()[:6])
        first = hits(view, words)[:5]
        if not any(each.startswith(f"{address}troubleshooting/") for each in first):
            missed[name] = (words, first)
    assert missed == {}


def test_the_keyboard_opens_a_result(view: Page) -> None:
    searching(view)
    assert hits(view, "cannot be changed: it is imported by")
    view.keyboard.press("Enter")
    view.wait_for_url(re.compile(r"\.html\?h="))
    view.keyboard.press("Tab")
    assert view.evaluate("document.activeElement !== document.body")
