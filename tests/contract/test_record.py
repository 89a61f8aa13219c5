"""Records come back as they were written, and no interruption makes one that was never written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strongref import __version__
from strongref.contract.names import Key
from strongref.contract.record import PART_BYTES, Record, RecordPart, StoredRecord, decode, encode, part_name
from strongref.contract.values import MAX_BYTES, Parameter, ParameterType, Value
from tests.support.builders import NETWORK, SCOPE, items, record, secure, text
from tests.support.examples import examples

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PATH = SCOPE.path("records")
NOTHING: frozenset[int] = frozenset()

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.sampled_from(['"', "\\", "\\u0020", "\n", "a b " * 1500, "🙂" * 2000, " " * 5000, "\u2003x" * 1500, "x" * 8192]),
).filter(lambda value: "{{" not in value)
ITEMS = TEXTS.map(lambda value: value.replace(",", ";"))
VALUES = st.one_of(TEXTS.map(text), TEXTS.map(secure), st.lists(ITEMS, min_size=1, max_size=4).map(lambda i: items(*i)))
KEYS = st.text("abcXYZ019_-/", min_size=1, max_size=12).map(Key)
HOLDS = st.sampled_from(["", "network-Exports"])
RECORDS = st.builds(Record, st.just(NETWORK), st.dictionaries(KEYS, VALUES, min_size=1, max_size=8), HOLDS)


def parameters(parts: Iterable[RecordPart], logical_id: str = "Exports") -> dict[str, Parameter]:
    """The parts as they are found again."""
    names = {part_name(SCOPE, logical_id, part.number): part for part in parts}
    return {name: Parameter(name, part.kind, part.text) for name, part in names.items()}


def found(stored: Mapping[str, Parameter], logical_id: str = "Exports") -> StoredRecord:
    return decode(SCOPE.path("records"), stored)[logical_id]


def large(filler: str = "x") -> Record:
    """A record with plain and secure values in several parts each."""
    plain = {Key(f"K{number}"): text(filler * 3000) for number in range(4)}
    return Record(NETWORK, plain | {Key(f"S{number}"): secure(filler * 3000) for number in range(4)})


def test_a_small_record_is_one_parameter() -> None:
    assert encode(record(CertArn="arn:x", SubnetIds=items("a", "b")), NOTHING) == [
        RecordPart(
            0,
            ParameterType.STRING,
            f'{{"stack":"{NETWORK}","writer":"{__version__}","values":{{"CertArn":"arn:x","SubnetIds":["a","b"]}}}}',
        )
    ]


def test_the_head_has_the_exports_name_and_tails_a_number_after_it() -> None:
    assert part_name(SCOPE, "Exports", 0) == f"{PATH}/Exports"
    assert part_name(SCOPE, "Exports", 12) == f"{PATH}/Exports.12"


@examples(80)
@given(RECORDS)
@example(Record(NETWORK, {Key(f"Key{number}"): text("ä" * 20) for number in range(400)}))
@example(Record(NETWORK, {Key("Spaces"): text(" " * MAX_BYTES), Key("Secret"): secure("a " * 4096)}))
@example(Record(NETWORK, {}))
def test_any_record_comes_back_as_it_was(written: Record) -> None:
    assert found(parameters(encode(written, NOTHING))).record == written


@examples(80)
@given(RECORDS, st.frozensets(st.integers(0, 40)))
def test_parts_are_what_parameter_store_takes(written: Record, used: frozenset[int]) -> None:
    for part in encode(written, used):
        assert 0 < len(part.text.encode()) <= PART_BYTES
        assert part.text == part.text.strip()
        assert "{{" not in part.text


@examples(60)
@given(RECORDS, st.frozensets(st.integers(0, 40)))
def test_the_head_is_last_and_numbers_are_not_reused(written: Record, used: frozenset[int]) -> None:
    numbers = [part.number for part in encode(written, used)]
    assert numbers[-1] == 0
    assert len(set(numbers)) == len(numbers)
    assert not set(numbers[:-1]) & (used | {0})


@given(st.dictionaries(KEYS, st.integers(0, 10**9).map(lambda n: f"hidden-{n}-"), min_size=1), st.booleans())
def test_secure_values_are_only_in_secure_strings(hidden: dict[Key, str], much: bool) -> None:
    plain = {Key(f"Plain{number}"): text("x" * (3000 if much else 3)) for number in range(3)}
    written = Record(NETWORK, plain | {key: secure(value) for key, value in hidden.items()})
    open_text = "".join(part.text for part in encode(written, NOTHING) if part.kind is not ParameterType.SECURE)
    assert not [value for value in hidden.values() if value in open_text]


def test_values_are_not_in_what_is_printed() -> None:
    written = record(A=text("hidden"), B=secure("hidden"))
    assert "hidden" not in f"{written!r}{encode(written, NOTHING)!r}{text('hidden')!r}"


@pytest.mark.parametrize("old", [record(A="old"), record(A=secure("old")), large("o"), large("öß ")])
@pytest.mark.parametrize("new", [record(A="new"), record(B=secure("new"), C="new"), large("n"), large("\u00a0")])
def test_a_write_cut_short_leaves_the_old_record_and_its_end_the_new_one(old: Record, new: Record) -> None:
    before = parameters(encode(old, NOTHING))
    used = found(before).numbers
    parts = encode(new, used)
    for done in range(len(parts)):
        now = found(before | parameters(parts[:done]))
        assert now.record == old
        assert not now.torn
        assert now.numbers == used | {part.number for part in parts[:done]}
    written = before | parameters(parts)
    assert found(written).record == new
    tails = sorted(used - {part.number for part in parts})
    for gone in range(len(tails) + 1):
        for number in tails[:gone]:
            written.pop(part_name(SCOPE, "Exports", number), None)
        assert found(written).record == new


def test_what_a_write_cut_short_left_is_not_written_over_by_the_next() -> None:
    before = parameters(encode(large("a"), NOTHING))
    left = before | parameters(encode(large("b"), found(before).numbers)[:3])
    parts = encode(large("c"), found(left).numbers)
    assert not {part_name(SCOPE, "Exports", part.number) for part in parts[:-1]} & left.keys()
    assert found(left | parameters(parts)).record == large("c")


def test_a_head_without_one_of_its_tails_is_torn() -> None:
    parts = encode(large(), NOTHING)
    assert len(parts) > 6
    for missing in parts[:-1]:
        now = found(parameters([part for part in parts if part is not missing]))
        assert now == StoredRecord(None, torn=True, numbers=frozenset(p.number for p in parts if p is not missing))


def test_tails_without_a_head_are_no_record_and_not_torn() -> None:
    parts = encode(large(), NOTHING)[:-1]
    numbers = frozenset(part.number for part in parts)
    assert found(parameters(parts)) == StoredRecord(None, torn=False, numbers=numbers, spare=numbers)


def test_a_tail_changed_by_hand_is_torn() -> None:
    written = parameters(encode(large(), NOTHING))
    name = max(name for name in written if written[name].type is ParameterType.STRING and name != f"{PATH}/Exports")
    written[name] = Parameter(name, ParameterType.STRING, written[name].text.replace("x", "y"))
    assert found(written).torn


@pytest.mark.parametrize(
    "head",
    [
        "",
        "nonsense",
        "null",
        "3",
        "[]",
        "{}",
        '{"values":{}}',
        '{"stack":"s","values":null}',
        '{"stack":"s","values":[]}',
        '{"stack":"s","values":{"A":[1]}}',
        '{"stack":"s","parts":3}',
        '{"stack":"s","parts":[1]}',
        '{"stack":"s","parts":[]}',
        '{"stack":"s","secure":[]}',
        '{"stack":"s","secure":7}',
    ],
)
def test_a_head_that_cannot_be_read_is_torn(head: str) -> None:
    assert found(parameters([RecordPart(0, ParameterType.STRING, head)])) == StoredRecord(
        None, torn=True, numbers=frozenset({0})
    )


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_any_head_is_readable_or_torn(head: str) -> None:
    now = found(parameters([RecordPart(0, ParameterType.STRING, head)]))
    assert now.torn is (now.record is None)


def test_each_export_has_its_own_record() -> None:
    stored = parameters(encode(record(A="1"), NOTHING)) | parameters(encode(large(), NOTHING), "Exports2")
    assert {logical_id: each.record for logical_id, each in decode(SCOPE.path("records"), stored).items()} == {
        "Exports": record(A="1"),
        "Exports2": large(),
    }


@pytest.mark.parametrize("suffix", [".0", ".00", ".01", ".x", ".", ".1.2", ".-1", ".\u00b2"])
def test_a_parameter_that_is_not_a_part_is_ignored(suffix: str) -> None:
    stray = f"{PATH}/Exports{suffix}"
    stored = parameters(encode(record(A="1"), NOTHING)) | {stray: Parameter(stray, ParameterType.STRING, "{}")}
    assert found(stored) == StoredRecord(record(A="1"), torn=False, numbers=frozenset({0}))


def test_a_value_that_is_written_as_a_number_by_hand_is_a_string() -> None:
    head = RecordPart(0, ParameterType.STRING, '{"stack":"s","values":{"A":5}}')
    assert found(parameters([head])).record == Record("s", {Key("A"): Value(ParameterType.STRING, "5")})


def test_the_former_hold_is_kept_and_no_difference() -> None:
    """The attribute of an Export keeps it, and an update that changes nothing else has nothing to write."""
    former = Record(NETWORK, {Key("A"): text("a")}, former_hold="network-Exports")
    stored = found(parameters(encode(former, NOTHING))).record
    assert stored == Record(NETWORK, {Key("A"): text("a")})
    assert stored is not None
    assert stored.former_hold == "network-Exports"
