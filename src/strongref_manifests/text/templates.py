"""CloudFormation's templates as text: what is in them, with functions in their long forms, and where it stands.

One tree for YAML, with every short form (`!Ref`, `!GetAtt a.b`), and for JSON. Numbers, dates and the like are read as
far as references need it, and are left alone in the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode

from strongref.macro.references import is_reference, is_whole, stem
from strongref.macro.template import entries_in, mapped
from strongref.untyped import AnyJson
from strongref_manifests.errors import ManifestError
from strongref_manifests.text import json_reader, yaml_reader
from strongref_manifests.text.nodes import MERGE, STR, Alias, Collection, Entry, Node, Scalar, line_of
from strongref_manifests.text.template_writing import Bare, scalar

if TYPE_CHECKING:
    from strongref_toolkit.json_values import Path

_SPACE = "\ufeff \t\r\n"
_RESOLVER = YAML(typ="safe", pure=True).resolver
_PLAIN = (True, False)
"""How ruamel.yaml is asked what text without quotes is."""
_BARE = re.compile(r"[-+.]?[A-Za-z0-9_](?:[A-Za-z0-9_.+:-]*[A-Za-z0-9_.+-])?")
"""What may stand anywhere without quotes, and may be a number, a date or the like for some reader of YAML."""
_SAME_NAME = {"!Ref": "Ref", "!Condition": "Condition"}


class TemplateEntry(NamedTuple):
    """Where something stands in a template."""

    entry: Entry  # its key and itself; of an item of a list, itself
    above: Collection  # the map or list that it is in
    shared: bool  # whether it stands under an anchor that is used elsewhere too


@dataclass(frozen=True, slots=True)
class TemplateText:
    file: str  # for errors
    text: str = field(repr=False)
    content: dict[str, Any] = field(repr=False)  # what is in it
    root: Collection = field(repr=False)  # of its tree
    entries: dict[Path, TemplateEntry] = field(repr=False)  # everything in it, by the path that leads there
    is_json: bool = False

    def line(self, path: Path) -> int | None:
        """The line of what is there, or of the nearest thing around it that is."""
        ends = range(len(path), 0, -1)
        found = next((self.entries[path[:end]] for end in ends if path[:end] in self.entries), None)
        return line_of(self.text, found.entry.start) if found else None


def read(file: str, text: str) -> TemplateText:
    """Read a template in YAML or JSON: its first character says which of the two.

    Raises:
        ManifestError: it is neither, or no map, or a key stands twice.
    """
    is_json = _is_json(text)
    parsed = (json_reader if is_json else yaml_reader).parse(file, text)
    root = parsed.documents[0].root if parsed.documents else None
    if len(parsed.documents) > 1:
        line = line_of(text, parsed.documents[1].start)
        raise ManifestError(file, line, "there is more than one document in it; a template is one")
    if not isinstance(root, Collection) or not isinstance(root.value, dict):
        raise ManifestError(file, None, "it is no template: there is no map in it")
    reading = _TemplateReading(file, text)
    found: Any = reading.content(root, ())
    return TemplateText(file, text, found, root, reading.entries, is_json=is_json)


def content(text: str, *, is_json: bool = False) -> object:
    """What is in a template in YAML, or in JSON; None if it is none."""
    try:
        (document,) = (json_reader if is_json else yaml_reader).parse("", text).documents
        return _TemplateReading("", text).content(document.root, ()) if document.root else None
    except (ManifestError, ValueError):
        return None


def _is_json(text: str) -> bool:
    """Whether it is, or was meant to be: with brackets around it, YAML has no quotes around its first key."""
    inside = text.lstrip(_SPACE)
    return inside.startswith("{") and inside.lstrip(f"{_SPACE}{{").startswith(('"', "}"))


@dataclass(slots=True)
class _TemplateReading:
    """The content of a tree, with functions in their long forms, and the entries that are found on the way."""

    file: str
    text: str
    entries: dict[Path, TemplateEntry] = field(default_factory=dict)

    def content(self, node: Node, path: Path, *, shared: bool = False) -> object:
        if isinstance(node, Alias):
            node = node.target
        name = _function(node)
        below = (*path, name) if name else path
        value: object = None
        if isinstance(node, Scalar):
            value = _scalar_value(node)
        elif isinstance(node, Collection) and isinstance(node.value, dict):
            value = self._map(node, below, shared=shared)
        elif isinstance(node, Collection):
            value = [
                self._child(entry, node, (*below, number), shared=shared) for number, entry in enumerate(node.entries)
            ]
        if name == "Fn::GetAtt" and isinstance(value, str):
            value = value.split(".", 1)
        return {name: value} if name else value

    def _map(self, node: Collection, path: Path, *, shared: bool) -> dict[str, object]:
        result: dict[str, object] = {}
        for entry in node.entries:
            key = entry.key.target if isinstance(entry.key, Alias) else entry.key
            name = key.text if isinstance(key, Scalar) else "?"
            if name in result and name != MERGE:
                raise self._error(entry, f"the key {name} stands twice in one map")
            result[name] = self._child(entry, node, (*path, name), shared=shared)
            if name == MERGE and _has_references(result[name], path):
                problem = "what is merged by << has a reference, or Exports, which would not be found; write it out"
                raise self._error(entry, problem)
        return result

    def _child(self, entry: Entry, above: Collection, path: Path, *, shared: bool) -> object:
        shared = shared or entry.node.aliased or isinstance(entry.node, Alias)
        self.entries[path] = TemplateEntry(entry, above, shared)
        return self.content(entry.node, path, shared=shared)

    def _error(self, entry: Entry, problem: str) -> ManifestError:
        return ManifestError(self.file, line_of(self.text, entry.start), problem)


def _function(node: Node) -> str:
    """The long form of a short one: `Fn::Sub` of `!Sub`; empty where there is no such tag."""
    tag = str(node.tag or "")
    return _SAME_NAME.get(tag, f"Fn::{tag[1:]}") if tag.startswith("!") and tag != "!" else ""


def _scalar_value(node: Scalar) -> object:
    text = node.text
    if node.style is not None or (node.tag or "").startswith("!") or node.text_only:
        return text
    if node.tag is None and node.text_start > node.start and _RESOLVER.resolve(ScalarNode, text, _PLAIN) == STR:
        return text  # it has an anchor, and is text for YAML 1.2
    value = yaml_reader.plain_value(text)
    kept = value is None or isinstance(value, bool) or scalar(value) == text or not _BARE.fullmatch(text)
    return value if kept else Bare(text)


def _has_references(node: AnyJson, path: Path) -> bool:
    """Whether there is something for the macro in what is merged into a map."""
    outside = path[:1] == ("Resources",) and "Properties" not in path
    return is_whole(node) or any(
        is_whole(each)
        or (stem(at[-1]) and is_reference(each))
        or (outside and at[-1] == "Exports" and "Properties" not in at)
        for at, each in entries_in(node)
    )


def json_text(node: object, indent: str | None = None) -> str:
    """Something of a template in JSON, on one line or indented."""
    written = json.dumps(_marked(node), ensure_ascii=False, indent=indent)
    if re.search("[\ud800-\udfff]", written):  # half a character cannot be written but by its number
        written = json.dumps(_marked(node), indent=indent)
    return re.sub(r'"\\u0000([^"\\]*)\\u0000"', r"\1", written)


def canonical(content: object) -> str:
    """One text for equal content, whatever the order; numbers and quotes count as they are written."""
    return json.dumps(_marked(content), sort_keys=True)


def _marked(node: AnyJson) -> AnyJson:
    """With what is to be written without quotes between characters that no template has."""
    return mapped(node, lambda each: f"\0{each}\0" if isinstance(each, Bare) else each)
