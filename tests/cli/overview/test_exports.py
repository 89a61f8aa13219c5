"""What is exported and imported, given what was read of a region."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from strongref.contract.hold_stacks import HoldStack
from strongref.contract.index import IndexEntry, Place, index_name
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
from strongref.text import stack_text
from strongref_cli.doctor.diagnosis import unprotected
from strongref_cli.overview.exports import (
    Claim,
    ExistingStack,
    PlaceAbroad,
    ProducerRegion,
    StoredRegion,
    StoredValue,
    exported_values,
    graph_of,
    participant_of,
)
from strongref_cli.overview.graph import Participant
from strongref_cli.overview.states import ExportState, ImportState, Protection
from tests.support.builders import ACCOUNT, stack_arn

if TYPE_CHECKING:
    from collections.abc import Mapping

EU, US = "eu-west-1", "us-east-1"
NETWORK, WEB = stack_arn("network", EU), stack_arn("web", US)
PRODUCER = Producer(ACCOUNT, EU, "network")
SCOPE = ExportScope("web", PRODUCER)
A = Key("A")
TAG = claim_tag("strongref-import/web/Imports/1")
CHANGED = datetime(2026, 1, 2, tzinfo=UTC)
BEFORE, AFTER = CHANGED - timedelta(days=1), CHANGED + timedelta(days=1)
HOLD = "network-Exports"
B, C = "222222222222", "333333333333"
THEIR_WEB = WEB.replace(ACCOUNT, B)


def region(
    tags: dict[str, str] | None,
    *,
    recorded: bool = True,
    hold: str = "",
    stacks: dict[str, ExistingStack] | None = None,
    torn: bool = False,
) -> StoredRegion:
    """One with a value, unless it has no tags, and its record, unless it has none."""
    values = {A: Value(ParameterType.STRING, "a value that is not to be shown")} if recorded else {}
    records = {SCOPE: RecordedExports({"Exports": Record(NETWORK, values, hold=hold)}, torn)}
    there = StoredValue(CHANGED, {PRODUCER_TAG: NETWORK, **(tags or {})}, CHANGED if recorded else None)
    stored = {} if tags is None else {SCOPE: {A: there}}
    return StoredRegion(ACCOUNT, US, records, stored, stacks or {})


def homes(held: dict[str, frozenset[str]] | None = None, *stacks: str) -> dict[str, ProducerRegion]:
    """The producer's region, where it exists unless other stacks are named."""
    return {EU: ProducerRegion(dict.fromkeys(stacks or [NETWORK], ExistingStack(BEFORE)), held or {})}


def state(stored: StoredRegion, found: Mapping[str, ProducerRegion] | None = None) -> ExportState:
    (value,) = exported_values(stored, homes() if found is None else found, stored.account)
    return value.state


def claim(stored: StoredRegion, held: dict[str, frozenset[str]] | None = None) -> Claim:
    (value,) = exported_values(stored, homes(held), stored.account)
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


def test_what_may_be_in_a_torn_record_is_unreadable() -> None:
    torn = region({TAG: WEB}, recorded=False, torn=True)
    assert (state(torn), claim(torn).protection) == (ExportState.UNREADABLE, Protection.UNKNOWN)
    assert state(region({}, torn=True)) is ExportState.PUBLISHED  # another record has it


def test_the_value_of_a_deleted_producer_is_orphaned() -> None:
    another = stack_arn("another", EU)
    assert state(region({}), homes({}, another)) is ExportState.ORPHANED
    assert state(region(None), homes({}, another)) is ExportState.MISSING
    assert state(region({}), {}) is ExportState.PUBLISHED  # nobody knows
    assert state(replace(region({}), account="222222222222"), homes({}, another)) is ExportState.PUBLISHED


@pytest.mark.parametrize(
    ("modified", "recorded", "expected"),
    [
        (AFTER, AFTER, ImportState.OUTDATED),
        (AFTER, None, ImportState.OUTDATED),
        (AFTER, BEFORE, ImportState.CURRENT),  # by hand, or the same value again
        (BEFORE, AFTER, ImportState.CURRENT),  # another value of the Export changed
    ],
)
def test_an_import_is_outdated_if_record_and_parameter_are_younger(
    modified: datetime, recorded: datetime | None, expected: ImportState
) -> None:
    value = StoredValue(modified, {PRODUCER_TAG: NETWORK, TAG: WEB}, recorded)
    stored = region({}, stacks={WEB: ExistingStack(BEFORE, {TAG: CHANGED})})
    assert claim(replace(stored, values={SCOPE: {A: value}})).state is expected


