"""What objects an account and region have, channel by channel: for people and for scripts, who know nothing but a name.

A channel keeps no more than names and values, so an object is what has names below it: `Web` of `Web-LoadBalancerArn`.
What is below is a tree of texts, lists and further trees. CloudFormation's exports keep no lists, and cut names over
255 characters: only the object's type tells those apart again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED
from strongref.contract.values import Kind
from strongref.errors import ChangingError
from strongref.protocol.published import RecordedExports
from strongref_objects.at_synthesis import AtSynthesis
from strongref_objects.cloudformation import CHANNEL as CLOUDFORMATION
from strongref_objects.errors import NameClashError, NothingToImportError
from strongref_objects.lookups_errors import SecretPartsError, SeveralObjectsError
from strongref_objects.naming import EXPORT_NAME_LIMIT, export_name, key_of, parameter_name, shown
from strongref_objects.reading import Imported
from strongref_toolkit.inventory import scopes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from strongref.contract.names import ExportScope, Key
    from strongref.contract.values import Value as StoredValue
    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock, Patience
    from strongref_objects.cloudformation import Exported
    from strongref_objects.naming import Path

_CUT = re.compile(r".*-[0-9a-f]{16}")

CUT_AT = EXPORT_NAME_LIMIT - len("-0123456789abcdef")
"""How much of a name is left in front of the hash, where it is too long."""


class Secure:
    """Stands where a SecureString's value would."""


SECURE = Secure()

Value = str | list[str] | Secure


