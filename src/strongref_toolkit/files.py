"""Files that are written all together or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from strongref_toolkit.errors import WriteFailedError, os_problem


def write(contents: Mapping[Path, bytes]) -> None:
    """Write files: first all of them under temporary names, then each is renamed.

    A file keeps its permissions, and its owner if the caller may change it. A read-only file is not replaced.

    Raises:
        WriteFailedError: a file could not be written. If that was before the first rename, no file has changed.
    """
    temporaries: dict[Path, Path] = {}
    current = Path()
    written = 0
    try:
        for path, content in contents.items():
            current = path
            target = Path(os.path.realpath(path))  # a link stays a link
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            target.parent.mkdir(parents=True, exist_ok=True)
            temporaries[_temporary(target, content)] = target
        for temporary, target in temporaries.items():
            current = target
            temporary.replace(target)
            written += 1
    except OSError as error:
        raise WriteFailedError(str(current), os_problem(error), written) from None
    finally:  # also after Ctrl-C
        for temporary in list(temporaries)[written:]:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _temporary(target: Path, content: bytes) -> Path:
    """A file with this content in the target's folder, with the permissions of the target or of a new file."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    made = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        if target.exists():
            former = target.stat()
            for owner, group in ((former.st_uid, -1), (-1, former.st_gid)):
                with suppress(OSError, AttributeError):  # not the caller's to change, or not on this system
                    os.chown(made, owner, group)
            shutil.copymode(target, made)
        else:
            mask = os.umask(0)
            os.umask(mask)
            made.chmod(0o666 & ~mask)
    except BaseException:  # also after Ctrl-C
        made.unlink(missing_ok=True)
        raise
    return made
