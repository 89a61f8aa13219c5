"""The protocol, proven on the code: the real exporter and importer in every order of their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from strongref.contract.record import StoredRecord
from strongref.protocol import fences as fencing
from strongref.protocol.claims import ClaimAttempt
from strongref.protocol.inspection import TagInspector
from strongref.protocol.published import RecordedExports
from strongref.protocol.stored_exports import StoredExports
from tests.support.examples import examples
from tests.support.explorer.cases import BY_LABEL, KEYS, LARGE, LARGE_KEYS, PAIRS, SMALL, TWO_EXPORTS, Case, params
from tests.support.explorer.cast import C, E, I, gone, there

if TYPE_CHECKING:
    from strongref.contract.names import Key
    from strongref.contract.values import Parameter


pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.slow]


CASES = [*params(SMALL + PAIRS + TWO_EXPORTS + KEYS), *params(LARGE + LARGE_KEYS, pytest.mark.exhaustive)]


@pytest.mark.parametrize("case", CASES)
def test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is anything left over: see `explorer.verdicts`."""
    report = case.walked(capsys)
    assert report.lost is None
    assert report.torn is None
    assert report.leftover is None
    assert {f"{actor.name} " for actor in case.actors} <= report.succeeded  # in some order each of them gets through


@pytest.mark.parametrize(
    ("owner", "part", "without", "label"),
    [
        (ClaimAttempt, "_check_fences", lambda *_: None, "there: change x import"),
        (fencing.OwnFence, "others", lambda *_: None, "there: 2 exporters x import"),
        (ClaimAttempt, "_check_unchanged", lambda *_: None, "there: cleanup x 2 imports"),
        (RecordedExports, "says", lambda *_: True, "gone: change; E and I may crash"),
        (TagInspector, "interpret", lambda *_, **__: {}, "there: drop x import"),
        (ClaimAttempt, "_check_fences", lambda *_: None, "pair, there: change x import"),
        (TagInspector, "interpret", lambda *_, **__: {}, "pair, there: drop x import"),
    ],
    ids=["fence", "giving way", "second read", "record", "claims", "fence, two values", "claims of two values"],
)
def test_without_any_one_part_of_the_protocol_a_reference_is_lost_or_torn(
    monkeypatch: pytest.MonkeyPatch, owner: type, part: str, without: object, label: str
) -> None:
    monkeypatch.setattr(owner, part, without)
    assert not BY_LABEL[label].explorer().walk().holds


def test_what_an_unreadable_record_held_needs_one_of_two_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused is what can be read of the record, and else whatever has this Export's owner tag."""
    monkeypatch.setattr(StoredRecord, "readable", property(lambda self: self.record))
    monkeypatch.setattr(StoredExports, "lost", property(lambda _: False))
    assert BY_LABEL["key goes: drop x import"].explorer().walk().lost


def test_unless_values_put_back_are_claimed_like_all_others_a_reference_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_back = ClaimAttempt._put_back

    def and_leave_it_at_that(
        claiming: ClaimAttempt, keys: list[Key], published: RecordedExports
    ) -> dict[str, Parameter]:
        made = put_back(claiming, keys, published)
        claiming._skip |= frozenset(keys)
        return made

    monkeypatch.setattr(ClaimAttempt, "_put_back", and_leave_it_at_that)
    assert BY_LABEL["gone: drop, restore x import"].explorer().walk().lost


def test_unless_stale_claims_are_recognized_something_is_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongref.protocol.inspection.is_stale", lambda *_: False)
    assert BY_LABEL["gone: change; E and I may crash"].explorer().walk().leftover


ANY_VALUES = st.sampled_from(["v1", "v2", "v3", "drop"])


@examples(200, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_in_long_histories_of_many_actors_no_reference_is_lost(data: st.DataObject) -> None:
    """Up to seven actors with several events each, dying or not, in an order of hypothesis's choice."""
    actors = [
        E(*data.draw(st.lists(ANY_VALUES, min_size=1, max_size=4)), name=n)
        for n in "EFG"[: data.draw(st.integers(1, 3))]
    ]
    actors += [I(n, releases=data.draw(st.booleans())) for n in "IJK"[: data.draw(st.integers(1, 3))]]
    actors += [C()] if data.draw(st.booleans()) else []
    dying = "".join(sorted(data.draw(st.sets(st.sampled_from("EFCI")))))
    case = Case("drawn", actors, data.draw(st.sampled_from([there, gone])), dying, data.draw(st.integers(0, 3)))
    report = case.explorer(reduced=False).wander(lambda most: data.draw(st.integers(0, most - 1)), most=400)
    assert report.holds
