"""Two stacks that `strongref doctor` examines, what may happen to them, and what it finds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from strongref_toolkit import session
from tests.support.commands import SECRET
from tests.support.schemas import validate

if TYPE_CHECKING:
    import pytest

    from tests.support.commands import Run
    from tests.support.overview import Account

EU, US = "eu-west-1", "us-east-1"
HOME = "123456789012"
NETWORK = f"/strongref/exports/_shared/{HOME}/{EU}/network"
FENCES = NETWORK.replace("/exports/", "/fences/")
HOLD = "network-Exports"
RELEASE = ("release", "network", "VpcId", "--consumer", "shop", "--region", US)


def network_and_shop(account: Account) -> None:
    account.install(EU, US)
    account.stack("network", EU, exported=HOLD)
    account.export("network", EU, US, Values={"Alb": {"Arn": SECRET, "Sg": SECRET}, "VpcId": SECRET}, Hold=HOLD)
    account.claim("shop", US, "network", EU, "VpcId", "Alb", Shared="true")


def lose_a_value_in_both_regions(account: Account) -> None:
    account.export("certificate", US, EU, Values={"A": "x"})
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    account.ssm(EU).delete_parameter(Name=f"/strongref/exports/_shared/{HOME}/{US}/certificate/A")


def findings(run: Run, *options: str) -> list[tuple[str, str, str]]:
    status, out, _ = run("doctor", "--region", US, "--output", "json", *options)
    document = json.loads(out)
    validate("doctor", document)
    found = [(each["kind"], each["severity"], each["subject"]) for each in document["findings"]]
    assert status == int(any(severity != "note" for _, severity, _ in found))
    return found


def put_up_fence(account: Account, holder: str, *, by: str, until: str, done: bool = False) -> None:
    text = json.dumps({"by": by, "until": until, "for": -60, "done": done})
    account.ssm(US).put_parameter(Name=f"{FENCES}/{holder}", Type="String", Value=text)


def wait_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands wait for others for what is shown as a second."""
    monkeypatch.setattr(session, "FENCE_WAIT", 1)
    monkeypatch.setattr(session, "_PAUSE", 0.1)
