"""`make docs`: builds the site and checks it: links and anchors, spelling, prose. All of it runs, whatever fails.

The rules of the prose are in `tools/prose/.textlintrc.json`, the project's own words in `tools/prose/words.txt`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / ".build"
PROSE = ROOT / "tools/prose"

SPELLED = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md")
READ = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md")

_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def checks() -> dict[str, tuple[Path, list[str]]]:
    """By what it checks, each command, and the folder that it runs in."""
    modules = BUILD / "prose/node_modules"
    return {
        "site, links and anchors": (ROOT, [str(BUILD / "venv-docs/bin/zensical"), "build", "--clean", "--strict"]),
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
    for name, (folder, command) in checks().items():
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
