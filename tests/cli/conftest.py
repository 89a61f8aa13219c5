"""What tests of the command line share: how it runs, an account in moto, and a server that says nothing."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

import strongref_cli as cli
from tests.support import moto_lists
from tests.support.commands import SECRET
from tests.support.empty_aws import empty_aws
from tests.support.overview import Account

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.commands import Run


@pytest.fixture
def command_line(capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command `strongref`. It never shows a value of an export."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = cli.main(arguments)
        out, err = capfd.readouterr()
        assert SECRET not in out + err
        return status, out, err

    return run


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """For stacks that export and import: CloudFormation's have the ARNs that events are made with."""
    moto_lists.install(monkeypatch)
    with empty_aws(monkeypatch):
        yield Account(monkeypatch)


@pytest.fixture
def silent_server() -> Iterator[socket.socket]:
    """A server that says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server
