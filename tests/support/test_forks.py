"""A fork is to the emulator, and to what runs in it, what a process is."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.emulator import forks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TELLING = """
import json, os, sys
print(json.dumps([sys.argv, sys.path[0], os.getcwd(), dict(os.environ), __name__]), flush=True)
print("to people", file=sys.stderr, flush=True)
for line in sys.stdin:
    print(line.upper(), end="", flush=True)
"""


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    forks.end()


def begun(folder: Path, script: str = TELLING) -> forks.Forked:
    (folder / "script.py").write_text(script)
    return forks.Forked(str(folder / "script.py"), str(folder), {"ONE": "1"})


def test_it_runs_a_script_as_python_does(tmp_path: Path) -> None:
    process, script = begun(tmp_path), str(tmp_path / "script.py")
    told = json.loads(process.stdout.readline())
    assert told == [[script], str(tmp_path), str(tmp_path), {"ONE": "1"}, "__main__"]
    assert process.stderr.readline() == "to people\n"
    process.stdin.write("hello\n")
    assert process.stdout.readline() == "HELLO\n"
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(60) == process.poll() == 0
    assert process.stdout.read() == ""


def test_an_error_is_shown_as_python_shows_it(tmp_path: Path) -> None:
    assert "ValueError: this" in begun(tmp_path, "raise ValueError('this')").stderr.read()


def test_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    first, second = begun(tmp_path), begun(tmp_path)
    first.terminate()
    second.kill()
    first.wait(60)
    second.wait(60)
    second.kill()  # It has ended already.
    assert first.poll() == second.poll() == 0


def test_nobody_waits_longer_than_that(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        begun(tmp_path).wait(0.01)


def test_all_end_with_the_process_that_is_forked(tmp_path: Path) -> None:
    process = begun(tmp_path)
    forks.end()
    assert process.poll() == 0