@pytest.mark.parametrize(
    ("web", "expected"),
    [
        (ExistingStack(AFTER), ImportState.CURRENT),
        (ExistingStack(BEFORE, {TAG: AFTER}), ImportState.CURRENT),
        (ExistingStack(BEFORE, {TAG: BEFORE}), ImportState.OUTDATED),
        (ExistingStack(BEFORE, {"another": AFTER}), ImportState.STALE),
        (ExistingStack(BEFORE, {"another": AFTER}, at_rest=False), ImportState.UNKNOWN),
        (ExistingStack(BEFORE, {TAG: BEFORE}, at_rest=False), ImportState.OUTDATED),
        (None, ImportState.STALE),
    ],
)
def test_an_import_is_outdated_if_the_value_changed_after_it(web: ExistingStack | None, expected: ImportState) -> None:
    assert claim(region({TAG: WEB}, stacks={WEB: web} if web else {})).state is expected


@pytest.mark.parametrize(
    "importer",
    [str(ManifestSet(ACCOUNT, "shop")), WEB.replace(ACCOUNT, "222222222222"), WEB.replace(US, EU), "anything"],
)
def test_nothing_is_said_of_an_importer_that_is_elsewhere(importer: str) -> None:
    assert claim(region({TAG: importer})).state is ImportState.UNKNOWN


def hold_of(importer: str) -> str:
    return HoldStack(importer, "any", TAG, ACCOUNT, US, "web", replace(PRODUCER, stack="")).hash


@pytest.mark.parametrize("importer", [WEB, str(ManifestSet(ACCOUNT, "shop"))])
def test_a_claim_is_protected_by_its_own_hold(importer: str) -> None:
    bare, named = region({TAG: importer}), region({TAG: importer}, hold=HOLD)
    assert claim(bare).protection is Protection.UNPROTECTED
    assert claim(named).protection is Protection.UNHELD
    assert claim(named, {hold_of(importer): frozenset({"another"})}).protection is Protection.UNHELD
    assert claim(named, {hold_of(importer): frozenset({HOLD})}).protection is Protection.HELD


def test_whether_a_claim_is_held_is_unknown_without_the_producers_region() -> None:
    (value,) = exported_values(
        region({TAG: WEB}, hold=HOLD), {US: ProducerRegion({}, {hold_of(WEB): frozenset({HOLD})})}, ACCOUNT
    )
    assert [each.protection for each in value.claims] == [Protection.UNKNOWN]


def test_an_import_of_the_producer_itself_needs_no_hold() -> None:
    assert claim(region({TAG: NETWORK}, hold=HOLD)).protection is Protection.HELD


def test_an_import_of_what_it_is_nested_in_needs_no_hold() -> None:
    between = stack_arn("network-Between", EU)
    nested = {WEB: ExistingStack(AFTER, parent=between), between: ExistingStack(AFTER, parent=NETWORK)}
    assert claim(region({TAG: WEB}, hold=HOLD, stacks=nested)).protection is Protection.HELD
    elsewhere = {WEB: ExistingStack(AFTER, parent=between), between: ExistingStack(AFTER)}
    assert claim(region({TAG: WEB}, hold=HOLD, stacks=elsewhere)).protection is Protection.UNHELD


def test_whether_another_account_holds_what_it_exports_is_unknown() -> None:
    bare = replace(region({TAG: THEIR_WEB}), account=B)
    assert claim(bare).protection is Protection.UNPROTECTED
    (value,) = exported_values(bare, homes(), bare.account)
    assert list(unprotected([value])) == []
    assert claim(replace(region({TAG: THEIR_WEB}, hold=HOLD), account=B)).protection is Protection.UNKNOWN


@pytest.mark.parametrize(
    ("place", "held", "expected"),
    [
        (Place(B, US, "web"), {HOLD}, Protection.HELD),
        (Place(B, US, "web"), {"another"}, Protection.UNHELD),
        (Place(C, US, "web"), {HOLD}, Protection.UNHELD),
        (Place(B, EU, "web"), {HOLD}, Protection.UNHELD),
        (Place(B, US, "shop"), {HOLD}, Protection.UNHELD),
    ],
)
def test_claims_in_another_account_share_the_hold_of_their_place(
    place: Place, held: set[str], expected: Protection
) -> None:
    there = replace(region({TAG: THEIR_WEB}, hold=HOLD, stacks={THEIR_WEB: ExistingStack(AFTER)}), account=B)
    home = {EU: ProducerRegion({NETWORK: ExistingStack(BEFORE)}, {}, {place: frozenset(held)})}
    (value,) = exported_values(there, home, ACCOUNT)
    assert (value.where, value.state) == (f"{US} of account {B}", ExportState.PUBLISHED)
    assert [(each.state, each.protection) for each in value.claims] == [(ImportState.CURRENT, expected)]


