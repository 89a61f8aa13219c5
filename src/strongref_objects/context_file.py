"""The file that keeps what was looked up while templates were made, so that the next run finds the same.

It is JSON, one map, made to be committed beside the program: with it, a template is made anew without asking AWS, and
stays the same until somebody resets an entry. Other entries than strongref's own are kept as they are.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongref.text import os_problem
from strongref_objects.errors import ContextFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

try:
    import fcntl
except ImportError:  # pragma: no cover (where there are no such locks, the last of two runs at once wins)
    fcntl = None  # type: ignore[assignment]

CONTEXT_FILE = "strongref.context.json"
"""Its name, where none is given: in the folder that the program runs in."""

CLOUDFORMATION = "cloudformation"
"""The channel of CloudFormation's exports."""

LOOKUP = "lookup"
"""What stands in the place of a channel where something was looked up by its tags."""

_KEY = re.compile(r"strongref:([a-z]+):account=([0-9]{12}):region=([a-z0-9-]+):of=([^:]*):name=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class ContextKey:
    """What was looked up.

    Attributes:
        channel: one word in small letters, as in `cloudformation`.
        account: whose.
        region: where.
        of: what tells names of one channel apart, as in the exporting stack; without a colon; empty where nothing does.
        name: of the value there.
    """

    channel: str
    account: str
    region: str
    of: str
    name: str

    def __str__(self) -> str:
        return f"strongref:{self.channel}:account={self.account}:region={self.region}:of={self.of}:name={self.name}"

    @classmethod
    def parse(cls, text: str) -> ContextKey | None:
        """None if it is somebody else's entry."""
        found = _KEY.fullmatch(text)
        return cls(*found.groups()) if found else None

    def is_of(self, name: str) -> bool:
        """Whether the value is that of an object of this name, or a part of it.

        The names of CloudFormation's exports have lost the hyphens of the object's own name, and have hyphens between
        their components. A look-up is called by all of its tags.
        """
        if self.channel == CLOUDFORMATION:
            return any(f"{self.name}-".startswith(f"{each}-") for each in (name, name.replace("-", "")))
        return self.name == name or (self.channel != LOOKUP and self.name.startswith(f"{name}/"))


class ContextFile:
    """The file's entries."""

    def __init__(self, path: str | Path = CONTEXT_FILE) -> None:
        self.path = Path(path)
        self._entries: dict[str, Any] | None = None

    def get(self, key: ContextKey) -> Any | None:  # noqa: ANN401 (JSON)
        """What was kept; None if nothing was.

        Raises:
            ContextFileError: the file cannot be read, or is none of these.
        """
        if self._entries is None:
            self._entries = _read(self.path)
        return self._entries.get(str(key))

    def find(self, channel: str, account: str, region: str, name: str) -> ContextKey | None:
        """Under what the value of a name was kept, whatever it is of; None if it was not.

        Raises:
            ContextFileError: as above.
        """
        if self._entries is None:
            self._entries = _read(self.path)
        start, end = str(ContextKey(channel, account, region, "", "")).partition("of=")[0], f":name={name}"
        keys = (ContextKey.parse(text) for text in self._entries if text.startswith(start) and text.endswith(end))
        return next((key for key in keys if key and key.name == name), None)

    def put(self, key: ContextKey, value: Any) -> None:  # noqa: ANN401 (JSON)
        """Keep a value; what other runs have kept meanwhile stays.

        Raises:
            ContextFileError: the file cannot be written.
        """
        with _alone(self.path):
            former = _read(self.path)
            self._entries = former | {str(key): value}
            if self._entries != former:
                _write(self.path, self._entries)


def listing(path: str | Path = CONTEXT_FILE) -> dict[ContextKey, Any]:
    """What is strongref's own of the entries, in order.

    Raises:
        ContextFileError: as `ContextFile.get`.
    """
    entries = _read(Path(path))
    return dict(sorted((key, value) for text, value in entries.items() if (key := ContextKey.parse(text))))


def reset(path: str | Path = CONTEXT_FILE, names: Iterable[str] | None = None) -> list[ContextKey]:
    """Forget entries, so that the next run looks them up again.

    Args:
        path: the file's.
        names: objects, or values of theirs as `listing` names them; None for everything that is strongref's.

    Returns:
        What was forgotten. A name that means nothing is no error: look at what comes back.

    Raises:
        ContextFileError: the file cannot be read or written.
    """
    wanted = None if names is None else list(names)
    file = Path(path)
    with _alone(file):
        entries = _read(file)
        gone = {
            text: key
            for text in entries
            if (key := ContextKey.parse(text))
            and (wanted is None or any(name == text or key.is_of(name) for name in wanted))
        }
        if gone:
            _write(file, {text: value for text, value in entries.items() if text not in gone})
    return sorted(gone.values())


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except OSError as error:
        problem = f"it cannot be read: {os_problem(error)}"
    except UnicodeDecodeError:
        problem = "it is no text in UTF-8: mend it, or delete it to have everything looked up again"
    else:
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
            problem = f"it is no JSON{line}: mend it, or delete it to have everything looked up again"
        else:
            if isinstance(entries, dict):
                return entries
            problem = "it is no map: mend it, or delete it to have everything looked up again"
    raise ContextFileError(str(path), problem)


def _write(path: Path, entries: Mapping[str, Any]) -> None:
    """Whole, or not at all."""
    # Not where a function reads an object: what writes manifests knows their formats as well.
    from strongref_toolkit.errors import WriteFailedError  # noqa: PLC0415
    from strongref_toolkit.files import write  # noqa: PLC0415

    content = (json.dumps(entries, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
    try:
        write({path: content})
    except WriteFailedError as error:
        problem = error.problem
    else:
        return
    raise ContextFileError(str(path), f"it cannot be written: {problem}")


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One run at a time in the file's folder: it is locked, and the lock goes with the process whatever happens."""
    if not fcntl:
        yield
        return
    try:
        descriptor = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
    except OSError as error:
        problem = os_problem(error)
    else:
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
        return
    raise ContextFileError(str(path), f"its folder cannot be opened: {problem}")
