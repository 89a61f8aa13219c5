"""The file that keeps what was looked up while templates were made, so that the next run finds the same.

It is a JSON map, made to be committed next to the program: with it a template is made again without calls to AWS, and
stays the same until someone resets an entry. Entries of other tools are kept.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from strongref.untyped import AnyJson
from strongref_objects.base.errors import ContextFileError
from strongref_toolkit.errors import WriteFailedError, os_problem

try:
    import fcntl
except ImportError:  # pragma: no cover (without such locks, the last of two concurrent runs wins)
    fcntl = None  # type: ignore[assignment]

CONTEXT_FILE = "strongref.context.json"
"""The default path, in the program's working directory."""

CLOUDFORMATION = "cloudformation"
"""The channel of CloudFormation's exports."""

LOOKUP = "lookup"
"""The channel of what was looked up by its tags."""

_KEY = re.compile(r"strongref:([a-z]+):account=([0-9]{12}):region=([a-z0-9-]+):of=([^:]*):name=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class ContextKey:
    """What was looked up."""

    channel: str  # one lowercase word, as in `cloudformation`
    account: str
    region: str
    of: str  # tells names of one channel apart, as the exporting stack's name does; without colons; empty if not needed
    name: str  # the value's name in its channel

    def __str__(self) -> str:
        return f"strongref:{self.channel}:account={self.account}:region={self.region}:of={self.of}:name={self.name}"

    @classmethod
    def parse(cls, text: str) -> ContextKey | None:
        """The key of an entry; None if the entry is another tool's."""
        found = _KEY.fullmatch(text)
        return cls(*found.groups()) if found else None

    def is_of(self, name: str) -> bool:
        """Whether the value is that of an object of this name, or a part of it.

        The names of CloudFormation's exports lack the hyphens of the object's own name, and have hyphens between their
        components. The name of a lookup is all of its tags.
        """
        if self.channel == CLOUDFORMATION:
            return any(f"{self.name}-".startswith(f"{each}-") for each in (name, name.replace("-", "")))
        return self.name == name or (self.channel != LOOKUP and self.name.startswith(f"{name}/"))


class ContextFile:
    """The file's entries, read once."""

    def __init__(self, path: str | Path = CONTEXT_FILE) -> None:
        self.path = Path(path)
        self._put: set[ContextKey] = set()

    def is_new(self, key: ContextKey) -> bool:
        """Whether this run put the entry there."""
        return key in self._put

    def get(self, key: ContextKey) -> AnyJson | None:
        """The value of an entry; None if there is none. Raises `ContextFileError` if the file cannot be read."""
        return self._entries.get(str(key))

    def find(self, channel: str, account: str, region: str, name: str) -> ContextKey | None:
        """The key of a name's entry, whatever it is of; None if there is none; errors as above."""
        start, end = str(ContextKey(channel, account, region, "", "")).partition("of=")[0], f":name={name}"
        keys = (ContextKey.parse(text) for text in self._entries if text.startswith(start) and text.endswith(end))
        return next((key for key in keys if key and key.name == name), None)

    def put(self, key: ContextKey, value: AnyJson) -> None:
        """Add an entry to the file, next to those that other runs have added meanwhile.

        Raises:
            ContextFileError: the file cannot be written.
        """
        self._put.add(key)
        with _locked(self.path):
            former = _read(self.path)
            self._entries = former | {str(key): value}
            if self._entries != former:
                _write(self.path, self._entries)

    @cached_property
    def _entries(self) -> dict[str, Any]:
        return _read(self.path)


def listing(path: str | Path = CONTEXT_FILE) -> dict[ContextKey, Any]:
    """The entries that strongref wrote, sorted; errors as `ContextFile.get`."""
    entries = _read(Path(path))
    return dict(sorted((key, value) for text, value in entries.items() if (key := ContextKey.parse(text))))


def reset(path: str | Path = CONTEXT_FILE, names: Iterable[str] | None = None) -> list[ContextKey]:
    """Remove entries, so that the next run looks them up again.

    Args:
        path: the file's.
        names: of objects, or of their values as `listing` names them; None for all entries that strongref wrote.

    Returns:
        The removed entries. A name without an entry is not an error.

    Raises:
        ContextFileError: the file cannot be read or written.
    """
    wanted = None if names is None else list(names)
    file = Path(path)
    with _locked(file):
        entries = _read(file)
        removed = {
            text: key
            for text in entries
            if (key := ContextKey.parse(text))
            and (wanted is None or any(name == text or key.is_of(name) for name in wanted))
        }
        if removed:
            _write(file, {text: value for text, value in entries.items() if text not in removed})
    return sorted(removed.values())


def _read(path: Path) -> dict[str, Any]:
    remedy = "correct it, or delete it to look everything up again"
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(entries, dict):
            return entries
        problem = f"it is not a JSON map: {remedy}"
    except FileNotFoundError:
        return {}
    except OSError as error:
        problem = f"it cannot be read: {os_problem(error)}"
    except UnicodeDecodeError:
        problem = f"it is not UTF-8 text: {remedy}"
    except (ValueError, RecursionError) as error:
        line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        problem = f"it is not valid JSON{line}: {remedy}"
    raise ContextFileError(str(path), problem)


def _write(path: Path, entries: Mapping[str, Any]) -> None:
    """Replace the file in one step."""
    from strongref_toolkit.files import write  # noqa: PLC0415 (not where a function reads an object)

    content = (json.dumps(entries, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
    try:
        write({path: content})
    except WriteFailedError as error:
        raise ContextFileError(str(path), f"it cannot be written: {error.problem}") from None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time in the file's folder. The system releases the lock when the process ends."""
    if not fcntl:
        yield
        return
    try:
        descriptor = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
    except OSError as error:
        raise ContextFileError(str(path), f"its folder cannot be opened: {os_problem(error)}") from None
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
