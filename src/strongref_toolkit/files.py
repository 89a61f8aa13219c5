"""Files written so that all of them are there, or none."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from strongref.text import os_problem
from strongref_toolkit.errors import WriteFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping


def write(contents: Mapping[Path, bytes]) -> None:
    """Write files: all of them beside their places first, and then each into its place, at once.

    A file keeps its rights, and its owner where the caller may give files away. One that may not be written is not
    replaced by another one either.

    Raises:
        WriteFailedError: one could not be written. If it is while they are made, none is there.
    """
    ready: dict[Path, Path] = {}
    at = Path()
    written = 0
    try:
        for path, content in contents.items():
            at = path
            place = Path(os.path.realpath(path))  # of a link, what it leads to
            if place.exists() and not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            place.parent.mkdir(parents=True, exist_ok=True)
            ready[_beside(place, content)] = place
        for temporary, place in ready.items():
            at = place
            temporary.replace(place)
            written += 1
    except OSError as error:
        problem = os_problem(error)
    else:
        return
    finally:  # whatever it was, such as Ctrl-C
        for temporary in list(ready)[written:]:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    raise WriteFailedError(str(at), problem, written)


def _beside(place: Path, content: bytes) -> Path:
    """A file with this content in the same folder, and with the rights of the one in its place, or of a new one."""
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    made = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        if place.exists():
            _give_away(made, place.stat())
            shutil.copymode(place, made)
        else:
            mask = os.umask(0)
            os.umask(mask)
            made.chmod(0o666 & ~mask)
    except BaseException:  # half of it, or Ctrl-C
        made.unlink(missing_ok=True)
        raise
    return made


def _give_away(made: Path, former: os.stat_result) -> None:
    """To the owner and the group of another file, where the caller may and the system has such."""
    for owner, group in ((former.st_uid, -1), (-1, former.st_gid)):
        with suppress(OSError, AttributeError):
            os.chown(made, owner, group)
