"""`strongref who`: both directions of a stack, as tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.commands import SECRET

if TYPE_CHECKING:
    from tests.support.commands import Run
    from tests.support.overview import Account

EU, US = "eu-west-1", "us-east-1"


def test_an_import_without_a_hold_has_a_state_and_a_hold(run: Run, account: Account) -> None:
    account.stack("held", EU, exported="held-Exports")
    account.export("held", EU, US, Values={"A": SECRET}, Hold="held-Exports")
    account.claim("late", US, "held", EU, "A", Shared="true")
    for hold in account.ssm(EU).get_parameters_by_path(Path="/strongref/holds", Recursive=True)["Parameters"]:
        account.ssm(EU).delete_parameter(Name=hold["Name"])
    _, out, _ = run("who", "late", "--region", US)
    assert "A held (eu-west-1) current unheld" in " ".join(out.split())


def test_what_an_import_without_from_claims_of_two_stacks_is_held(run: Run, account: Account) -> None:
    for stack, key in (("first", "A"), ("second", "B")):
        account.stack(stack, EU, exported=f"{stack}-Exports")
        account.export(stack, EU, US, Consumer="both", Values={key: SECRET}, Hold=f"{stack}-Exports")
    account.send(account.stack("both", US), "Imports", {"Names": ["A", "B"]})
    _, out, _ = run("who", "both", "--region", US)
    assert "A first (eu-west-1) current held B second (eu-west-1) current held" in " ".join(out.split())


def test_who_shows_both_directions(run: Run) -> None:
    status, out, _ = run("who", "site", "--region", US)
    assert status == 0
    assert [" ".join(line.split()) for line in out.splitlines()[:-1]] == [
        "site (us-east-1, 123456789012) imports",
        "KEY FROM STATE HOLD",
        "VpcId network (eu-west-1) current unprotected",
        "Arn certificate current unprotected",
        "",
    ]
    status, out, _ = run("who", "network", "VpcId", "--region", EU)
    assert "VpcId us-east-1 _shared published shop and site" in " ".join(out.split())
    assert "imports" not in out
    _, out, _ = run("who", "idle", "--region", EU)
    assert out.startswith("idle (eu-west-1, 123456789012) exports and imports nothing\n")


def test_a_key_may_be_written_with_dots_or_slashes(run: Run) -> None:
    for key in ("Alb.Arn", "Alb/Arn"):
        _, out, _ = run("who", "network", key, "--region", EU, "--output", "json")
        assert [each["key"] for each in json.loads(out)["stacks"][0]["exports"]] == ["Alb.Arn"]
