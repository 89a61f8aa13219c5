"""What an Export does about what others left: strays, records of former stacks, half-made changes; and Revision."""

from __future__ import annotations

import pytest

from strongref.contract.names import Key
from strongref.contract.record import Record
from strongref.protocol.planner import is_up_to_date, keys_to_inspect
from strongref.refusals import ExportsInUseError
from tests.support.builders import (
    FORMER,
    ME,
    NETWORK,
    WEB,
    does,
    foreign,
    items,
    nobodys,
    ours,
    plan,
    record,
    secure,
    stock,
    text,
    values,
)

A, B, C = Key("A"), Key("B"), Key("C")
TAGS = ME.tags


def test_a_value_that_no_record_holds_is_taken_away() -> None:
    there = stock(values(A="1", B="1", C="1"), record(A="1"))
    assert does(plan(values(A="1"), there, {B: ours(), C: nobodys()})) == {"delete": (B, C)}


def test_one_that_is_claimed_stays_for_its_claim() -> None:
    there = stock(values(A="1"))
    assert does(plan({}, there, {A: ours(by=(WEB,))})) == {}


def test_one_whose_claim_is_stale_goes() -> None:
    made = plan({}, stock(values(A="1")), {A: ours(stale=(WEB,))})
    assert made.delete == (A,)
    assert list(made.heal) == [A]


def test_one_that_is_wanted_again_is_adopted_or_refused_with_another_value() -> None:
    there = stock(values(A="1"))
    assert does(plan(values(A="1"), there, {A: ours(by=(WEB,))})) == {"adopt": {A: TAGS}, "rerecord": True}
    with pytest.raises(ExportsInUseError, match="A cannot be changed"):
        plan(values(A="2"), there, {A: ours(by=(WEB,))})


def test_a_foreign_one_is_left_alone() -> None:
    assert does(plan({}, stock(values(A="1")), {A: foreign()})) == {}


def test_what_a_former_stacks_record_holds_is_left_alone() -> None:
    there = stock(values(A="1", B="1"), orphans={"Old": record(FORMER, A="1")})
    made = plan(values(C="1"), there, {B: ours()})
    assert does(made) == {"create": {C: (text("1"), TAGS)}, "delete": (B,), "rerecord": True}


def test_what_is_taken_over_is_taken_out_of_a_former_stacks_record() -> None:
    there = stock(values(A="1", B="1", C="1"), orphans={"Old": record(FORMER, A="1", B="1", C="1")})
    made = plan(values(A="1", B="2"), there, {A: nobodys(by=(WEB,)), B: nobodys()})
    assert does(made) == {
        "overwrite": values(B="2"),
        "adopt": {A: TAGS, B: TAGS},
        "orphans": {"Old": record(FORMER, C="1")},
        "rerecord": True,
    }


def test_a_former_stacks_record_is_emptied_when_all_is_taken_over() -> None:
    there = stock(values(A="1"), orphans={"Old": record(FORMER, A="1"), "Older": record(FORMER, B="1")})
    assert plan(values(A="1"), there, {A: nobodys()}).orphans == {"Old": None}


def test_what_is_dropped_is_not_exported_on_by_a_former_stacks_record() -> None:
    there = stock(values(A="1"), record(A="1"), orphans={"Old": record(FORMER, A="1")})
    made = plan({}, there, {A: ours()})
    assert does(made) == {"delete": (A,), "orphans": {"Old": None}, "rerecord": True}


def test_a_take_over_that_died_half_way_is_not_settled() -> None:
    there = stock(values(A="1"), record(A="1"), orphans={"Old": record(FORMER, A="2")})
    assert not is_up_to_date(ME, values(A="1"), there)
    made = plan(values(A="1"), there)
    assert does(made) == {"orphans": {"Old": None}}
    assert made.writes == 1


def test_a_value_put_back_from_a_former_stacks_record_is_adopted_with_its_change() -> None:
    made = plan(values(A="2"), stock(values(A="1"), record(A="1")), {A: nobodys()})
    assert does(made) == {"overwrite": values(A="2"), "adopt": {A: TAGS}, "rerecord": True}


def test_a_change_that_died_after_its_record_is_finished() -> None:
    there = stock(values(A="1", B="1"), record(A="2", C="1"))
    assert not is_up_to_date(ME, values(A="2", C="1"), there)
    made = plan(values(A="2", C="1"), there, {A: ours(), B: ours()})
    assert does(made) == {"create": {C: (text("1"), TAGS)}, "overwrite": values(A="2"), "delete": (B,)}


def test_one_that_died_before_its_record_is_made_as_if_it_were_the_first() -> None:
    there = stock(values(A="1"), record(A="1"), litter=False)
    assert does(plan(values(A="2"), there, {A: ours()})) == {"overwrite": values(A="2"), "rerecord": True}


@pytest.mark.parametrize("wanted", [values(A="1"), {}])
def test_parts_of_a_record_that_cannot_be_read_are_written_again_or_cleared(wanted: dict[Key, object]) -> None:
    there = stock(litter=True)
    made = plan(values(A="1") if wanted else {}, there)
    assert made.rerecord
    assert made.writes > 0
    assert not is_up_to_date(ME, values(A="1") if wanted else {}, there)


def test_another_revision_writes_every_value_again_and_keeps_claims_out_of_it() -> None:
    there = stock(values(A="1", B="1"), record(A="1", B="1", C="1"))
    made = plan(values(A="1", B="1", C="1"), there, rewrite=[A, B, C])
    assert does(made) == {"overwrite": values(A="1", B="1"), "create": {C: (text("1"), TAGS)}}


def test_a_rewrite_next_to_a_change_names_no_key_twice() -> None:
    before, wanted = values(A="1", B="1", C="1", Moved="1"), values(A="2", B=secure("1"), C="1")
    moved = Key("Moved")
    there = stock(before, Record(NETWORK, before))
    made = plan(wanted, there, {A: ours(), B: ours(), moved: ours()}, rewrite=[A, B, C, moved])
    assert does(made) == {
        "overwrite": values(A="2", C="1"),
        "remake": {B: (secure("1"), TAGS)},
        "delete": (moved,),
        "rerecord": True,
    }


def test_a_rewrite_does_not_get_round_a_claim() -> None:
    there = stock(values(A="1"), record(A="1"))
    with pytest.raises(ExportsInUseError):
        plan(values(A="2"), there, {A: ours(by=(WEB,))}, rewrite=[A])


def test_deletes_are_counted_in_batches_of_ten() -> None:
    keys = {f"K{number}": "1" for number in range(21)}
    there = stock(values(**keys), record(**keys))
    made = plan({}, there, {key: ours() for key in there.stored})
    assert made.writes == 1 + 3 + 1  # the record is marked as withdrawn, and goes when all values are gone


def test_only_tags_that_decide_are_read() -> None:
    there = stock(
        values(Same="1", Differs="1", Dropped="1", Stray="1", Theirs="1", Both="1", Orphaned="1", New=items("x")),
        record(Same="1", Differs="1", Dropped="1", Both="1", Gone="1"),
        others={"More": record(Theirs="1", Both="1")},
        orphans={"Old": record(FORMER, Orphaned="1", Dropped="1")},
    )
    wanted = values(Same="1", Differs="2", New=items("x"), Created="1")
    assert keys_to_inspect(ME, wanted, there) == ["Differs", "Dropped", "Stray", "New"]
