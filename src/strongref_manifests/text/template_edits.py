"""Changes of a template made in its text: what they do not touch stays, character by character, comments included."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from strongref.macro.edits import Addition
from strongref.macro.template import MACRO
from strongref_manifests.errors import ManifestError
from strongref_manifests.text.template_text import canonical, to_json
from strongref_manifests.text.template_text import content as read_content
from strongref_manifests.text.template_writing import block, flow, scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.macro.edits import Removal, Replacement, TemplateEdits
    from strongref.macro.template import Path
    from strongref_manifests.text.template_text import Place, TemplateText

_TRANSFORM = "Transform"
_COMMENT = re.compile(r"(?<=\s)#[^\r\n]*")
_EMPTY = re.compile(r"""["']?\w+["']?[ ]*:(?:[ ]*(?:\{\s*\}|null|~))?""")
"""A section with nothing in it."""
_RESOURCE_DEPTH = 2
"""Levels of a resource that have a line for each key: its own, and its properties."""


class _Piece(NamedTuple):
    """A part of a text, and what stands in its place from now on."""

    start: int
    end: int
    text: str


def parameters(content: Mapping[str, Any]) -> dict[str, Any]:
    """The transform's own parameters, as its section has them."""
    for each in _listed(content.get(_TRANSFORM)):
        if isinstance(each, Mapping) and each.get("Name") == MACRO:
            given = each.get("Parameters")
            return dict(given) if isinstance(given, Mapping) else {}
    return {}


def changed(template: TemplateText, plan: TemplateEdits) -> str:
    """The text with a plan carried out, and without the macro in its section `Transform`.

    Raises:
        ManifestError: what changes stands under an anchor that is used elsewhere too, or in a style of YAML in which it
            cannot be replaced.
    """
    listed = _listed(template.content.get(_TRANSFORM))
    left = [each for each in listed if not _is_ours(each)]
    ours = len(left) < len(listed)
    content = plan.apply(template.content)
    if ours:
        content = {key: value for key, value in content.items() if key != _TRANSFORM or left}
        content |= {_TRANSFORM: left} if left else {}
    if template.is_json:
        return to_json(content, template.text) if ours or plan else template.text
    edits = _Edits(template)
    pieces = [
        *map(edits.replacement, plan.replacements),
        *map(edits.removal, plan.removals),
        *edits.additions(plan.additions),
        *(edits.transform(listed) if ours else []),
    ]
    result = _spliced(template.text, pieces)
    if (ours or plan) and canonical(read_content(result)) != canonical(content):
        told = "its references cannot be replaced in the style in which it is written"
        raise ManifestError(template.file, None, f"{told}; write it in a plainer one, or as JSON")
    return result


def _listed(given: object) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [given]


def _is_ours(each: object) -> bool:
    return each == MACRO or (isinstance(each, Mapping) and each.get("Name") == MACRO)


def _spliced(text: str, pieces: list[_Piece]) -> str:
    parts, at = [], 0
    for piece in sorted(pieces, key=lambda each: (each.start, each.end)):
        parts += [text[at : piece.start], piece.text]
        at = piece.end
    return "".join([*parts, text[at:]])


class _Edits:
    def __init__(self, template: TemplateText) -> None:
        self._template = template
        self._text = template.text
        self._order = list(template.places)
        self._numbers = {path: number for number, path in enumerate(self._order)}

    def replacement(self, change: Replacement) -> _Piece:
        place = self._place((*change.path, change.key))
        quote = self._text[place.start] if self._text[place.start] in "\"'" else ""
        key = f"{quote}{change.becomes}{quote}" if quote else scalar(change.becomes)
        comments = [] if place.flow else self._comments((*change.path, change.key))
        above = "".join(f"{comment}{self._line_break}{' ' * place.column}" for comment in comments)
        return _Piece(place.start, place.end, f"{above}{key}: {flow(change.value)}")

    def removal(self, change: Removal) -> _Piece:
        return self._without((*change.path, change.key))

    def additions(self, changes: tuple[Addition, ...]) -> list[_Piece]:
        """One piece for each map that something is added to."""
        by_path: dict[Path, list[Addition]] = {}
        for each in changes:
            by_path.setdefault(each.path, []).append(each)
        return [self._added(path, new) for path, new in by_path.items()]

    def transform(self, listed: list[Any]) -> list[_Piece]:
        """The section without the macro; without anything left, no such section. Comments above stay."""
        ours = [number for number, each in enumerate(listed) if _is_ours(each)]
        if len(ours) == len(listed):
            return [self._without((_TRANSFORM,), with_comments=False)]
        return [self._without_item((_TRANSFORM, number)) for number in ours]

    def _place(self, path: Path) -> Place:
        place = self._template.places[path]
        if place.shared:
            raise ManifestError(
                self._template.file,
                self._template.line(path),
                "what is to change stands under an anchor that is used elsewhere too; write it out in both places",
            )
        return place

    def _without(self, path: Path, *, with_comments: bool = True) -> _Piece:
        """A key and what stands under it taken out: with its lines, or with a comma."""
        place = self._place(path)
        if place.flow:
            return self._without_comma(path)
        begin = self._text.rfind("\n", 0, self._above(place)[1] if with_comments else place.start)
        end = self._line_end(place.end)
        if begin >= 0:
            return _Piece(begin, end, "")
        return _Piece(1 if self._text[0] == "\ufeff" else 0, min(end + 1, len(self._text)), "")

    def _without_item(self, path: Path) -> _Piece:
        """An item of a list: the same."""
        place = self._place(path)
        if place.flow:
            return self._without_comma(path)
        begin = self._text.rfind("\n", 0, self._text.rfind("-", 0, place.start))
        return _Piece(begin, self._line_end(place.end), "")

    def _without_comma(self, path: Path) -> _Piece:
        place = self._place(path)
        beside = self._children(path[:-1])
        at = beside.index(place)
        if at:
            return _Piece(beside[at - 1].end, place.end, "")
        return _Piece(place.start, beside[1].start if len(beside) > 1 else place.end, "")

    def _below(self, path: Path) -> Iterator[tuple[Path, Place]]:
        """Something, and all that stands below it: in a row, as it was read."""
        first = self._numbers[path] if path else 0
        for at in islice(self._order, first, None):
            if at[: len(path)] != path:
                return
            yield at, self._template.places[at]

    def _children(self, path: Path) -> list[Place]:
        """What stands directly below a map or a list."""
        return [place for at, place in self._below(path) if len(at) == len(path) + 1]

    def _added(self, path: Path, new: list[Addition]) -> _Piece:
        beside = self._children(path) if path in self._numbers else []
        section = {each.key: each.value for each in new}
        if not beside and path in self._numbers:
            return self._filled(self._place(path), str(path[0]), section)
        if not beside:  # there is no such section yet
            top = self._children(())
            return self._after(top, [Addition((), str(path[0]), section)], _RESOURCE_DEPTH - 1)
        return self._after(beside, new, _RESOURCE_DEPTH)

    def _filled(self, place: Place, key: str, section: dict[str, Any]) -> _Piece:
        """A section that is there and has nothing in it."""
        found = _EMPTY.match(self._text, place.start)
        if found is None:
            raise ManifestError(self._template.file, None, f"{key} is empty, in a style that cannot be added to")
        if place.flow:
            return _Piece(place.start, found.end(), f"{scalar(key)}: {flow(section)}")
        lines = block(key, section, place.column, _RESOURCE_DEPTH)
        return _Piece(place.start, found.end(), self._line_break.join(lines).lstrip(" "))

    def _after(self, beside: list[Place], new: list[Addition], deep: int) -> _Piece:
        """Something behind the last of several keys, laid out as they are."""
        last = beside[-1]
        if last.flow:
            return _Piece(last.end, last.end, "".join(f", {scalar(each.key)}: {flow(each.value)}" for each in new))
        end = self._line_end(last.end)
        apart = len(beside) > 1 and "\n\n" in self._text[beside[-2].end : last.start].replace("\r", "")
        lines: list[str] = []
        for each in new:
            lines += [""] if apart else []
            lines += (f"{' ' * last.column}{comment}" for comment in self._all_moved(each.origins))
            lines += block(each.key, each.value, last.column, deep)
        carriage = "\r" if self._text[:end].endswith("\r") else ""
        return _Piece(end, end, "".join(f"\n{line}{carriage}" for line in lines))

    @property
    def _line_break(self) -> str:
        return "\r\n" if "\r\n" in self._text else "\n"

    def _all_moved(self, origins: tuple[Path, ...]) -> list[str]:
        return [comment for origin in origins for comment in self._moved(origin)]

    def _moved(self, origin: Path) -> list[str]:
        """The comments of what is taken out in one place and put in at another."""
        if origin and isinstance(origin[-1], int):  # one of several: those of all of them come above the first
            return [] if origin[-1] else self._moved(origin[:-1])
        if not origin or self._template.places[origin].flow:
            return []
        place = self._template.places[origin]
        behind = self._text[place.end : self._line_end(place.end)].strip()
        return [*self._above(place)[0], *self._comments(origin), *([behind] if behind else [])]

    def _above(self, place: Place) -> tuple[list[str], int]:
        """The comments on the lines above a key that are as far indented as it, and where they, or it, begin."""
        comments: list[str] = []
        at = place.start
        while (end := self._text.rfind("\n", 0, at)) >= 0:
            begin = self._text.rfind("\n", 0, end) + 1
            line = self._text[begin:end]
            if len(line) - len(line.lstrip(" ")) != place.column or not line.lstrip(" ").startswith("#"):
                break
            comments.insert(0, line.strip())
            at = begin + place.column
        return comments, at

    def _comments(self, path: Path) -> list[str]:
        """The comments within what stands under a key, but not one behind its end."""
        place = self._template.places[path]
        below = dict(self._below(path))
        holding = {at[:-1] for at in below}
        inside = [(each.value, each.end) for at, each in below.items() if at not in holding]
        found: list[str] = []
        at = place.start
        for start, end in [*sorted(inside), (place.end, place.end)]:
            found += (each.strip() for each in _COMMENT.findall(self._text[at:start]))
            at = max(at, end)
        return found

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return end if end >= 0 else len(self._text)
