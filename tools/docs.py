"""`make docs`: builds the site and checks it: links and anchors, spelling, prose. All of it runs, whatever fails.

The pages install from a checkout. With `make docs RELEASED=0.3.0` the site installs that version from PyPI instead. Not
before it is there: whoever registers the name first could run anything on a reader's machine.

The rules of the prose are in `tools/prose/.textlintrc.json`, the project's own words in `tools/prose/words.txt`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / ".build"
PROSE = ROOT / "tools/prose"

SPELLED = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md")
READ = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md")

_INSTALLED = re.compile(r"(pip install(?: --upgrade)? )(?:'\.(\[[\w,]+\])'|\.(?=[\s`]))")
_CHECKOUT = re.compile(r"In a checkout(?: of [\w ]+)?, (\[?\w)")
_UNRELEASED = re.compile(r"(?s)<!-- unreleased -->\n.*?\n\n")

_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def installing(page: str, released: str) -> str:
    """A page that installs a released version from PyPI instead of what is in a checkout."""
    page = _CHECKOUT.sub(lambda found: found[1].upper(), _UNRELEASED.sub("", page))
    return _INSTALLED.sub(lambda found: f"{found[1]}'strongref{found[2] or ''}=={released}'", page)


def _configuration(released: str) -> Path:
    """The site's configuration; for a release, that of a copy of the pages."""
    configuration = ROOT / "zensical.toml"
    if not released:
        return configuration
    pages, copied = BUILD / "docs", BUILD / configuration.name
    shutil.rmtree(pages, ignore_errors=True)
    for page in shutil.copytree(ROOT / "docs", pages).rglob("*.md"):
        page.write_text(installing(page.read_text("utf-8"), released), "utf-8")
    copied.write_text(configuration.read_text("utf-8").replace(".build/site", "site"), "utf-8")
    return copied


def checks(released: str = "") -> dict[str, tuple[Path, list[str]]]:
    """By what it checks, each command, and the folder that it runs in."""
    modules, configuration = BUILD / "prose/node_modules", _configuration(released)
    return {
        "site, links and anchors": (
            ROOT,
            [
                str(BUILD / "venv-docs/bin/zensical"),
                *("build", "--clean", "--strict", "--config-file", str(configuration)),
            ],
        ),
        "spelling": (
            ROOT,
            [
                str(modules / ".bin/cspell"),
                *("lint", "--no-progress", "--no-color", "--config", str(PROSE / "cspell.json"), *SPELLED),
            ],
        ),
        # textlint looks for its rules below the folder that it runs in.
        "prose": (
            modules.parent,
            [
                str(modules / ".bin/textlint"),
                *("--no-color", "--format", "unix", "--config", str(PROSE / ".textlintrc.json")),
                *(str(ROOT / each) for each in READ),
            ],
        ),
    }


def main() -> int:
    """Run every check; 1 if one of them found something."""
    path = os.pathsep.join([str(BUILD / "venv-docs/bin"), os.environ.get("PATH", os.defpath)])
    failed = False
    for name, (folder, command) in checks(os.environ.get("RELEASED", "")).items():
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            failed = True
            sys.stderr.write(_COLOR.sub("", done.stdout + done.stderr).replace(f"{ROOT}/", ""))
        sys.stdout.write(f"{name}: {'FAILED' if done.returncode else 'ok'}\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
