"""The probes of `strongref selftest`: all that is believed holds in the emulator, and what is wrong in it is found."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from strongref.protocol.lag import VARIABLE
from strongref_cli.selftest import command, lab, probes, requests
from strongref_cli.selftest.beliefs import BELIEFS, Belief
from strongref_cli.selftest.lab import PREFIX
from strongref_toolkit.session import ToolSession
from tests.e2e.templates import EU, US

if TYPE_CHECKING:
    from tests.e2e.harness import Aws

PROBES = {each.name: each for each in probes.PROBES}
PROBED = [each for each in BELIEFS if each.shown_by in PROBES]


@pytest.fixture(autouse=True)
def quick(bare: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, as root of an account without the application, and with little patience."""
    for name, value in bare.emulator.env(bare.account, EU).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(VARIABLE, "0")
    monkeypatch.setattr(requests, "WATCHED_SECONDS", 0.2)
    monkeypatch.setattr(requests, "CHAIN_SECONDS", 10)
    monkeypatch.setattr(probes, "RECREATION_SECONDS", 0.2)
    for seconds in ("GIVE_UP_SECONDS", "BURST_SECONDS"):
        monkeypatch.setattr(probes, seconds, 1.0)
    monkeypatch.setattr(probes, "HURRIED_SECONDS", 18.0)  # as long as on no machine, but less than what is wrong
    monkeypatch.setattr(probes, "ROUNDS", 1)
    monkeypatch.setattr(lab, "_LONGEST_PAUSE", 0.2)


def wrong_rows(aws: Aws, probe: str) -> list[str]:
    """The beliefs that a run of a probe says are wrong; it leaves nothing."""
    session = ToolSession.start()
    run = lab.Lab(session, f"{PREFIX}{secrets.token_hex(4)}", (EU, US), session.accounts(EU, None).own)
    tried, left = command._run([PROBES[probe]], run)
    assert left == [each.name for each in aws.emulator.parameters(aws.account, PREFIX)] == []
    return [belief.name for belief, seen in command.believed(tried).items() if seen.holds is not True]


@pytest.mark.parametrize("probe", sorted(PROBES.keys() - {"redelivery"}))  # It takes a minute: a whole run has it.
def test_what_is_believed_holds(bare: Aws, probe: str) -> None:
    assert wrong_rows(bare, probe) == []


@pytest.mark.parametrize("belief", PROBED, ids=[each.name for each in PROBED])
def test_what_is_wrong_is_found_and_nothing_else(bare: Aws, belief: Belief) -> None:
    with bare.emulator.wrong(bare.account, belief.name):
        assert wrong_rows(bare, belief.shown_by) == [belief.name]
