"""Where an object is read from, whatever channel it comes through."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, cast

from strongref_objects.base import ObjectCache, Text, TextList
from strongref_objects.base.errors import BadNameError, NothingToImportError, UnresolvedImportError, WrongKindError
from strongref_objects.base.names import Path, construct_id, shown
from strongref_objects.base.values import COMMA

if TYPE_CHECKING:
    from constructs import Construct

    from strongref_objects.channels import Channel

HOLDER, IMPORT, HOLD = "StrongrefHolder", "StrongrefImport", "StrongrefHold"
"""Prefixes of the logical IDs of resources that hold or import values.

Older versions had `StrongrefImports` for holders, which were of another type. CloudFormation does not change the type
of a resource, so the prefix differs: an update creates the new holder before it deletes the old one.
"""


class Holder(Protocol):
    def name(self, path: Path) -> str:
        """What the value at a path is exported as."""

    def items(self, path: Path) -> Mapping[str, str]:
        """What the items of the list at a path are exported as; empty if they are not exported one by one."""

    def hold(self, values: Mapping[str, object]) -> None:
        """Hold these exports, by name and with their values, and no others."""


def searchable(templates: Iterable[Mapping[str, Any]]) -> str:
    """The text of templates without what holds imports.

    The text has no backslashes, since a value with quotes has more of them in JSON within JSON.
    """
    return _flat([{**each, "Resources": _others(each.get("Resources", {}))} for each in templates])


def used_texts(texts: Iterable[str], template: str) -> set[str]:
    """The texts that occur in a searchable template. A name does not count where it is a part of an ARN that does."""
    found = set()
    for text in sorted(set(texts), key=len, reverse=True):
        flat = _flat(text)[1:-1]
        if flat and flat in template:
            found.add(text)
            template = template.replace(flat, "\n")
    return found


def has_reference(logical_id: str, attribute: str, template: str) -> bool:
    """Whether an attribute of a resource is used in a searchable template."""
    return f'"{logical_id}", "{attribute}"' in template or f"{logical_id}.{attribute}" in template


def _others(resources: Mapping[str, Any]) -> dict[str, Any]:
    own = (HOLDER, IMPORT, HOLD)
    return {logical_id: each for logical_id, each in resources.items() if not logical_id.startswith(own)}


def _flat(value: object) -> str:
    return json.dumps(value).replace("\\", "")


class ImportReader(Protocol):
    channel: str  # for errors, as in `CloudFormation's exports`
    is_resolved: bool  # whether it returns the values themselves, not intrinsic functions or tokens

    def string(self, path: Path) -> Text:
        """The value at a path. Raises `StrongRefError` if there is none, or it cannot be looked up."""

    def string_list(self, path: Path, *, held: bool = True) -> TextList:
        """The list at a path; errors as above. `held=False` if the list only describes its object."""


@dataclass(eq=False)
class TextReader:
    """`ImportReader` of a channel that has only texts, which CloudFormation inserts."""

    channel: str
    string: Callable[[Path], Text]
    no_list: str  # why it reads no list
    is_resolved = False

    def string_list(self, path: Path, *, held: bool = True) -> TextList:  # noqa: ARG002 (there is none)
        raise UnresolvedImportError(shown(path), self.channel, self.no_list)


@dataclass(eq=False, repr=False)
class ImportedObject:
    """`DeserializationContext` over a reader. The construct's ID is the object's path by default."""

    _reader: ImportReader
    _path: Path
    scope: Construct | None = None
    id: str = ""
    via: Channel | None = None  # None if no stack exports it
    # what the same program exports, by path: at deployment, it has the settings
    _exported: Callable[[Path], object] = lambda _path: None
    made: ObjectCache = field(default_factory=ObjectCache, init=False)
    _parts: ObjectCache = field(default_factory=ObjectCache, init=False)

    def __post_init__(self) -> None:
        self.id = self.id or construct_id(self._path)

    @property
    def has_settings(self) -> bool:
        return self._reader.is_resolved or self._exported(self._path[:1]) is not None

    def read_string(self, key: str, *, allow_unresolved: bool = True) -> Text:
        """As `DeserializationContext`; errors as the reader's.

        Raises:
            BadNameError: the key is not valid.
            UnresolvedImportError: the value would be unresolved, which the caller does not allow.
        """
        path = self._below(key)
        if not allow_unresolved:
            self._check_resolved(path, "the program needs the value itself")
        return self._reader.string(path)

    def read_string_list(self, key: str, *, allow_unresolved: bool = False, held: bool = True) -> TextList:
        path = self._below(key)
        if not allow_unresolved and not isinstance(self._reader, TextReader):
            self._check_resolved(path, "it is a list, and the program needs to know its length")
        return self._reader.string_list(path, held=held)

    def read_object(self, key: str) -> ImportedObject:
        path, part_id = self._below(key), f"{self.id}-{construct_id((key,))}"
        return self._parts.get(key, lambda: replace(self, _path=path, id=part_id))

    def read_setting(self, key: str) -> str | None:
        path = self._below(key)
        if isinstance(self._reader, ValueReader):
            return self._reader.setting(path)
        return cast("str | None", self._exported(path))

    def _below(self, key: str) -> Path:
        if not isinstance(key, str) or not key:
            raise BadNameError(shown((*self._path, str(key))), "a key must be a string that is not empty")
        return (*self._path, key)

    def _check_resolved(self, path: Path, reason: str) -> None:
        if not self._reader.is_resolved:
            raise UnresolvedImportError(shown(path), self._reader.channel, reason)


@dataclass(eq=False, repr=False)
class ValueReader:
    """`ImportReader` of the values themselves, looked up while the template is made or at run time.

    Whatever is read of a strongly imported object is held until the template is finished; then, whatever the template
    uses. If a program imports an object weakly in one place and strongly in another, it is held.
    """

    channel: str
    look_up: Callable[[Path], Any]  # returns the value at a path: a text or a list
    holder: Holder | None = None
    joins_lists: bool = False  # whether the channel only has text, so that lists are joined by commas
    # for a value that need not be there: empty if it is not; by default as `look_up`
    look_up_setting: Callable[[Path], Any] | None = None
    _strong: set[str] = field(default_factory=set, init=False)
    _read: dict[Path, dict[str, object]] = field(default_factory=dict, init=False)
    is_resolved = True

    def strengthen(self, name: str) -> None:
        """Hold whatever is read of this object from now on, and whatever was read of it before."""
        if name not in self._strong:
            self._strong.add(name)
            self._hold(self._read)

    def texts(self) -> set[str]:
        """The held values, and the items of held lists."""
        read = self._strong_ones(self._read).values()
        return {text for values in read for value in values.values() for text in _texts(value)}

    def finish(self, used: Collection[str]) -> None:
        """Hold what the finished template uses: of an object that it does not use at all, the first value, an ID.

        What was imported by its own name is held anyway. `used` are those of `texts` that occur in the template.
        """
        found: dict[str, dict[str, object]] = {}
        spare: dict[str, dict[str, object]] = {}
        for (name, *keys), read in self._strong_ones(self._read).items():
            in_use = {key: each for key, each in read.items() if not keys or any(text in used for text in _texts(each))}
            spare.setdefault(name, dict(islice(read.items(), 1)))
            found.setdefault(name, {}).update(in_use)
        if self.holder:
            self.holder.hold({key: each for name in spare for key, each in (found.get(name) or spare[name]).items()})

    def string(self, path: Path) -> str:
        """As `ImportReader`; also raises `WrongKindError` if it is a list or an object."""
        value = self.look_up(path)
        if not isinstance(value, str):
            raise _wrong_kind(path, value)
        self._add(path, value, {})
        return value

    def string_list(self, path: Path, *, held: bool = True) -> list[str]:
        value = self.look_up(path)
        if self.joins_lists and isinstance(value, str):
            value = value.split(COMMA)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _wrong_kind(path, value)
        if held:
            self._add(path, value, self.holder.items(path) if self.holder else {})
        return value

    def setting(self, path: Path) -> str | None:
        """The text at a path, which is not held; None if there is none."""
        try:
            value = (self.look_up_setting or self.look_up)(path)
        except NothingToImportError:
            return None
        if value and not isinstance(value, str):
            raise _wrong_kind(path, value)
        return value or None

    def _add(self, path: Path, value: str | list[str], items: Mapping[str, str]) -> None:
        """Remember a value that was read, unless holding it fails. A list is held whole unless all items can be."""
        if self.holder is None:
            return
        if isinstance(value, list) and value and all(item in items for item in value):
            read: dict[str, object] = {items[item]: item for item in value}
        else:
            read = {self.holder.name(path): value}
        self._hold({**self._read, path: read})
        self._read[path] = read

    def _hold(self, read: Mapping[Path, Mapping[str, object]]) -> None:
        if self.holder and self._strong:
            strong = self._strong_ones(read).values()
            self.holder.hold({key: each for values in strong for key, each in values.items()})

    def _strong_ones(self, read: Mapping[Path, Mapping[str, object]]) -> dict[Path, Mapping[str, object]]:
        return {path: values for path, values in read.items() if path[0] in self._strong}


def _texts(value: object) -> list[str]:
    return [value] if isinstance(value, str) else list(cast("Iterable[str]", value))


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
