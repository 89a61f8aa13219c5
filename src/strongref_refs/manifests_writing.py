"""Manifests with their references resolved, and all else as it was: only the characters of the references change.

A reference field's key becomes that of the field, and each `from` becomes the value that it stands for. Comments stay,
those within a reference behind its value; so do order, indentation, quotes elsewhere, anchors and line ends. What was
written is read again, and has to say what is meant: otherwise nothing is written.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from strongref_manifests.errors import ManifestError
from strongref_manifests.text.documents import Spot
from strongref_refs.base import path_text
from strongref_refs.errors import UnwritableReferenceError
from strongref_refs.manifests_regions import COMMENT, NEAR, Region, Regions, Unwritable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref_manifests.text.manifests import Manifest
    from strongref_refs.manifests_regions import Path
    from strongref_refs.resolution import Edit

_DASH = re.compile(r"^( *)-(?=\s)\s*\Z", re.MULTILINE)
_EMPTY_LINE = re.compile(r"[ \t]*:[ \t]*(?:\[\s*\]|null|~)?[ \t]*(?:(?<=\s)#[^\r\n]*)?(?:\r?\n|\Z)")
_EMPTY_IN_FLOW = re.compile(r"\s*:\s*(?:\[\s*\]|null|~)\s*(?:,\s*)?")
"""What stands behind the key of a field without a value: a line's rest, or between brackets."""


class Placed(NamedTuple):
    """A change of a manifest.

    Attributes:
        document: the number of the document, from 1.
        path: what leads to the object in it.
        edit: the change of that object.
        whose: which object that is, for errors, as in `VPCLink default/orders`.
    """

    document: int
    path: Path
    edit: Edit
    whose: str = ""

    @property
    def reference(self) -> Path:
        """What leads to the reference field in its document."""
        return (*self.path, *self.edit.container, self.edit.reference_step)

    @property
    def field(self) -> Path:
        """What leads to the field itself."""
        return (*self.path, *self.edit.container, self.edit.step)


class Rewritten(NamedTuple):
    """What became of a manifest.

    Attributes:
        text: its text, with all changes made; as it was, if there are problems.
        problems: of the changes that cannot be made in the text as it is written; of those that would be read as
            something else, the first.
    """

    text: str
    problems: Sequence[Problem] = ()


class Problem(NamedTuple):
    """A change that cannot be made, and why."""

    change: Placed
    error: UnwritableReferenceError


class _Piece(NamedTuple):
    """What stands in the place of a part of the text."""

    start: int
    end: int
    text: str


def rewritten(manifest: Manifest, changes: Sequence[Placed]) -> Rewritten:
    """The manifest's text with some changes made; without any, the text as it is."""
    regions = Regions(manifest)
    made: list[tuple[Placed, list[_Piece]]] = []
    failed: list[Placed] = []
    for change in changes:
        try:
            made.append((change, _Writing(regions, change).pieces()))
        except Unwritable:
            failed.append(change)
    if changes and not failed:
        text = _text(manifest, made)
        if _says(manifest, text, _wanted(manifest, changes)):
            return Rewritten(text)
        failed = [_misread(manifest, made)]
    return Rewritten(manifest.text, [Problem(change, _error(regions, change)) for change in failed])


def _text(manifest: Manifest, made: Sequence[tuple[Placed, Sequence[_Piece]]]) -> str:
    return _spliced(manifest.text, sorted(piece for _, pieces in made for piece in pieces))


