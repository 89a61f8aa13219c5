"""What may happen to an Import."""

from __future__ import annotations

from tests.support.cloudformation.stacks import CLEANUP, ROLLBACK
from tests.support.faults.exporting import ABC, API, CLAIMED, PUBLISHED, A
from tests.support.faults.scenario import (
    EU,
    US,
    Change,
    Deploy,
    Erase,
    FailStacks,
    Lock,
    Phase,
    Scenario,
    Step,
    Unanswered,
    Withdraw,
    at,
    exports,
    imports,
    text,
)

OTHERS = exports({"A": A, "B": text("b2"), "C": text("c2")})
HEALS: tuple[Step, ...] = (Deploy("network", EU, {"Exports": OTHERS}), Deploy("network", EU, {"Exports": ABC}))
"""Changes every value but A, which is claimed, and back: that removes stale claims on them."""
HEALS_A: tuple[Step, ...] = (
    Deploy("network", EU, {"Exports": exports({**OTHERS["Values"], "A": text("a2")})}),
    Deploy("network", EU, {"Exports": ABC}),
)


HOLD = {"Hold": "network-Exports"}
HELD = (Deploy("network", EU, {"Exports": ABC | HOLD}),)
HEALS_HELD: tuple[Step, ...] = (Deploy("network", EU, {"Exports": OTHERS | HOLD}), *HELD)
HEALS_A_HELD: tuple[Step, ...] = (
    Deploy("network", EU, {"Exports": exports({**OTHERS["Values"], "A": text("a2")}, **HOLD)}),
    *HELD,
)
MORE = {"More": exports({"D": text("d1")}, Hold="network-More")}
HELD_AND_CLAIMED = (*HELD, Deploy("web", US, {"Imports": imports("A")}))


def shared(password: str) -> dict[str, object]:
    """Properties of an Export to everybody."""
    return {"Region": US, "Values": {"A": A, "P": password}, "SecureKeys": ["P"]}


def change(properties: dict[str, object] | None, phase: str = "") -> Change:
    """What happens to the stack web's Import."""
    return Change("web", US, "Imports", properties, phase)


HOLDING = (
    Scenario("import: create with a hold", HELD, change(imports("A", "B")), strands=True, heals=HEALS_A_HELD),
    Scenario(
        "import: create is refused, as its hold cannot be made",
        (*HELD, FailStacks()),
        change(imports("A")),
        ends="FAILED",
    ),
    Scenario(
        "import: update after another Export got its hold",
        (
            Deploy("network", EU, {"Exports": ABC | HOLD, "More": exports({"D": text("d1")})}),
            Deploy("web", US, {"Imports": imports("A", "D")}),
            Deploy("network", EU, {"Exports": ABC | HOLD, **MORE}),
        ),
        change(imports("A", "D", Revision="2")),
        claimed=(at("A"), at("D")),
    ),
    Scenario(
        "import: update to other names with a hold",
        HELD_AND_CLAIMED,
        change(imports("B", "C")),
        claimed=(at("A"),),
        strands=True,
        heals=HEALS_HELD,
    ),
    Scenario(
        "import: update after Hold was added", (*CLAIMED, *HELD), change(imports("A", Revision="2")), claimed=(at("A"),)
    ),
    Scenario(
        "import: update rolls another one back to its hold",
        (*HELD_AND_CLAIMED, Deploy("web", US, {"Imports": imports("B")}, cleanup=False)),
        change(imports("A"), ROLLBACK),
        claimed=(at("A"), at("B")),
    ),
    Scenario(
        "import: delete with a hold in the cleanup",
        (*HELD_AND_CLAIMED, API, Deploy("web", US, {}, cleanup=False)),
        change(None, CLEANUP),
        claimed=(at("A"),),
    ),
)
"""Their Export names a CloudFormation export."""

