"""`strongref completion`: what bash completes with the script, and that zsh's has the same."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

import strongref_cli as cli

if TYPE_CHECKING:
    from pathlib import Path

_ASK = """
source ./script
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_shtab_strongref strongref "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("wh", ["who"]),
        ("objects s", ["show"]),
        ("who network --out", ["--output"]),
        ("who network --output m", ["markdown"]),
        ("list --state un", ["unheld", "unprotected", "unreadable", "unused"]),
        ("check --template tem", ["template.yaml"]),
        ("graph --out tem", ["template.yaml"]),
        ("transform tem", ["template.yaml"]),
        ("resolve tem", ["template.yaml"]),
        ("resolve --tf tem", ["template.yaml"]),
        ("refs fields --generator tem", ["template.yaml"]),
    ],
)
def test_bash_completes_commands_options_and_files(
    typed: str, completed: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "template.yaml").touch()
    command = ["bash", "-c", _ASK, "bash", "strongref", *typed.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603
    assert (sorted(done.stdout.split()), done.stderr) == (completed, "")


def test_zsh_completes_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "zsh"]) == 0
    script = capsys.readouterr().out
    assert script.startswith("#compdef strongref")
    assert "- for standard input]:FILE:_files" in script