def _misread(manifest: Manifest, made: Sequence[tuple[Placed, Sequence[_Piece]]]) -> Placed:
    """The first of some changes that is not read as what is meant. Reading takes long: so they are halved."""
    while len(made) > 1:
        half = made[: len(made) // 2]
        wanted = _wanted(manifest, [change for change, _ in half])
        made = made[len(half) :] if _says(manifest, _text(manifest, half), wanted) else half
    return made[0][0]


def _error(regions: Regions, change: Placed) -> UnwritableReferenceError:
    key = regions.key(change.document, change.reference)
    line = regions.text.count("\n", 0, key.start) + 1 if key else None
    return UnwritableReferenceError(change.whose, path_text((*change.edit.container, change.edit.reference_step)), line)


@dataclass(frozen=True, slots=True)
class _Writing:
    """One change of a text."""

    regions: Regions
    change: Placed

    def pieces(self) -> list[_Piece]:
        """What is to stand where."""
        document, path, edit = self.change.document, self.change.reference, self.change.edit
        key = self.regions.key(document, path)
        if not key:
            raise Unwritable  # it stands behind an alias
        inside = self.regions.inside(document, path)
        flow = self.regions.in_flow(key)
        name = self.regions.manifest.format.written(key, self._text, edit.step)
        field = [*self._empty(flow=flow), _Piece(key.start, key.end, name)]
        if isinstance(edit.value, str):
            region = self.regions.region(inside, flow=flow)
            self.regions.check_between(key, [region])
            return [*field, self._single(key, region, edit.value)]
        flow = flow or "[" in COMMENT.sub("", self._text[key.end : inside[0].start])
        items: dict[object, list[Spot]] = {}
        for spot in inside:
            items.setdefault(spot.key[len(path)], []).append(spot)
        found = [self.regions.region(spots, flow=flow) for spots in items.values()]
        self.regions.check_between(key, found)
        counts = edit.counts or (1,) * len(edit.value)
        if len(found) != len(counts):
            raise Unwritable  # one of them stands behind an alias
        values = iter(edit.value)
        return [*field, *(self._item(each, list(islice(values, n))) for each, n in zip(found, counts, strict=True))]

    @property
    def _text(self) -> str:
        return self.regions.text

    def _empty(self, *, flow: bool) -> list[_Piece]:
        """The field itself, if it stands there as well: empty, since both would be refused otherwise."""
        key = self.regions.key(self.change.document, self.change.field)
        if not key:
            return []
        found = (_EMPTY_IN_FLOW if flow else _EMPTY_LINE).match(self._text, key.end)
        if not found:
            raise Unwritable
        before = self._text[: key.start]
        if flow:
            return [_Piece(key.start if "," in found[0] else len(before.rstrip().removesuffix(",")), found.end(), "")]
        line = before.rstrip(" ")
        if line and line[-1] != "\n":
            raise Unwritable
        comment = "".join(COMMENT.findall(found[0])[:1])
        left = f"{before[len(line) :]}{comment}{found[0][len(found[0].rstrip()) :]}" if comment else ""
        return [_Piece(len(line), found.end(), left)]

    def _single(self, key: Spot, region: Region, value: str) -> _Piece:
        """What stands behind the key of a reference that is no list: on the key's own line, wherever it stood."""
        gap = self._text[key.end : region.start]
        written = self._written(region, value)
        if "\n" not in gap:
            return _Piece(region.start, region.end, self._commented(region, [], written))
        before, _, after = gap.partition(":")
        return _Piece(key.end, region.end, f"{before}: {self._commented(region, COMMENT.findall(after), written)}")

    def _item(self, region: Region, values: Sequence[str]) -> _Piece:
        """What stands in the place of an item of a list: one value, or several."""
        first, *others = (self._written(region, value) for value in values)
        if region.flow or not others:
            return _Piece(region.start, region.end, self._commented(region, [], ", ".join([first, *others])))
        dash = _DASH.search(COMMENT.sub("", self._text[max(0, region.start - NEAR) : region.start]))
        if not dash:
            raise Unwritable
        more = "".join(f"{self.regions.line_end}{dash[1]}- {other}" for other in others)
        return _Piece(region.start, region.end, self._commented(region, [], first) + more)

    def _commented(self, region: Region, before: Sequence[str], written: str) -> str:
        """A value with the comments that stood before and within what it replaces."""
        comments = [*before, *region.comments(self._text)]
        if not comments:
            return written
        line = self._text[self._text.rfind("\n", 0, region.start) + 1 : region.start]
        indent = line[: len(line) - len(line.lstrip())]
        # What follows in brackets would be part of the comment.
        after = f"{self.regions.line_end}{indent}" if region.flow else ""
        return f"{written} {' '.join(comments)}{after}"

    def _written(self, region: Region, value: str) -> str:
        spot = Spot(self.change.document, self.change.field, "", region.start, region.end, flow=region.flow)
        return self.regions.manifest.format.written(spot, self._text, value)


def _spliced(text: str, pieces: Sequence[_Piece]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, new in pieces:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _wanted(manifest: Manifest, changes: Sequence[Placed]) -> list[Any]:
    """What the documents are to say."""
    contents: list[Any] = [deepcopy(document.content) for document in manifest.parsed.documents]
    for document, path, edit, _ in changes:
        at = contents[document - 1]
        for step in (*path, *edit.container):
            at = at[step]
        at.pop(edit.reference_step, None)
        at[edit.step] = edit.value if isinstance(edit.value, str) else list(edit.value)
    return contents


def _says(manifest: Manifest, text: str, wanted: Sequence[Any]) -> bool:
    """Whether a text is read as this."""
    try:
        found = [document.content for document in manifest.format.parse(manifest.file, text).documents]
    except ManifestError:
        return False
    return _same(found, list(wanted))


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401 (JSON)
    """Equal, and of the same types: a number is no boolean, and 1 not 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)
