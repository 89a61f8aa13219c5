"""Where an object is read from, whatever channel it comes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from strongref_objects.base import ObjectCache
from strongref_objects.base.errors import BadNameError, NothingToImportError, UnresolvedImportError, WrongKindError
from strongref_objects.base.names import construct_id, shown
from strongref_objects.base.values import COMMA

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref_objects.base import Text, TextList
    from strongref_objects.base.names import Path


class ImportReader(Protocol):
    """Reads the values of one channel."""

    channel: str  # for errors, as in `CloudFormation's exports`
    is_resolved: bool  # whether it returns the values themselves, not intrinsic functions or tokens
    has_unresolved_lists: bool  # whether it can return an intrinsic function or token for a list

    def string(self, path: Path) -> Text:
        """The value at a path.

        Raises:
            StrongRefError: there is none, or it cannot be looked up.
        """
        ...

    def string_list(self, path: Path) -> TextList:
        """The list at a path; errors as above."""
        ...


class ImportedObject:
    """`DeserializationContext` over a reader.

    Attributes:
        scope: the parent of a construct that represents the object; None outside the CDK.
        id: that construct's ID: the same for the same object.
        made: the objects made from this context, so that reading it twice makes one object.
    """

    def __init__(self, reader: ImportReader, path: Path, scope: Any = None, id: str = "") -> None:  # noqa: A002, ANN401
        """Create the context.

        Args:
            reader: reads the values.
            path: the object's.
            scope: as the attribute.
            id: as the attribute; the path by default.
        """
        self.scope = scope
        self.id = id or construct_id(path)
        self.made = ObjectCache()
        self._reader = reader
        self._path = path
        self._parts = ObjectCache()

    def read_string(self, key: str, *, allow_unresolved: bool = True) -> Text:
        """As `DeserializationContext`.

        Raises:
            BadNameError: the key is not valid.
            UnresolvedImportError: the value would be unresolved, which the caller does not allow.
            StrongRefError: there is none, or it cannot be looked up.
        """
        path = self._below(key)
        if not allow_unresolved:
            self._check_resolved(path, "the program needs the value itself")
        return self._reader.string(path)

    def read_string_list(self, key: str, *, allow_unresolved: bool = False) -> TextList:
        """As `DeserializationContext`; errors as above."""
        path = self._below(key)
        if not self._reader.has_unresolved_lists:
            self._check_resolved(path, "it is a list, which this channel joins to one text")
        if not allow_unresolved:
            self._check_resolved(path, "it is a list, and the program needs to know its length")
        return self._reader.string_list(path)

    def read_object(self, key: str) -> ImportedObject:
        """The context of a part: the same for the same key."""
        path, part_id = self._below(key), f"{self.id}-{construct_id((key,))}"
        return self._parts.get(key, lambda: ImportedObject(self._reader, path, self.scope, part_id))

    def read_setting(self, key: str) -> str | None:
        """As `DeserializationContext`."""
        path = self._below(key)
        return self._reader.setting(path) if isinstance(self._reader, ValueReader) else None

    def _below(self, key: str) -> Path:
        if not isinstance(key, str) or not key:
            raise BadNameError(shown((*self._path, str(key))), "a key must be a string that is not empty")
        return (*self._path, key)

    def _check_resolved(self, path: Path, reason: str) -> None:
        if not self._reader.is_resolved:
            raise UnresolvedImportError(shown(path), self._reader.channel, reason)


class ValueReader:
    """`ImportReader` of the values themselves, looked up while the template is made or at run time.

    Whatever is read of a strongly imported object is held. If a program imports an object weakly in one place and
    strongly in another, it is held.
    """

    is_resolved = True
    has_unresolved_lists = True

    def __init__(
        self,
        channel: str,
        look_up: Callable[[Path], Any],
        hold: Callable[[Path, object], None] = lambda _path, _value: None,
        *,
        joins_lists: bool = False,
        look_up_setting: Callable[[Path], Any] | None = None,
    ) -> None:
        """Create the reader.

        Args:
            channel: for errors.
            look_up: returns the value at a path: a text or a list.
            hold: makes the stack hold the value at a path, which is its second argument.
            joins_lists: whether the channel only has text, so that lists are joined by commas.
            look_up_setting: the same for a value that need not be there: empty if it is not.
        """
        self.channel = channel
        self._look_up = look_up
        self._hold = hold
        self._joins_lists = joins_lists
        self._look_up_setting = look_up_setting or look_up
        self._strong: set[str] = set()
        self._read: dict[Path, object] = {}

    def strengthen(self, name: str) -> None:
        """Hold whatever is read of this object from now on, and whatever was read of it before."""
        self._strong.add(name)
        for path, value in self._read.items():
            if path[0] == name:
                self._hold(path, value)

    def string(self, path: Path) -> str:
        """The text at a path.

        Raises:
            WrongKindError: it is a list or an object.
            StrongRefError: there is none, or it cannot be looked up.
        """
        value = self._value(path)
        if not isinstance(value, str):
            raise _wrong_kind(path, value)
        return value

    def string_list(self, path: Path) -> list[str]:
        """The list at a path; errors as above."""
        value = self._value(path)
        if self._joins_lists and isinstance(value, str):
            return value.split(COMMA)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _wrong_kind(path, value)
        return value

    def setting(self, path: Path) -> str | None:
        """The text at a path, which is not held; None if there is none."""
        try:
            value = self._look_up_setting(path)
        except NothingToImportError:
            return None
        if value and not isinstance(value, str):
            raise _wrong_kind(path, value)
        return value or None

    def _value(self, path: Path) -> Any:  # noqa: ANN401 (JSON)
        value = self._look_up(path)
        self._read[path] = value
        if path[0] in self._strong:
            self._hold(path, value)
        return value


def is_an_object(path: Path) -> WrongKindError:
    """The error for an object that was read as a value."""
    return WrongKindError(shown(path), "an object", "read it with read_object")


def _wrong_kind(path: Path, value: object) -> WrongKindError:
    if isinstance(value, str):
        return WrongKindError(shown(path), "a string", "read it with read_string")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return WrongKindError(shown(path), "a list", "read it with read_string_list")
    if isinstance(value, dict):
        return is_an_object(path)
    return WrongKindError(shown(path), "neither a text, a list of texts nor an object", "write it as a string")
