"""CloudFormation's templates as text: what is in them, with functions in their long forms, and where it stands.

One reader for YAML, with every short form (`!Ref`, `!GetAtt a.b`), and for JSON. Numbers, dates and the like are read
as far as references need it, and are left alone in the text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import CollectionNode, MappingNode, ScalarNode, SequenceNode

from strongref.macro.references import is_reference, stem
from strongref_manifests.errors import ManifestError
from strongref_manifests.text import json_text
from strongref_manifests.text.template_writing import Bare, scalar
from strongref_manifests.text.yaml_text import plain_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from ruamel.yaml.nodes import Node

Path: TypeAlias = tuple[str | int, ...]

_STR = "tag:yaml.org,2002:str"
_BLOCK = ("|", ">")
_SPACE = "\ufeff \t\r\n"
_BARE = re.compile(r"[-+.]?[A-Za-z0-9_](?:[A-Za-z0-9_.+:-]*[A-Za-z0-9_.+-])?")
"""What may stand anywhere without quotes, and may be a number, a date or the like for some reader of YAML."""
_AS_THEY_ARE = {"!Ref": "Ref", "!Condition": "Condition"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a text, in characters.

    Attributes:
        start: of its key; of an item of a list, of itself.
        value: where what stands under the key begins.
        end: of it.
        column: of its key.
        flow: it stands between brackets.
        shared: it stands under an anchor that is used elsewhere too.
    """

    start: int
    value: int
    end: int
    column: int
    flow: bool
    shared: bool


@dataclass(frozen=True, slots=True)
class TemplateText:
    """A template as it is written.

    Attributes:
        file: for errors.
        content: what is in it.
        places: of everything in it, by the path that leads there; none for JSON.
        lines: from 1, by path.
    """

    file: str
    text: str = field(repr=False)
    content: dict[str, Any] = field(repr=False)
    lines: dict[Path, int] = field(repr=False)
    places: dict[Path, Place] = field(repr=False, default_factory=dict)
    is_json: bool = False

    def line(self, path: Path) -> int | None:
        """Of what is there, or of the nearest thing around it that is."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None


def read(file: str, text: str) -> TemplateText:
    """Read a template in YAML or JSON: which of the two, its first character tells.

    Raises:
        ManifestError: it is neither, or no map, or a key stands twice.
    """
    reader = _read_json if text.lstrip(_SPACE).startswith("{") and _is_json(text) else _read_yaml
    return reader(file, text)


def content(text: str) -> object:
    """What is in a template in YAML; None if it is none."""
    try:
        return _Reading("", text).content
    except (ManifestError, YAMLError, ValueError, RecursionError):
        return None


def _is_json(text: str) -> bool:
    """Whether it is, or was meant to be: with brackets around it, YAML has no quotes around its first key."""
    return text.lstrip("\ufeff \t\r\n{").startswith(('"', "}"))


def _read_json(file: str, text: str) -> TemplateText:
    parsed = json_text.parse(file, text)
    if len(parsed.documents) != 1:
        raise ManifestError(file, None, "there is more than one JSON document in it; a template is one")
    starts: dict[Path, int] = {}
    for spot in parsed.spots:
        for end in range(1, len(spot.key) + 1):
            starts.setdefault(spot.key[:end], spot.start)
    line = _line_of(text)
    lines = {path: line(start) for path, start in starts.items()}
    whole: Any = json.loads(text.strip(_SPACE), parse_int=_number, parse_float=_number)
    return TemplateText(file, text, whole, lines, is_json=True)


def _line_of(text: str) -> Callable[[int], int]:
    """From 1, by the character."""
    breaks = [found.start() for found in re.finditer("\n", text)]
    return lambda at: bisect_right(breaks, at - 1) + 1


def _number(text: str) -> object:
    """A number of JSON, as it is written."""
    value = plain_value(text)
    return value if json.dumps(value) == text else Bare(text)


def _read_yaml(file: str, text: str) -> TemplateText:
    try:
        reading = _Reading(file, text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(str(error.problem or error.context or "it is no YAML").split())
        failed = ManifestError(file, mark.line + 1 if mark else None, problem)
    except (YAMLError, ValueError) as error:
        failed = ManifestError(file, None, f"it is no YAML ({type(error).__name__})")
    except RecursionError:
        failed = ManifestError(file, None, "it is nested too deeply")
    else:
        if not isinstance(reading.content, dict):
            raise ManifestError(file, None, "it is no template: there is no map in it")
        line = _line_of(text)
        lines = {path: line(place.start) for path, place in reading.places.items()}
        return TemplateText(file, text, reading.content, lines, reading.places)
    raise failed


class _Reading:
    """A text in YAML at being read."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.places: dict[Path, Place] = {}
        self._seen: dict[int, Path] = {}
        yaml = YAML(typ="safe", pure=True)
        node = yaml.compose(text)
        self.content = self._content(node, ()) if node is not None else None

    def _content(self, node: Node, path: Path, *, shared: bool = False) -> object:
        if isinstance(node, ScalarNode):
            value: object = self._scalar(node)
        elif isinstance(node, SequenceNode):
            value = [
                self._child(item, item, (*path, *self._function(node), number), node, shared=shared)
                for number, item in enumerate(node.value)
            ]
        else:
            value = self._map(cast("MappingNode", node), (*path, *self._function(node)), shared=shared)
        name = self._function(node)
        return {name[0]: _argument(name[0], value)} if name else value

    def _map(self, node: MappingNode, path: Path, *, shared: bool) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, below in node.value:
            name = str(key.value) if isinstance(key, ScalarNode) else "?"
            if name in result and name != "<<":
                raise ManifestError(self.file, key.start_mark.line + 1, f"the key {name} stands twice in one map")
            result[name] = self._child(key, below, (*path, name), node, shared=shared)
            if name == "<<" and _has_references(result[name], path):
                problem = "what is merged by << has a reference, or Exports, which would not be found; write it out"
                raise ManifestError(self.file, key.start_mark.line + 1, problem)
        return result

    def _child(self, first: Node, node: Node, path: Path, above: CollectionNode, *, shared: bool) -> object:
        shared = shared or id(node) in self._seen
        if id(node) in self._seen and (known := self.places.get(self._seen[id(node)])):
            self.places[self._seen[id(node)]] = Place(
                known.start, known.value, known.end, known.column, known.flow, shared=True
            )
        self._seen.setdefault(id(node), path)
        self.places[path] = Place(
            first.start_mark.index,
            node.start_mark.index,
            self._end(node),
            first.start_mark.column,
            flow=bool(above.flow_style),
            shared=shared,
        )
        return self._content(node, path, shared=shared)

    def _end(self, node: Node) -> int:
        """Where a node's own text ends: YAML counts what follows a block, up to the next thing, as its own."""
        end: int = node.end_mark.index
        if isinstance(node, ScalarNode) and node.style in _BLOCK:
            kept = node.value.endswith("\n\n")  # as `|+` has it: what follows it begins a line
            return end - 1 if kept and self.text[end - 1] == "\n" else len(self.text[:end].rstrip())
        if not isinstance(node, CollectionNode) or node.flow_style or not node.value:
            return end
        last = node.value[-1]
        return self._end(last[1] if isinstance(node, MappingNode) else last)

    @staticmethod
    def _function(node: Node) -> tuple[str, ...]:
        """What a short form is in its long one: `Fn::Sub` of `!Sub`; nothing for what has no such tag."""
        tag = str(node.tag)
        if not tag.startswith("!") or tag == "!":
            return ()
        return (_AS_THEY_ARE.get(tag, f"Fn::{tag[1:]}"),)

    def _scalar(self, node: ScalarNode) -> object:
        text: str = node.value
        tagged = str(node.tag)[:1] == "!" or (node.tag == _STR and self.text[node.start_mark.index] in "!&")
        if node.style is not None or tagged:
            return text
        value = plain_value(text)
        kept = value is None or isinstance(value, bool) or scalar(value) == text or not _BARE.fullmatch(text)
        return value if kept else Bare(text)


