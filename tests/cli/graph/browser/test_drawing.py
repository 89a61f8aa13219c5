"""What the page of a graph looks like, in headless Chromium: nothing overlaps, everything can be read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from strongref_cli.graph.formats.page import as_page
from strongref_cli.overview.graph import Graph, Participant, Unread
from strongref_cli.overview.states import Protection
from tests.cli.graph.browser.measures import (
    CONTRAST,
    CUT,
    HEADS,
    OFF_SCREEN,
    ROUTES,
    areas,
    expand,
    labels,
    overlapping,
)
from tests.support.graphs import AS_OF, landscape, reference, shop, stack, with_outdated

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.cli.graph.browser.conftest import OpenPage

pytestmark = pytest.mark.slow

SIZES = (5, 200, 500)
WIDTHS = (390, 1600)
OVERFLOW = "document.querySelector('#view').scrollWidth - document.querySelector('#view').clientWidth"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", SIZES)
def test_nothing_overlaps_and_no_label_is_cut(open_page: OpenPage, size: int, width: int) -> None:
    page = open_page(with_outdated(landscape(size)), width)
    assert overlapping([*areas(page), *page.evaluate(HEADS), *labels(page)]) == []
    expand(page)
    assert len(areas(page)) == size
    words = labels(page)
    assert overlapping([*areas(page), *page.evaluate(HEADS), *words]) == []
    assert len(words) > size / 10
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("graph", [shop(), with_outdated(landscape(50))], ids=["shop", "50"])
def test_edges_join_their_boxes_to_the_right_and_run_through_no_other(
    open_page: OpenPage, graph: Graph, width: int
) -> None:
    page = open_page(graph, width)
    boxes = {each["id"]: each for each in areas(page)}
    routes = page.evaluate(ROUTES)
    assert len(routes) == len({(each.producer, each.importer) for each in graph.references})
    joined = set()
    for route in routes:
        (x1, y1), (x2, y2) = route["points"][0], route["points"][-1]
        start = next(n for n, b in boxes.items() if abs(b["right"] - x1) < 1 and b["top"] < y1 < b["bottom"])
        end = next(n for n, b in boxes.items() if abs(b["left"] - x2) < 1 and b["top"] < y2 < b["bottom"])
        joined.add((start, end))
        assert x1 < x2
        for x, y in route["points"][1:-2]:
            assert [n for n, b in boxes.items() if b["left"] < x < b["right"] and b["top"] < y < b["bottom"]] == []
    ids = {each: f"s{number}" for number, each in enumerate(graph.participants)}
    assert joined == {(ids[each.producer], ids[each.importer]) for each in graph.references}


def test_what_is_wrong_with_a_reference_is_seen_without_color(open_page: OpenPage) -> None:
    bare = [each for each in Protection if each is not Protection.HELD]
    references = [
        reference(
            stack(f"{state}{number}"), stack(f"{state}{number}", "us-east-1"), "k", outdated=keys, protection=state
        )
        for state in Protection
        for number, keys in enumerate(((), ("k",)))
    ]
    page = open_page(Graph((), tuple(references), AS_OF))
    dashes = {"+".join(route["kinds"]): route["dashes"] for route in page.evaluate(ROUTES)}
    assert set(dashes) == {"", "outdated", *bare, *(f"outdated+{each}" for each in bare)}
    assert len(set(dashes.values())) == len(dashes)
    words = {each["mark"]: each["id"] for each in labels(page)}
    assert words == {each: each for each in ("outdated", *bare)} | {"unprotected": "no hold"}
    legend = "exports to outdated 4 unheld 2 no hold 2 unknown 2 cycle 0"
    assert " ".join(page.locator(".legend").inner_text().split()) == legend
    assert page.locator(".mark").count() == 4


def test_a_cycle_is_marked_and_named(open_page: OpenPage) -> None:
    first, second, third = stack("first"), stack("second"), stack("third")
    graph = Graph(
        (),
        (reference(first, second), reference(second, first), reference(second, third), reference(third, third)),
        AS_OF,
    )
    page = open_page(graph)
    assert sorted("+".join(route["kinds"]) for route in page.evaluate(ROUTES)) == ["", "", "cycle", "cycle"]
    assert overlapping(areas(page)) == []
    page.click("#s0")
    assert page.inner_text("#details .notice.cycle") == "Part of a cycle of 2: first → second → first"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_both_modes(open_page: OpenPage, scheme: str) -> None:
    page = open_page(shop(), color_scheme=scheme)
    page.click("#s10")
    found = page.evaluate(CONTRAST)
    assert len(found) > 15
    assert {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}


def test_zoom_fits_the_drawing_into_a_narrow_window(open_page: OpenPage) -> None:
    page = open_page(shop(), 700)
    assert page.evaluate(OVERFLOW) > 0
    page.click("#zoom-fit")
    assert page.evaluate(OVERFLOW) <= 1
    assert overlapping(areas(page)) == []
    page.click("#zoom-in")
    assert page.evaluate(OVERFLOW) > 0


@pytest.mark.parametrize("width", WIDTHS)
def test_six_stacks_fill_the_frame_until_somebody_zooms(open_page: OpenPage, width: int) -> None:
    pairs = [(stack(f"producer-{number}"), stack(f"consumer-{number}", "us-east-1")) for number in range(3)]
    page = open_page(Graph((), tuple(reference(*pair) for pair in pairs), AS_OF), width)

    def font() -> float:
        return float(page.evaluate("parseFloat(getComputedStyle(document.querySelector('.name')).fontSize)"))

    first = font()
    assert first > (16 if width > 1000 else 11)
    for selected in (False, True):
        if selected:
            page.click("#s0")
        found, frame = areas(page), page.evaluate("document.querySelector('#view').clientWidth")
        assert max(each["right"] for each in found) - min(each["left"] for each in found) > 0.9 * frame
        assert page.evaluate(OVERFLOW) <= 0
    page.click("#zoom-in")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": width - 10, "height": 900})
    assert font() > first


def test_a_phone_shows_two_columns_and_cuts_nothing(open_page: OpenPage) -> None:
    long = reference(stack("a-producer-with-a-name-of-many-words"), stack("x" * 40), "k" * 60, outdated=("k" * 60,))
    cycle = (
        reference(long.importer, stack("y")),
        reference(stack("y"), long.importer, protection=Protection.UNPROTECTED),
    )
    unread = (Unread("ap-southeast-2", "denied"), Unread("ap-northeast-1", "denied"))
    for graph in (shop(), Graph((), (long, *cycle), AS_OF, unread)):
        page = open_page(graph, 390)
        end = page.evaluate("document.querySelector('#canvas').getBoundingClientRect().right")
        assert all(x < end for route in page.evaluate(ROUTES) for x, _ in route["points"])
        for select in (None, "#s0", "#s1", "#s2"):
            if select:
                page.evaluate(f"document.querySelector('{select}').click()")
                page.evaluate("document.querySelector('#view').scrollLeft = 0")
            assert page.evaluate(OFF_SCREEN) == []
            assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.evaluate("document.querySelector('#details').scrollWidth") == 390


def test_it_prints_on_one_page_and_goes_on_as_before(open_page: OpenPage) -> None:
    page = open_page(with_outdated(landscape(50)), color_scheme="dark")
    before = areas(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(
        "document.querySelector('#view').scrollHeight === document.querySelector('#view').clientHeight"
    )
    assert page.locator(".find:visible, .tools:visible").count() == 0
    assert overlapping(areas(page)) == []
    assert len(page.evaluate(ROUTES)) == 76
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    assert areas(page) == before


NASTY = (
    '"', "'", "<b>bold</b>", "</script><script>document.title='owned'</script>", "<!--", "&lt;", "$style ${x}", "%s",
    "\\u003c", "ünïcödé مرحبا", "a  b", "\u2028", "{{x}}", "x" * 128, "#/?&=%20",
)  # fmt: skip


def test_names_and_keys_of_any_characters_are_shown_as_they_are(open_page: OpenPage) -> None:
    graph = Graph(
        (),
        tuple(
            reference(stack(name, "<i>", "<u>"), Participant("&", "", f"{name}'", "manifests"), name, outdated=(name,))
            for name in NASTY
        ),
        AS_OF,
    )
    page = open_page(graph)
    assert page.title().startswith("Stack references")
    shown = page.locator(".stack .name").evaluate_all("all => all.map(each => each.textContent)")
    assert sorted(shown) == sorted([*NASTY, *(f"{name}'" for name in NASTY)])
    assert page.evaluate("document.scripts.length") == 2
    assert overlapping(areas(page)) == []
    assert page.evaluate(CUT) == []
    for number, each in enumerate(graph.participants):
        page.evaluate(f"document.querySelector('#s{number}').click()")
        assert page.text_content("#details h2") == each.name
        keys = page.locator("#details .keys li").evaluate_all("all => all.map(each => each.firstChild.textContent)")
        assert keys == [each.name.removesuffix("'") if each.kind == "manifests" else each.name]
        page.reload()
        assert page.text_content("#details h2") == each.name


def test_the_policy_lets_no_other_script_or_style_run(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "graph.html"
    file.write_text(as_page(shop()), "utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    refused = page.evaluate("""() => new Promise(done => {
        const refused = new Set();
        addEventListener('securitypolicyviolation', event => {
            refused.add(event.effectiveDirective);
            if (refused.size === 3) done([...refused].sort());
        });
        document.body.setAttribute('onclick', 'window.ran = 1');
        document.body.click();
        for (const markup of ["<img src='https://example.com/x.png'>", "<p style='color: red'>"])
            document.body.insertAdjacentHTML('beforeend', markup);
    })""")
    assert refused == ["img-src", "script-src-attr", "style-src-attr"]
    assert page.evaluate("window.ran") is None
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_an_empty_graph_says_so(open_page: OpenPage, width: int) -> None:
    page = open_page(Graph((), (), AS_OF), width)
    assert page.locator(".empty >> visible=true").inner_text().startswith("No stacks export or import here.")
    page.keyboard.press("/")
    page.keyboard.type("x")
    page.keyboard.press("Enter")
    assert page.inner_text("#found") == "0 of 0"


def test_without_scripts_the_stacks_are_there(open_page: OpenPage) -> None:
    page = open_page(shop(), java_script_enabled=False)
    assert page.locator(".stack:visible").count() == 12
    assert page.locator("noscript").count() == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_it_says_when_it_was_read(open_page: OpenPage, width: int) -> None:
    page = open_page(shop(), width)
    assert page.inner_text(".as-of") == "as of 2026-03-02 09:30 UTC"
