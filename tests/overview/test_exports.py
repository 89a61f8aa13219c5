"""What is exported and imported, given what was read of a region."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from strongref.contract.holds import HoldStack
from strongref.contract.names import (
    CLAIM_TAG,
    PRODUCER_TAG,
    RESTORED,
    ExportScope,
    Key,
    ManifestSet,
    Producer,
    claim_tag,
)
from strongref.contract.record import Record
from strongref.contract.values import ParameterType, Value
from strongref.protocol.published import RecordedExports
from strongref_operations.diagnosis import unprotected
from strongref_overview.building import graph_of
from strongref_overview.exports import (
    Claim,
    ExportState,
    ImportState,
    Protection,
    StackDates,
    StoredRegion,
    StoredValue,
    exported_values,
    participant_of,
)
from strongref_overview.graph import Participant
from tests.support.builders import ACCOUNT, stack_arn

EU, US = "eu-west-1", "us-east-1"
NETWORK, WEB = stack_arn("network", EU), stack_arn("web", US)
PRODUCER = Producer(ACCOUNT, EU, "network")
SCOPE = ExportScope("web", PRODUCER)
A = Key("A")
TAG = claim_tag("strongref-import/web/Imports/1")
CHANGED = datetime(2026, 1, 2, tzinfo=UTC)
BEFORE, AFTER = CHANGED - timedelta(days=1), CHANGED + timedelta(days=1)
HOLD = "network-Exports"


def region(
    tags: dict[str, str] | None,
    *,
    recorded: bool = True,
    hold: str = "",
    stacks: dict[str, StackDates] | None = None,
    torn: bool = False,
) -> StoredRegion:
    """One with a value, unless it has no tags, and its record, unless it has none."""
    values = {A: Value(ParameterType.STRING, "a value that is not to be shown")} if recorded else {}
    records = {SCOPE: RecordedExports({"Exports": Record(NETWORK, values, hold=hold)}, torn)}
    stored = {} if tags is None else {SCOPE: {A: StoredValue(CHANGED, {PRODUCER_TAG: NETWORK, **tags})}}
    return StoredRegion(ACCOUNT, US, records, stored, stacks or {})


def state(stored: StoredRegion) -> ExportState:
    (value,) = exported_values(stored, {})
    return value.state


def claim(stored: StoredRegion, held: dict[tuple[str, str], frozenset[str]] | None = None) -> Claim:
    (value,) = exported_values(stored, held or {})
    (found,) = value.claims
    return found


def test_a_value_is_compared_with_its_record() -> None:
    assert state(region({})) is ExportState.PUBLISHED
    assert state(region(None)) is ExportState.MISSING
    assert state(region({}, recorded=False)) is ExportState.WITHDRAWN
    foreign = region({})
    foreign = replace(foreign, values={SCOPE: {A: StoredValue(CHANGED, {})}})
    assert state(foreign) is ExportState.FOREIGN


def test_a_value_that_was_put_back_says_so_until_it_is_claimed() -> None:
    assert state(region(RESTORED)) is ExportState.RESTORED
    assert state(region({**RESTORED, TAG: WEB})) is ExportState.PUBLISHED


def test_what_may_be_in_a_torn_record_is_left_out() -> None:
    assert list(exported_values(region({}, recorded=False, torn=True), {})) == []


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (StackDates(AFTER), ImportState.CURRENT),
        (StackDates(BEFORE, {TAG: AFTER}), ImportState.CURRENT),
        (StackDates(BEFORE, {TAG: BEFORE}), ImportState.OUTDATED),
        (StackDates(BEFORE, {"another": AFTER}), ImportState.GONE),
        (StackDates(BEFORE, {"another": AFTER}, at_rest=False), ImportState.UNKNOWN),
        (StackDates(BEFORE, {TAG: BEFORE}, at_rest=False), ImportState.OUTDATED),
        (None, ImportState.GONE),
    ],
)
def test_an_import_is_outdated_if_the_value_changed_after_it(dates: StackDates | None, expected: ImportState) -> None:
    assert claim(region({TAG: WEB}, stacks={WEB: dates} if dates else {})).state is expected


@pytest.mark.parametrize(
    "importer",
    [
        str(ManifestSet(ACCOUNT, "shop")),
        WEB.replace(ACCOUNT, "222222222222"),
        WEB.replace(US, EU),
        "anything",
    ],
)
def test_nothing_is_said_of_an_importer_that_is_elsewhere(importer: str) -> None:
    assert claim(region({TAG: importer})).state is ImportState.UNKNOWN


def hold_of(importer: str) -> tuple[str, str]:
    hold = HoldStack(importer, "any", TAG, ACCOUNT, US, "web", replace(PRODUCER, stack=""))
    return EU, hold.hash


@pytest.mark.parametrize("importer", [WEB, str(ManifestSet(ACCOUNT, "shop"))])
def test_a_claim_is_protected_by_its_own_hold(importer: str) -> None:
    bare, named = region({TAG: importer}), region({TAG: importer}, hold=HOLD)
    assert claim(bare).protection is Protection.NONE
    assert claim(named).protection is Protection.UNHELD
    assert claim(named, {hold_of(importer): frozenset({"another"})}).protection is Protection.UNHELD
    assert claim(named, {(US, hold_of(importer)[1]): frozenset({HOLD})}).protection is Protection.UNHELD
    assert claim(named, {hold_of(importer): frozenset({HOLD})}).protection is Protection.HELD


def test_an_import_of_the_producer_itself_needs_no_hold() -> None:
    assert claim(region({TAG: NETWORK}, hold=HOLD)).protection is Protection.HELD


def test_an_import_of_what_it_is_nested_in_needs_no_hold() -> None:
    between = stack_arn("network-Between", EU)
    nested = {WEB: StackDates(AFTER, parent=between), between: StackDates(AFTER, parent=NETWORK)}
    assert claim(region({TAG: WEB}, hold=HOLD, stacks=nested)).protection is Protection.HELD
    elsewhere = {WEB: StackDates(AFTER, parent=between), between: StackDates(AFTER)}
    assert claim(region({TAG: WEB}, hold=HOLD, stacks=elsewhere)).protection is Protection.UNHELD


def test_what_another_account_exports_cannot_be_held() -> None:
    theirs = replace(region({TAG: WEB.replace(ACCOUNT, "222222222222")}, hold=HOLD), account="222222222222")
    assert claim(theirs).protection is Protection.NONE
    (value,) = exported_values(theirs, {})
    assert list(unprotected([value])) == []


def test_what_is_gone_or_foreign_is_no_reference() -> None:
    deleted, alive = WEB.replace("web", "gone"), {WEB: StackDates(AFTER)}
    stored = region({TAG: WEB, claim_tag("another"): deleted}, stacks=alive)
    strange = ExportScope("web", replace(PRODUCER, stack="strange"))
    stored = replace(stored, values={**stored.values, strange: {A: StoredValue(CHANGED, {})}})
    graph = graph_of(exported_values(stored, {}), CHANGED)
    assert sorted(each.name for each in graph.participants) == ["network", "web"]
    assert [each.importer.name for each in graph.references] == ["web"]


def test_a_claim_names_a_stack_manifests_or_what_it_says() -> None:
    assert participant_of(WEB) == Participant(ACCOUNT, US, "web")
    assert participant_of(str(ManifestSet(ACCOUNT, "shop"))) == Participant(ACCOUNT, "", "shop", "manifests")
    odd = participant_of("x" * 500)
    assert (odd.kind, len(odd.name)) == ("unknown", 120)


def test_other_tags_are_no_claims() -> None:
    (value,) = exported_values(region({"team": "web", f"{CLAIM_TAG[:-1]}": "x"}), {})
    assert value.claims == ()
