"""The objects that an account and region has, by channel: for people and scripts, who only know a name.

A channel keeps only names and values. So an object is whatever has names below it: `Web` of `Web-LoadBalancerArn`. It
is a tree of texts, lists and further trees. The items of lists, which are exported as well, and holds are left out.
CloudFormation's exports have no lists, and names over 255 characters are cut: only the object's type restores those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED, ExportScope, Key
from strongref.untyped import AnyJson
from strongref_objects.base import errors
from strongref_objects.base.names import (
    EXPORT_NAME_LIMIT,
    Path,
    export_key,
    export_name,
    list_of,
    parameter_name,
    shown,
)
from strongref_objects.channels.cloudformation import CHANNEL as CLOUDFORMATION
from strongref_objects.channels.cloudformation import StackExport
from strongref_objects.channels.importing import ImportedObject, ValueReader
from strongref_toolkit.published_exports import PublishedExports, export_scopes

if TYPE_CHECKING:
    from strongref.contract.values import Value as StoredValue
    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock, Patience

CUT_AT = EXPORT_NAME_LIMIT - len("-0123456789abcdef")
"""Characters of a name that precede the hash, if the name is too long."""

_CUT = re.compile(rf".{{{CUT_AT}}}-[0-9a-f]{{16}}")


class Secure:
    """Replaces the value of a SecureString."""


SECURE = Secure()

Value = str | list[str] | Secure


@dataclass(frozen=True)
class StoredObject:
    name: str  # the object's
    origin: str  # its exporter, in words
    values: Mapping[Path, Value] = field(repr=False)  # its values by path, without the object's name
    # turns a path of the object's type into one of `values`
    stored_path: Callable[[Path], Path] = field(repr=False, default=lambda path: path)
    joins_lists: bool = False  # whether the channel has no lists
    cut: tuple[str, ...] = ()  # the export names that were too long: they end with a hash and do not show their keys
    stacks: tuple[str, ...] = ()  # the exporting stacks, where the channel shows them
    consumer: str = ""  # of strongref's exports; empty if any stack may import them

    @property
    def tree(self) -> dict[str, Any]:
        """The values by key, level by level. Keys below a value are next to it, with hyphens between their levels.

        Raises:
            NameClashError: another value has that key.
        """
        whole: dict[str, Any] = {}
        written: dict[Path, Path] = {}
        for path in sorted(self.values):
            at, rest = whole, list(path)
            while len(rest) > 1 and isinstance(at.setdefault(rest[0], {}), dict):
                at = at[rest.pop(0)]
            key = "-".join(rest)
            other = written.setdefault((*path[: -len(rest)], key), path)
            if other != path:
                raise errors.NameClashError(shown(other), shown(path), key)
            at[key] = self.values[path]
        return whole

    @property
    def keys(self) -> list[str]:
        """Its keys, with dots between levels."""
        return [shown(path) for path in sorted(self.values)]

    @property
    def secure_keys(self) -> list[str]:
        """The keys of SecureStrings whose values were not requested."""
        return [shown(path) for path in sorted(self.values) if isinstance(self.values[path], Secure)]

    def has_name(self, name: str) -> bool:
        """Whether this is the object of that name, or a part of one whose name is so long that its exports are cut.

        CloudFormation's exports lack the hyphens of an object's name.
        """
        if not self.joins_lists:
            return self.name == name
        exported = name.replace("-", "")
        return self.name in (exported, exported[:CUT_AT])

    def read(self) -> ImportedObject:
        """Where an object of a known type is read from: `SecretPartsError` for a secret that was not requested."""

        def look_up(path: Path) -> AnyJson:
            stored = self.stored_path(path[1:])
            if stored in self.values:
                if isinstance(self.values[stored], Secure):
                    raise errors.SecretPartsError(self.name, [shown(stored)])
                return self.values[stored]
            if any(each[: len(stored)] == stored for each in self.values):
                return {}
            close = get_close_matches(shown(path[1:]), self.keys)
            raise errors.NothingToImportError(shown(path), self.origin, close)

        return ImportedObject(ValueReader(self.origin, look_up, joins_lists=self.joins_lists), (self.name,))


def objects_of_cloudformation(exports: Mapping[str, StackExport], stack: str | None = None) -> list[StoredObject]:
    """The objects among CloudFormation's exports, which are given by name; only those of a stack if one is given."""
    found: dict[str, dict[Path, Value]] = {}
    stacks: dict[str, dict[str, None]] = {}
    for full, export in exports.items():
        if list_of(full) in exports or export.value == full:  # The value of an Export's hold is its name.
            continue
        name, *below = full.split("-")
        if below and all((name, *below)) and stack in (None, export.stack):
            found.setdefault(name, {})[tuple(below)] = export.value
            stacks.setdefault(name, {})[export.stack] = None
    return [
        StoredObject(
            name,
            f"{CLOUDFORMATION} of stack {' and '.join(stacks[name])}",
            values,
            partial(_path_in_exports, name),
            joins_lists=True,
            cut=tuple(full for path in values if _CUT.fullmatch(full := "-".join((name, *path)))),
            stacks=tuple(stacks[name]),
        )
        for name, values in sorted(found.items())
    ]


