"""Changes of a template made in its text: what they do not touch stays, character by character, comments included."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strongref.macro.edits import Addition
from strongref.macro.template import MACRO
from strongref_manifests.errors import ManifestError
from strongref_manifests.text.nodes import (
    TextEdit,
    comments_between,
    entries_of,
    line_break,
    scalars_in,
    spliced,
)
from strongref_manifests.text.template_writing import block, flow, scalar
from strongref_manifests.text.templates import canonical, to_json
from strongref_manifests.text.templates import content as read_content

if TYPE_CHECKING:
    from strongref.macro.edits import Removal, Replacement, TemplateEdits
    from strongref_manifests.text.nodes import Entry, Path
    from strongref_manifests.text.templates import TemplateEntry, TemplateText

_TRANSFORM = "Transform"
_EMPTY = re.compile(r"""["']?\w+["']?[ ]*:(?:[ ]*(?:\{\s*\}|null|~))?""")
"""A section with nothing in it."""
_RESOURCE_DEPTH = 2
"""Levels of a resource that have a line for each key: its own, and its properties."""


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
    text_edits = [
        *map(edits.replacement, plan.replacements),
        *map(edits.removal, plan.removals),
        *edits.additions(plan.additions),
        *(edits.transform(listed) if ours else []),
    ]
    result = spliced(template.text, text_edits)
    if (ours or plan) and canonical(read_content(result)) != canonical(content):
        problem = "its references cannot be replaced in the style in which it is written"
        raise ManifestError(template.file, None, f"{problem}; write it in a plainer one, or as JSON")
    return result


def _listed(given: object) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [given]


def _is_ours(each: object) -> bool:
    return each == MACRO or (isinstance(each, Mapping) and each.get("Name") == MACRO)


class _Edits:
    """The edits of a template's text that carry a plan out."""

    def __init__(self, template: TemplateText) -> None:
        self._template = template
        self._text = template.text
        self._line_break = line_break(template.text)

    def replacement(self, change: Replacement) -> TextEdit:
        entry = self._found((*change.path, change.key)).entry
        quote = self._text[entry.start] if self._text[entry.start] in "\"'" else ""
        key = f"{quote}{change.becomes}{quote}" if quote else scalar(change.becomes)
        comments = [] if entry.flow else self._comments(entry)
        above = "".join(f"{comment}{self._line_break}{' ' * self._column(entry.start)}" for comment in comments)
        return TextEdit(entry.start, entry.end, f"{above}{key}: {flow(change.value)}")

    def removal(self, change: Removal) -> TextEdit:
        return self._without((*change.path, change.key))

    def additions(self, changes: tuple[Addition, ...]) -> list[TextEdit]:
        """One edit for each map that something is added to."""
        by_path: dict[Path, list[Addition]] = {}
        for each in changes:
            by_path.setdefault(each.path, []).append(each)
        return [self._added(path, new) for path, new in by_path.items()]

    def transform(self, listed: list[Any]) -> list[TextEdit]:
        """The section without the macro; without anything left, no such section. Comments above stay."""
        ours = [number for number, each in enumerate(listed) if _is_ours(each)]
        if len(ours) == len(listed):
            return [self._without((_TRANSFORM,), with_comments=False)]
        return [self._without((_TRANSFORM, number)) for number in ours]

    def _found(self, path: Path) -> TemplateEntry:
        found = self._template.entries[path]
        if found.shared:
            raise ManifestError(
                self._template.file,
                self._template.line(path),
                "what is to change stands under an anchor that is used elsewhere too; write it out in both places",
            )
        return found

    def _without(self, path: Path, *, with_comments: bool = True) -> TextEdit:
        """A key with what stands under it, or an item of a list, taken out: with its lines, or with a comma."""
        entry, siblings, _ = self._found(path)
        if entry.flow:
            at = siblings.index(entry)
            if at:
                return TextEdit(siblings[at - 1].end, entry.end, "")
            return TextEdit(entry.start, siblings[1].start if len(siblings) > 1 else entry.end, "")
        start = entry.start
        if not entry.key:
            start = self._text.rfind("-", 0, start)
        elif with_comments:
            _, start = self._above(start)
        begin = self._text.rfind("\n", 0, start)
        end = self._line_end(entry.end)
        if begin >= 0:
            return TextEdit(begin, end, "")
        return TextEdit(1 if self._text[0] == "\ufeff" else 0, min(end + 1, len(self._text)), "")

    def _added(self, path: Path, new: list[Addition]) -> TextEdit:
        section = {each.key: each.value for each in new}
        if path not in self._template.entries:  # there is no such section yet
            addition = Addition((), str(path[0]), section)
            return self._after(self._template.root.entries, [addition], _RESOURCE_DEPTH - 1)
        siblings = entries_of(self._template.entries[path].entry.node)
        return self._after(siblings, new, _RESOURCE_DEPTH) if siblings else self._filled(path, section)

    def _filled(self, path: Path, section: dict[str, Any]) -> TextEdit:
        """A section that is there and has nothing in it."""
        entry = self._found(path).entry
        key = str(path[0])
        empty = _EMPTY.match(self._text, entry.start)
        if empty is None:
            raise ManifestError(self._template.file, None, f"{key} is empty, in a style that cannot be added to")
        if entry.flow:
            return TextEdit(entry.start, empty.end(), f"{scalar(key)}: {flow(section)}")
        lines = block(key, section, self._column(entry.start), _RESOURCE_DEPTH)
        return TextEdit(entry.start, empty.end(), self._line_break.join(lines).lstrip(" "))

    def _after(self, siblings: list[Entry], new: list[Addition], deep: int) -> TextEdit:
        """Something behind the last of several keys, laid out as they are."""
        last = siblings[-1]
        if last.flow:
            return TextEdit(last.end, last.end, "".join(f", {scalar(each.key)}: {flow(each.value)}" for each in new))
        end = self._line_end(last.end)
        apart = len(siblings) > 1 and "\n\n" in self._text[siblings[-2].end : last.start].replace("\r", "")
        column = self._column(last.start)
        lines: list[str] = []
        for each in new:
            lines += [""] if apart else []
            lines += (f"{' ' * column}{comment}" for origin in each.origins for comment in self._moved(origin))
            lines += block(each.key, each.value, column, deep)
        carriage = "\r" if self._text[:end].endswith("\r") else ""
        return TextEdit(end, end, "".join(f"\n{line}{carriage}" for line in lines))

    def _moved(self, origin: Path) -> list[str]:
        """The comments of what is taken out in one place and put in at another."""
        if origin and isinstance(origin[-1], int):  # one of several: those of all of them come above the first
            return [] if origin[-1] else self._moved(origin[:-1])
        if not origin or self._template.entries[origin].entry.flow:
            return []
        entry = self._template.entries[origin].entry
        behind = self._text[entry.end : self._line_end(entry.end)].strip()
        return [*self._above(entry.start)[0], *self._comments(entry), *([behind] if behind else [])]

    def _above(self, start: int) -> tuple[list[str], int]:
        """The comments on the lines above a key that are as far indented as it, and where they, or it, begin."""
        comments: list[str] = []
        column = self._column(start)
        at = start
        while (end := self._text.rfind("\n", 0, at)) >= 0:
            begin = self._text.rfind("\n", 0, end) + 1
            line = self._text[begin:end]
            if len(line) - len(line.lstrip(" ")) != column or not line.lstrip(" ").startswith("#"):
                break
            comments.insert(0, line.strip())
            at = begin + column
        return comments, at

    def _comments(self, entry: Entry) -> list[str]:
        """The comments within what stands under a key, but not one behind its end."""
        return comments_between(self._text, entry.start, entry.end, scalars_in(*entry))

    def _column(self, at: int) -> int:
        """How far something is indented."""
        return len(self._text[self._text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff"))

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return end if end >= 0 else len(self._text)