def test_the_values_of_a_region_in_two_accounts_are_not_merged() -> None:
    """Nor are their references, or places that nobody read."""
    both = [replace(region({TAG: str(ManifestSet(ACCOUNT, "shop"))}), account=each) for each in (ACCOUNT, B, C)]
    values = [value for each in both for value in exported_values(each, homes(), ACCOUNT)]
    assert len({*values}) == 3
    shown = [(each.region, each.account) for each in graph_of(values, CHANGED).references]
    assert shown == [(US, ""), (US, B), (US, C)]
    places = [
        PlaceAbroad(PRODUCER, Place(each, US, "web"), is_forgotten=False, is_imported=each == B) for each in (B, C)
    ]
    unread = graph_of([], CHANGED, places=places)
    assert [(each.account, each.importer.account, each.protection) for each in unread.references] == [
        (B, B, Protection.HELD),
        (C, C, Protection.UNKNOWN),
    ]
    gone = PlaceAbroad(PRODUCER, Place(B, US, "web"), is_forgotten=True, is_imported=False)
    graph = graph_of([], CHANGED, places=[gone])
    assert ([each.name for each in graph.participants], graph.references) == (["network"], ())


def test_the_index_names_each_place_of_a_stack_once() -> None:
    """A place is given up only if all its Exports gave it up, and imported if one of them is held there."""
    there, also, own = Place(B, US, "web"), Place(C, US, "web"), Place(ACCOUNT, US, "web")
    index = {
        (index_name("network", "One"), NETWORK): IndexEntry(NETWORK, frozenset({there, also, own}), HOLD),
        (index_name("network", "Two"), NETWORK): IndexEntry(NETWORK, frozenset({there}), forgotten=frozenset({there})),
        (index_name("dns", "One"), NETWORK): IndexEntry(NETWORK, frozenset({there}), forgotten=frozenset({there})),
    }
    stored = StoredRegion(ACCOUNT, EU, index=index)
    held = {there: frozenset({HOLD}), Place(C, EU, "web"): frozenset({HOLD})}
    assert [(*each[:2], each.is_forgotten, each.is_imported) for each in stored.places_abroad(held)] == [
        (replace(PRODUCER, stack="dns"), there, True, False),
        (PRODUCER, there, False, True),
        (PRODUCER, also, False, False),
    ]


def test_the_regions_of_another_accounts_stacks_are_not_read() -> None:
    stored = StoredRegion(B, US, records={SCOPE: RecordedExports({}, torn=False)})
    assert stored.linked(None) == stored.linked("network") == set()


def test_what_is_gone_or_foreign_is_no_reference() -> None:
    deleted, alive = WEB.replace("web", "gone"), {WEB: ExistingStack(AFTER)}
    stored = region({TAG: WEB, claim_tag("another"): deleted}, stacks=alive)
    strange = ExportScope("web", replace(PRODUCER, stack="strange"))
    stored = replace(stored, values={**stored.values, strange: {A: StoredValue(CHANGED, {})}})
    graph = graph_of(exported_values(stored, {}, ACCOUNT), CHANGED)
    assert sorted(each.name for each in graph.participants) == ["network", "web"]
    assert [each.importer.name for each in graph.references] == ["web"]


def test_a_claim_names_a_stack_manifests_or_what_it_says() -> None:
    assert participant_of(WEB) == Participant(ACCOUNT, US, "web")
    assert participant_of(str(ManifestSet(ACCOUNT, "shop"))) == Participant(ACCOUNT, "", "shop", "manifests")
    odd = participant_of("x" * 500)
    assert (odd.kind, len(odd.name)) == ("unknown", 120)


@pytest.mark.parametrize(
    "written",
    ["us-east-1:111111111111:stack/web", "us-east-1:111111111111:stack/", "::stack/web/1", "us-east-1:me:stack/web/1"],
)
def test_what_is_not_the_whole_arn_of_a_stack_names_none(written: str) -> None:
    by_hand = f"arn:aws:cloudformation:{written}"
    assert participant_of(by_hand) == Participant("", "", by_hand, "unknown")
    assert stack_text(by_hand) == f"'{by_hand}'"


def test_other_tags_are_no_claims() -> None:
    (value,) = exported_values(region({"team": "web", f"{CLAIM_TAG[:-1]}": "x"}), {}, ACCOUNT)
    assert value.claims == ()
