"""What may happen to an Export to another account, whose role is assumed first."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.support.abroad import OTHER, THIRD
from tests.support.cloudformation.stacks import ROLLBACK
from tests.support.faults.exporting import A, B, C, change
from tests.support.faults.scenario import EU, US, Claim, Deploy, Distrust, Scenario, at, exports, text

ENVIRONMENT = {"STRONGREF_EXPORT_ACCOUNTS": f"{OTHER},{THIRD}", "AWS_REGION": EU}
tried = partial(Scenario, environment=ENVIRONMENT)
CLAIMED_THERE = at("A", account=OTHER)


def abroad(values: dict[str, Any], *accounts: str, **more: Any) -> dict[str, Any]:
    """Properties of an Export to other accounts."""
    return exports(values, Account=list(accounts or (OTHER,)), **more)


ABC = {"A": A, "B": B, "C": C}
PUBLISHED = (Deploy("network", EU, {"Exports": abroad(ABC)}),)
CLAIMED = (*PUBLISHED, Claim(CLAIMED_THERE))
BOTH = Deploy("network", EU, {"Exports": abroad(ABC, OTHER, THIRD)})

FIRST = (
    tried(
        "abroad: update adds, changes and drops",
        CLAIMED,
        change(abroad({"A": A, "B": text("b2"), "D": text("d")})),
        claimed=(CLAIMED_THERE,),
    ),
    tried(
        "abroad: update adds an account that trusts nobody",
        (*CLAIMED, Distrust(THIRD)),
        change(abroad({"A": A, "B": text("b2"), "D": text("d")}, OTHER, THIRD)),
        claimed=(CLAIMED_THERE,),
        ends="FAILED",
        writes_nothing=True,
    ),
)
"""Tried with the slow tests."""

ABROAD = (
    tried("abroad: create in two accounts", (), change(abroad(ABC, OTHER, THIRD))),
    tried(
        "abroad: create in two accounts, of which one trusts nobody",
        (Distrust(THIRD),),
        change(abroad(ABC, OTHER, THIRD)),
        ends="FAILED",
        writes_nothing=True,
    ),
    tried(
        "abroad: update would change a claimed value",
        CLAIMED,
        change(abroad({"A": text("a2"), "B": text("b2")})),
        claimed=(CLAIMED_THERE,),
        ends="FAILED",
    ),
    tried(
        "abroad: update propagates",
        CLAIMED,
        change(abroad({"A": text("a2"), "B": B}, OnChange="propagate")),
        claimed=(CLAIMED_THERE,),
        propagates=True,
    ),
    tried("abroad: update moves to another account", PUBLISHED, change(abroad({"A": A, "B": text("b2")}, THIRD))),
    tried("abroad: update moves here", PUBLISHED, change(exports({"A": A, "B": text("b2")}))),
    tried(
        "abroad: update would move a claimed value on",
        CLAIMED,
        change(abroad(ABC, THIRD)),
        claimed=(CLAIMED_THERE,),
        ends="FAILED",
    ),
    tried(
        "abroad: update in two accounts and two regions",
        (BOTH, Claim(CLAIMED_THERE)),
        change(abroad({"A": A, "B": text("b2"), "D": text("d")}, OTHER, THIRD, Region=[US, EU])),
        claimed=(CLAIMED_THERE,),
    ),
    tried(
        "abroad: update drops what another Export of the stack publishes too",
        (
            Deploy("network", EU, {"Exports": abroad({"A": A, "B": B}), "More": abroad({"A": A, "C": C})}),
            Claim(CLAIMED_THERE),
        ),
        change(abroad({"B": B})),
        claimed=(CLAIMED_THERE,),
    ),
    tried(
        "abroad: update rolls another one back",
        (*CLAIMED, Deploy("network", EU, {"Exports": abroad({"A": A, "B": text("b2"), "D": text("d")}, OTHER, THIRD)})),
        change(abroad(ABC), ROLLBACK),
        claimed=(CLAIMED_THERE,),
    ),
    tried("abroad: delete", (BOTH,), change(None)),
    tried(
        "abroad: delete would remove a claimed value", CLAIMED, change(None), claimed=(CLAIMED_THERE,), ends="FAILED"
    ),
)
