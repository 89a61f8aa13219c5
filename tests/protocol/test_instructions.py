"""Plans and what is stored, as values: what counts as a mere creation, what a plan says and counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from strongref.contract.names import PRODUCER_TAG, Key
from strongref.errors import AccessDeniedError
from strongref.protocol.executor import PlanExecutor
from strongref.protocol.plan import (
    Create,
    Delete,
    ExportPlan,
    GiveUpOwnership,
    Overwrite,
    TakeOwnership,
    WriteRecord,
    refusal_of,
)
from strongref.protocol.recreation import PatientWriter
from strongref.protocol.stored_exports import StoredExports
from strongref.refusals import ConflictingExportError, ExportsInUseError, InUse
from tests.support.builders import ME, NETWORK, SCOPE, SHOP, WEB, record, stock, text, values

A, B, C = Key("A"), Key("B"), Key("C")
NONE: frozenset[int] = frozenset()
CREATE, NEW = Create(A, text("1"), {}), WriteRecord("Exports", record(A="1"), NONE)


def test_a_creation_writes_its_record_last() -> None:
    made = ExportPlan(SCOPE, (NEW, CREATE)).as_creation()
    assert made
    assert made.instructions == (CREATE, NEW)


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(ExportPlan(SCOPE, refusals=(ConflictingExportError(["A"], "More"),)), id="refused"),
        pytest.param(ExportPlan(SCOPE, (NEW, CREATE), propagated={A: (WEB,)}), id="propagates"),
        pytest.param(ExportPlan(SCOPE, (NEW, CREATE), kept={A: (WEB,)}), id="keeps"),
        pytest.param(ExportPlan(SCOPE, (NEW, CREATE, Overwrite(B, text("2"), {}))), id="changes"),
        pytest.param(ExportPlan(SCOPE, (replace(NEW, used=frozenset([0])), CREATE)), id="has a record"),
        pytest.param(ExportPlan(SCOPE, (replace(NEW, record=None),)), id="deletes its record"),
    ],
)
def test_what_does_anything_else_is_no_creation(plan: ExportPlan) -> None:
    assert plan.as_creation() is None


def test_a_plan_counts_a_value_of_another_type_as_changed() -> None:
    taken, changed = TakeOwnership(A, text("1"), {}), Overwrite(A, text("1"), {})
    again = (Delete((A,)), CREATE)
    plan = ExportPlan(SCOPE, (Create(B, text("1"), {}), *again, changed, taken, GiveUpOwnership(A), Delete((C,))))
    assert plan.counts() == {"made": 1, "changed": 2, "adopted": 1, "dropped": 2}


def test_values_in_use_are_reported_for_all_places_together() -> None:
    used = [InUse("A", "changed", (WEB,)), InUse("B", "dropped", (SHOP,))]
    plans = [ExportPlan(SCOPE, refusals=(ExportsInUseError([each], {SHOP}),)) for each in used]
    refused = refusal_of(plans)
    assert isinstance(refused, ExportsInUseError)
    assert (refused.in_use, set(refused.unknown)) == (used, {SHOP})


@pytest.mark.parametrize(
    ("stored", "lost"),
    [
        (StoredExports({}, None), False),
        (StoredExports({}, None, named=True), True),
        (StoredExports({}, record(), unreadable=True), True),
        (StoredExports({}, record(), named=True), False),
        (StoredExports({}, None, withdrawn=record(), named=True), False),
    ],
)
def test_a_record_is_lost_if_it_is_unreadable_or_gone_without_its_mark(stored: StoredExports, lost: bool) -> None:
    assert stored.lost is lost


def test_a_record_left_open_does_not_say_what_tags_say() -> None:
    assert stock(mine=record(A="1")).owned_by(ME, A)
    assert not stock(mine=replace(record(A="1"), open=True)).owned_by(ME, A)


class Denying:
    """A store in which a value appeared meanwhile that may not be overwritten."""

    region = "us-east-1"

    def tags(self, _name: str) -> dict[str, str]:
        return {PRODUCER_TAG: NETWORK}

    def overwrite(self, name: str, *_what: object) -> int:
        raise AccessDeniedError("PutParameter", "AccessDeniedException", name, self.region)


def test_a_value_that_may_not_be_overwritten_is_not_deleted_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    store = cast("Any", Denying())
    monkeypatch.setattr(PatientWriter, "create", lambda _writer, name, *_what: store.tags(name))
    executor = PlanExecutor(PatientWriter(store, cast("Any", None), cast("Any", None)), ME)
    with pytest.raises(AccessDeniedError):
        executor._create("name", text("1"), values())  # type: ignore[arg-type]
