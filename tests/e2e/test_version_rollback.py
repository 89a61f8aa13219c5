"""The way back: this version has written, the old one is installed again, goes on with it all, and is upgraded again.

docs/releases.md says what to do about holds first. The old version does not know the index, either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.hold_stacks import HOLDS
from tests.e2e.harness import Aws
from tests.e2e.templates import EMPTY, EU, US, export, exporting, held
from tests.e2e.test_upgrade import PLAIN, deploy_old_version, install_old_version, left, live, stored, taking
from tests.support.emulator import sam

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator

FRESH = {"F": "f1", "List": ["a", "b"], "Secret": "s1", **{f"Long{number}": "x" * 300 for number in range(20)}}
"""More than one parameter of a record can have, and a secret."""

ROLLED_BACK = "UPDATE_ROLLBACK_COMPLETE"


def fresh(**changes: Any) -> dict[str, Any]:
    """An Export that this version creates: to two regions."""
    return exporting({**FRESH, **changes}, consumer="shop", region=[EU, US], SecureKeys=["Secret"])


def test_the_old_version_goes_on_with_what_this_one_wrote_and_nothing_is_lost(
    emulator: Emulator, built: Path, tmp_path: Path
) -> None:
    aws = Aws(emulator, "252525252525")
    old = install_old_version(aws, tmp_path)
    for name, region, template in live():
        aws.deploy(name, template, region, "CREATE_COMPLETE")
    upgrade(aws, built)
    write_with_this_version(aws)
    written = stored(aws)

    deploy_old_version(aws, old)
    assert "Version" not in aws.outputs(sam.APPLICATION, EU)
    assert stored(aws) == written
    still_refused(aws)
    tend(aws)
    assert stored(aws) == written
    go_on(aws)

    upgrade(aws, built)
    still_refused(aws)
    delete_everything(aws)


def upgrade(aws: Aws, built: Path) -> None:
    sam.deploy_everywhere(aws.emulator, built / "template.yaml", account=aws.account)
    assert "Version" in aws.outputs(sam.APPLICATION, EU)


def tend(aws: Aws) -> None:
    """Have the janitors of the installed version go through both regions."""
    for region in (US, EU):
        invoked = aws.invoke("Janitor", {"detail-type": "Scheduled Event"}, region)
        assert not invoked.failed, invoked.result


def write_with_this_version(aws: Aws) -> None:
    """Stacks of the old version are changed, and others are created."""
    aws.deploy("plain", exporting({**PLAIN, "B": "b1"}, consumer="web"), EU, "UPDATE_COMPLETE")
    aws.deploy("web", taking("plain", "A", "List", "Map.Key", "B"), US, "UPDATE_COMPLETE")
    aws.deploy("fresh", fresh(), EU, "CREATE_COMPLETE")
    aws.deploy("shop", taking("fresh", "F", "List", "Secret"), US, "CREATE_COMPLETE")


def still_refused(aws: Aws) -> None:
    """What is imported is neither changed nor dropped, whichever version exported and imported it."""
    refusals = [
        ("plain", exporting({**PLAIN, "A": "a2", "B": "b1"}, consumer="web"), "web"),
        ("plain", exporting(PLAIN, consumer="web"), "web"),
        ("fresh", fresh(F="f2"), "shop"),
        ("fresh", fresh(Secret="s2"), "shop"),
        ("spread", exporting({"Everywhere": "e2"}, consumer="web", region=[EU, US]), "here"),
    ]
    for name, template, importer in refusals:
        aws.deploy(name, template, EU, ROLLED_BACK)
        assert f"imported by stack {importer} (" in " ".join(aws.reasons(name, EU)), name


def go_on(aws: Aws) -> None:
    """The old version changes, imports and releases what this one wrote."""
    aws.deploy("fresh", fresh(New="n1", Long1="shorter"), EU, "UPDATE_COMPLETE")
    done = aws.deploy("shop", taking("fresh", "F", "List", "Secret", "New"), US, "UPDATE_COMPLETE")
    assert done.status == "UPDATE_COMPLETE"
    aws.deploy("kiosk", taking("fresh", "F", Consumer="shop"), US, "CREATE_COMPLETE")
    aws.deploy("shop", EMPTY, US, "UPDATE_COMPLETE")
    aws.deploy("fresh", fresh(New="n2", Secret="s2"), EU, "UPDATE_COMPLETE")
    aws.deploy("fresh", fresh(F="f2"), EU, ROLLED_BACK)
    aws.deploy("shop", taking("fresh", "F", "New", Revision="2"), US, "UPDATE_COMPLETE")


def delete_everything(aws: Aws) -> None:
    for name in ("web", "vault", "zones", "shop", "kiosk"):
        aws.delete(name, US)
    aws.delete("here", EU)
    for name in ("plain", "secure", "shared", "spread", "fresh"):
        aws.delete(name, EU)
    assert left(aws) == set()


def test_holds_wait_for_the_upgrade_and_are_cleaned_up_after_it(
    emulator: Emulator, built: Path, tmp_path: Path
) -> None:
    aws = Aws(emulator, "242424242424")
    old = install_old_version(aws, tmp_path)
    upgrade(aws, built)
    for name in ("held", "freed"):
        aws.deploy(name, held({"Exports": export({"A": "1"}, consumer=f"of-{name}")}), EU, "CREATE_COMPLETE")
        aws.deploy(f"of-{name}", taking(name, "A"), US, "CREATE_COMPLETE")
    # The documented preparation: the Export no longer names its hold, and the output stays until no import holds it.
    freed = held({"Exports": export({"A": "1"}, consumer="of-freed")})
    del freed["Resources"]["Exports"]["Properties"]["Hold"]
    aws.deploy("freed", freed, EU, "UPDATE_COMPLETE")

    written = stored(aws)
    deploy_old_version(aws, old)
    assert stored(aws) == written
    # The value is as safe as before; what has a Hold cannot be updated.
    changed = held({"Exports": export({"A": "2"}, consumer="of-held")})
    aws.deploy("held", changed, EU, "UPDATE_ROLLBACK_FAILED")
    assert "Hold" in " ".join(aws.reasons("held", EU))
    aws.deploy("of-held", EMPTY, US, "UPDATE_COMPLETE")
    assert len(aws.parameters(EU, HOLDS)) == 2

    upgrade(aws, built)
    aws.continue_rollback("held", EU)
    assert aws.values(US, "/strongref/exports/of-held/") != {}
    tend(aws)
    # The janitor spares a hold that is younger than an hour: the documented way out is to delete its stack.
    (left_over,) = aws.parameters(EU, HOLDS)
    assert left_over.split("/")[3] == "held-Exports"
    aws.delete(aws.tags(EU, left_over)["aws:cloudformation:stack-name"], EU)
    aws.deploy("held", changed, EU, "UPDATE_COMPLETE")
    for name, region in (("of-held", US), ("of-freed", US), ("held", EU), ("freed", EU)):
        aws.delete(name, region)
    assert left(aws) == set()
