"""Changes of a template made in its text: what they do not touch stays, character by character, comments included."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection as Several
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from strongref.grouping import grouped
from strongref.macro.edits import Addition, Renaming, Replacement, TemplateEdits
from strongref.macro.template import MACRO
from strongref_manifests.errors import ManifestError
from strongref_manifests.text import nodes
from strongref_manifests.text.nodes import Entry, Node, Scalar, TextEdit, spliced
from strongref_manifests.text.template_writing import block, flow, scalar
from strongref_manifests.text.templates import TemplateEntry, TemplateText, canonical, json_text
from strongref_manifests.text.templates import content as read_content
from strongref_toolkit.json_values import Path, mapping

_TRANSFORM = "Transform"

_EMPTY = re.compile(r"""["']?\w+["']?[ ]*:(?:[ ]*(?:\{\s*\}|null|~))?""")
"""A section with nothing in it."""
_COLON = re.compile(r"\s*:")
_DASH = re.compile(r"(?:[!&]\S*|\s|(?<=\s)#[^\r\n]*)*-")
"""The dash of an item, behind the item before it, or behind the tag and the anchor of its list."""
_COMMA = re.compile(r"\s*,[ \t]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_RESOURCE_DEPTH = 2
"""Levels of a resource that have a line for each key: its own, and its properties."""


def parameters(content: Mapping[str, Any]) -> dict[str, Any]:
    """The transform's own parameters, as its section has them."""
    ours = (each for each in _listed(content.get(_TRANSFORM)) if isinstance(each, Mapping) and _is_ours(each))
    return next((dict(mapping(each.get("Parameters"))) for each in ours), {})


def changed(template: TemplateText, plan: TemplateEdits) -> str:
    """The text with a plan carried out, and without the macro in its section `Transform`.

    Raises:
        ManifestError: what changes stands under an anchor that is used elsewhere too, or in a style of YAML in which it
            cannot be replaced.
    """
    listed = _listed(template.content.get(_TRANSFORM))
    left = [each for each in listed if not _is_ours(each)]
    ours = len(left) < len(listed)
    if not ours and not plan:
        return template.text
    content = plan.apply(template.content)
    if ours:
        content = {key: value for key, value in content.items() if key != _TRANSFORM or left}
        content |= {_TRANSFORM: left} if left else {}
    macros = _macros(listed)
    edits = _EditsInPlace(template, [*plan.removals, *macros])
    moved = {path for each in plan.additions for origin in each.origins for path in (origin, origin[:-1])}
    text_edits = [
        *map(edits.renaming, plan.renamings),
        *map(edits.replacement, plan.replacements),
        *(edits.removal(each, moves=each in moved) for each in plan.removals),
        *edits.additions(plan.additions),
        *map(edits.removal, macros),
    ]
    text_edits += edits.kept_comments(text_edits)
    result = spliced(template.text, text_edits)
    if canonical(read_content(result, is_json=template.is_json)) != canonical(content):
        problem = "its references cannot be replaced in the style in which it is written"
        raise ManifestError(template.file, None, f"{problem}; write it in a plainer one, or as JSON")
    return result


def _listed(given: object) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [given]


def _macros(listed: list[Any]) -> list[Path]:
    """The paths of the macro in its section, or of the section if nothing else is in it; comments stay."""
    ours = [number for number, each in enumerate(listed) if _is_ours(each)]
    return [(_TRANSFORM, number) for number in ours] if len(ours) < len(listed) else [(_TRANSFORM,)] if ours else []


def _is_ours(each: object) -> bool:
    return each == MACRO or (isinstance(each, Mapping) and each.get("Name") == MACRO)


class _EditsInPlace:
    """The edits that carry a plan out: a key, a reference, a line or a comma each, and what is added.

    Comments stay where they are. Those of what is replaced or taken out come to stand above it, or move with it.
    """

    def __init__(self, template: TemplateText, removals: Several[Path] = ()) -> None:
        """`removals` are the paths of all that is taken out: commas depend on what is left."""
        self._template = template
        self._removed = {id(template.entries[path].entry.node) for path in removals}
        self._text = template.text
        self._line_break = nodes.line_break(template.text)
        self._comments: list[tuple[int, list[str]]] = []

    def renaming(self, change: Renaming) -> TextEdit:
        key = self._found(change.path).entry.key
        if not isinstance(key, Scalar):
            raise self._error(change.path, "an alias stands for a key that is to change; write it out")
        quote = key.style or ""
        return TextEdit(key.text_start, key.end, f"{quote}{change.becomes}{quote}" if quote else scalar(change.becomes))

    def replacement(self, change: Replacement) -> TextEdit:
        """A reference replaced in its place; comments within it come to stand above it."""
        if change.path not in self._template.entries:  # the argument of a short form, which has no other in it
            *above, name = change.path
            change = Replacement(tuple(above), {name: change.value})
        entry = self._found(change.path).entry
        node = entry.node
        lead = self._lead(change.path)
        self._keep(entry.key.start if entry.key else lead, lead, node.end, node)
        start = lead if "\n" in self._text[lead : node.start] else node.start
        space = " " if start == lead and self._text[lead - 1] in ":-" else ""
        lines = "\n" in self._text[node.start : node.end]
        return TextEdit(start, node.end, space + self._one_line(change.value, entry.start, lines=lines))

    def removal(self, path: Path, *, moves: bool = False) -> TextEdit:
        """A key with what stands under it, or an item of a list, taken out: with its lines, or with a comma.

        Its comments stay, unless it moves: then they move too, if it is not between brackets.
        """
        entry = self._found(path).entry
        if entry.flow:
            start, end = self._span(path)
            self._keep(start, start, end, *entry)
            return TextEdit(start, end, "")
        start = self._above(path)[1] if moves else entry.start if entry.key else self._lead(path) - 1
        end = self._line_end(entry.end)
        comments = [] if moves else nodes.comments_between(self._text, start, end, nodes.scalars_in(*entry))
        lines = [f"{' ' * self._column(start)}{comment}" for comment in comments]
        begin = self._text.rfind("\n", 0, start)
        if begin >= 0:
            return TextEdit(begin, end, self._new_lines(end, lines))
        text = "".join(f"{line}{self._line_break}" for line in lines)
        return TextEdit(self._line_start(start), min(end + 1, len(self._text)), text)

    def kept_comments(self, edits: list[TextEdit]) -> Iterator[TextEdit]:
        """The comments of what was taken out and does not move: on lines of their own above what they stood in.

        Such a line cannot begin within text of several lines, nor within what is replaced itself.
        """
        scalars = nodes.scalars_in(self._template.root) if self._comments else ()
        inline = [each for each in scalars if each.style not in nodes.BLOCKS]
        spans = [sorted((each.start, each.end) for each in some) for some in (edits, inline)]
        for at, comments in self._comments:
            begin = self._line_start(at)
            while around := [found for each in spans if (found := _around(each, begin)) is not None]:
                begin = self._line_start(min(around))
            line = self._text[begin:at]
            indent = line[: len(line) - len(line.lstrip(" "))]
            yield TextEdit(begin, begin, "".join(f"{indent}{comment}{self._line_break}" for comment in comments))

    def additions(self, changes: tuple[Addition, ...]) -> list[TextEdit]:
        """One edit for each map that something is added to. Inner ones come first: both may end at one place."""
        groups = grouped((each.path, each) for each in changes)
        return [self._added(path, groups[path]) for path in sorted(groups, key=len, reverse=True)]

    def _found(self, path: Path) -> TemplateEntry:
        found = self._template.entries[path]
        if found.shared:
            problem = "what is to change stands under an anchor that is used elsewhere too; write it out in both places"
            raise self._error(path, problem)
        return found

    def _error(self, path: Path, problem: str) -> ManifestError:
        return ManifestError(self._template.file, self._template.line(path), problem)

    def _keep(self, at: int, start: int, end: int, *inside: Node | None) -> None:
        """Keep the comments of a part of the text, above the line of a character."""
        if comments := nodes.comments_between(self._text, start, end, nodes.scalars_in(*inside)):
            self._comments.append((at, comments))

    def _lead(self, path: Path) -> int:
        """Where a value may begin: behind the colon or the dash; of an item between brackets, where it does."""
        entry, above, _ = self._found(path)
        indicator = None
        if entry.key and not self._template.is_json:
            indicator = _COLON.match(self._text, entry.key.end)
        elif not entry.flow:
            at = int(path[-1])
            indicator = _DASH.match(self._text, above.entries[at - 1].end if at else above.start)
        return indicator.end() if indicator else entry.node.start

    def _span(self, path: Path) -> tuple[int, int]:
        """Where something between brackets begins and ends, with one comma: that before it, if anything stays there."""
        entry, above, _ = self._found(path)
        at = above.entries.index(entry)
        if not self._all_removed(above.entries[:at]):
            return above.entries[at - 1].end, entry.end
        comma = _COMMA.match(self._text, entry.end)
        end = comma.end() if comma else entry.end
        following = above.entries[at + 1].start if at + 1 < len(above.entries) else end
        return entry.start, end if self._text[end:following].strip() else following

    def _all_removed(self, entries: Iterable[Entry]) -> bool:
        return all(id(each.node) in self._removed for each in entries)

    def _added(self, path: Path, new: list[Addition]) -> TextEdit:
        section = {each.key: each.value for each in new}
        if path not in self._template.entries:  # there is no such section yet
            addition = Addition((), str(path[0]), section)
            return self._after(self._template.root.entries, [addition], _RESOURCE_DEPTH - 1)
        siblings = nodes.entries_of(self._template.entries[path].entry.node)
        return self._after(siblings, new, _RESOURCE_DEPTH) if siblings else self._filled(path, section)

    def _filled(self, path: Path, section: dict[str, Any]) -> TextEdit:
        """A section that is there and has nothing in it."""
        entry = self._found(path).entry
        key = str(path[0])
        if self._template.is_json:
            return TextEdit(entry.node.start, entry.end, self._one_line(section, entry.start))
        empty = _EMPTY.match(self._text, entry.start)
        if empty is None:
            raise self._error(path, f"{key} is empty, in a style that cannot be added to")
        if entry.flow:
            return TextEdit(entry.start, empty.end(), f"{scalar(key)}: {flow(section)}")
        lines = block(key, section, self._column(entry.start), _RESOURCE_DEPTH)
        return TextEdit(entry.start, empty.end(), self._line_break.join(lines).lstrip(" "))

    def _after(self, siblings: list[Entry], new: list[Addition], deep: int) -> TextEdit:
        """Something behind the last of several keys, laid out as they are."""
        last = siblings[-1]
        if last.flow:
            apart = f",{self._line_break}{indent}" if (indent := self._indent(last.start)) is not None else ", "
            text = "".join(f"{apart}{self._pair(each.key, each.value, last.start)}" for each in new)
            # Behind nothing, there is no comma.
            return TextEdit(last.end, last.end, text.removeprefix(apart if self._all_removed(siblings) else ""))
        column = self._column(last.start)
        end = self._end_of_section(last.end, column)
        empty = len(siblings) > 1 and "\n\n" in self._text[siblings[-2].end : last.start].replace("\r", "")
        lines: list[str] = []
        for each in new:
            lines += [""] if empty else []
            lines += (f"{' ' * column}{comment}" for origin in each.origins for comment in self._moved(origin))
            lines += block(each.key, each.value, column, deep)
        return TextEdit(end, end, self._new_lines(end, lines))

    def _end_of_section(self, at: int, column: int) -> int:
        """The end of the lines of a section: comments that are as far indented as its keys belong to it."""
        comments = re.compile(rf"(?:(?:\r?\n[ \t]*)*\r?\n {{{column},}}#[^\n]*)*")
        end = self._line_end(at)
        found = comments.match(self._text, end - self._text.endswith("\r", 0, end))
        return max(end, found.end() if found else end)

    def _moved(self, origin: Path) -> list[str]:
        """The comments of what is taken out in one place and put in at another."""
        if origin and isinstance(origin[-1], int):  # one of several: those of all of them come above the first
            return [] if origin[-1] else self._moved(origin[:-1])
        if not origin or self._template.entries[origin].entry.flow:
            return []
        entry = self._template.entries[origin].entry
        end = self._line_end(entry.end)
        return [
            *self._above(origin)[0],
            *nodes.comments_between(self._text, entry.start, end, nodes.scalars_in(*entry)),
        ]

    def _above(self, path: Path) -> tuple[list[str], int]:
        """The comments on the lines above a key that are as far indented as it, and where they, or it, begin.

        Those above the first key are about the whole map.
        """
        entry, above, _ = self._template.entries[path]
        comments: list[str] = []
        column = self._column(entry.start)
        at = entry.start
        while entry is not above.entries[0] and (end := self._text.rfind("\n", 0, at)) >= 0:
            begin = self._text.rfind("\n", 0, end) + 1
            line = self._text[begin:end]
            if len(line) - len(line.lstrip(" ")) != column or not line.lstrip(" ").startswith("#"):
                break
            comments.insert(0, line.strip())
            at = begin + column
        return comments, at

    def _one_line(self, value: object, at: int, *, lines: bool = True) -> str:
        """A value as it is written behind its key; in JSON on several lines, if lines may be and others stand so."""
        if not self._template.is_json:
            return flow(value)
        indent = self._indent(at) if lines else None
        if indent is None:
            return json_text(value)
        unit = _INDENT.search(self._text)
        return json_text(value, unit[1] if unit else "").replace("\n", f"{self._line_break}{indent}")

    def _pair(self, key: str, value: object, at: int) -> str:
        return f"{json_text(key) if self._template.is_json else scalar(key)}: {self._one_line(value, at)}"

    def _new_lines(self, at: int, lines: list[str]) -> str:
        """Lines to be put at the end of a line."""
        carriage = "\r" if self._text.endswith("\r", 0, at) else ""
        return "".join(f"\n{line}{carriage}" for line in lines)

    def _indent(self, at: int) -> str | None:
        """What stands on its line before something, if that is only space."""
        before = self._text[self._line_start(at) : at]
        return None if before.strip() or not self._line_start(at) else before

    def _column(self, at: int) -> int:
        return at - self._line_start(at)

    def _line_start(self, at: int) -> int:
        begin = self._text.rfind("\n", 0, at) + 1
        return begin or int(self._text.startswith("\ufeff"))

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return end if end >= 0 else len(self._text)


def _around(spans: list[tuple[int, int]], at: int) -> int | None:
    """Where the span begins that a position is inside of, if it is in one."""
    start, end = spans[max(0, bisect_left(spans, (at,)) - 1)] if spans else (at, at)
    return start if start < at < end else None
