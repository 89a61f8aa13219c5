"""The index: where the Exports of a stack publish."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.index import IndexEntry, Place, index_name, index_of
from strongref.contract.values import Parameter, ParameterType
from tests.support.builders import NETWORK

NAMES = st.text("abcXYZ-_019", min_size=1, max_size=8)
ENTRIES = st.builds(
    IndexEntry, st.just(NETWORK), st.frozensets(st.builds(Place, NAMES, NAMES, NAMES), max_size=5), NAMES | st.just("")
)


def stored(text: str) -> Parameter:
    return Parameter(index_name("network", "Exports"), ParameterType.STRING, text)


@given(ENTRIES)
def test_an_entry_is_read_as_it_was_written(entry: IndexEntry) -> None:
    assert IndexEntry.decode(stored(entry.encode())) == entry


def test_an_entry_names_the_hold_and_every_place() -> None:
    entry = IndexEntry(NETWORK, frozenset({Place("1", "b", "web"), Place("1", "a", "web"), Place("2", "a", "_x")}), "h")
    assert entry.encode() == (
        f'{{"stack":"{NETWORK}","hold":"h","places":{{"1":{{"web":["a","b"]}},"2":{{"_x":["a"]}}}}}}'
    )


@pytest.mark.parametrize("text", ["", "x", "[]", "{}", '{"stack":"s"}', '{"stack":"s","places":[]}', '{"places":{}}'])
def test_what_strongref_did_not_write_is_no_entry(text: str) -> None:
    assert IndexEntry.decode(stored(text)) is None


def test_the_name_says_which_export_it_is() -> None:
    name = index_name("network", "Exports")
    assert (name, index_of(name)) == ("/strongref/index/network/Exports", ("network", "Exports"))
