"""The values an object consists of: all are collected and checked before anything is written. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from strongref_objects.base.errors import BadValueError
from strongref_objects.base.names import Path, shown

if TYPE_CHECKING:
    from strongref_objects.base import Serializable, Text, TextList

T = TypeVar("T")

COMMA = ","

LAZY = "Fn::StrongRefLazy"
"""In canonical values, replaces a lazy token of the CDK, whose value is only known when the app is synthesized."""


@dataclass(frozen=True, slots=True)
class Leaf:
    value: Text | TextList = field(repr=False)  # the text or list, resolved or not. Never shown
    is_list: bool  # whether it is a list
    description: str | None = field(default=None, compare=False)  # for people
    is_held: bool = field(default=True, compare=False)  # whether imports may hold it

    def as_text(self, path: Path, is_unresolved: Callable[[object], bool]) -> Text:
        """The value for a channel that only has text: a list as its items joined by commas; errors as `joined`."""
        return joined(path, self.value, is_unresolved) if self.is_list else cast("Text", self.value)


class Collector:
    """A `SerializationContext` that collects what an object writes."""

    def __init__(self, path: Path = (), description: str | None = None, writing: tuple[Serializable, ...] = ()) -> None:
        self.path = path
        self.leaves: dict[Path, Leaf] = {}  # the values by path, including those of the object's parts
        self.written: dict[Path, bool] = {path: True}  # all paths in order, and whether each belongs to an object
        self._description = description  # of values that have none
        self._writing = writing  # the objects that are being written, from the outermost

    def write_string(self, key: str, value: Text, *, description: str | None = None) -> None:
        """Raises `BadValueError` if it is neither text nor an intrinsic function, or the key has another value."""
        path = self._below(key)
        _check_text(path, value, "it")
        self._put(path, Leaf(value, is_list=False, description=description or self._description))

    def write_string_list(
        self, key: str, value: TextList, *, description: str | None = None, held: bool = True
    ) -> None:
        path = self._below(key)
        if not is_function(value):
            if not isinstance(value, Sequence) or isinstance(value, str | bytes):
                raise BadValueError(shown(path), f"it must be a list, got {kind_of_value(value)}")
            for number, item in enumerate(value, start=1):
                _check_text(path, item, f"item {number}")
            value = list(value)
        self._put(path, Leaf(value, is_list=True, description=description or self._description, is_held=held))

    def write_object(self, key: str, obj: Serializable, *, description: str | None = None) -> None:
        """The part's description applies to those of its values that have none."""
        path = self._below(key)
        if not hasattr(obj, "serialize"):
            raise BadValueError(shown(path), f"it must be an object with serialize, got {kind_of_value(obj)}")
        if any(obj is above for above in self._writing):
            raise BadValueError(shown(path), "the object would be a part of itself")
        part = Collector(path, description or self._description, (*self._writing, obj))
        obj.serialize(part)
        if path in self.written and (part.leaves, part.written) != (_at(path, self.leaves), _at(path, self.written)):
            raise _written_twice(path)
        self.leaves.update({below: leaf for below, leaf in part.leaves.items() if below not in self.leaves})
        self.written.update(part.written)

    def _below(self, key: str) -> Path:
        if not isinstance(key, str) or not key:
            raise BadValueError(shown((*self.path, "?")), "a key must be a string that is not empty")
        return (*self.path, key)

    def _put(self, path: Path, leaf: Leaf) -> None:
        if self.written.setdefault(path, False) or self.leaves.setdefault(path, leaf) != leaf:
            raise _written_twice(path)


def is_function(value: object) -> bool:
    """Whether this is an intrinsic function of CloudFormation, as in `{"Ref": "Bucket"}`."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    name = next(iter(value))
    return isinstance(name, str) and (name == "Ref" or name.startswith("Fn::"))


def joined(path: Path, value: TextList, is_unresolved: Callable[[object], bool]) -> Text:
    """A list as one text, or as the intrinsic function that joins it.

    Raises:
        BadValueError: the list has no items, or one that cannot be split off again.
    """
    if isinstance(value, Mapping):
        return {"Fn::Join": [COMMA, value]}
    problems = [] if value else ["it is an empty list, which joined by commas would be one empty item; leave it out"]
    for number, item in enumerate(value, start=1):
        if is_unresolved(item):
            continue
        if not item:
            problems.append(f"item {number} is empty, which a list joined by commas cannot contain; leave it out")
        elif COMMA in item:
            fix = "export the items as parts of an object"
            problems.append(f"item {number} contains a comma, which separates the items of a list; {fix}")
    if problems:
        raise BadValueError(shown(path), problems[0])
    if any(is_unresolved(item) for item in value):
        return {"Fn::Join": [COMMA, list(value)]}
    return COMMA.join(cast("Sequence[str]", value))


def concatenated(texts: Iterable[Text]) -> Text:
    """Texts as one, or as the intrinsic function that concatenates them."""
    whole: list[Text] = []
    for text in texts:
        if isinstance(text, str) and whole and isinstance(whole[-1], str):
            whole[-1] += text
        elif text != "":
            whole.append(text)
    return whole[0] if len(whole) == 1 else {"Fn::Join": ["", whole]}


def kind_of_value(value: object) -> str:
    """What a value is, in words, for errors: never the value."""
    if value is None:
        return "None"
    if is_function(value):
        return "an intrinsic function"
    kinds = {
        str: "a string",
        bool: "a boolean",
        int | float: "a number",
        Mapping: "a map that is not an intrinsic function",
        bytes: "bytes",
        Sequence: "a list",
    }
    return next((text for kind, text in kinds.items() if isinstance(value, kind)), type(value).__name__)


def _at(path: Path, among: Mapping[Path, T]) -> dict[Path, T]:
    """What is at a path, and below it."""
    return {other: each for other, each in among.items() if other[: len(path)] == path}


def _check_text(path: Path, value: object, what: str) -> None:
    if not isinstance(value, str) and not is_function(value):
        fix = "convert it to a string" if isinstance(value, int | float) else "use text, such as an ARN or a name"
        raise BadValueError(shown(path), f"{what} must be a string, got {kind_of_value(value)}; {fix}")


def _written_twice(path: Path) -> BadValueError:
    return BadValueError(shown(path), "the object writes it twice, with different values; use another key for one")
