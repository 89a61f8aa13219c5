"""The steps of the workflow in docs/check.md, run in a shell with stand-ins for `strongref` and `gh`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.documents import blocks

if TYPE_CHECKING:
    from pathlib import Path

MARKER = "<!-- strongref check certificate -->"

STRONGREF = """
import os, sys
sys.stdout.write(os.environ["SHOWN"])
sys.stderr.write(os.environ["ERRORS"])
sys.exit(int(os.environ["STATUS"]))
"""

GH = """
import json, os, pathlib, sys
arguments, here = sys.argv[1:], pathlib.Path(__file__).parent
if "--jq" in arguments:
    assert arguments[2] == "repos/{owner}/{repo}/issues/7/comments", arguments
    for each in json.loads(os.environ["COMMENTS"]):
        if each["user"] == "Bot" and each["body"].startswith(os.environ["MARKER"]):
            print(each["id"])
else:
    (file,) = [each.split("@")[-1] for each in arguments if each.endswith("marked.md")]
    (here / "done.json").write_text(json.dumps([arguments, pathlib.Path(file).read_text()]))
"""


@pytest.fixture
def workflow(tmp_path: Path) -> Any:
    """Runs the workflow's steps; whether the last one succeeded, what `gh` was called with, and the comment."""
    for name, code in (("strongref", STRONGREF), ("gh", GH)):
        (tmp_path / name).write_text(f"#!{sys.executable}\n{code}")
        (tmp_path / name).chmod(0o755)
    (block,) = blocks("yaml workflow")
    (job,) = yaml.safe_load(block.text)["jobs"].values()

    def step(run: str, **environment: str) -> bool:
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(  # noqa: S603
            ["/bin/bash", "-e", "-c", run], cwd=tmp_path, env={**os.environ, "PATH": path, **environment}, check=False
        )
        return done.returncode == 0

    def run(shown: str, errors: str, status: int, comments: list[dict[str, Any]]) -> tuple[bool, list[str], str]:
        checks, comment, outcome = [each for each in job["steps"] if "run" in each and "pip" not in each["run"]]
        assert (checks["id"], checks["continue-on-error"]) == ("check", True)
        passed = step(checks["run"], SHOWN=shown, ERRORS=errors, STATUS=str(status))
        given = {**comment["env"], "NUMBER": "7", "GH_TOKEN": "x", "COMMENTS": json.dumps(comments)}
        assert step(comment["run"], **given)
        called, text = json.loads((tmp_path / "done.json").read_text())
        return step(outcome["run"], OUTCOME="success" if passed else "failure"), called, text

    return run


def test_it_comments_what_check_shows(workflow: Any) -> None:
    passed, called, text = workflow("### accepted\n", "", 0, [])
    assert (passed, called) == (True, ["pr", "comment", "7", "--body-file", "marked.md"])
    assert text == f"{MARKER}\n\n### accepted\n"


def test_it_fails_if_something_would_be_refused_and_updates_its_comment(workflow: Any) -> None:
    comments = [
        {"id": 1, "user": "User", "body": f"{MARKER} quoted"},
        {"id": 2, "user": "Bot", "body": "another"},
        {"id": 3, "user": "Bot", "body": f"{MARKER}\n\n### accepted"},
        {"id": 4, "user": "Bot", "body": f"{MARKER}\n\n### accepted"},
    ]
    passed, called, text = workflow("### refused\n", "", 1, comments)
    patch = ["api", "--method", "PATCH", "repos/{owner}/{repo}/issues/comments/3", "--field", "body=@marked.md"]
    assert (passed, called) == (False, patch)
    assert text == f"{MARKER}\n\n### refused\n"


def test_it_comments_the_error_if_check_itself_fails(workflow: Any) -> None:
    passed, _, text = workflow("", "strongref: AWS cannot be called.\n", 1, [])
    assert (passed, text) == (False, f"{MARKER}\n\n    strongref: AWS cannot be called.\n")
