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


def checks() -> dict[str, list[str]]:
    """By what it checks, each command."""
    binaries = BUILD / "prose/node_modules/.bin"
    rules = ["--config", str(PROSE / ".textlintrc.json"), "--rules-base-directory", str(BUILD / "prose/node_modules")]
    return {
        "site, links and anchors": [str(BUILD / "venv-docs/bin/zensical"), "build", "--clean", "--strict"],
        "spelling": [
            str(binaries / "cspell"),
            *("lint", "--no-progress", "--no-color", "--config", str(PROSE / "cspell.json"), *SPELLED),
        ],
        "prose": [str(binaries / "textlint"), "--no-color", "--format", "unix", *rules, *READ],
    }


def main() -> int:
    """Run every check; 1 if one of them found something."""
    path = os.pathsep.join([str(BUILD / "venv-docs/bin"), os.environ.get("PATH", os.defpath)])
    failed = []
    for name, command in checks().items():
        done = subprocess.run(  # noqa: S603
            command, cwd=ROOT, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            failed.append(name)
            sys.stderr.write(_COLOR.sub("", done.stdout + done.stderr))
        print(f"{name}: {'FAILED' if done.returncode else 'ok'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
