"""Manifests with their references resolved, and all else as it was: only the characters of the references change.

A reference field's key becomes that of the field, and each `from` becomes the value that it stands for. Comments stay,
those within a reference behind its value; so do order, indentation, quotes elsewhere, anchors and line ends. What was
written is read again and must say what is meant: otherwise nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from strongref.errors import or_else
from strongref_manifests.refs.errors import UnwritableReferenceError
from strongref_manifests.text import nodes
from strongref_manifests.text.nodes import COMMENT, Collection, Document, Node, Scalar, TextEdit
from strongref_manifests.text.templates import canonical
from strongref_toolkit.json_values import Path, path_text

if TYPE_CHECKING:
    from strongref_manifests.refs.resolution import Edit
    from strongref_manifests.text.manifests import Manifest

_NEAR = 1000
"""Characters in which the dash before an item of a list is looked for."""

_DASH = re.compile(r"^( *)-(?=\s)\s*\Z", re.MULTILINE)
_BETWEEN = re.compile(r"[\s:,\[-]*")
"""What may stand between a key and its references, and between two of them: no anchor and no tag."""
_OPENING = re.compile(r"[\s{]*")
"""What may stand between the beginning of a reference and its first key."""
_REFERENCE_DEPTH = 2
"""Levels below a reference field: `from`, and what is in it."""
_EMPTY_LINE = re.compile(r"[ \t]*:[ \t]*(?:\[\s*\]|null|~)?[ \t]*(?:(?<=\s)#[^\r\n]*)?(?:\r?\n|\Z)")
_EMPTY_IN_FLOW = re.compile(r"\s*:\s*(?:\[\s*\]|null|~)\s*(?:,\s*)?")
"""What stands behind the key of a field without a value: a line's rest, or between brackets."""


class Unwritable(Exception):  # noqa: N818 (reported as an `UnwritableReferenceError` where the object is known)
    """A text is not written in a way in which a change can be made."""


class PlacedEdit(NamedTuple):
    document: int  # the number of the document, from 1
    path: Path  # what leads to the object in it
    edit: Edit  # the change of that object
    whose: str = ""  # which object that is, for errors, as in `VPCLink default/orders`

    @property
    def reference(self) -> Path:
        """What leads to the reference field in its document."""
        return (*self.path, *self.edit.container, self.edit.reference_step)

    @property
    def field(self) -> Path:
        """What leads to the field itself."""
        return (*self.path, *self.edit.container, self.edit.step)


def rewritten(
    manifest: Manifest, changes: Sequence[PlacedEdit]
) -> tuple[str, list[tuple[PlacedEdit, UnwritableReferenceError]]]:
    """The manifest's text with some changes made, or the text as it was and the problems.

    Those are of the changes that cannot be made in the text as it is written; of those that would be read as something
    else, the first.
    """
    made: list[tuple[PlacedEdit, list[TextEdit]]] = []
    failed: list[PlacedEdit] = []
    for change in changes:
        try:
            made.append((change, _Writing(manifest, change).edits()))
        except Unwritable:
            failed.append(change)
    if changes and not failed:
        text = _text(manifest, made)
        if _says(manifest, text, _wanted(manifest, changes)):
            return text, []
        failed = [_misread(manifest, made)]
    return manifest.text, [(change, _error(manifest, change)) for change in failed]


def _text(manifest: Manifest, made: Sequence[tuple[PlacedEdit, Sequence[TextEdit]]]) -> str:
    return nodes.spliced(manifest.text, [edit for _, edits in made for edit in edits])


