"""The index: where the Exports of a stack publish."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from strongref.contract.index import (
    DENIED,
    FORGOTTEN,
    IndexEntry,
    Place,
    encode_hold,
    encode_place,
    index_name,
    index_of,
    path_of,
    read_index,
)
from strongref.contract.record import RequestStamp
from strongref.contract.values import Parameter, ParameterType
from tests.support.builders import NETWORK

if TYPE_CHECKING:
    from collections.abc import Mapping

A, B, C = Place("1", "a", "web"), Place("1", "b", "web"), Place("2", "a", "_shared")
NAME = index_name("network", "Exports")
EARLY, LATE = datetime(2026, 1, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 13, tzinfo=UTC)


def read(texts: Mapping[str, str]) -> IndexEntry | None:
    return read_index({name: Parameter(name, ParameterType.STRING, text) for name, text in texts.items()}).get(
        (NAME, NETWORK)
    )


def stamp(at: datetime) -> RequestStamp:
    return RequestStamp(at, "")


def named(place: Place, kind: str = "") -> str:
    return f"{NAME}{path_of(place, kind)}"


def test_each_place_has_parameters_of_its_own() -> None:
    early, late = encode_place(NETWORK, EARLY), encode_place(NETWORK, LATE)
    texts = {
        NAME: encode_hold(NETWORK, "h"),
        named(A): encode_place(NETWORK, EARLY, exact=True),
        named(B): late,
        named(A, DENIED): late,
    }
    texts |= {named(C, DENIED): early, named(B, FORGOTTEN): early}
    entry = read(texts)
    assert entry == IndexEntry(
        NETWORK,
        frozenset({A, B}),
        "h",
        wrote={A: EARLY, B: LATE},
        denied={A: stamp(LATE), C: stamp(EARLY)},
        forgotten=frozenset({B}),
        exact=frozenset({A}),
    )
    assert entry.is_exact
    assert [entry.is_untouched(place) for place in (A, B, C)] == [True, False, False]


def test_a_tie_counts_as_written() -> None:
    entry = IndexEntry(NETWORK, frozenset({A}), wrote={A: EARLY}, denied={A: stamp(EARLY)})
    assert not entry.is_untouched(A)


def test_what_version_0_2_0_wrote_is_a_hint() -> None:
    text = f'{{"stack":"{NETWORK}","hold":"h","places":{{"1":{{"web":["a","b"]}},"2":{{"_shared":["a"]}}}}}}'
    entry = read({NAME: text, named(A): encode_place(NETWORK, EARLY)})
    assert entry == IndexEntry(NETWORK, frozenset({A, B, C}), "h", frozenset({A, B, C}), {A: EARLY})
    assert not entry.is_exact


def test_an_entry_that_names_nothing_is_not_exact() -> None:
    """The index may have been deleted by hand, or be of a version that had none."""
    assert not IndexEntry(NETWORK).is_exact


def test_of_two_reads_what_forbids_wins() -> None:
    one = IndexEntry(
        NETWORK, frozenset({A}), "", wrote={A: EARLY}, denied={A: stamp(LATE), C: stamp(LATE)}, forgotten=frozenset({A})
    )
    other = IndexEntry(NETWORK, frozenset({A, B}), "h", wrote={A: LATE, B: EARLY}, denied={A: stamp(EARLY)})
    expected = IndexEntry(NETWORK, frozenset({A, B}), "h", wrote={A: LATE, B: EARLY}, denied={A: stamp(EARLY)})
    assert one.joined(other) == other.joined(one) == expected


@pytest.mark.parametrize("text", ["", "x", "[]", "{}", '{"stack":"s"}', '{"stack":"s","places":[]}', '{"places":{}}'])
@pytest.mark.parametrize("name", [NAME, named(A), named(A, DENIED)])
def test_what_strongref_did_not_write_is_no_entry(name: str, text: str) -> None:
    assert read({name: text}) is None


def test_the_name_says_which_export_it_is() -> None:
    assert (NAME, index_of(NAME)) == ("/strongref/index/network/Exports", ("network", "Exports"))
    assert index_of(named(A, DENIED)) == ("network", "Exports")