@dataclass(frozen=True)
class Held:
    """An object, as a channel holds it.

    Attributes:
        name: the object's.
        origin: who exports it, in words; empty where nobody says.
        values: what it consists of, by what leads to each value.
        written: of a path that the object's type has, what leads to the value here.
        joins_lists: whether the channel has no lists.
        cut: the names that were too long: they end with a hash, and nobody can read their keys off them.
    """

    name: str
    origin: str
    values: Mapping[Path, Value] = field(repr=False)
    written: Callable[[Path], Path] = field(repr=False, default=lambda path: path)
    joins_lists: bool = False
    cut: tuple[str, ...] = ()

    @property
    def tree(self) -> dict[str, Any]:
        """The values by key, level by level. What is below a value stands beside it, with hyphens between its keys.

        Raises:
            NameClashError: something else stands there.
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
                raise NameClashError(shown(other), shown(path), key)
            at[key] = self.values[path]
        return whole

    @property
    def keys(self) -> list[str]:
        """What it consists of, with dots between levels."""
        return [shown(path) for path in sorted(self.values)]

    @property
    def secure(self) -> list[str]:
        """Those of its keys whose values are SecureStrings, and were not asked for."""
        return [shown(path) for path in sorted(self.values) if isinstance(self.values[path], Secure)]

    def is_called(self, name: str) -> bool:
        """Whether it is the object of this name, or a part of one whose name is too long to stand in front of keys.

        To CloudFormation, hyphens in a name mean nothing.
        """
        if not self.joins_lists:
            return self.name == name
        plain = name.replace("-", "")
        return self.name in (plain, plain[:CUT_AT])

    def read(self) -> Imported:
        """Where an object of a known type is read from.

        Reading what is a SecureString, and was not asked for, raises `SecretPartsError`.
        """

        def look_up(path: Path) -> Any:  # noqa: ANN401 (a text, a list or a map)
            wanted = self.written(path[1:])
            if wanted in self.values:
                if isinstance(self.values[wanted], Secure):
                    raise SecretPartsError(self.name, [shown(wanted)])
                return self.values[wanted]
            if any(each[: len(wanted)] == wanted for each in self.values):
                return {}
            close = get_close_matches(shown(path[1:]), self.keys)
            raise NothingToImportError(shown(path), self.origin, close)

        reader = AtSynthesis(self.origin, look_up, lambda *_: None, joins_lists=self.joins_lists)
        return Imported(reader, (self.name,))


def of_cloudformation(exports: Mapping[str, Exported], stack: str | None = None) -> list[Held]:
    """The objects among CloudFormation's exports.

    Args:
        exports: of an account and region, by name.
        stack: only what this one exports.
    """
    found: dict[str, dict[Path, Value]] = {}
    stacks: dict[str, dict[str, None]] = {}
    for full, exported in exports.items():
        name, *below = full.split("-")
        if below and all((name, *below)) and stack in (None, exported.stack):
            found.setdefault(name, {})[tuple(below)] = exported.value
            stacks.setdefault(name, {})[exported.stack] = None
    return [
        Held(
            name,
            f"{CLOUDFORMATION} of stack {' and '.join(stacks[name])}",
            values,
            partial(_exported, name),
            joins_lists=True,
            cut=tuple(full for path in values if _is_cut(full := "-".join((name, *path)))),
        )
        for name, values in sorted(found.items())
    ]


def of_strongref(exports: Mapping[ExportScope, Mapping[Key, StoredValue]], *, sensitive: bool = False) -> list[Held]:
    """The objects among strongref's exports in a region: each map that a stack exports.

    Args:
        exports: as `published` gives them.
        sensitive: whether the values of SecureStrings are given.
    """
    found = []
    for scope, published_there in exports.items():
        values = {
            tuple(key.split("/")): SECURE if value.kind is Kind.SECURE and not sensitive else value.attribute
            for key, value in published_there.items()
        }
        whom = "all" if scope.consumer == SHARED else scope.consumer
        found += _grouped(values, f"exports of {scope.producer} to {whom}", key_of)
    return found


def published(
    store: Store, clock: Clock, patience: Patience, consumer: str | None = None, stack: str | None = None
) -> dict[ExportScope, Mapping[Key, StoredValue]]:
    """What strongref's records in a region say, place by place.

    Args:
        store: of that account and region.
        clock: time, and how much of it is left.
        patience: with what is being written.
        consumer: only what is exported to this one.
        stack: only what this one exports.

    Raises:
        ChangingError: it is being written, for longer than patience lasts.
        StoreError: Parameter Store does not tell.
    """
    found: dict[ExportScope, Mapping[Key, StoredValue]] = {}
    for scope in scopes(store, consumer):
        if stack in (None, scope.producer.stack):
            waiting = patience.begin(clock)
            while (there := RecordedExports.read(store, scope)).torn:
                if not waiting.pause():
                    raise waiting.over(ChangingError(str(scope.producer), "another deployment"))
            found[scope] = there.values
    return found


def of_parameters(store: Store, prefix: str, *, sensitive: bool = False) -> list[Held]:
    """The objects below a prefix of Parameter Store.

    Args:
        store: of that account and region.
        prefix: as in `/shared/network`.
        sensitive: as in `of_strongref`.
    """
    values: dict[Path, Value] = {}
    for name, parameter in store.under(prefix, decrypted=sensitive).items():
        path = tuple(name.removeprefix(f"{prefix}/").split("/"))
        if parameter.kind is Kind.SECURE and not sensitive:
            values[path] = SECURE
        else:
            values[path] = parameter.text.split(",") if parameter.kind is Kind.STRING_LIST else parameter.text
    return _grouped(values, f"parameters below {prefix}", lambda path: parameter_name("", path))


def chosen(objects: Iterable[Held], name: str, where: str) -> Held:
    """The object of a name.

    Args:
        objects: those that there are.
        name: as it was exported; hyphens in it mean nothing to CloudFormation.
        where: they were looked for, for errors.

    Raises:
        NothingToImportError: there is none; it names the closest.
        SeveralObjectsError: several stacks export one, or export it to several.
    """
    there = list(objects)
    found = [each for each in there if each.is_called(name)]
    if not found:
        raise NothingToImportError(name, where, get_close_matches(name, [each.name for each in there], 3))
    if all(each.joins_lists for each in found):  # More than one only if some of its names are cut within its own.
        values = {path: value for each in found for path, value in each.values.items()}
        cut = tuple(full for each in found for full in each.cut)
        return replace(found[0], name=name, values=values, written=partial(_exported, name), cut=cut)
    if len(found) > 1:
        raise SeveralObjectsError(name, [each.origin for each in found])
    return found[0]


def _exported(name: str, path: Path) -> Path:
    """What leads to a value in the names of exports: a component more where a name is cut, and no hyphens in any."""
    return tuple(export_name((name, *path)).split("-")[1:])


def _grouped(values: Mapping[Path, Value], origin: str, check: Callable[[Path], object]) -> list[Held]:
    """By the first level of what has more than one."""
    found: dict[str, dict[Path, Value]] = {}
    for (name, *below), value in values.items():
        if below:
            found.setdefault(name, {})[tuple(below)] = value

    def written(path: Path) -> Path:
        check(path)
        return path

    return [Held(name, origin, each, written) for name, each in sorted(found.items())]


def _is_cut(name: str) -> bool:
    return len(name) == EXPORT_NAME_LIMIT and _CUT.fullmatch(name) is not None
