"""What may happen to an Export."""

from __future__ import annotations

from tests.support.cloudformation.stacks import CLEANUP, ROLLBACK
from tests.support.faults.scenario import (
    AP,
    EU,
    US,
    Change,
    Deploy,
    Erase,
    Foreign,
    Scenario,
    Unanswered,
    Vanish,
    at,
    exports,
    imports,
    text,
)

A, B, C = text("a"), text("b"), text("c")

ABC = exports({"A": A, "B": B, "C": C})
PUBLISHED = (Deploy("network", EU, {"Exports": ABC}),)
WEB = Deploy("web", US, {"Imports": imports("A")})
API = Deploy("api", US, {"Imports": imports("A", Consumer="web")})
CLAIMED = (*PUBLISHED, WEB)

LARGE = {f"Key{number:02}": text(f"{number}" * 250) for number in range(12)} | {
    "Password": text("secure-password"),
    "Token": text("secure-token"),
}
SECURE = ["Password", "Token"]


def change(properties: dict[str, object] | None, phase: str = "", logical_id: str = "Exports") -> Change:
    """What happens to the stack network's Export."""
    return Change("network", EU, logical_id, properties, phase)


EXPORTING = (
    Scenario("export: create", (), change(exports({"A": A, "B": [text("x"), text("y")]}))),
    Scenario("export: create many and secure values", (), change(exports(LARGE, SecureKeys=SECURE))),
    Scenario(
        "export: create takes several invocations",
        (),
        change(exports({f"Key{number}": text(f"{number}") for number in range(20)})),
        seconds=90.0,
        environment={"STRONGREF_WRITES_PER_SECOND": "0.25"},
    ),
    Scenario(
        "export: create next to another Export of the stack",
        (*PUBLISHED, WEB),
        change(exports({"A": A, "D": text("d")}), logical_id="More"),
        claimed=(at("A"),),
    ),
    Scenario(
        "export: create where a dead stack of the same name left values",
        (*PUBLISHED, Vanish("network", EU)),
        change(exports({"A": A, "B": text("b2"), "D": text("d")})),
        mends=True,
    ),
    Scenario(
        "export: create is refused because of a parameter that is not strongref's",
        (Deploy("other", EU, {}), Foreign(at("B"), producer="other")),
        change(exports({"A": A, "B": B})),
        foreign=(at("B"),),
        ends="FAILED",
    ),
    Scenario(
        "export: update adds, changes and drops",
        CLAIMED,
        change(exports({"A": A, "B": text("b2"), "D": text("d")})),
        claimed=(at("A"),),
    ),
    Scenario(
        "export: update of many and secure values",
        (Deploy("network", EU, {"Exports": exports(LARGE, SecureKeys=SECURE)}),),
        change(exports(LARGE | {"Key01": text("changed"), "Token": text("secure-changed")}, SecureKeys=SECURE)),
    ),
    Scenario(
        "export: update would change a claimed value",
        CLAIMED,
        change(exports({"A": text("a2"), "B": text("b2"), "D": text("d")})),
        claimed=(at("A"),),
        ends="FAILED",
    ),
    Scenario(
        "export: update would drop a claimed value",
        (*CLAIMED, API),
        change(exports({"B": text("b2")})),
        claimed=(at("A"),),
        ends="FAILED",
    ),
    Scenario(
        "export: update propagates",
        CLAIMED,
        change(exports({"A": text("a2"), "B": text("b2")}, OnChange="propagate")),
        claimed=(at("A"),),
        propagates=True,
    ),
    Scenario(
        "export: update would give a claimed value another type, even if it propagates",
        CLAIMED,
        change(exports({"A": [text("x"), text("y")], "B": B}, OnChange="propagate")),
        claimed=(at("A"),),
        ends="FAILED",
    ),
    Scenario(
        "export: update of the Revision",
        CLAIMED,
        change(exports({"A": A, "B": B, "C": C}, Revision="2")),
        claimed=(at("A"),),
    ),
    Scenario(
        "export: update of the Revision where a value is gone",
        (*CLAIMED, Erase(at("B"))),
        change(exports({"A": A, "B": B, "C": C}, Revision="2")),
        claimed=(at("A"),),
        mends=True,
    ),
    Scenario(
        "export: update changes types",
        CLAIMED,
        change(exports({"A": A, "B": [text("x"), text("y")], "C": text("secure-c")}, SecureKeys=["C"])),
        claimed=(at("A"),),
    ),
    Scenario(
        "export: update moves to another region", PUBLISHED, change(exports({"A": A, "B": text("b2")}, Region=AP))
    ),
    Scenario(
        "export: update would move a claimed value away",
        CLAIMED,
        change(exports({"A": A, "B": B}, Region=AP)),
        claimed=(at("A"),),
        ends="FAILED",
    ),
    Scenario(
        "export: update in two regions",
        (
            Deploy("network", EU, {"Exports": exports({"A": A, "B": B}, Region=[US, AP])}),
            Deploy("web", AP, {"Imports": imports("A")}),
        ),
        change(exports({"A": A, "B": text("b2"), "D": text("d")}, Region=[US, AP])),
        claimed=(at("A", region=AP),),
    ),
    Scenario(
        "export: update removes a stale claim",
        (*CLAIMED, Vanish("web", US)),
        change(exports({"A": text("a2"), "B": B, "C": C})),
        mends=True,
    ),
    Scenario(
        "export: update drops what another Export of the stack publishes too",
        (Deploy("network", EU, {"Exports": exports({"A": A, "B": B}), "More": exports({"A": A, "C": C})}), WEB),
        change(exports({"B": B})),
        claimed=(at("A"),),
    ),
    Scenario("export: update empties it", PUBLISHED, change(exports({}))),
    Scenario(
        "export: update changes nothing",
        CLAIMED,
        change(exports({"A": A, "B": B, "C": C}, ServiceTimeout="600")),
        claimed=(at("A"),),
    ),
    Scenario(
        "export: update rolls another one back",
        (
            *CLAIMED,
            Deploy("network", EU, {"Exports": exports({"A": A, "B": text("b2"), "D": text("d")})}),
            Deploy("api", US, {"Imports": imports("D", Consumer="web")}),
        ),
        change(ABC, ROLLBACK),
        claimed=(at("A"), at("D")),
    ),
    Scenario("export: delete", PUBLISHED, change(None)),
    Scenario(
        "export: delete many and secure values",
        (Deploy("network", EU, {"Exports": exports(LARGE, SecureKeys=SECURE)}),),
        change(None),
    ),
    Scenario("export: delete would remove a claimed value", CLAIMED, change(None), claimed=(at("A"),), ends="FAILED"),
    Scenario(
        "export: delete in the cleanup keeps a claimed value",
        (*CLAIMED, Deploy("network", EU, {}, cleanup=False)),
        change(None, CLEANUP),
        claimed=(at("A"),),
        ends="FAILED",
    ),
    Scenario(
        "export: delete in the cleanup of a renamed Export",
        (*CLAIMED, Deploy("network", EU, {"Renamed": ABC}, cleanup=False)),
        change(None, CLEANUP),
        claimed=(at("A"),),
    ),
    Scenario(
        "export: delete of a Create that was never answered",
        (*PUBLISHED, Unanswered("network", EU, "Exports")),
        change(None, "ROLLBACK_IN_PROGRESS"),
    ),
)
