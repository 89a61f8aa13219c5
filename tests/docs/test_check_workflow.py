"""The steps of action.yml, run in a shell with stand-ins for `strongref` and `gh`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

MARKER = "<!-- strongref check stacks.yaml -->"

STRONGREF = """
import os, pathlib, sys
assert sys.argv[1:] == ["check", "--stacks", "stacks.yaml", "--github", "--strict"], sys.argv
pathlib.Path(os.environ["GITHUB_STEP_SUMMARY"]).write_text(os.environ["SHOWN"])
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
    (file,) = [each.split("@")[-1] for each in arguments if each.endswith("comment.md")]
    (here / "done.json").write_text(json.dumps([arguments, pathlib.Path(file).read_text()]))
"""


@pytest.fixture
def workflow(tmp_path: Path) -> Any:
    """Runs the workflow's steps; whether the last one succeeded, what `gh` was called with, and the comment."""
    for name, code in (("strongref", STRONGREF), ("gh", GH)):
        (tmp_path / name).write_text(f"#!{sys.executable}\n{code}")
        (tmp_path / name).chmod(0o755)
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    _, checks, comment, outcome = steps
    files = {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output.txt", "RUNNER_TEMP": "."}
    given = {name: str(tmp_path / file) for name, file in files.items()}

    def step(run: str, **environment: str) -> int:
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(  # noqa: S603
            ["/bin/bash", "-e", "-c", run],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, **given, **environment},
            check=False,
        )
        return done.returncode

    def run(shown: str, errors: str, status: int, comments: list[dict[str, Any]]) -> tuple[int, list[str], str]:
        asked = {"STACKS": "stacks.yaml", "OPTIONS": "--strict"}
        assert step(checks["run"], SHOWN=shown, ERRORS=errors, STATUS=str(status), **asked) == 0
        named = {"MARKER": comment["env"]["MARKER"].replace("${{ inputs.stacks }}", "stacks.yaml"), "NUMBER": "7"}
        assert step(comment["run"], **named, GH_TOKEN="x", COMMENTS=json.dumps(comments)) == 0
        called, text = json.loads((tmp_path / "done.json").read_text())
        (found,) = re.findall("^status=(.*)$", (tmp_path / "output.txt").read_text(), re.MULTILINE)
        ended = step(outcome["run"].replace("${{ steps.check.outputs.status }}", found))
        return ended, [each.replace(str(tmp_path / "."), ".") for each in called], text

    return run


def test_it_comments_what_check_shows(workflow: Any) -> None:
    ended, called, text = workflow("### accepted\n", "", 0, [])
    assert (ended, called) == (0, ["pr", "comment", "7", "--body-file", "./comment.md"])
    assert text == f"{MARKER}\n\n### accepted\n"


def test_it_fails_if_something_would_be_refused_and_updates_its_comment(workflow: Any) -> None:
    comments = [
        {"id": 1, "user": "User", "body": f"{MARKER} quoted"},
        {"id": 2, "user": "Bot", "body": "another"},
        {"id": 3, "user": "Bot", "body": f"{MARKER}\n\n### accepted"},
        {"id": 4, "user": "Bot", "body": f"{MARKER}\n\n### accepted"},
    ]
    ended, called, text = workflow("### refused\n", "", 1, comments)
    patch = ["api", "--method", "PATCH", "repos/{owner}/{repo}/issues/comments/3", "--field", "body=@./comment.md"]
    assert (ended, called) == (1, patch)
    assert text == f"{MARKER}\n\n### refused\n"


def test_it_comments_the_error_if_check_itself_fails(workflow: Any) -> None:
    ended, _, text = workflow("", "strongref: AWS cannot be called.\n", 3, [])
    assert (ended, text) == (3, f"{MARKER}\n\n    strongref: AWS cannot be called.\n")
