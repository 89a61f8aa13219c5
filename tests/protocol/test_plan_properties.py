"""Plans for any stock, however it came to be: what may never happen does not, and what is planned is enough."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from hypothesis import assume, event, given
from hypothesis import strategies as st

from strongref.contract.names import Key, owner_tag
from strongref.contract.record import Record
from strongref.errors import StrongRefError
from strongref.protocol.phases import ClaimPolicy
from strongref.protocol.planner import is_up_to_date, keys_to_inspect, plan_export
from strongref.refusals import ConflictingExportError, ExportsInUseError, ForeignParameterError
from tests.support.builders import FORMER, ME, NETWORK, SCOPE, SHOP, WEB, PlanParts, items, parts, secure, text
from tests.support.examples import examples
from tests.support.model_stock import GONE, Held, Model, finish, steps

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from strongref.contract.values import Value

KEYS = st.sampled_from([Key("A"), Key("B"), Key("C/D")])
VALUES = st.sampled_from([text("1"), text("2"), secure("1"), items("1")])
PUBLISHED = st.dictionaries(KEYS, VALUES, max_size=3)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "Exports": st.builds(Record, st.sampled_from([NETWORK, FORMER]), PUBLISHED),
        "More": st.builds(Record, st.sampled_from([NETWORK, FORMER]), PUBLISHED),
        "Old": st.builds(Record, st.just(FORMER), PUBLISHED),
    },
)
HELD = st.builds(
    Held,
    VALUES,
    st.sampled_from([NETWORK, NETWORK, NETWORK, FORMER, SHOP, None]),
    st.frozensets(st.sampled_from(["Exports", "More", "Old"])),
    st.frozensets(st.sampled_from([WEB, SHOP, GONE]), max_size=2),
)
MODELS = st.builds(Model, st.dictionaries(KEYS, HELD, max_size=3), RECORDS)
WHEN = st.sampled_from(ClaimPolicy)


@st.composite
def lived(draw: st.DrawFn) -> Model:
    """A stock as a few deployments leave it, some of them cut short, with claims that came and went meanwhile."""
    model = Model({}, {})
    for _ in range(draw(st.integers(1, 4))):
        with suppress(StrongRefError):
            done = steps(planned(model, draw(PUBLISHED)).plan)
            for step in done[: draw(st.integers(0, 12))]:
                step(model)
        for key, held in model.values.items():
            model.values[key] = held.claimed(draw(st.frozensets(st.sampled_from([WEB, GONE]))))
        if draw(st.integers(0, 3)) == 0:
            model.retire()
    return model


ANY = MODELS | lived()


def planned(model: Model, wanted: Mapping[Key, Value], when: ClaimPolicy = ClaimPolicy.REFUSE) -> PlanParts:
    stock = model.stock()
    holdings = {key: model.holding(key) for key in keys_to_inspect(ME, wanted, stock)}
    return parts(plan_export(SCOPE, ME, wanted, stock, holdings, policy=when))


def attempt(model: Model, wanted: Mapping[Key, Value], when: ClaimPolicy) -> PlanParts | None:
    """The plan; None, after making sure that there was a reason, if it is refused."""
    try:
        made = planned(model, wanted, when)
    except ConflictingExportError as error:
        event("conflict")
        _there_is_a_conflict(error, model, wanted)
    except ForeignParameterError as error:
        event("foreign")
        _it_is_foreign(error, model)
    except ExportsInUseError as error:
        event("in use")
        _it_is_in_use(error, model, wanted, when)
    else:
        event("planned")
        return made
    return None


def _there_is_a_conflict(error: ConflictingExportError, model: Model, wanted: Mapping[Key, Value]) -> None:
    other = model.stock().others[error.logical_id].values
    assert error.keys == [key for key in wanted if key in other and other[key] != wanted[key]]
    assert error.keys


def _it_is_foreign(error: ForeignParameterError, model: Model) -> None:
    assert error.foreign
    for name, producer in error.foreign.items():
        assert model.foreign(SCOPE.key(name))
        assert model.values[SCOPE.key(name)].producer == producer


def _it_is_in_use(error: ExportsInUseError, model: Model, wanted: Mapping[Key, Value], when: ClaimPolicy) -> None:
    assert error.in_use
    for use in error.in_use:
        key = Key(use.key)
        assert use.importers == model.importers(key) != ()
        retyped = key in wanted and wanted[key].type is not model.values[key].value.type
        assert use.verb == ("given another type" if retyped else "changed" if key in wanted else "dropped")
        assert (use.verb, when) not in (("changed", ClaimPolicy.PROPAGATE), ("dropped", ClaimPolicy.KEEP))
        assert wanted.get(key) != model.values[key].value


@examples(250)
@given(ANY, PUBLISHED, WHEN)
def test_no_plan_touches_a_key_twice(model: Model, wanted: dict[Key, Value], when: ClaimPolicy) -> None:
    plan = attempt(model, wanted, when)
    if plan:
        touched: list[Collection[Key]] = [plan.create, plan.remake, plan.overwrite, plan.delete, plan.disown]
        named = [key for part in touched for key in part]
        assert len(named) == len(set(named))
        assert not plan.adopt.keys() & (set(named) - plan.overwrite.keys())
        assert plan.heal.keys() <= {*plan.overwrite, *plan.remake, *plan.delete}
        assert not plan.kept.keys() & set(named)


@examples(250)
@given(ANY, PUBLISHED, WHEN)
def test_no_claimed_value_changes_or_goes(model: Model, wanted: dict[Key, Value], when: ClaimPolicy) -> None:
    before = dict(model.values)
    mine = model.records.get(ME.logical_id)
    recorded = dict(mine.values) if mine else {}
    plan = attempt(model, wanted, when)
    if plan:
        finish(model, plan.plan)
        for key, held in before.items():
            if model.importers(key, before):
                assert key in model.values
                assert model.values[key].claims >= model.live(held)
                now = model.values[key].value
                # As it was, or what its record said all along; or else its importers are reported.
                assert now in (held.value, recorded.get(key)) or plan.reported[key] == model.importers(key, before)
        assert ClaimPolicy.PROPAGATE in when or not plan.reported
        assert ClaimPolicy.KEEP in when or not plan.kept


@examples(250)
@given(ANY, PUBLISHED, WHEN)
def test_nothing_of_anybody_else_is_touched(model: Model, wanted: dict[Key, Value], when: ClaimPolicy) -> None:
    before, records = dict(model.values), dict(model.records)
    others = model.stock().others
    theirs = {key: value for record in others.values() for key, value in record.values.items()}
    plan = attempt(model, wanted, when)
    if plan:
        finish(model, plan.plan)
        for key, held in before.items():
            if model.foreign(key, before):
                now = model.values[key]
                assert (now.value, now.producer, now.claims) == (held.value, held.producer, held.claims)
            elif held.value == theirs.get(key) and not (ClaimPolicy.KEEP in when and key in wanted):
                assert model.values[key].value == held.value
                assert model.values[key].owners >= held.owners - {ME.logical_id}
        assert {name: model.records[name] for name in others} == {name: records[name] for name in others}


@examples(250)
@given(ANY, PUBLISHED, WHEN)
def test_a_plan_is_enough(model: Model, wanted: dict[Key, Value], when: ClaimPolicy) -> None:
    plan = attempt(model, wanted, when)
    if plan:
        finish(model, plan.plan)
        assert {key: model.values[key].value for key in wanted} == wanted
        mine = model.records.get(ME.logical_id)
        assert (mine.values if mine else {}) == wanted
        if ClaimPolicy.KEEP not in when:  # A rollback takes a value back from an Export that the update has created.
            says = {key: value for record in model.records.values() for key, value in record.values.items()}
            assert {key: says[key] for key in wanted} == wanted
        again = planned(model, wanted, when)
        assert again.writes == 0
        assert is_up_to_date(ME, wanted, model.stock())


@examples(250)
@given(ANY, PUBLISHED)
def test_what_is_created_changed_or_adopted_is_tagged(model: Model, wanted: dict[Key, Value]) -> None:
    plan = attempt(model, wanted, ClaimPolicy.REFUSE)
    if plan:
        finish(model, plan.plan)
        for key in {*plan.create, *plan.remake, *plan.adopt}:
            assert model.values[key].producer == NETWORK
            assert ME.logical_id in model.values[key].owners
        for key in plan.create:
            assert plan.create[key][1].keys() >= {owner_tag(name) for name in model.publishing(key)}


@examples(250)
@given(ANY, PUBLISHED, st.integers(0, 12))
def test_a_plan_that_dies_anywhere_is_finished_by_the_next(model: Model, wanted: dict[Key, Value], done: int) -> None:
    before = dict(model.values)
    mine = model.records.get(ME.logical_id)
    recorded = dict(mine.values) if mine else {}
    assume(not any(model.foreign(key) for key in recorded.keys() & before.keys()))  # Somebody has changed its tags.
    plan = attempt(model, wanted, ClaimPolicy.REFUSE)
    if plan:
        for step in steps(plan.plan)[:done]:
            step(model)
        finish(model, planned(model, wanted).plan)
        assert {key: model.values[key].value for key in wanted} == wanted
        for key, held in before.items():
            if model.importers(key, before):
                assert model.values[key].value in (held.value, recorded.get(key))
        assert planned(model, wanted).writes == 0


@examples(250)
@given(ANY, PUBLISHED)
def test_settled_means_that_only_strays_are_left_to_write(model: Model, wanted: dict[Key, Value]) -> None:
    plan = attempt(model, wanted, ClaimPolicy.REFUSE)
    stock = model.stock()
    if plan:
        strays = {key for key in model.values if key not in wanted and not model.publishing(key)}
        assert is_up_to_date(ME, wanted, stock) is (
            plan.writes == 0 or _only_deletes(plan, strays, is_marked=bool(stock.withdrawn and not wanted))
        )
    elif is_up_to_date(ME, wanted, stock):
        assert any(
            value != wanted.get(key, value) for other in stock.others.values() for key, value in other.values.items()
        )


def _only_deletes(plan: PlanParts, strays: set[Key], *, is_marked: bool) -> bool:
    """Whether nothing is written but values that no record holds, and the mark of what was withdrawn."""
    rest = [plan.create, plan.remake, plan.overwrite, plan.adopt, plan.disown, plan.orphans]
    return not any(rest) and (is_marked or not plan.rerecord) and set(plan.delete) <= strays