def _argument(name: str, value: object) -> object:
    return value.split(".", 1) if name == "Fn::GetAtt" and isinstance(value, str) else value


def _has_references(node: object, path: Path) -> bool:
    """Whether there is something for the macro in what is merged into a map."""
    if isinstance(node, list):
        return any(_has_references(item, path) for item in node)
    if not isinstance(node, Mapping):
        return False
    return any(
        (stem(key) and is_reference(below))
        or (key == "Exports" and path[:1] == ("Resources",) and "Properties" not in path)
        or _has_references(below, (*path, key))
        for key, below in node.items()
    )


def to_json(changed: dict[str, Any], like: str) -> str:
    """A template in JSON, laid out as another text is."""
    inside = like[like.index("{") + 1 :]
    space = inside[: len(inside) - len(inside.lstrip())].replace("\r", "")
    indent = space.rpartition("\n")[2] if "\n" in like.strip() else None
    written = json.dumps(_marked(changed), ensure_ascii=False, indent=indent)
    if re.search("[\ud800-\udfff]", written):  # half a character cannot be written but by its number
        written = json.dumps(_marked(changed), indent=indent)
    written = re.sub(r'"\\u0000([^"\\]*)\\u0000"', r"\1", written)
    result = written + ("\n" if like.endswith("\n") else "")
    mark = "\ufeff" if like.startswith("\ufeff") else ""
    return mark + (result.replace("\n", "\r\n") if "\r\n" in like else result)


def canonical(content: object) -> str:
    """The same text for the same content, whatever the order; numbers and quotes count as they are written."""
    return json.dumps(_marked(content), sort_keys=True)


def _marked(node: Any) -> Any:  # noqa: ANN401
    """With what is to be written without quotes between characters that no template has."""
    if isinstance(node, Bare):
        return f"\0{node}\0"
    if isinstance(node, Mapping):
        return {key: _marked(below) for key, below in node.items()}
    return [_marked(item) for item in node] if isinstance(node, list) else node
