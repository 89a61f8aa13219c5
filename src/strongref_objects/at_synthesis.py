"""Values that are looked up while the template is made, and the claims that hold them all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref_objects.errors import WrongKindError
from strongref_objects.joining import split
from strongref_objects.naming import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref_objects.naming import Path


class AtSynthesis:
    """`reading.Reader` of values themselves.

    What is read of an object that was imported strongly is held. If the same object is imported weakly at one place of
    the program and strongly at another, it is held.
    """

    resolved = True
    whole_lists = True

    def __init__(
        self,
        channel: str,
        look_up: Callable[[Path], Any],
        hold: Callable[[Path, object], None],
        *,
        joins_lists: bool = False,
    ) -> None:
        """Make one.

        Args:
            channel: for errors.
            look_up: the value at a path: text or a list.
            hold: has the stack hold a path's value, which it is given as well.
            joins_lists: whether the channel has only text, and lists are joined by commas.
        """
        self.channel = channel
        self._look_up = look_up
        self._hold = hold
        self._joins_lists = joins_lists
        self._strong: set[str] = set()
        self._read: dict[Path, object] = {}

    def strengthen(self, name: str) -> None:
        """Hold what is read of this object from now on, and what was read of it before."""
        self._strong.add(name)
        for path, value in self._read.items():
            if path[0] == name:
                self._hold(path, value)

    def string(self, path: Path) -> str:
        """The text at a path.

        Raises:
            WrongKindError: there is a list or an object.
            StrongRefError: there is nothing, or it could not be asked for.
        """
        value = self._value(path)
        if not isinstance(value, str):
            raise _wrong(path, value)
        return value

    def string_list(self, path: Path) -> list[str]:
        """The list at a path; errors as above."""
        value = self._value(path)
        if self._joins_lists and isinstance(value, str):
            return split(value)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _wrong(path, value)
        return value

    def _value(self, path: Path) -> Any:  # noqa: ANN401 (JSON)
        value = self._look_up(path)
        self._read[path] = value
        if path[0] in self._strong:
            self._hold(path, value)
        return value


def an_object(path: Path) -> WrongKindError:
    """The error of a path that was read as a value, and is an object's."""
    return WrongKindError(shown(path), "an object", "read it with read_object")


def _wrong(path: Path, value: object) -> WrongKindError:
    if isinstance(value, str):
        return WrongKindError(shown(path), "a string", "read it with read_string")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return WrongKindError(shown(path), "a list", "read it with read_string_list")
    if isinstance(value, dict):
        return an_object(path)
    return WrongKindError(shown(path), "no text, list of texts or object", "write it as a string")
