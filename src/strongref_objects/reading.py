"""Where an object is read from, whatever channel it comes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from strongref_objects.errors import BadNameError, UnresolvedError
from strongref_objects.naming import identity, shown
from strongref_objects.once import Made

if TYPE_CHECKING:
    from strongref_objects.base import Text, TextList
    from strongref_objects.naming import Path


class Reader(Protocol):
    """Gives the values of what came through a channel.

    Attributes:
        channel: for errors, as in `CloudFormation's exports`.
        resolved: whether it gives the values themselves, and not what stands for them.
        whole_lists: whether it can give what stands for a list.
    """

    channel: str
    resolved: bool
    whole_lists: bool

    def string(self, path: Path) -> Text:
        """The value at a path.

        Raises:
            StrongRefError: there is none, or it could not be asked for.
        """
        ...

    def string_list(self, path: Path) -> TextList:
        """The list at a path; errors as above."""
        ...


class Imported:
    """`DeserializationContext` over a reader.

    Attributes:
        scope: where a construct is to be put that is made of the object; None outside of the CDK.
        id: what to call it: the same for the same object.
        made: what was made of what is read here, so that reading it twice makes one object.
    """

    def __init__(self, reader: Reader, path: Path, scope: Any = None, id: str = "") -> None:  # noqa: A002, ANN401
        """Make one.

        Args:
            reader: gives the values.
            path: of the object.
            scope: as the attribute.
            id: as the attribute; the path by default.
        """
        self.scope = scope
        self.id = id or identity(path)
        self.made = Made()
        self._reader = reader
        self._path = path
        self._parts: dict[str, Imported] = {}

    def read_string(self, key: str, *, allow_unresolved: bool = True) -> Text:
        """As `DeserializationContext`.

        Raises:
            BadNameError: the key is none.
            UnresolvedError: what came would only stand for the value, which was not to be.
            StrongRefError: there is none, or it could not be asked for.
        """
        path = self._below(key)
        if not self._reader.resolved and not allow_unresolved:
            raise UnresolvedError(shown(path), self._reader.channel, "the program needs the value itself")
        return self._reader.string(path)

    def read_string_list(self, key: str, *, allow_unresolved: bool = False) -> TextList:
        """As `DeserializationContext`; errors as above."""
        path = self._below(key)
        if not self._reader.resolved:
            if not self._reader.whole_lists:
                raise UnresolvedError(
                    shown(path), self._reader.channel, "it is a list, which this channel joins to one"
                )
            if not allow_unresolved:
                raise UnresolvedError(
                    shown(path), self._reader.channel, "it is a list, and the program needs to know how long it is"
                )
        return self._reader.string_list(path)

    def read_object(self, key: str) -> Imported:
        """Where a part is read from: the same for the same key."""
        if key not in self._parts:
            self._parts[key] = Imported(self._reader, self._below(key), self.scope, f"{self.id}-{identity((key,))}")
        return self._parts[key]

    def _below(self, key: str) -> Path:
        if not isinstance(key, str) or not key:
            raise BadNameError(shown((*self._path, str(key))), "a key is a string that is not empty")
        return (*self._path, key)
