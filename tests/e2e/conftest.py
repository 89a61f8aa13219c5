"""One emulator for all workers, with the application built once and deployed into both regions."""

from __future__ import annotations

import fcntl
import json
import secrets
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.harness import REGIONS, Aws
from tests.support.emulator import sam
from tests.support.emulator.control import Emulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(240))


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Emulator]:
    """The emulator that the first worker starts, held by each, and gone with the last of them."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder if worker_id == "master" else folder.parent
    found = shared / "emulator.json"
    with (shared / "emulator.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # The first worker installs, the others wait for it.
        if found.exists():
            running = json.loads(found.read_text())
            emulator = Emulator.join(running["url"], Path(running["folder"]))
        else:
            emulator = Emulator.start(shared / "emulator.log")
            _install(emulator, shared / "build")
            found.write_text(json.dumps({"url": emulator.url, "folder": str(emulator.folder)}))
    yield emulator
    emulator.release()


def _install(emulator: Emulator, folder: Path) -> None:
    try:
        template = sam.build(emulator, folder)
        with ThreadPoolExecutor() as pool:
            list(pool.map(partial(sam.deploy, emulator, template), REGIONS))
    except BaseException:
        emulator.stop()
        raise


@pytest.fixture(scope="session")
def aws(emulator: Emulator) -> Aws:
    """AWS with the application deployed."""
    return Aws(emulator)


@pytest.fixture
def names() -> Callable[[str], str]:
    """Makes a stack's name this test's own, so that tests can run side by side: `names("web")` is `web-3fa9c1`."""
    suffix = secrets.token_hex(3)
    return lambda name: f"{name}-{suffix}"
