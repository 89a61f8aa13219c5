"""Which places an Export's event may pass over if it cannot reach them: the rules alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.index import IndexEntry, Place
from strongref.contract.names import Site
from strongref.contract.record import RequestStamp
from strongref.errors import AccessDeniedError, StoreError, UndecryptableError
from strongref.protocol.out_of_reach import is_out_of_reach, may_pass_over
from strongref.protocol.phases import Phase
from strongref.protocol.snapshot import Destination
from tests.support.abroad import OTHER
from tests.support.builders import ACCOUNT, NETWORK, SCOPE, values
from tests.support.fake_ssm import EPOCH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.contract.names import Key
    from strongref.contract.values import Value

HERE, THERE = Place(ACCOUNT, "us-east-1", "web"), Place(ACCOUNT, "eu-west-1", "web")
LATER = EPOCH + timedelta(seconds=1)
WANTED, NOTHING = values(A="1"), values()
CREATE, CREATE_ROLLBACK, UPDATE, ROLLBACK, CLEANUP, DELETE = Phase
EVERY = frozenset(Phase)
ALL_BUT_DELETE = EVERY - {DELETE}


def entry(*places: Place, **given: Any) -> IndexEntry:
    return IndexEntry(NETWORK, frozenset(places), **given)


def denied(place: Place) -> dict[Place, RequestStamp]:
    return {place: RequestStamp(LATER, "")}


UNTOUCHED: dict[str, Any] = {"wrote": {HERE: EPOCH}, "denied": denied(HERE)}
ELSEWHERE: dict[str, Any] = {"exact": frozenset({THERE})}
OLDER: dict[str, Any] = {"older": frozenset({THERE})}
FORGOTTEN: dict[str, Any] = {"forgotten": frozenset({HERE})}


@pytest.mark.parametrize(
    ("index", "wanted", "residual", "phases"),
    [
        pytest.param(entry(HERE), NOTHING, False, (), id="named"),
        pytest.param(entry(HERE, exact=frozenset({HERE})), NOTHING, False, (), id="named by the Export"),
        pytest.param(entry(HERE), NOTHING, True, ALL_BUT_DELETE, id="named, and of no properties"),
        pytest.param(entry(HERE, **UNTOUCHED), WANTED, False, {ROLLBACK}, id="denied since it was written"),
        pytest.param(entry(HERE, **FORGOTTEN), WANTED, False, {ROLLBACK}, id="forgotten, and wanted"),
        pytest.param(entry(HERE, **FORGOTTEN), NOTHING, False, EVERY, id="forgotten"),
        pytest.param(entry(), NOTHING, False, {CREATE, CREATE_ROLLBACK}, id="nothing is named"),
        pytest.param(entry(THERE, **OLDER), NOTHING, False, (), id="not named by version 0.2.0"),
        pytest.param(entry(THERE, **ELSEWHERE), NOTHING, False, EVERY, id="not named"),
        pytest.param(entry(THERE, **ELSEWHERE), WANTED, False, (), id="not named, and wanted"),
        pytest.param(
            entry(THERE, denied=denied(HERE)), NOTHING, False, {CREATE, CREATE_ROLLBACK, ROLLBACK}, id="denied"
        ),
        pytest.param(entry(THERE, **OLDER, denied=denied(HERE)), NOTHING, False, {ROLLBACK}, id="denied since 0.2.0"),
        pytest.param(entry(denied=denied(HERE)), WANTED, False, (), id="denied, and wanted"),
    ],
)
def test_a_place_is_passed_over_in_these_phases_alone(
    index: IndexEntry, wanted: Mapping[Key, Value], residual: bool, phases: frozenset[Phase]
) -> None:
    at = Destination(Site(HERE.region), SCOPE, wanted, is_residual=residual)
    assert {phase for phase in Phase if may_pass_over(phase, at, index)} == set(phases)


ABROAD = Place(OTHER, "us-east-1", "web")


@pytest.mark.parametrize(
    ("index", "wanted", "phases"),
    [
        pytest.param(entry(THERE, **OLDER), NOTHING, EVERY, id="not named"),
        pytest.param(entry(), WANTED, (), id="not named, and wanted"),
        pytest.param(entry(ABROAD), NOTHING, (), id="named"),
    ],
)
def test_what_the_index_does_not_name_of_another_account_was_never_written_to(
    index: IndexEntry, wanted: Mapping[Key, Value], phases: frozenset[Phase]
) -> None:
    """Version 0.2.0 wrote to none, so its entries name all there is."""
    at = Destination(Site(ABROAD.region, ABROAD.account), SCOPE, wanted)
    assert {phase for phase in Phase if may_pass_over(phase, at, index)} == set(phases)


@pytest.mark.parametrize(
    ("error", "is_out"),
    [
        (AccessDeniedError("PutParameter", "AccessDeniedException", "name", "r"), True),
        (StoreError("PutParameter", "UnrecognizedClientException", "name", "r"), True),
        (StoreError("PutParameter", "EndpointConnectionError", "name", "r"), True),
        (StoreError("PutParameter", "ValidationException", "name", "r"), False),
        (UndecryptableError("GetParameters", "AccessDeniedException", "name", "r"), False),
    ],
)
def test_a_region_is_out_of_reach_if_it_does_not_answer_or_lets_nobody_in(error: StoreError, is_out: bool) -> None:
    assert is_out_of_reach(error) is is_out