IMPORTING = (
    *HOLDING,
    Scenario("import: create", PUBLISHED, change(imports("A", "B")), strands=True, heals=HEALS_A),
    Scenario(
        "import: create of everything, where another stack imports",
        (*PUBLISHED, API),
        change(imports()),
        claimed=(at("A"),),
        strands=True,
        heals=HEALS,
    ),
    Scenario(
        "import: create puts a value back",
        (*PUBLISHED, Erase(at("A"))),
        change(imports("A", "B")),
        mends=True,
        strands=True,
        heals=HEALS_A,
    ),
    Scenario(
        "import: create of a shared and a secure value",
        (
            Deploy("network", EU, {"Exports": shared(text("secure-p"))}),
            Deploy("api", US, {"Imports": imports("A", Shared="true")}),
        ),
        change(imports("A", "P", Shared="true")),
        claimed=(at("A", "_shared"),),
        strands=True,
        heals=tuple(Deploy("network", EU, {"Exports": shared(text(p))}) for p in ("secure-q", "secure-p")),
    ),
    Scenario("import: create of a weak one", PUBLISHED, change(imports("A", Strength="weak"))),
    Scenario(
        "import: create is refused, as there is no such export",
        PUBLISHED,
        change(imports("A", "Absent")),
        ends="FAILED",
    ),
    Scenario(
        "import: create is refused, as nothing is exported",
        (Deploy("network", EU, {}),),
        change(imports("A")),
        ends="FAILED",
    ),
    Scenario("import: update of the Revision", (*CLAIMED, API), change(imports("A", Revision="2")), claimed=(at("A"),)),
    Scenario(
        "import: update to other names",
        CLAIMED,
        change(imports("B", "C")),
        claimed=(at("A"),),
        strands=True,
        heals=HEALS,
    ),
    Scenario(
        "import: update rolls another one back",
        (*CLAIMED, Deploy("web", US, {"Imports": imports("B")}, cleanup=False)),
        change(imports("A"), ROLLBACK),
        claimed=(at("A"), at("B")),
    ),
    Scenario(
        "import: update rolls another one back to a value that is gone",
        (
            *PUBLISHED,
            Deploy("web", US, {"Imports": imports("A", "B", Strength="weak")}),
            Deploy("web", US, {"Imports": imports("B")}, cleanup=False),
            Deploy("network", EU, {"Exports": exports({"B": ABC["Values"]["B"]})}),
        ),
        change(imports("A", "B", Strength="weak"), ROLLBACK),
        claimed=(at("B"),),
    ),
    Scenario(
        "import: update rolls another one back to a value whose key is gone",
        (
            Deploy("network", EU, {"Exports": ABC, "More": exports({"P": text("secure-p")}, SecureKeys=["P"])}),
            Deploy("web", US, {"Imports": imports("A", "P")}),
            Deploy("web", US, {"Imports": imports("B")}, cleanup=False),
            Lock(US),
        ),
        change(imports("A", "P"), ROLLBACK),
        claimed=(at("A"), at("B"), at("P")),
    ),
    Scenario(
        "import: delete of the generation before",
        (*CLAIMED, API, Deploy("web", US, {"Imports": imports("B")}, cleanup=False)),
        change(None, CLEANUP),
        claimed=(at("A"), at("B")),
    ),
    Scenario(
        "import: delete in the cleanup",
        (*CLAIMED, API, Deploy("web", US, {}, cleanup=False)),
        change(None, CLEANUP),
        claimed=(at("A"),),
    ),
    Scenario(
        "import: delete of a Create that was never answered",
        (*CLAIMED, API, Unanswered("web", US, "Imports")),
        change(None, "ROLLBACK_IN_PROGRESS"),
        claimed=(at("A"),),
    ),
    Scenario(
        "import: delete removes a withdrawn value with its last claim",
        (
            *CLAIMED,
            Deploy("network", EU, {}, cleanup=False),
            Withdraw("network", EU),
            Deploy("web", US, {}, cleanup=False),
        ),
        change(None, CLEANUP),
    ),
    Scenario(
        "import: delete leaves a withdrawn value that others hold",
        (
            *CLAIMED,
            API,
            Deploy("network", EU, {}, cleanup=False),
            Withdraw("network", EU),
            Deploy("web", US, {}, cleanup=False),
        ),
        change(None, CLEANUP),
        claimed=(at("A"),),
    ),
    Scenario(
        "import: delete with its stack cleans what is published for it",
        (*PUBLISHED, Deploy("web", US, {"Imports": imports("A", "B")}), API),
        change(None),
        claimed=(at("A"),),
    ),
    Scenario(
        "import: delete in a nested stack whose root is deleted",
        (
            *PUBLISHED,
            Deploy("web", US, {}),
            Deploy("web-Nested-1ABC", US, {"Imports": imports("A", "B")}, root="web"),
            Phase("web", US, "DELETE_IN_PROGRESS"),
        ),
        Change("web-Nested-1ABC", US, "Imports", None),
    ),
)
