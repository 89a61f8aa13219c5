"""One Import's answer has 4,096 bytes: names are dealt out so that it holds them, and moved as little as possible."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from strongref.contract.event import ResponseTarget
from strongref.contract.names import StackArn
from strongref.contract.requests import ImportRequest
from strongref.contract.response import RESPONSE_LIMIT, Response, ResponseStatus, encode
from strongref.macro.imports import DATA_BYTES, VALUE_BYTES, split
from strongref.protocol.imports import physical_id
from tests.support.macro import imports, ref, template

NAMES = st.lists(st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True), unique=True, max_size=120)
SIZES = st.integers(1, DATA_BYTES)


def where(names: list[str], value_bytes: int = VALUE_BYTES) -> dict[str, str]:
    return {name: part for part, those in split(names, value_bytes).items() for name in those}


@given(NAMES, SIZES)
@example(["a", "b"], 1641)
def test_every_name_is_in_one_part_and_each_part_fits_or_is_one_name(names: list[str], value_bytes: int) -> None:
    parts = split(names, value_bytes)
    assert sorted(name for part in parts.values() for name in part) == sorted(names)
    for part in parts.values():
        assert part == sorted(part)
        data = dict.fromkeys(part, "x" * value_bytes)
        assert len(part) == 1 or len(json.dumps(data, separators=(",", ":"))) <= DATA_BYTES


@given(NAMES, st.randoms())
def test_the_parts_follow_from_the_names_alone(names: list[str], chance: object) -> None:
    mixed = sorted(names, key=lambda _: chance.random())  # type: ignore[attr-defined]
    assert split(mixed + mixed) == split(names)


@given(NAMES, st.from_regex(r"new[A-Za-z0-9]{1,9}", fullmatch=True))
def test_a_name_that_comes_moves_those_of_one_part_at_most(names: list[str], new: str) -> None:
    before, after = where(names), where([*names, new])
    moved = [name for name in names if before[name] != after[name]]
    assert len({before[name] for name in moved}) <= 1
    together = len([name for name in names if before[name] == before[moved[0]]]) if moved else 1
    assert len(moved) < together or together == 1  # some of them stay where they were


def test_two_names_that_fill_an_answer_but_for_a_byte_are_parted() -> None:
    assert [len(split(["a", "b"], size)) for size in (1640, 1641)] == [1, 2]


def test_few_names_stay_together_whatever_they_are() -> None:
    assert set(where([f"Name{number}" for number in range(10)]).values()) == {""}
    assert len(set(where([f"Name{number}" for number in range(13)]).values())) > 1
    assert split([]) == {}


def test_an_answer_with_values_of_that_size_is_one_that_cloudformation_takes() -> None:
    """With the longest ids that there can be: of a stack, of the Import, and of the request."""
    given_ = template({f"P{number}Ref": ref(f"Name{number}", "s" * 128) for number in range(200)})
    stack = StackArn("aws-us-gov", "us-gov-west-1", "111111111111", "c" * 128, "51af3dc0-da77-11e4-872e-1234567db123")
    made = imports(given_)
    assert len(made) > 15
    for logical_id, each in made.items():
        properties = {key: value for key, value in each["Properties"].items() if key != "ServiceToken"}
        properties["From"] |= {"Region": stack.region}  # of the same partition
        request = ImportRequest.parse(properties, stack)
        generation = physical_id(stack, logical_id, request)
        sender = ResponseTarget(str(stack), logical_id, "9dbbbc4a-3c5e-4c77-9d0c-1e0a6c5d5a4f", generation, "https://x")
        data = dict.fromkeys(properties["Names"], "x" * VALUE_BYTES)
        assert len(encode(sender, ResponseStatus.SUCCESS, Response(generation, data))) <= RESPONSE_LIMIT


def test_the_size_of_values_decides_how_many_imports_there_are() -> None:
    given_ = template({f"P{number}Ref": ref(f"Name{number}") for number in range(12)})
    counts = [len(imports(given_, value_bytes=size)) for size in (32, 256, 1000, DATA_BYTES)]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (1, 12)


def test_logical_ids_of_parts_begin_alike_and_are_allowed() -> None:
    made = imports(template({f"P{number}Ref": ref(f"Name{number}", "s" * 128) for number in range(60)}))
    first = min(made, key=len)
    assert all(name.startswith(first) and name.isalnum() and len(name) < 90 for name in made)
