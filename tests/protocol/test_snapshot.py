"""What is read of a scope, and when a rollback leaves it as it is: no Parameter Store, no CloudFormation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest

from strongref.contract.fence import TagScan
from strongref.contract.index import IndexEntry, Place
from strongref.contract.names import Key, Site, owner_tag
from strongref.contract.record import Record, encode, part_name
from strongref.contract.requests import ExportRequest, OnChange
from strongref.contract.values import Parameter, ParameterType
from strongref.errors import StoreError, UndecryptableError
from strongref.protocol.behind_fences import FencedStore
from strongref.protocol.inspection import TagInspector
from strongref.protocol.phases import ClaimPolicy
from strongref.protocol.plan import Create
from strongref.protocol.side_by_side import in_turn
from strongref.protocol.snapshot import (
    Destination,
    Snapshot,
    read_behind_fences,
    read_scope,
    recorded_scopes,
    with_named,
)
from strongref.protocol.stored_exports import StoredExports, ValueTags
from strongref.refusals import ForeignParameterError
from tests.support.builders import ACCOUNT, FORMER, ME, NETWORK, SCOPE, WEB, ours, record, secure, stock, values
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from strongref.contract.values import Value

A = Key("A")
HERE = "us-east-1"
WHY = UndecryptableError("GetParameters", "InvalidKeyId", "name", HERE)
WANTED = values(A="1", S=secure("1"))


@dataclass(frozen=True)
class Scope:
    """A store that has these records, and a CloudFormation that has these stacks."""

    records: Mapping[str, Record] = field(default_factory=dict)
    parts: Mapping[str, Parameter] = field(default_factory=dict)
    existing: Collection[str] = ()
    tagged: Mapping[str, dict[str, str]] = field(default_factory=dict)
    read_tags: list[str] = field(default_factory=list)
    region: str = HERE

    def under(self, path: str, **_how: bool) -> dict[str, Parameter]:
        found = dict(self.parts)
        for logical_id, each in self.records.items():
            for part in encode(each, frozenset()):
                name = part_name(SCOPE, logical_id, part.number)
                found[name] = Parameter(name, part.kind, part.text)
        return {name: each for name, each in found.items() if name.startswith(path)}

    def exists(self, stack: str) -> bool:
        return stack in self.existing

    def info(self, _stack: str) -> None:
        """No stack is being deleted."""

    account = ""

    def side_by_side(self, queues: Any) -> Any:
        return in_turn(queues)

    def tags(self, name: str) -> dict[str, str] | None:
        self.read_tags.append(name)
        return self.tagged.get(name)

    def read(self) -> StoredExports:
        return read_scope(cast("Any", self), SCOPE, ME, cast("Any", self))


def snapshot(
    wanted: Mapping[Key, Value],
    stored: StoredExports,
    inspected: tuple[Key, ...] = (),
    tags: Mapping[Key, ValueTags] | None = None,
) -> Snapshot:
    return Snapshot(cast("Any", None), Destination(Site(HERE), SCOPE, wanted), stored, inspected, dict(tags or {}))


def failed(region: str = HERE, **given: Value | str) -> ExportRequest:
    """What the update asked for that is rolled back."""
    return ExportRequest((Site(region),), SCOPE, values(**given), OnChange.REFUSE, "", "")


LOCKED = StoredExports(values(A="1"), record(A="1"), unreadable=True, why=WHY)
"""What is stored where the secure part of the Export's own record cannot be decrypted."""

BLOCKED = StoredExports(values(A="1"), record(A="1", S=secure("1")), locked=WHY)
"""Where that of another Export cannot."""


@pytest.mark.parametrize(
    ("stored", "failed_request", "wanted", "is_left"),
    [
        pytest.param(LOCKED, None, WANTED, True, id="as it is wanted"),
        pytest.param(LOCKED, failed(A="1", S=secure("1")), WANTED, True, id="the update wanted no other secret"),
        pytest.param(LOCKED, failed(A="1", S=secure("2")), WANTED, False, id="the update wanted another secret"),
        pytest.param(LOCKED, failed("eu-west-1", S=secure("1")), WANTED, False, id="the update left the region"),
        pytest.param(replace(LOCKED, own=None), None, WANTED, False, id="no record"),
        pytest.param(replace(LOCKED, own=record(A="2")), None, WANTED, False, id="another record"),
        pytest.param(replace(LOCKED, stored=values(A="2")), None, WANTED, False, id="another value"),
        pytest.param(replace(LOCKED, own=replace(record(A="1"), open=True)), None, WANTED, False, id="an open record"),
        pytest.param(replace(LOCKED, own=record(), stored={}), None, {}, False, id="nothing is wanted"),
        pytest.param(
            replace(LOCKED, own=replace(record(A="2"), untouched=True)), None, WANTED, True, id="marked as untouched"
        ),
        pytest.param(BLOCKED, None, WANTED, True, id="another Export's secrets"),
        pytest.param(BLOCKED, None, values(A="1", S=secure("2")), False, id="another secret"),
    ],
)
def test_a_rollback_leaves_what_cannot_be_read_if_the_update_had_not_begun_to_write(
    stored: StoredExports, failed_request: ExportRequest | None, wanted: Mapping[Key, Value], is_left: bool
) -> None:
    assert snapshot(wanted, stored).left(failed_request) is (WHY if is_left else None)


