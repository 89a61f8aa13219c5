"""Builds a release: the wheel, the sdist, and what `strongref install --from` deploys. `make release` runs it.

The same commit gives the same bytes, on any machine with the same versions of Python, zlib and the locked tools. So the
build gets a copy of the files that git tracks, an environment of its own, and the date of the last commit. What needs
the copy's code runs there, in `release_contents`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / ".build/release"
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)


class ReleaseError(Exception):
    """Why nothing was built."""


def build(source: Path, out: Path, url: str = "") -> Path:
    """Build the release of a checkout.

    Args:
        source: the checkout.
        out: where the release's folder is made, anew.
        url: where people find the sources; what needs a URL is left out without one.

    Returns:
        The folder, as in `strongref-0.2.0`. Its zip file is next to it.
    """
    folder = out / f"strongref-{version_of(source)}"
    folder.with_name(f"{folder.name}.zip").unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "strongref")
        _copy_tracked(source, copy)
        environment = {
            "HOME": temporary,
            "LC_ALL": "C.UTF-8",
            "PATH": os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join(str(copy / name) for name in ("", "layers/core", "src")),
            "SOURCE_DATE_EPOCH": _epoch(source),
            "STRONGREF_SAM": os.environ.get("STRONGREF_SAM", str(ROOT / ".build/venv-sam/bin/sam")),
            "TMPDIR": temporary,
            "TZ": "UTC",
        }
        command = [sys.executable, "-m", "tools.release_contents", str(folder.resolve()), url]
        if subprocess.run(command, cwd=copy, env=environment, check=False).returncode:  # noqa: S603
            shutil.rmtree(folder)
            raise ReleaseError("Nothing was built.")
    return folder


def version_of(source: Path) -> str:
    """The version that the sources have."""
    found = _VERSION.search((source / "layers/core/strongref/__init__.py").read_text("utf-8"))
    if not found:
        raise ReleaseError("layers/core/strongref/__init__.py has no __version__.")
    return found[1]


def check_tag(source: Path, tag: str) -> None:
    """Raise `ReleaseError` unless a checkout is what the tag's release is to be made from."""
    version = version_of(source)
    if tag != f"v{version}":
        raise ReleaseError(
            f"The tag must be v{version}, the version in layers/core/strongref/__init__.py, got {tag!r}."
        )
    changes = (source / "CHANGELOG.md").read_text("utf-8")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changes, re.MULTILINE):
        raise ReleaseError(f"CHANGELOG.md has no section of version {version} with its date: ## {version} (YYYY-MM-DD)")
    if changed := _git(source, "status", "--porcelain"):
        raise ReleaseError(f"The checkout has changes that are not committed: {', '.join(changed.split()[1::2])}")


def _copy_tracked(source: Path, copy: Path) -> None:
    """Copy the files that git tracks, as they are now: what else lies around is no part of a release."""
    for name in _git(source, "ls-files", "-z").split("\0"):
        if name and (source / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, copy / name)


def _epoch(source: Path) -> str:
    """The date of everything in the release, as seconds since 1970 (reproducible-builds.org, SOURCE_DATE_EPOCH)."""
    return os.environ.get("SOURCE_DATE_EPOCH") or _git(source, "log", "-1", "--format=%ct").strip()


def _git(source: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(source), *arguments], capture_output=True, text=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise ReleaseError(f"A release is made from a git checkout. git says: {done.stderr.strip()}")
    return done.stdout


def release(out: Path, tag: str, url: str) -> Path:
    """Build this checkout's release, and check that it is the tag's, if one is given; returns its folder."""
    if tag:
        check_tag(ROOT, tag)
    folder = build(ROOT, out, url)
    if tag and not json.loads((folder / "release.json").read_text())["bytecode"]:
        raise ReleaseError("The layer has no bytecode: make clean, then make release PYTHON=python3.13")
    return folder


def checklist(source: Path, url: str = "") -> str:
    """The maintainers' steps of docs/releases.md, to tick off, for a checkout's version.

    Args:
        source: the checkout.
        url: as in `build`.
    """
    page = (source / "docs/releases.md").read_text("utf-8")
    section = page.partition("\n## Make a release\n")[2].partition("\n## ")[0].replace("\n   ", " ")
    steps = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", section).replace("VERSION", version_of(source))
    kept = [line for line in steps.splitlines() if re.match(r"### |\d+\. ", line)]
    text = "\n".join(re.sub(r"^\d+\. ", "[ ] ", line.replace("### ", "\n")) for line in kept)
    return text.replace("https://github.com/OWNER/REPOSITORY", url) if url else text


def main() -> int:
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--tag", default="", help="check that this tag, as in v0.2.0, is what is built")
    parser.add_argument("--url", default="", help="where people find the sources")
    given = parser.parse_args()
    try:
        folder = release(given.out, given.tag, given.url)
    except ReleaseError as error:
        sys.stderr.write(f"make release: {error}\n")
        return 1
    sys.stdout.write(f"{folder}\n{(folder / 'SHA256SUMS').read_text()}")
    if given.tag:
        sys.stdout.write(f"{checklist(ROOT, given.url)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
