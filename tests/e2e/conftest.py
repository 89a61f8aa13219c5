"""One emulator for all of a run's end-to-end tests, with the application in both regions."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.e2e.harness import Aws
from tests.support.emulator import sam
from tests.support.emulator.control import OTHER_ACCOUNT, Emulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HERE = Path(__file__).parent
_PATIENCE_SECONDS = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """The run's emulator: whichever worker comes first starts it, and stops it when no other needs it any more."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # Of all workers of this run, and of no other run.
    state, users = shared / "emulator.json", shared / "emulator-users"
    users.mkdir(exist_ok=True)
    ours = users / str(os.getpid())
    own: Emulator | None = None
    with _locked(shared):
        if not state.exists():
            own = _start(shared)
            state.write_text(json.dumps({"url": own.url}))
        ours.touch()
    try:
        yield own or Emulator(json.loads(state.read_text())["url"])
    finally:
        ours.unlink()
        if own:
            _stop(own, shared, users, state)


def _start(shared: Path) -> Emulator:
    """An emulator with the application in it: 15 s, once a run."""
    built = sam.build(shared)
    emulator = Emulator.start(shared / "emulator.log")
    try:
        sam.deploy_everywhere(emulator, built)
    except BaseException:
        emulator.stop()
        raise
    return emulator


def _stop(emulator: Emulator, shared: Path, users: Path, state: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with _locked(shared):
            if not any(_alive(int(user.name)) for user in users.iterdir()):
                state.unlink()  # A worker that comes later starts its own.
                break
        time.sleep(0.1)
    emulator.stop()


def _alive(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "emulator.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def aws(emulator: Emulator) -> Aws:
    """The account that has the application."""
    return Aws(emulator)


@pytest.fixture
def other_account(emulator: Emulator) -> Aws:
    """An account that has nothing to do with it."""
    return Aws(emulator, OTHER_ACCOUNT)


@pytest.fixture
def names() -> Callable[[str], str]:
    """Makes a name this test's own, so that tests may run side by side."""
    suffix = uuid4().hex[:6]
    return lambda name: f"{name}-{suffix}"