def test_a_value_that_has_gone_before_its_tags_were_read_is_created() -> None:
    made = snapshot(values(A="2"), stock(values(A="1"), record(A="1")), (A,)).plan(ME, ClaimPolicy.REFUSE, (), None)
    assert Create in map(type, made.instructions)


LEFT = ours(by=(WEB,), owners=(owner_tag(ME.logical_id),))


@pytest.mark.parametrize(("region", "is_named"), [(HERE, True), ("eu-west-1", False), (None, False)])
def test_a_place_that_the_index_names_has_lost_its_record(region: str | None, is_named: bool) -> None:
    entry = IndexEntry(NETWORK, frozenset([Place(ACCOUNT, region, "web")] if region else []))
    (found,) = with_named([snapshot({}, stock(values(A="1")), tags={A: LEFT})], ME, lambda: entry)
    assert found.stored.named is is_named


def test_an_index_that_cannot_be_read_may_name_the_place() -> None:
    def fail() -> NoReturn:
        raise StoreError("GetParametersByPath", "AccessDeniedException", "/strongref/index", HERE)

    (found,) = with_named([snapshot({}, stock(values(A="1")), tags={A: LEFT})], ME, fail)
    assert found.stored.named


@pytest.mark.parametrize(
    ("stored", "tags"),
    [
        pytest.param(stock(mine=record(B="1")), LEFT, id="it has a record"),
        pytest.param(replace(stock(), withdrawn=record()), LEFT, id="or its mark"),
        pytest.param(stock(), ours(owners=(owner_tag(ME.logical_id),)), id="nobody imports"),
        pytest.param(stock(), ours(by=(WEB,)), id="another Export's"),
    ],
)
def test_where_nothing_is_lost_the_index_is_not_read(stored: StoredExports, tags: ValueTags) -> None:
    given = [snapshot({}, stored, tags={A: tags})]
    assert with_named(given, ME, lambda: pytest.fail("it is read")) == given


OWN = owner_tag(ME.logical_id)


@pytest.mark.parametrize(
    ("stored", "tags", "is_empty"),
    [
        pytest.param(stock(), ours(owners=(owner_tag("More"),)), True, id="another Export's value"),
        pytest.param(stock(mine=record(A="1")), ours(), False, id="a record"),
        pytest.param(replace(stock(), withdrawn=record()), ours(), False, id="its mark"),
        pytest.param(replace(stock(), unreadable=True), ours(), False, id="a record that cannot be read"),
        pytest.param(stock(), ours(owners=(OWN,)), False, id="a value that is kept"),
    ],
)
def test_a_place_is_empty_if_nothing_of_the_export_is_there(
    stored: StoredExports, tags: ValueTags, is_empty: bool
) -> None:
    assert snapshot({}, stored, tags={A: tags}).is_empty(ME) is is_empty


@pytest.mark.parametrize("written", [record(FORMER, A="1"), Record(FORMER, {}, withdrawn=True)])
def test_a_late_event_of_a_stack_that_is_gone_leaves_the_new_one_alone(written: Record) -> None:
    with pytest.raises(ForeignParameterError):
        Scope({"Exports": written}, existing=[FORMER]).read()
    stored = Scope({"Exports": written}).read()
    assert written in (stored.own, stored.withdrawn)


def test_records_of_a_former_stack_are_told_from_those_of_this_one_without_asking_about_it() -> None:
    records = {"More": record(NETWORK, A="1"), "Old": record(FORMER, A="1")}
    stored = Scope(records).read()
    assert (set(stored.others), set(stored.orphans)) == ({"More"}, {"Old"})
    assert set(Scope(records, existing=[FORMER]).read().others) == {"More", "Old"}


def test_a_record_of_another_export_that_lacks_a_part_is_not_waited_for_if_another_is_locked() -> None:
    head, tail = (part_name(SCOPE, "More", number) for number in (0, 1))
    lists = f'{{"stack":"{NETWORK}","secure":[1],"parts":[2],"sum":""}}'
    parts = {
        head: Parameter(head, ParameterType.STRING, lists),
        tail: Parameter(tail, ParameterType.SECURE, "", locked=WHY),
    }
    with pytest.raises(UndecryptableError):
        Scope(parts=parts).read()


def test_behind_a_fence_that_was_left_for_it_tags_are_read_from_where_they_were_left() -> None:
    names = {key: SCOPE.parameter_name(key) for key in values(A="", B="", C="")}
    parts = {name: Parameter(name, ParameterType.STRING, "1") for name in names.values()}
    there = Scope({"Exports": record(A="1", B="1", C="1")}, parts, tagged={names[A]: ME.tags})
    fenced = FencedStore(cast("Any", there), FakeClock(), TagScan("request", "B", ["A"]))
    wanted = Destination(Site(HERE), SCOPE, values(A="2", B="2", C="2"))
    (found,) = read_behind_fences([fenced], [wanted], ME, TagInspector(cast("Any", there)), ())
    assert there.read_tags == [names[A], names[Key("C")]]
    assert set(found.tags) == {A, Key("B")}  # the other one has gone


def test_the_scopes_of_an_export_are_those_with_its_record() -> None:
    odd = "/strongref/records/Exports"
    there = Scope({"Exports": record(A="1")}, {odd: Parameter(odd, ParameterType.STRING, "1")})
    assert recorded_scopes(cast("Any", there), ME) == [SCOPE]
    assert recorded_scopes(cast("Any", Scope({"More": record(A="1")})), ME) == []
