"""What can be done with the page of a graph, in headless Chromium: by mouse, keyboard and address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from strongref_cli.overview.states import Protection
from tests.cli.graph.browser.measures import ROUTES, areas, focused, name_of, overlapping, visible
from tests.support.graphs import abroad, landscape, shop

if TYPE_CHECKING:
    from tests.cli.graph.browser.conftest import OpenPage

pytestmark = pytest.mark.slow

SIZES = (5, 50, 500)
WIDTHS = (360, 1600)


@pytest.mark.parametrize("size", SIZES)
def test_any_stack_is_found_by_typing(open_page: OpenPage, size: int) -> None:
    graph = landscape(size)
    page = open_page(graph)
    for number in range(0, size, max(1, size // 5)):
        name = name_of(graph, number)
        page.keyboard.press("/")
        page.keyboard.type(name.upper())
        assert page.inner_text("#found") == f"1 of {size}"
        near = {other.name for neighbors in graph.neighbors() for other in neighbors[graph.participants[number]]}
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


@pytest.mark.parametrize(
    ("protection", "known"), [(Protection.UNKNOWN, "not read"), (Protection.HELD, "at least one import")]
)
def test_of_an_account_that_was_not_read_nothing_is_denied(
    open_page: OpenPage, protection: Protection, known: str
) -> None:
    page = open_page(abroad(protection))
    page.click(".stack:has-text('web (not read)')")
    shown = page.inner_text("#details")
    assert ("consumer · 222222222222 · us-east-1" in shown, known in shown, "nobody" in shown) == (True, True, False)
    page.click(".stack:has-text('network')")
    assert page.locator("#details .keys").last.inner_text() == known
    assert "values in" not in page.inner_text("#details")


def test_a_search_takes_words_of_the_place_and_says_if_nothing_is_found(open_page: OpenPage) -> None:
    page = open_page(shop())
    page.fill("#search", "us-east-1 111111111111")
    assert set(page.locator(".match .name").all_inner_texts()) == {"certificates", "dns", "storefront", "web-acl"}
    page.fill("#search", "nothing like this")
    assert page.inner_text("#found") == "0 of 12"
    assert visible(page) == []


def test_all_matches_stay_readable_when_one_is_selected_and_their_neighbors_fade(open_page: OpenPage) -> None:
    page = open_page(shop())
    opacity = "all => all.map(each => Number(getComputedStyle(each).opacity))"
    page.fill("#search", "or")
    for _ in range(2):
        assert page.locator(".match").evaluate_all(opacity) == [1] * 5
        faded = page.locator(".stack:visible:not(.match)").evaluate_all(opacity)
        assert len(faded) == 6
        assert all(0.5 < each < 0.9 for each in faded)
        page.keyboard.press("Enter")
    assert page.inner_text("#details h2") == "network"
    page.hover(".stack:has-text('cluster')")
    assert page.locator(".stack:has-text('cluster')").evaluate_all(opacity) == [1]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_click_shows_the_imports_and_importers_with_their_keys(open_page: OpenPage, width: int) -> None:
    page = open_page(shop(), width)
    page.click(".stack:has-text('orders'):not(:has-text('-'))")
    details = page.locator("#details")
    text = re.sub(r"\s+", " ", details.inner_text())
    assert "1 value changed after this stack read it. Deploy it with another Revision." in text
    assert "have no hold. Without a hold, only the Export refuses a deletion of this stack." in text
    assert "Imports from 3" in text
    assert "Exports to 2" in text
    imports, exports = details.locator(".references").all()
    entries = [re.sub(r"\s+", " ", each.inner_text()) for each in imports.locator("> li").all()]
    assert entries == [
        "cluster stack · 111111111111 · eu-west-1 Endpoint OidcProvider",
        "order-events stack · 111111111111 · eu-west-1 QueueUrl",
        "orders-database stack · 111111111111 · eu-west-1 Endpoint outdated SecretArn",
    ]
    assert "shop no hold manifests · 111111111111" in re.sub(r"\s+", " ", exports.inner_text())
    related = [route for route in page.evaluate(ROUTES) if "related" in route["kinds"]]
    assert len(related) == 5
    assert page.locator(".stack.related").count() == 5
    assert page.locator(".stack[aria-pressed=true] .name").all_inner_texts() == ["orders"]
    assert page.locator("#status").inner_text() == "orders: Imports from 3, Exports to 2"
    page.click("#details .references button >> text=cluster")
    assert page.inner_text("#details h2") == focused(page) == "cluster"
    page.click(".stack.selected")
    assert page.locator("#details").is_hidden()
    page.hover(".stack:has-text('certificates')")
    assert page.locator("#edges .hovered").count() == 2


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
    assert stops[9] == "payments"
    page.focus("#theme")
    while focused(page) != "payments":
        page.keyboard.press("Tab")
    outline = (
        "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"
    )
    assert page.evaluate(outline) == "solid3px"
    moved = []
    for key in ("Home", *["ArrowDown"] * 6, "ArrowRight", "ArrowLeft", "End", "ArrowUp"):
        page.keyboard.press(key)
        moved.append(focused(page) or page.evaluate("document.activeElement.textContent"))
    assert moved == [
        "eu-central-1 1 stack",
        "eu-west-1 6 stacks",
        "order-events",
        "network",
        "log-archive",
        "us-east-1 4 stacks",
        "dns",
        "certificates",
        "dns",
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
    page.click(".fold:has-text('eu-west-1')")
    assert "orders" not in visible(page)
    assert page.locator(".summary:visible").all_inner_texts() == ["3 stacks", "2 stacks", "1 stack"]
    assert overlapping(areas(page)) == []
    assert len(page.evaluate(ROUTES)) == 13  # of 15 references: two begin and end where others do
    page.click(".summary:visible >> text=1 stack")
    assert "orders" in visible(page)
    page.click("#fold-all")
    assert visible(page) == []
    assert page.locator(".summary:visible").all_inner_texts()[-1] == "1 set"
    page.click("#fold-all")
    assert len(visible(page)) == 12


def test_the_legend_shows_only_what_it_names(open_page: OpenPage) -> None:
    page = open_page(shop())
    page.click("[data-only=outdated]")
    assert len([route for route in page.evaluate(ROUTES) if "faded" not in route["kinds"]]) == 2
    bright = page.locator(".stack:not(.faded) .name").all_inner_texts()
    assert set(bright) == {"orders-database", "orders", "payments", "shop"}
    assert page.get_attribute("[data-only=outdated]", "aria-pressed") == "true"
    assert page.is_disabled("[data-only=cycle]")
    page.keyboard.press("Escape")
    assert page.locator(".faded").count() == 0


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
