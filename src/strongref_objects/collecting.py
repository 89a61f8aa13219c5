"""What an object consists of, all of it, before anything is written anywhere. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from strongref_objects.errors import BadValueError, WrittenTwiceError
from strongref_objects.naming import shown

if TYPE_CHECKING:
    from strongref_objects.base import Serializable, Text, TextList
    from strongref_objects.naming import Path

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value of an object.

    Attributes:
        value: the text, the list, or what stands for one. Never shown.
        many: whether it is a list.
        description: for people.
    """

    value: Text | TextList = field(repr=False)
    many: bool
    description: str | None = field(default=None, compare=False)


class Collector:
    """A `SerializationContext` that takes down what is written.

    Attributes:
        path: of the object that writes.
        leaves: the values, by path, those of its parts among them.
        written: all paths in their order, and whether each is an object's.
    """

    def __init__(self, path: Path = ()) -> None:
        self.path = path
        self.leaves: dict[Path, Leaf] = {}
        self.written: dict[Path, bool] = {path: True}
        self._description: str | None = None
        self._writing: tuple[Serializable, ...] = ()

    def write_string(self, key: str, value: Text, *, description: str | None = None) -> None:
        """Take down a value.

        Raises:
            BadValueError: it is no text, and nothing that stands for one.
            WrittenTwiceError: the key has another value.
        """
        path = self._below(key)
        _check_text(path, value, "it is")
        self._put(path, Leaf(value, many=False, description=description or self._description))

    def write_string_list(self, key: str, value: TextList, *, description: str | None = None) -> None:
        """Take down a list; errors as above."""
        path = self._below(key)
        if not is_function(value):
            if not isinstance(value, Sequence) or isinstance(value, str | bytes):
                raise BadValueError(shown(path), f"it is {came(value)}, and a list is needed")
            for number, item in enumerate(value, start=1):
                _check_text(path, item, f"its item {number} is")
            value = list(value)
        self._put(path, Leaf(value, many=True, description=description or self._description))

    def write_object(self, key: str, obj: Serializable, *, description: str | None = None) -> None:
        """Have a part write itself; its description is that of its values, where they have none of their own."""
        path = self._below(key)
        if any(obj is above for above in self._writing):
            raise BadValueError(shown(path), "the object would be a part of itself")
        part = Collector(path)
        part._description = description or self._description
        part._writing = (*self._writing, obj)
        obj.serialize(part)
        if path in self.written and (part.leaves, part.written) != (_at(path, self.leaves), _at(path, self.written)):
            raise WrittenTwiceError(shown(path))
        self.leaves.update({below: leaf for below, leaf in part.leaves.items() if below not in self.leaves})
        self.written.update(part.written)

    def _below(self, key: str) -> Path:
        if not isinstance(key, str) or not key:
            raise BadValueError(shown((*self.path, "?")), "a key is a string that is not empty")
        return (*self.path, key)

    def _put(self, path: Path, leaf: Leaf) -> None:
        if self.written.setdefault(path, False) or self.leaves.setdefault(path, leaf) != leaf:
            raise WrittenTwiceError(shown(path))


def collect(name: str, obj: Serializable, description: str | None = None) -> dict[Path, Leaf]:
    """The values of an object, by paths that begin with its name.

    Raises:
        BadValueError: something of it is no value.
        WrittenTwiceError: it writes a key twice, and not the same.
    """
    collector = Collector()
    collector.write_object(name, obj, description=description)
    return collector.leaves


def is_function(value: object) -> bool:
    """Whether it is one of CloudFormation's functions, as in `{"Ref": "Bucket"}`, which stands for a value."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    name = next(iter(value))
    return isinstance(name, str) and (name == "Ref" or name.startswith("Fn::"))


def _at(path: Path, among: Mapping[Path, T]) -> dict[Path, T]:
    """What is at a path, and below it."""
    return {other: each for other, each in among.items() if other[: len(path)] == path}


def _check_text(path: Path, value: object, what: str) -> None:
    if not isinstance(value, str) and not is_function(value):
        raise BadValueError(shown(path), f"{what} {came(value)}, and a string is needed; write it as one")


def came(value: object) -> str:
    """What something is, where a string is needed: never the value."""
    if value is None:
        return "nothing"
    if is_function(value):
        return "one of CloudFormation's functions"
    kinds = {
        str: "a string",
        bool: "a boolean",
        int | float: "a number",
        Mapping: "a map, and none of CloudFormation's functions",
        bytes: "bytes",
        Sequence: "a list",
    }
    return next((text for kind, text in kinds.items() if isinstance(value, kind)), type(value).__name__)
