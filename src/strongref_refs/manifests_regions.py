"""Where references stand in a manifest's text: from which character to which, brackets and comments included. Pure."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from strongref_manifests.text.manifests import JSON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref_manifests.text.documents import Spot
    from strongref_manifests.text.manifests import Manifest

Path = tuple[str | int, ...]
"""Keys and positions that lead to something in a document."""

COMMENT = re.compile(r"(?:(?<=\s)|\A)#[^\r\n]*")
NEAR = 1000
"""Characters in which what stands before a key is looked for: a bracket, a dash."""

_CLOSING = re.compile(r"(?:[\s,:]|(?<=\s)#[^\r\n]*+)*+\}")
_OPENING = re.compile(r"\{(?:\s|(?<=\s)#[^\r\n]*+)*+\Z")
_BETWEEN = re.compile(r"[\s:,\[-]*")
"""What may stand between a key and what its references begin with, and between two of them: no anchor and no tag."""


class Unwritable(Exception):  # noqa: N818 (told as an `UnwritableReferenceError` by whoever knows of whom)
    """A text is not written in a way in which a change can be made."""


class Region(NamedTuple):
    """A part of a text.

    Attributes:
        spots: the keys and values in it.
        flow: it stands in something between brackets.
    """

    start: int
    end: int
    spots: Sequence[Spot]
    flow: bool

    def comments(self, text: str) -> list[str]:
        """Those between its keys and values, and behind the header of a block of text."""
        parts: list[str] = []
        at = self.start
        for spot in self.spots:
            parts.append(text[at : spot.start])
            if spot.style in ("|", ">"):
                parts.append(text[spot.start : spot.end].partition("\n")[0])
            at = spot.end
        parts.append(text[at : self.end])
        return [comment.rstrip() for part in parts for comment in COMMENT.findall(part)]


class Regions:
    """Those of one manifest."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.text = manifest.text

    @cached_property
    def line_end(self) -> str:
        """As the text has it."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def key(self, document: int, path: Path) -> Spot | None:
        """A key; None if it is not there, or behind an alias."""
        at = self._keys.get((document, path))
        return None if at is None else self.manifest.parsed.spots[at]

    def inside(self, document: int, path: Path) -> list[Spot]:
        """The keys and values within the value of a key, in their order.

        Raises:
            Unwritable: there is none.
        """
        found: list[Spot] = []
        spots = self.manifest.parsed.spots
        for at in range(self._keys.get((document, path), len(spots)) + 1, len(spots)):
            spot = spots[at]
            if spot.document != document or spot.key[: len(path)] != path:
                break
            found.append(spot)
        if not found:
            raise Unwritable
        return found

    def in_flow(self, spot: Spot) -> bool:
        """Whether it stands between brackets."""
        return spot.flow or self.manifest.format is JSON

    def region(self, spots: Sequence[Spot], *, flow: bool) -> Region:
        """From where a reference's map begins to where it ends, with its brackets, if it has some.

        Args:
            spots: the keys and values in it.
            flow: whether it stands between brackets itself.

        Raises:
            Unwritable: it cannot be told.
        """
        first, last = spots[0], spots[-1]
        start = first.start
        end = last.start + len(self.text[last.start : last.end].rstrip())  # a block of text ends with its line
        if self.in_flow(first):
            opening = _OPENING.search(self.text, max(0, start - NEAR), start)
            if not opening:
                raise Unwritable
            start = opening.start()
        inner = next((spot for spot in spots if spot.is_key and len(spot.key) > len(first.key)), first)
        for _ in range(self.in_flow(first) + self.in_flow(inner)):
            closing = _CLOSING.match(self.text, end)
            if not closing:
                raise Unwritable
            end = closing.end()
        if last.is_key and not self.in_flow(last):  # it has no value
            end = self.text.index(":", end) + 1
        return Region(start, end, spots, flow=flow)

    def check_between(self, key: Spot, regions: Sequence[Region]) -> None:
        """There is nothing else behind a key that what is written would be read with.

        Raises:
            Unwritable: there is.
        """
        ends = [key.end, *(region.end for region in regions)]
        for end, region in zip(ends, regions, strict=False):
            if not _BETWEEN.fullmatch(COMMENT.sub("", self.text[end : region.start])):
                raise Unwritable

    @cached_property
    def _keys(self) -> dict[tuple[int, Path], int]:
        spots = enumerate(self.manifest.parsed.spots)
        return {(spot.document, spot.key): number for number, spot in spots if spot.is_key}