def objects_of_strongref(
    exports: Mapping[ExportScope, Mapping[Key, StoredValue]], *, sensitive: bool = False
) -> list[StoredObject]:
    """The objects among strongref's exports in a region: each map that a stack exports.

    Args:
        exports: from `strongref_exports`.
        sensitive: whether to include the values of SecureStrings.
    """
    found = []
    for scope, exported in exports.items():
        values = {
            tuple(key.split("/")): SECURE if value.is_secure and not sensitive else value.attribute
            for key, value in exported.items()
            if list_of(key) not in exported
        }
        consumer = "" if scope.consumer == SHARED else scope.consumer
        objects = _grouped(values, f"exports of {scope.producer} to {scope.consumer}", export_key)
        found += [replace(each, stacks=(scope.producer.stack,), consumer=consumer) for each in objects]
    return found


def strongref_exports(
    store: Store, clock: Clock, patience: Patience, consumer: str | None = None, stack: str | None = None
) -> dict[ExportScope, Mapping[Key, StoredValue]]:
    """Strongref's exports in a region, from their records; only those to a consumer, and of a stack, if given.

    Raises:
        ChangingError: a deployment changes exports for longer than patience lasts.
        StoreError: Parameter Store cannot be read.
    """
    return {
        scope: PublishedExports(store, clock, patience, scope.consumer).values(scope.producer)
        for scope in export_scopes(store, consumer, stack)
    }


def objects_of_parameters(store: Store, prefix: str, *, sensitive: bool = False) -> list[StoredObject]:
    """The objects below a prefix of Parameter Store, as in `/shared/network`; `sensitive` as `objects_of_strongref`."""
    values: dict[Path, Value] = {}
    for name, parameter in store.under(prefix, decrypted=sensitive).items():
        path = tuple(name.removeprefix(f"{prefix}/").split("/"))
        values[path] = SECURE if parameter.is_secure and not sensitive else parameter.value.attribute
    return _grouped(values, f"parameters below {prefix}", lambda path: parameter_name("", path))


def choose(objects: Iterable[StoredObject], name: str, where: str) -> StoredObject:
    """The object of a name.

    Args:
        objects: the candidates.
        name: as it was exported; for CloudFormation's exports, hyphens in it do not matter.
        where: the candidates are from, for errors.

    Raises:
        NothingToImportError: there is none; the error names similar ones.
        SeveralStoredObjectsError: several stacks export one, or one stack exports it to several consumers.
    """
    candidates = list(objects)
    found = [each for each in candidates if each.has_name(name)]
    if not found:
        raise errors.NothingToImportError(name, where, get_close_matches(name, [each.name for each in candidates], 3))
    if all(each.joins_lists for each in found):  # Several only if some export names are cut within the object's name.
        values = {path: value for each in found for path, value in each.values.items()}
        cut = tuple(full for each in found for full in each.cut)
        return replace(found[0], name=name, values=values, stored_path=partial(_path_in_exports, name), cut=cut)
    if len(found) > 1:
        raise errors.SeveralStoredObjectsError(name, [each.origin for each in found])
    return found[0]


def _path_in_exports(name: str, path: Path) -> Path:
    """A value's path in the names of exports: without hyphens, and with a hash as its last level if the name is cut."""
    return tuple(export_name((name, *path)).split("-")[1:])


def _grouped(values: Mapping[Path, Value], origin: str, check: Callable[[Path], object]) -> list[StoredObject]:
    """Objects by the first level of paths that have several levels."""
    found: dict[str, dict[Path, Value]] = {}
    for (name, *below), value in values.items():
        if below:
            found.setdefault(name, {})[tuple(below)] = value

    def checked(path: Path) -> Path:
        check(path)
        return path

    return [StoredObject(name, origin, each, checked) for name, each in sorted(found.items())]
