"""What may happen to the janitor."""

from __future__ import annotations

from tests.support.faults.exporting import ABC, API, PUBLISHED, WEB, B, C
from tests.support.faults.scenario import EU, US, Deploy, Erase, Scenario, Tend, Vanish, at, exports, imports, text

HOURS = 2 * 3600.0
"""From one visit to the next."""

TENDING = (
    Scenario("janitor: nothing to do", (*PUBLISHED, API), Tend(US), claimed=(at("A"),), again=HOURS),
    Scenario(
        "janitor: a value is gone, a claim is stale",
        (
            *PUBLISHED,
            WEB,
            Deploy("api", US, {"Imports": imports("A", "B", Consumer="web")}),
            Vanish("api", US),
            Erase(at("C")),
        ),
        Tend(US),
        claimed=(at("A"),),
        again=HOURS,
    ),
    Scenario(
        "janitor: a producer is gone",
        (
            Deploy("network", EU, {"Exports": ABC, "More": exports({"B": B, "C": C, "D": text("d")})}),
            WEB,
            Vanish("network", EU),
        ),
        Tend(US),
        claimed=(at("A"),),
        again=HOURS,
    ),
)
