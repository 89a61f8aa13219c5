"""What may happen to an Export."""

from __future__ import annotations

from tests.support.builders import ACCOUNT
from tests.support.faults.scenario import (
    AP,
    EU,
    US,
    Change,
    Deploy,
    Erase,
    Foreign,
    Scenario,
    Step,
    Unanswered,
    Vanish,
    at,
    exports,
    imports,
    text,
)
from tests.support.faults.world import CLEAN_UP, ROLL_BACK

A, B, C = text("a"), text("b"), text("c")
THEIRS = at("Theirs")
BESIDE = (US, f"/strongref/exports/web-2/{ACCOUNT}/{EU}/network/A")
FOREIGN = (THEIRS, BESIDE)
SOMEBODY: tuple[Step, ...] = tuple(Foreign(name) for name in FOREIGN)

ABC = exports({"A": A, "B": B, "C": C})
PUBLISHED = (*SOMEBODY, Deploy("network", EU, {"Exports": ABC}))
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
    Scenario("export: create", SOMEBODY, change(exports({"A": A, "B": [text("x"), text("y")]})), foreign=FOREIGN),
    Scenario(
        "export: create many and secure values",
        SOMEBODY,
        change(exports(LARGE, SecureKeys=SECURE)),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: create takes several invocations",
        SOMEBODY,
        change(exports({f"Key{number}": text(f"{number}") for number in range(20)})),
        foreign=FOREIGN,
        seconds=90.0,
        environment={"STRONGREF_WRITES_PER_SECOND": "0.25"},
    ),
    Scenario(
        "export: create beside another Export of the stack",
        (*PUBLISHED, WEB),
        change(exports({"A": A, "D": text("d")}), logical_id="More"),
        claimed=(at("A"),),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: create where a dead stack of the same name left values",
        (*PUBLISHED, Vanish("network", EU)),
        change(exports({"A": A, "B": text("b2"), "D": text("d")})),
        foreign=FOREIGN,
        mends=True,
    ),
    Scenario(
        "export: create is refused in front of somebody's parameter",
        (*SOMEBODY, Deploy("other", EU, {}), Foreign(at("B"), producer="other")),
        change(exports({"A": A, "B": B})),
        foreign=(*FOREIGN, at("B")),
        ends="FAILED",
    ),
    Scenario(
        "export: update adds, changes and drops",
        CLAIMED,
        change(exports({"A": A, "B": text("b2"), "D": text("d")})),
        claimed=(at("A"),),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: update of many and secure values",
        (*SOMEBODY, Deploy("network", EU, {"Exports": exports(LARGE, SecureKeys=SECURE)})),
        change(exports(LARGE | {"Key01": text("changed"), "Token": text("secure-changed")}, SecureKeys=SECURE)),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: update would change a claimed value",
        CLAIMED,
        change(exports({"A": text("a2"), "B": text("b2"), "D": text("d")})),
        claimed=(at("A"),),
        foreign=FOREIGN,
        ends="FAILED",
    ),
    Scenario(
        "export: update would drop a claimed value",
        (*CLAIMED, API),
        change(exports({"B": text("b2")})),
        claimed=(at("A"),),
        foreign=FOREIGN,
        ends="FAILED",
    ),
    Scenario(
        "export: update propagates",
        CLAIMED,
        change(exports({"A": text("a2"), "B": text("b2")}, OnChange="propagate")),
        claimed=(at("A"),),
        foreign=FOREIGN,
        propagates=True,
    ),
    Scenario(
        "export: update would give a claimed value another type, even if it propagates",
        CLAIMED,
        change(exports({"A": [text("x"), text("y")], "B": B}, OnChange="propagate")),
        claimed=(at("A"),),
        foreign=FOREIGN,
        ends="FAILED",
    ),
    Scenario(
        "export: update of the Revision",
        CLAIMED,
        change(exports({"A": A, "B": B, "C": C}, Revision="2")),
        claimed=(at("A"),),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: update of the Revision where a value is gone",
        (*CLAIMED, Erase(at("B"))),
        change(exports({"A": A, "B": B, "C": C}, Revision="2")),
        claimed=(at("A"),),
        foreign=FOREIGN,
        mends=True,
    ),
    Scenario(
        "export: update changes types",
        CLAIMED,
        change(exports({"A": A, "B": [text("x"), text("y")], "C": text("secure-c")}, SecureKeys=["C"])),
        claimed=(at("A"),),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: update moves to another region",
        PUBLISHED,
        change(exports({"A": A, "B": text("b2")}, Region=AP)),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: update would move a claimed value away",
        CLAIMED,
        change(exports({"A": A, "B": B}, Region=AP)),
        claimed=(at("A"),),
        foreign=FOREIGN,
        ends="FAILED",
    ),
    Scenario(
        "export: update in two regions",
        (
            *SOMEBODY,
            Deploy("network", EU, {"Exports": exports({"A": A, "B": B}, Region=[US, AP])}),
            Deploy("web", AP, {"Imports": imports("A")}),
        ),
        change(exports({"A": A, "B": text("b2"), "D": text("d")}, Region=[US, AP])),
        claimed=(at("A", region=AP),),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: update takes a stale claim off",
        (*CLAIMED, Vanish("web", US)),
        change(exports({"A": text("a2"), "B": B, "C": C})),
        foreign=FOREIGN,
        mends=True,
    ),
    Scenario(
        "export: update drops what another Export of the stack has too",
        (
            *SOMEBODY,
            Deploy("network", EU, {"Exports": exports({"A": A, "B": B}), "More": exports({"A": A, "C": C})}),
            WEB,
        ),
        change(exports({"B": B})),
        claimed=(at("A"),),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: update empties it",
        PUBLISHED,
        change(exports({})),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: update changes nothing",
        CLAIMED,
        change(exports({"A": A, "B": B, "C": C}, ServiceTimeout="600")),
        claimed=(at("A"),),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: update rolls another one back",
        (
            *CLAIMED,
            Deploy("network", EU, {"Exports": exports({"A": A, "B": text("b2"), "D": text("d")})}),
            Deploy("api", US, {"Imports": imports("D", Consumer="web")}),
        ),
        change(ABC, ROLL_BACK),
        claimed=(at("A"), at("D")),
        foreign=FOREIGN,
    ),
    Scenario("export: delete", PUBLISHED, change(None), foreign=FOREIGN),
    Scenario(
        "export: delete many and secure values",
        (*SOMEBODY, Deploy("network", EU, {"Exports": exports(LARGE, SecureKeys=SECURE)})),
        change(None),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: delete would take a claimed value away",
        CLAIMED,
        change(None),
        claimed=(at("A"),),
        foreign=FOREIGN,
        ends="FAILED",
    ),
    Scenario(
        "export: delete in the clean-up keeps a claimed value",
        (*CLAIMED, Deploy("network", EU, {}, clean_up=False)),
        change(None, CLEAN_UP),
        claimed=(at("A"),),
        foreign=FOREIGN,
        ends="FAILED",
    ),
    Scenario(
        "export: delete in the clean-up of a renamed Export",
        (*CLAIMED, Deploy("network", EU, {"Renamed": ABC}, clean_up=False)),
        change(None, CLEAN_UP),
        claimed=(at("A"),),
        foreign=FOREIGN,
    ),
    Scenario(
        "export: delete of a Create that was never answered",
        (*PUBLISHED, Unanswered("network", EU, "Exports")),
        change(None, "ROLLBACK_IN_PROGRESS"),
        foreign=FOREIGN,
    ),
)
