"""The templates of the steps that pages describe: a ```yaml block below `<!-- step: NAME -->`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.documents import blocks, load

if TYPE_CHECKING:
    from tests.e2e.templates import Template
    from tests.e2e.world import World

_STEP = re.compile(r"<!-- step: (.+) -->")


def page_step(world: World, page: str, name: str) -> Template:
    """The resources of a step on a page below `docs/day-2`, with this test's own names of stacks."""
    (text,) = [
        block.text
        for block in blocks("yaml")
        if (found := _STEP.fullmatch(block.above)) and (found[1], block.page.name) == (name, page)
    ]
    for stack, own in (("network", world.producer), ("web", world.consumer)):
        text = re.sub(rf"\b{stack}\b", own, text)
    return load(text)