def _misread(manifest: Manifest, made: Sequence[tuple[PlacedEdit, Sequence[TextEdit]]]) -> PlacedEdit:
    """The first of some changes that is not read as what is meant. Reading takes long: so they are halved."""
    while len(made) > 1:
        half = made[: len(made) // 2]
        wanted = _wanted(manifest, [change for change, _ in half])
        made = made[len(half) :] if _says(manifest, _text(manifest, half), wanted) else half
    return made[0][0]


def _error(manifest: Manifest, change: PlacedEdit) -> UnwritableReferenceError:
    entry = _document(manifest, change).entry(change.reference)
    line = nodes.line_of(manifest.text, entry.start) if entry else None
    return UnwritableReferenceError(change.whose, path_text((*change.edit.container, change.edit.reference_step)), line)


def _document(manifest: Manifest, change: PlacedEdit) -> Document:
    return manifest.parsed.documents[change.document - 1]


@dataclass(frozen=True, slots=True)
class _Writing:
    manifest: Manifest
    change: PlacedEdit

    def edits(self) -> list[TextEdit]:
        """The edits of the text that make the change.

        Raises:
            Unwritable: the reference is written with anchors, aliases or tags, or in another odd way.
        """
        edit = self.change.edit
        entry = _document(self.manifest, self.change).entry(self.change.reference)
        if not entry or not isinstance(entry.key, Scalar):
            raise Unwritable  # it stands behind an alias
        key, node = entry.key, entry.node
        name = f"{key.style}{edit.step}{key.style}" if key.style else self._written(key, edit.step)
        field = [*self._emptied(), TextEdit(key.text_start, key.end, name)]
        if isinstance(edit.value, str):
            self._check(key, [node])
            return [*field, self._single(key, node, edit.value)]
        items = [entry.node for entry in node.entries] if isinstance(node, Collection) else []
        self._check(key, items)
        counts = edit.counts or (1,) * len(edit.value)
        if not items or len(items) != len(counts):
            raise Unwritable
        values = iter(edit.value)
        return [*field, *(self._item(each, list(islice(values, n))) for each, n in zip(items, counts, strict=True))]

    @property
    def _text(self) -> str:
        return self.manifest.text

    def _check(self, key: Node, references: Sequence[Node]) -> None:
        """Nothing stands around a key's references that what is written would be read with, and they are plain maps."""
        at = key.end
        for node in references:
            first = next(nodes.scalars_in(node), None)
            if not isinstance(node, Collection) or not isinstance(node.value, dict) or not first:
                raise Unwritable
            between, opening = (self._text[at : node.start], self._text[node.start : first.start])
            if not _BETWEEN.fullmatch(COMMENT.sub("", between)) or not _OPENING.fullmatch(COMMENT.sub("", opening)):
                raise Unwritable
            if _depth(node) > _REFERENCE_DEPTH:
                raise Unwritable
            at = node.end

    def _emptied(self) -> list[TextEdit]:
        """The field itself, if it stands there as well: empty, since both would be refused otherwise."""
        entry = _document(self.manifest, self.change).entry(self.change.field)
        if not entry or not isinstance(entry.key, Scalar):
            return []
        key = entry.key
        found = (_EMPTY_IN_FLOW if key.flow else _EMPTY_LINE).match(self._text, key.end)
        if not found:
            raise Unwritable
        before = self._text[: key.text_start]
        if key.flow:
            start = key.text_start if "," in found[0] else len(before.rstrip().removesuffix(","))
            return [TextEdit(start, found.end(), "")]
        line = before.rstrip(" ")
        if line and line[-1] != "\n":
            raise Unwritable
        comment = "".join(COMMENT.findall(found[0])[:1])
        left = f"{before[len(line) :]}{comment}{found[0][len(found[0].rstrip()) :]}" if comment else ""
        return [TextEdit(len(line), found.end(), left)]

    def _single(self, key: Node, reference: Node, value: str) -> TextEdit:
        """What stands behind the key of a reference that is no list: on the key's own line, wherever it stood."""
        gap = self._text[key.end : reference.start]
        written = self._written(reference, value)
        if "\n" not in gap:
            return TextEdit(reference.start, reference.end, self._commented(reference, [], written))
        before, _, after = gap.partition(":")
        text = f"{before}: {self._commented(reference, COMMENT.findall(after), written)}"
        return TextEdit(key.end, reference.end, text)

    def _item(self, reference: Node, values: Sequence[str]) -> TextEdit:
        """What stands in the place of an item of a list: one value, or several."""
        first, *others = (self._written(reference, value) for value in values)
        start, end = reference.start, reference.end
        if reference.flow or not others:
            return TextEdit(start, end, self._commented(reference, [], ", ".join([first, *others])))
        dash = _DASH.search(COMMENT.sub("", self._text[max(0, start - _NEAR) : start]))
        if not dash:
            raise Unwritable
        more = "".join(f"{nodes.line_break(self._text)}{dash[1]}- {other}" for other in others)
        return TextEdit(start, end, self._commented(reference, [], first) + more)

    def _commented(self, reference: Node, before: Sequence[str], written: str) -> str:
        """A value with the comments that stood before and within what it replaces."""
        inside = nodes.comments_between(self._text, reference.start, reference.end, nodes.scalars_in(reference))
        comments = [*before, *inside]
        if not comments:
            return written
        line = self._text[self._text.rfind("\n", 0, reference.start) + 1 : reference.start]
        indent = line[: len(line) - len(line.lstrip())]
        # What follows in brackets would be part of the comment.
        after = f"{nodes.line_break(self._text)}{indent}" if reference.flow else ""
        return f"{written} {' '.join(comments)}{after}"

    def _written(self, reference: Node, value: str) -> str:
        start, end = reference.start, reference.end
        place = Scalar(value="", text="", start=start, text_start=start, end=end, flow=reference.flow)
        return self.manifest.format.in_style(place, self._text, value)


def _depth(node: Node) -> int:
    return 1 + max((_depth(entry.node) for entry in node.entries), default=0) if isinstance(node, Collection) else 0


def _wanted(manifest: Manifest, changes: Sequence[PlacedEdit]) -> list[Any]:
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
    parsed = or_else(lambda: manifest.format.parse(manifest.file, text), None)
    return parsed is not None and canonical([each.content for each in parsed.documents]) == canonical(list(wanted))
