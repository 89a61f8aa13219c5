"""What is found in a scope, and what is done about it, as values: no store, no CloudFormation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.names import Key, owner_tag
from strongref.contract.record import Record, StoredRecord
from strongref.protocol.findings import Finding, FindingType, Repairs, ScopeSnapshot, examine, lost_records
from strongref.protocol.stored_exports import Owner, ValueTags
from tests.support.builders import FORMER, NETWORK, SCOPE, WEB, claims, ours, record, values

if TYPE_CHECKING:
    from collections.abc import Mapping

A, B = Key("A"), Key("B")
TORN = StoredRecord(None, torn=True, numbers=frozenset([0]))
GONE = ValueTags(Owner.OURS, NETWORK, {owner_tag("Gone"): "Gone"}, claims(WEB))


def complete(what: Record) -> StoredRecord:
    return StoredRecord(what, torn=False, numbers=frozenset([0]))


def examined(records: Mapping[str, StoredRecord], tags: Mapping[Key, ValueTags], **more: Any) -> Repairs:
    """What is found where these values are stored, each with the text 1."""
    stored = values(**{str(key): "1" for key in tags})
    return examine(SCOPE, ScopeSnapshot(records, stored, tags, more.pop("deleted", ()), awaited=True, **more))


def test_what_is_right_is_not_looked_at_again() -> None:
    assert examined({"Exports": complete(record(A="1"))}, {A: ours()}) == Repairs()


def test_next_to_a_record_that_cannot_be_read_claims_on_foreign_values_stay() -> None:
    foreign = ValueTags(Owner.FOREIGN, None, stale=claims(WEB))
    repairs = examined({"Exports": TORN}, {A: ours(stale=(WEB,)), B: foreign})
    assert repairs.untag == {A: claims(WEB)}
    assert repairs.findings[0] == Finding(FindingType.UNREADABLE_RECORD, SCOPE.path("records") + "/Exports")
    assert not repairs.findings[0].why


def test_a_kept_value_is_withdrawn_unless_its_record_is_lost() -> None:
    for lost, kind in (((), FindingType.WITHDRAWN), (("Gone",), FindingType.UNREADABLE_RECORD)):
        (finding,) = examined({}, {A: GONE}, lost=lost).findings
        assert finding.kind is kind
    assert lost_records(GONE, {}) == ["Gone"]
    assert lost_records(GONE, {"Gone": complete(record(B="1"))}) == []


def test_of_a_record_whose_stack_is_gone_only_what_is_stored_and_imported_is_left() -> None:
    repairs = examined({"Old": complete(record(FORMER, A="1", B="1"))}, {A: ours(by=(WEB,))}, deleted=[FORMER])
    assert repairs.records == {"Old": record(FORMER, A="1")}
    assert repairs.needed
    assert Repairs(records={"Old": None}).needed


def test_of_a_record_that_nobody_keeps_nothing_is_left_that_another_one_has() -> None:
    """That would keep the other Export from changing it."""
    records = {"Exports": complete(record(A="1")), "Gone": complete(record(A="1"))}
    repairs = examined(records, {A: ours(by=(WEB,))}, dropped=[("Gone", NETWORK)])
    assert repairs.records == {"Gone": None}


def test_what_could_not_be_repaired_hides_nothing_else() -> None:
    reported, other = Finding(FindingType.FOREIGN, "a"), Finding(FindingType.STRAY, "b")
    failed = Finding(FindingType.FAILED_CALL, "a")
    repairs = Repairs([Finding(FindingType.STALE_CLAIM, "a"), reported, other])
    repairs.note_failures([failed])
    assert repairs.findings == [reported, other, failed]
