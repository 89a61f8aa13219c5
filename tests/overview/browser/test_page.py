"""The page of a graph as people use it, in headless Chromium: seen, clicked, typed into, printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from strongref_overview.formats.page import as_page
from strongref_overview.graph import Graph, Participant
from tests.support.graphs import AS_OF, landscape, reference, shop, stack, with_stale

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.overview.browser.conftest import OpenPage

pytestmark = pytest.mark.slow

SIZES = (5, 50, 500)
WIDTHS = (360, 1600)

AREAS = """() => [...document.querySelectorAll('.stack, .summary')].filter(each => each.checkVisibility()).map(each => {
    const {left, top, right, bottom} = each.getBoundingClientRect();
    return {left, top, right, bottom, id: each.id};
})"""

CUT = """() => [...document.querySelectorAll('.stack, .stack .name, .stack .facts, .fold, header button, .waves > div')]
    .filter(each => each.checkVisibility())
    .filter(each => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== 'inline'
        || each.scrollHeight > each.clientHeight + 1 && getComputedStyle(each).display !== 'inline'
        || each.getBoundingClientRect().right > (each.closest('.stack') ?? each).getBoundingClientRect().right)
    .map(each => each.textContent)"""

ROUTES = """() => {
    const origin = document.querySelector('#canvas').getBoundingClientRect();
    return [...document.querySelectorAll('#edges > g')].map(group => {
        const path = group.querySelector('path'), length = path.getTotalLength();
        const points = [...Array(101).keys()].map(at => path.getPointAtLength(length * at / 100));
        const tip = group.querySelector('polygon').points[0];
        return {kinds: group.getAttribute('class').split(' ').slice(1), dashes: getComputedStyle(path).strokeDasharray,
            label: group.querySelector('text')?.textContent,
            points: [...points, tip].map(({x, y}) => [x + origin.left, y + origin.top])};
    });
}"""

CONTRAST = """() => {
    const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const light = color => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map(each => each / 255)
            .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = each => {
        for (let at = each; at; at = at.parentElement) {
            const color = getComputedStyle(at).backgroundColor;
            if (color !== 'rgba(0, 0, 0, 0)') return light(color);
        }
        return light(getComputedStyle(document.documentElement).backgroundColor);
    };
    const found = {};
    for (const each of document.querySelectorAll('body *')) {
        const hasText = [...each.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
        if (!hasText || !each.checkVisibility() || each.closest('script, :disabled, .faded, svg')) continue;
        const [a, b] = [light(getComputedStyle(each).color), behind(each)];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const name = `${each.tagName}.${each.className}`;
        found[name] = Math.min(found[name] ?? 99, ratio);
    }
    const card = light(getComputedStyle(document.querySelector('.lane')).backgroundColor);
    for (const each of document.querySelectorAll('.legend .edge')) {
        const a = light(getComputedStyle(each).color);
        found[`edge ${each.getAttribute('class')}`] = 1.5 * (Math.max(a, card) + 0.05) / (Math.min(a, card) + 0.05);
    }
    return found;
}"""


def areas(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(AREAS)
    return found


def overlapping(boxes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [
        (one["id"], other["id"])
        for number, one in enumerate(boxes)
        for other in boxes[:number]
        if min(one["right"], other["right"]) > max(one["left"], other["left"])
        and min(one["bottom"], other["bottom"]) > max(one["top"], other["top"])
    ]


def expand(page: Page) -> None:
    if page.inner_text("#fold-all") == "Expand all":
        page.click("#fold-all")


def name_of(graph: Graph, number: int) -> str:
    return graph.participants[number].name


def visible(page: Page) -> list[str]:
    return page.locator(".stack:visible .name").all_inner_texts()


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.querySelector('.name')?.textContent ?? document.activeElement.id"))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", SIZES)
def test_nothing_overlaps_and_no_label_is_cut(open_page: OpenPage, size: int, width: int) -> None:
    page = open_page(with_stale(landscape(size)), width)
    assert overlapping(areas(page)) == []
    expand(page)
    found = areas(page)
    assert len(found) == size
    assert overlapping(found) == []
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("graph", [shop(), with_stale(landscape(50))], ids=["shop", "50"])
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
    page = open_page(shop())
    dashes = {"+".join(route["kinds"]): route["dashes"] for route in page.evaluate(ROUTES)}
    assert set(dashes) == {"", "stale", "unprotected", "stale+unprotected"}
    assert len(set(dashes.values())) == 4
    assert [route["label"] for route in page.evaluate(ROUTES) if route["kinds"]].count("stale") == 2
    assert " ".join(page.locator(".legend").inner_text().split()) == "exports to stale 2 unprotected 4 cycle 0"
    assert page.locator(".mark").count() == 2


@pytest.mark.parametrize("size", SIZES)
def test_any_stack_is_found_by_typing(open_page: OpenPage, size: int) -> None:
    graph = landscape(size)
    page = open_page(graph)
    for number in range(0, size, max(1, size // 5)):
        name = name_of(graph, number)
        page.keyboard.press("/")
        page.keyboard.type(name.upper())
        assert page.inner_text("#found") == f"1 of {size}"
        near = {
            other.name
            for neighbors in (graph.producers(), graph.importers())
            for other in neighbors[graph.participants[number]]
        }
        assert set(visible(page)) == {name} | near
        assert page.locator(".match .name").all_inner_texts() == [name]
        page.keyboard.press("Enter")
        assert page.inner_text("#details h2") == name
        assert page.locator(".stack.selected .name").inner_text() == name
        page.keyboard.press("Escape")
        assert page.input_value("#search") == ""
        assert page.inner_text("#found") == ""
        page.keyboard.press("Escape")
        assert page.locator("#details").is_hidden()
    assert page.locator(".stack[hidden]").count() == 0


def test_a_search_takes_words_of_the_place_and_says_if_nothing_is_found(open_page: OpenPage) -> None:
    page = open_page(shop())
    page.fill("#search", "us-east-1 222222222222")
    assert set(page.locator(".match .name").all_inner_texts()) == {"storefront", "web-acl"}
    page.fill("#search", "nothing like this")
    assert page.inner_text("#found") == "0 of 12"
    assert visible(page) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_click_shows_the_imports_and_importers_with_their_keys(open_page: OpenPage, width: int) -> None:
    page = open_page(shop(), width)
    page.click(".stack:has-text('orders'):not(:has-text('-'))")
    details = page.locator("#details")
    text = re.sub(r"\s+", " ", details.inner_text())
    assert "1 value changed after this stack read it. Deploy it again." in text
    assert "Imports from 3" in text
    assert "Exports to 2" in text
    imports, exports = details.locator(".references").all()
    entries = [re.sub(r"\s+", " ", each.inner_text()) for each in imports.locator("> li").all()]
    assert entries == [
        "cluster stack · 222222222222 · eu-west-1 Endpoint OidcProvider",
        "order-events stack · 222222222222 · eu-west-1 QueueUrl",
        "orders-database stack · 222222222222 · eu-west-1 Endpoint stale SecretArn",
    ]
    assert "shop unprotected manifests · 222222222222" in re.sub(r"\s+", " ", exports.inner_text())
    related = [route for route in page.evaluate(ROUTES) if "related" in route["kinds"]]
    assert len(related) == 5
    assert page.locator(".stack.related").count() == 5
    assert page.locator(".stack[aria-pressed=true] .name").all_inner_texts() == ["orders"]
    assert page.locator("#status").inner_text() == "orders: Imports from 3, Exports to 2"
    page.click("#details .references button >> text=cluster")
    assert page.inner_text("#details h2") == focused(page) == "cluster"
    page.click(".stack.selected")
    assert page.locator("#details").is_hidden()


def test_the_selected_stack_is_in_the_address(open_page: OpenPage) -> None:
    page = open_page(shop())
    page.click(".stack:has-text('network')")
    assert page.url.endswith("#stack/111111111111/eu-west-1/network")
    page.click(".stack:has-text('certificates')")
    page.reload()
    assert page.inner_text("#details h2") == "certificates"
    page.go_back()
    assert page.inner_text("#details h2") == "network"
    page.go_back()
    assert page.locator("#details").is_hidden()
    for unknown in ("#stack/1/2/3", "#%E0%A4%A"):
        page.evaluate(f"location.hash = '{unknown}'")
        assert page.locator("#details").is_hidden()


def test_a_stack_in_a_collapsed_region_opens_from_the_address(open_page: OpenPage) -> None:
    graph = landscape(500)
    page = open_page(graph)
    assert page.locator(".stack:visible").count() == 0
    page.evaluate(f"location.hash = '#{graph.participants[321].id}'")
    page.wait_for_selector("#s321.selected:visible")
    area = page.locator("#s321").bounding_box()
    assert area
    assert 0 < area["y"] < 900


def test_everything_can_be_done_with_the_keyboard(open_page: OpenPage) -> None:
    page = open_page(shop())
    stops = []
    for _ in range(11):
        page.keyboard.press("Tab")
        stops.append(focused(page))
    assert stops[:5] == ["search", "fold-all", "zoom-out", "zoom-fit", "zoom-in"]
    assert stops[5] == "theme"
    assert stops[8] == "network"
    page.focus("#theme")
    while focused(page) != "network":
        page.keyboard.press("Tab")
    outline = (
        "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"
    )
    assert page.evaluate(outline) == "solid3px"
    moved = []
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "Home", "End", "ArrowUp"):
        page.keyboard.press(key)
        moved.append(focused(page) or page.evaluate("document.activeElement.textContent"))
    assert moved == [
        "log-archive",
        "us-east-1 2 stacks",
        "dns",
        "certificates",
        "dns",
        "eu-west-1 2 stacks",
        "shop",
        "storefront",
    ]
    page.keyboard.press("Enter")
    assert page.inner_text("#details h2") == "storefront"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "close"
    page.keyboard.press("Enter")
    assert page.locator("#details").is_hidden()
    assert focused(page) == "storefront"
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    assert page.locator("#details").is_hidden()
    page.keyboard.press("/")
    assert focused(page) == "search"
    page.keyboard.type("a/b")
    assert page.input_value("#search") == "a/b"
    page.fill("#search", "certificates")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "certificates"


def test_regions_collapse_to_one_row_that_keeps_the_edges(open_page: OpenPage) -> None:
    graph = shop()
    page = open_page(graph)
    page.click(".account:nth-of-type(2) .fold:has-text('eu-west-1'), .account:last-of-type .fold:has-text('eu-west-1')")
    assert "orders" not in visible(page)
    assert page.locator(".summary:visible").all_inner_texts() == ["1 stack", "2 stacks", "2 stacks"]
    assert overlapping(areas(page)) == []
    assert len(page.evaluate(ROUTES)) == 10  # of 15 references, without those that begin and end together
    page.click(".summary:visible >> text=1 stack")
    assert "orders" in visible(page)
    page.click("#fold-all")
    assert visible(page) == []
    assert page.locator(".summary:visible").all_inner_texts()[-1] == "1 set"
    page.click("#fold-all")
    assert len(visible(page)) == 12


def test_the_legend_shows_only_what_it_names(open_page: OpenPage) -> None:
    page = open_page(shop())
    page.click("[data-only=stale]")
    assert len([route for route in page.evaluate(ROUTES) if "faded" not in route["kinds"]]) == 2
    bright = page.locator(".stack:not(.faded) .name").all_inner_texts()
    assert set(bright) == {"orders-database", "orders", "payments", "shop"}
    assert page.get_attribute("[data-only=stale]", "aria-pressed") == "true"
    assert page.is_disabled("[data-only=cycle]")
    page.keyboard.press("Escape")
    assert page.locator(".faded").count() == 0


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


def test_dark_mode_follows_the_system_until_it_is_chosen(open_page: OpenPage) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    page = open_page(shop(), color_scheme="dark")
    dark = page.evaluate(background)
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.click("#theme")
    light = page.evaluate(background)
    assert light != dark
    assert page.get_attribute("#theme", "aria-pressed") == "false"
    assert open_page(shop(), color_scheme="light").evaluate(background) == light


def test_zoom_fits_the_drawing_into_a_narrow_window(open_page: OpenPage) -> None:
    page = open_page(shop(), 700)
    overflow = "document.querySelector('#view').scrollWidth - document.querySelector('#view').clientWidth"
    assert page.evaluate(overflow) > 0
    page.click("#zoom-fit")
    assert page.evaluate(overflow) <= 1
    assert overlapping(areas(page)) == []
    page.click("#zoom-in")
    assert page.evaluate(overflow) > 0


def test_it_prints_on_one_page_and_goes_on_as_before(open_page: OpenPage) -> None:
    page = open_page(with_stale(landscape(50)), color_scheme="dark")
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
            reference(stack(name, "<i>", "<u>"), Participant("&", "", f"{name}'", "manifests"), name, stale=(name,))
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
