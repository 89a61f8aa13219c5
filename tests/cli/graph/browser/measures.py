"""What is measured in an open page of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from strongref_cli.overview.graph import Graph

AREAS = """() => [...document.querySelectorAll('.stack, .summary')].filter(each => each.checkVisibility()).map(each => {
    const {left, top, right, bottom} = each.getBoundingClientRect();
    return {left, top, right, bottom, id: each.id};
})"""

LABELS = """() => [...document.querySelectorAll('#edges text')].map(each => {
    const {left, top, right, bottom} = each.getBoundingClientRect();
    const [, mark] = each.parentElement.getAttribute('class').split(' ');
    return {left, top, right, bottom, mark, id: each.textContent};
})"""

HEADS = AREAS.replace(".stack, .summary", "#canvas h2, #canvas h3")

OFF_SCREEN = """() => [...document.querySelectorAll('body :not(script, style)')].filter(each => {
    const isText = [...each.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
    const {left, right} = each.getBoundingClientRect();
    const isLater = each.closest('.grid > :not(.c1, .c2), #edges, .unseen');
    return isText && each.checkVisibility() && !isLater && (left < 0 || right > innerWidth);
}).map(each => each.textContent)"""
"""What a window as wide as two columns cuts off."""

CUT = """() => [...document.querySelectorAll('.stack, .stack .name, .stack .facts, .fold, header button, .waves > div')]
    .filter(each => each.checkVisibility())
    .filter(each => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== 'inline'
        || each.scrollHeight > each.clientHeight + 1 && getComputedStyle(each).display !== 'inline'
        || each.getBoundingClientRect().right > (each.closest('.stack') ?? each).getBoundingClientRect().right)
    .map(each => each.textContent)"""

ROUTES = """() => {
    const origin = document.querySelector('#canvas').getBoundingClientRect();
    return [...document.querySelectorAll('#edges > g:has(path)')].map(group => {
        const path = group.querySelector('path'), length = path.getTotalLength();
        const points = [...Array(101).keys()].map(at => path.getPointAtLength(length * at / 100));
        const tip = group.querySelector('polygon').points[0];
        return {kinds: group.getAttribute('class').split(' ').slice(1), dashes: getComputedStyle(path).strokeDasharray,
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


def labels(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(LABELS)
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
