"""Commands wait for reads as long as the functions of the regions that they work in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.protocol.lag import DEFAULT_LAG, MAX_LAG, VARIABLE, ReadLag
from strongref_cli.install import installed
from strongref_cli.install.installed import read_lag
from strongref_toolkit.errors import AwsCallError, UsageError
from strongref_toolkit.session import ToolSession
from tests.support.doctor import EU, RELEASE, US

if TYPE_CHECKING:
    from strongref.protocol.ports import Ports
    from tests.support.commands import Run
    from tests.support.overview import Account


@pytest.fixture(autouse=True)
def installations(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 (comes first)
    """One in each region, the second of another name."""
    account.stack("strongref", US, exported="strongref-exporter", parameters={"ReadLag": "3"})
    account.stack("of-another-name", EU, exported="strongref-exporter", parameters={"ReadLag": "7"})
    monkeypatch.delenv(VARIABLE)


def test_it_is_the_largest_of_the_installations(monkeypatch: pytest.MonkeyPatch) -> None:
    session = ToolSession.start()
    assert read_lag(session, [US]) == ReadLag(3)
    assert read_lag(session, [US, EU]) == ReadLag(7)
    assert read_lag(session, ["eu-central-1"]) == ReadLag(DEFAULT_LAG)
    monkeypatch.setenv(VARIABLE, "4")
    assert read_lag(session, [US, EU]) == ReadLag(4)


def test_where_the_installation_cannot_be_described_it_may_be_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise AwsCallError("DescribeStacks", "stack strongref", US, "AccessDenied")

    monkeypatch.setattr(installed, "installed_in", denied)
    assert read_lag(ToolSession.start(), [US]) == ReadLag(MAX_LAG)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("doctor", "--region", US), 3),
        (("doctor", "--region", US, "--region", EU), 7),
        (("republish", "network", "--yes", "--region", US), 7),
        ((*RELEASE, "--reason", "x", "--yes"), 7),
        (("forget", "222222222222", "--region", US, "--yes"), 3),
        (("resolve", "--unclaim", "shop", "--region", US), 3),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else str(each),
)
def test_every_command_that_changes_exports_takes_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], expected: float
) -> None:
    used: list[ReadLag] = []
    ports = ToolSession.ports

    def seen(*given: Any, **more: Any) -> Ports:
        used.append(ports(*given, **more).lag)
        raise UsageError("enough is seen")

    monkeypatch.setattr(ToolSession, "ports", seen)
    run(*command)
    assert used == [ReadLag(expected)]
