"""The rules about what an Export may do to what is stored: desired and stored in, a plan out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from strongref.contract.names import CLAIM_TAG, OWNER_TAG, PRODUCER_TAG, Key, claim_tag, owner_tag
from strongref.contract.record import Record
from strongref.errors import UndecryptableError
from strongref.protocol.phases import ClaimPolicy
from strongref.protocol.plan import CloseRecord, WriteRecord
from strongref.protocol.planner import is_up_to_date, plan_export
from strongref.protocol.stored_exports import Owner, StoredExports, ValueTags, split_tags
from strongref.refusals import ConflictingExportError, ExportsInUseError, ForeignParameterError, InUse
from tests.support.builders import (
    FORMER,
    ME,
    NETWORK,
    SCOPE,
    SHOP,
    WEB,
    claims,
    does,
    foreign,
    items,
    nobodys,
    ours,
    parts,
    plan,
    record,
    secure,
    stack_arn,
    stock,
    text,
    values,
)

if TYPE_CHECKING:
    from strongref.contract.values import Value

A, B, C = Key("A"), Key("B"), Key("C")
MORE = owner_tag("More")
TAGS = {PRODUCER_TAG: NETWORK, owner_tag("Exports"): "Exports"}


def test_an_export_is_tagged_with_its_stack_and_its_logical_id() -> None:
    assert ME.tags == TAGS


def test_tags_are_taken_apart() -> None:
    tags = {PRODUCER_TAG: NETWORK, f"{OWNER_TAG}1": "Exports", f"{CLAIM_TAG}2": WEB, "team": "blue"}
    assert split_tags(tags) == (NETWORK, {f"{OWNER_TAG}1": "Exports"}, {f"{CLAIM_TAG}2": WEB})
    assert split_tags({}) == (None, {}, {})


def test_nothing_wanted_where_nothing_is_needs_nothing() -> None:
    made = plan({}, stock())
    assert does(made) == {}
    assert made.writes == 0
    assert is_up_to_date(ME, {}, stock())


def test_values_that_are_not_there_are_created_with_their_tags() -> None:
    made = plan(values(A="1", B=items("x")), stock())
    assert does(made) == {"create": {A: (text("1"), TAGS), B: (items("x"), TAGS)}, "rerecord": True}
    assert made.record == record(A="1", B=items("x"))
    assert made.writes == 3


def test_what_is_right_is_left_alone_and_no_tag_is_read() -> None:
    there = stock(values(A="1"), record(A="1"))
    made = plan(values(A="1"), there)
    assert does(made) == {}
    assert is_up_to_date(ME, values(A="1"), there)


def test_a_value_that_is_gone_is_created_again() -> None:
    there = stock({}, record(A="1"))
    assert does(plan(values(A="1"), there)) == {"create": {A: (text("1"), TAGS)}}
    assert not is_up_to_date(ME, values(A="1"), there)


def test_an_unclaimed_value_is_changed_added_and_dropped() -> None:
    there = stock(values(A="1", B="1"), record(A="1", B="1"))
    made = plan(values(A="2", C="1"), there, {A: ours(), B: ours()})
    assert does(made) == {
        "create": {C: (text("1"), TAGS)},
        "overwrite": values(A="2"),
        "delete": (B,),
        "rerecord": True,
    }
    assert made.writes == 4


def test_unclaimed_values_change_next_to_claimed_ones_that_stay() -> None:
    there = stock(values(A="1", B="1"), record(A="1", B="1"))
    assert does(plan(values(A="1", B="2"), there, {B: ours()})) == {"overwrite": values(B="2"), "rerecord": True}


def test_a_claimed_value_is_not_changed() -> None:
    there = stock(values(A="1"), record(A="1"))
    with pytest.raises(ExportsInUseError, match=r"^A cannot be changed: it is imported by stack web"):
        plan(values(A="2"), there, {A: ours(by=(WEB,))})


@pytest.mark.parametrize("wanted", [values(B="1"), {}])
def test_a_claimed_value_is_not_dropped(wanted: dict[Key, Value]) -> None:
    there = stock(values(A="1"), record(A="1"))
    with pytest.raises(ExportsInUseError, match=r"^A cannot be dropped: it is imported by stack web"):
        plan(wanted, there, {A: ours(by=(WEB,))})


def test_every_claimed_key_is_named_with_all_who_import_it() -> None:
    there = stock(values(A="1", B="1", C="1", D="1"), record(A="1", B="1", C="1", D="1"))
    holdings = {A: ours(by=(WEB,)), B: ours(by=(SHOP, WEB)), C: ours(), Key("D"): ours(by=(SHOP,))}
    with pytest.raises(ExportsInUseError) as refused:
        plan(values(A="2", C="2", E="1"), there, holdings)
    assert refused.value.in_use == [
        InUse("A", "changed", (WEB,)),
        InUse("B", "dropped", (SHOP, WEB)),
        InUse("D", "dropped", (SHOP,)),
    ]


def test_two_imports_of_one_stack_are_named_once() -> None:
    twice = ValueTags(Owner.OURS, NETWORK, {}, {claim_tag("1"): WEB, claim_tag("2"): WEB})
    with pytest.raises(ExportsInUseError) as refused:
        plan({}, stock(values(A="1"), record(A="1")), {A: twice})
    assert refused.value.in_use == [InUse("A", "dropped", (WEB,))]


def test_stale_claims_protect_nothing_and_are_healed() -> None:
    there = stock(values(A="1", B="1"), record(A="1", B="1"))
    made = plan(values(A="2"), there, {A: ours(stale=(WEB,)), B: ours(stale=(SHOP,))})
    assert does(made) == {
        "overwrite": values(A="2"),
        "delete": (B,),
        "heal": {A: claims(WEB), B: claims(SHOP)},
        "rerecord": True,
    }
    assert made.writes == 4  # only where the value stays, its claims are removed


def test_propagate_changes_a_claimed_value_and_tells_whom() -> None:
    there = stock(values(A="1"), record(A="1"))
    made = plan(values(A="2"), there, {A: ours(by=(WEB, SHOP))}, ClaimPolicy.PROPAGATE)
    assert does(made) == {"overwrite": values(A="2"), "reported": {A: (SHOP, WEB)}, "rerecord": True}


def test_only_to_propagate_it_a_claimed_value_is_changed_that_cannot_be_decrypted() -> None:
    why = UndecryptableError("GetParameters", "name", "us-east-1", "InvalidKeyId")
    there = stock({A: replace(secure(""), locked=why)}, record(A=secure("1")))
    wanted, tags = {A: secure("2")}, {A: ours(by=(WEB,))}
    with pytest.raises(UndecryptableError):
        plan(wanted, there, tags)
    assert plan(wanted, there, tags, ClaimPolicy.PROPAGATE).overwrite == wanted


def test_propagate_still_refuses_a_drop_and_names_no_change() -> None:
    there = stock(values(A="1", B="1"), record(A="1", B="1"))
    with pytest.raises(ExportsInUseError) as refused:
        plan(values(A="2"), there, {A: ours(by=(WEB,)), B: ours(by=(WEB,))}, ClaimPolicy.PROPAGATE)
    assert refused.value.in_use == [InUse("B", "dropped", (WEB,))]


def test_in_cleanup_a_claimed_value_stays_and_the_rest_goes() -> None:
    there = stock(values(A="1", B="1"), record(A="1", B="1"))
    made = plan({}, there, {A: ours(by=(WEB,), owners=(owner_tag("Exports"),)), B: ours()}, ClaimPolicy.KEEP)
    assert does(made) == {"delete": (B,), "kept": {A: (WEB,)}, "rerecord": True}
    assert made.record == Record(NETWORK, {}, withdrawn=True)


def test_cleanup_delivered_twice_tells_the_same_and_writes_nothing() -> None:
    mine = ours(by=(WEB,), owners=(owner_tag("Exports"),))
    made = plan({}, stock(values(A="1")), {A: mine}, ClaimPolicy.KEEP)
    assert does(made) == {"kept": {A: (WEB,)}}
    assert made.writes == 0
    marked = replace(stock(values(A="1")), withdrawn=Record(NETWORK, {}, withdrawn=True))
    assert does(plan({}, marked, {A: mine}, ClaimPolicy.KEEP)) == {"kept": {A: (WEB,)}}


def test_the_mark_of_what_is_withdrawn_goes_with_its_last_value() -> None:
    parts = frozenset([0, 3])
    marked = replace(stock(), withdrawn=Record(NETWORK, {}, withdrawn=True), parts={"Exports": parts})
    assert plan({}, marked).plan.instructions == (WriteRecord("Exports", None, parts),)


def test_no_mark_is_left_for_what_has_lost_the_exports_tag() -> None:
    """Nobody would miss the record: it is another Export's, or nobody's."""
    made = plan({}, stock(values(A="1"), record(A="1")), {A: ours(by=(WEB,))}, ClaimPolicy.KEEP)
    assert (made.kept, made.plan.instructions[-1]) == ({A: (WEB,)}, CloseRecord("Exports", None, frozenset()))


def test_cleanup_does_not_tell_what_another_export_left_for_a_claim() -> None:
    made = plan({}, stock(values(A="1")), {A: ours(by=(WEB,), owners=(MORE,))}, ClaimPolicy.KEEP)
    assert does(made) == {}


def test_cleanup_changes_no_claimed_value_either() -> None:
    there = stock(values(A="1"), record(A="1"))
    with pytest.raises(ExportsInUseError, match="A cannot be changed"):
        plan(values(A="2"), there, {A: ours(by=(WEB,))}, ClaimPolicy.KEEP)


@pytest.mark.parametrize(
    ("before", "after"), [(text("1"), secure("1")), (text("1"), items("1")), (items("1"), text("1"))]
)
def test_another_type_is_made_by_deleting_and_creating(before: Value, after: Value) -> None:
    there = stock({A: before}, record(A=before), others={"More": record(A=after)})
    made = plan({A: after}, there, {A: ours(stale=(WEB,))})
    assert does(made) == {"remake": {A: (after, TAGS | {MORE: "More"})}, "heal": {A: claims(WEB)}, "rerecord": True}


def test_a_value_whose_type_was_changed_by_hand_is_remade_with_its_claims() -> None:
    there = stock({A: secure("1")}, record(A="1"))
    made = plan(values(A="1"), there, {A: ours(by=(WEB,), stale=(SHOP,))})
    assert made.remake == {A: (text("1"), TAGS | claims(WEB))}
    assert not made.reported
    assert not made.overwrite


@pytest.mark.parametrize("when", [ClaimPolicy.REFUSE, ClaimPolicy.PROPAGATE])
def test_another_type_of_a_claimed_value_is_refused_whatever_is_to_be_propagated(when: ClaimPolicy) -> None:
    """SSM cannot change a type in place: for a moment there would be no value, and no claim."""
    with pytest.raises(ExportsInUseError, match=r"A cannot be given another type: .* Remove that import first\."):
        plan({A: secure("1")}, stock(values(A="1"), record(A="1")), {A: ours(by=(WEB,))}, when)


def test_a_key_of_another_export_with_the_same_value_is_co_owned() -> None:
    there = stock(values(A="1"), others={"More": record(A="1")})
    made = plan(values(A="1"), there, {A: ours(by=(WEB,), owners=(MORE,))})
    assert does(made) == {"adopt": {A: TAGS}, "rerecord": True}


def test_a_co_owned_value_that_is_gone_comes_back_with_both_owners() -> None:
    there = stock({}, record(A="1"), others={"More": record(A="1"), "Other": record(B="1")})
    assert does(plan(values(A="1"), there)) == {"create": {A: (text("1"), TAGS | {MORE: "More"})}}


def test_a_key_of_another_export_with_another_value_is_refused() -> None:
    there = stock(values(A="1", B="1"), others={"More": record(A="1", B="1", C="1")})
    with pytest.raises(ConflictingExportError, match=r"^A and C cannot be exported: More in the same stack") as refused:
        plan(values(A="2", B="1", C="2"), there, {A: ours(), B: ours()})
    assert (refused.value.keys, refused.value.logical_id) == (["A", "C"], "More")


def test_a_co_owned_value_is_disowned_not_dropped_even_while_claimed() -> None:
    there = stock(values(A="1"), record(A="1"), others={"More": record(A="1")})
    made = plan({}, there)
    assert does(made) == {"disown": (A,), "rerecord": True}
    assert does(plan({}, stock({}, record(A="1"), others={"More": record(A="1")}))) == {"rerecord": True}


def test_a_record_left_open_may_have_left_an_owner_tag_on_a_value_of_another_export() -> None:
    there = stock(values(A="1", B="1"), replace(record(C="1"), open=True), others={"More": record(A="1", B="1")})
    made = plan({}, there, {A: ours(owners=(owner_tag("Exports"), MORE)), B: ours(owners=(MORE,))})
    assert does(made) == {"disown": (A,), "rerecord": True}


@pytest.mark.parametrize(
    ("wanted", "there", "tags"),
    [
        pytest.param(values(A="1"), stock(values(A="1")), {A: ours()}, id="put on"),
        pytest.param({}, stock(values(A="1"), record(A="1"), others={"More": record(A="1")}), {}, id="taken off"),
    ],
)
def test_a_record_is_open_while_owner_tags_are(
    wanted: dict[Key, Value], there: StoredExports, tags: dict[Key, ValueTags]
) -> None:
    """So an event that dies here is finished by the next."""
    opening, _, closing = plan(wanted, there, tags).plan.instructions
    assert isinstance(opening, WriteRecord)
    assert opening.record
    assert opening.record.open
    assert isinstance(closing, CloseRecord)


def test_a_record_keeps_a_former_hold_only_if_there_is_no_other() -> None:
    there = stock(values(A="1"), Record(NETWORK, values(A="1"), "old"))
    for hold, former in (("", "old"), ("new", "")):
        made = parts(plan_export(SCOPE, ME, values(A="1"), there, {}, hold=hold))
        assert made.record
        assert (made.record.hold, made.record.former_hold) == (hold, former)


def test_other_keys_of_another_export_are_none_of_its_business() -> None:
    there = stock(values(B="1"), others={"More": record(B="1")})
    assert does(plan(values(A="1"), there)) == {"create": {A: (text("1"), TAGS)}, "rerecord": True}
    assert does(plan({}, there)) == {}


@pytest.mark.parametrize("producer", [None, SHOP, stack_arn("network", "eu-west-1", unique="3")])
@pytest.mark.parametrize("value", ["1", "2"])
def test_a_foreign_parameter_is_refused_and_its_owner_named(producer: str | None, value: str) -> None:
    there = stock(values(A=value, B="1"))
    with pytest.raises(ForeignParameterError) as refused:
        plan(values(A="1", B="1", C="1"), there, {A: foreign(producer), B: ours()})
    assert refused.value.foreign == {SCOPE.parameter_name(A): producer}


def test_a_foreign_parameter_that_is_not_wanted_is_left_alone() -> None:
    there = stock(values(A="1", B="1"), record(A="1"))
    holdings = {A: foreign(by=(WEB,)), B: foreign(SHOP)}
    assert does(plan({}, there, holdings)) == {"rerecord": True}
    assert does(plan({}, there, holdings, ClaimPolicy.KEEP)) == {"rerecord": True}


def test_what_a_deleted_stack_of_the_same_name_left_is_adopted_even_while_claimed() -> None:
    there = stock(values(A="1"), record(FORMER, A="1"))
    made = plan(values(A="1"), there, {A: nobodys(by=(WEB,))})
    assert does(made) == {"adopt": {A: TAGS}, "rerecord": True}
    assert made.record == record(A="1")


def test_what_differs_of_it_is_changed_and_adopted_or_refused_while_claimed() -> None:
    there = stock(values(A="1"), record(FORMER, A="1"))
    assert does(plan(values(A="2"), there, {A: nobodys()})) == {
        "overwrite": values(A="2"),
        "adopt": {A: TAGS},
        "rerecord": True,
    }
    with pytest.raises(ExportsInUseError, match="A cannot be changed"):
        plan(values(A="2"), there, {A: nobodys(by=(WEB,))})


def test_what_it_left_and_nobody_wants_is_dropped_or_refused_while_claimed() -> None:
    there = stock(values(A="1"), record(FORMER, A="1"))
    assert does(plan({}, there, {A: nobodys()})) == {"delete": (A,), "rerecord": True}
    with pytest.raises(ExportsInUseError, match="A cannot be dropped"):
        plan({}, there, {A: nobodys(by=(WEB,))})
