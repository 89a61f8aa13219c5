"""The format of what is stored: a later one is refused and left alone, and an earlier version reads today's."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref import __version__
from strongref.contract.continuation import Continuation
from strongref.contract.fence import UNREADABLE_LIFETIME, Fence, TagScan
from strongref.contract.format import FORMAT, HOLD_FORMAT, check_format, check_hold_format
from strongref.contract.index import encode_hold, encode_place, read_index
from strongref.contract.record import Record, RequestStamp, decode, encode, part_name
from strongref.contract.releases import Release
from strongref.contract.values import Parameter, ParameterType
from strongref.errors import NewerFormatError
from tests.support.builders import NETWORK, SCOPE, items, record, secure, values
from tests.support.older import unpack

if TYPE_CHECKING:
    from pathlib import Path

HEAD = f"{SCOPE.path('records')}/Exports"
NOW = datetime(2026, 1, 31, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["stack", "values", "parts", "secure", "sum", "last", "format", "open", "hold", "x"]), inner
        )
    ),
)


def stored(text: str, name: str = HEAD) -> Parameter:
    return Parameter(name, ParameterType.STRING, text, modified=NOW.isoformat())


def newer(**more: object) -> str:
    return json.dumps({"format": FORMAT + 1, "writer": "9.8.7", **more})


@pytest.mark.parametrize("fields", [{}, {"format": 1}, {"writer": "0.0.1"}, {"unknown": [1]}])
def test_a_record_without_a_format_and_one_with_unknown_fields_are_read(fields: dict[str, object]) -> None:
    text = json.dumps({"stack": NETWORK, "values": {"A": "a"}, **fields})
    assert decode(SCOPE.path("records"), {HEAD: stored(text)})["Exports"].record == record(A="a")


@pytest.mark.parametrize("found", [FORMAT + 1, "2", 0, None, 1.5, [1]])
def test_a_record_of_another_format_is_not_read_and_has_no_spare_parts(found: object) -> None:
    text = json.dumps({"stack": NETWORK, "values": {"A": "a"}, "format": found, "writer": "9.8.7"})
    head, tail = stored(text), stored("x", f"{HEAD}.1")
    read = decode(SCOPE.path("records"), {HEAD: head, tail.name: tail})["Exports"]
    assert (read.record, read.torn, read.spare) == (None, True, frozenset())
    assert isinstance(read.why, NewerFormatError)
    assert str(read.why) == (
        f"{HEAD} has format {found}, written by strongref 9.8.7. This is strongref {__version__}, which reads up to "
        f"format {FORMAT}. Upgrade the installation in this region first. Nothing was changed."
    )


def test_a_newer_record_is_newer_whatever_else_it_has() -> None:
    read = decode(SCOPE.path("records"), {HEAD: stored(json.dumps({"format": 2, "stuff": {}}))})["Exports"]
    assert "written by strongref of an unknown version" in str(read.why)


def test_every_record_has_the_version_that_wrote_it_and_is_equal_without() -> None:
    (part,) = encode(record(A="a"), frozenset())
    head = json.loads(part.text)
    assert head["writer"] == __version__
    assert "format" not in head
    del head["writer"]
    assert decode(SCOPE.path("records"), {HEAD: stored(json.dumps(head))})["Exports"].record == record(A="a")


@given(JSON, st.dictionaries(st.integers(1, 3), st.text(max_size=4), max_size=2))
def test_whatever_a_head_is_it_stops_nobody(head: object, tails: dict[int, str]) -> None:
    parts = {f"{HEAD}.{number}": stored(text, f"{HEAD}.{number}") for number, text in tails.items()}
    for text in (json.dumps(head), json.dumps(head)[:-1]):
        found = decode(SCOPE.path("records"), {HEAD: stored(text), **parts})["Exports"]
        if found.record:
            assert isinstance(found.record.stack, str)
        else:
            assert found.torn
            assert not found.spare


@pytest.mark.parametrize(
    "text", ["[" * 4000, '{"stack":' + "[" * 4000, '{"stack":"s","last":["0001-01-01T00:00:00+23:00","r"]}']
)
def test_a_head_that_breaks_its_reader_is_torn(text: str) -> None:
    assert decode(SCOPE.path("records"), {HEAD: stored(text)})["Exports"].torn


def test_a_fence_of_another_format_is_respected_for_as_long_as_a_function_can_run() -> None:
    fence = Fence.decode(stored(newer(until="2001-01-01T00:00:00+00:00")))
    assert fence.held_by == "strongref 9.8.7"
    assert isinstance(fence.newer, NewerFormatError)
    assert fence.is_live(NOW + UNREADABLE_LIFETIME - timedelta(seconds=1))
    assert not fence.is_live(NOW + UNREADABLE_LIFETIME)
    assert Fence.decode(stored(Fence("x", NOW).encode())).newer is None


def test_an_index_entry_of_another_format_is_refused() -> None:
    with pytest.raises(NewerFormatError, match=r"has format 2, written by strongref 9\.8\.7"):
        read_index({"/strongref/index/network/Exports": stored(newer())})


def test_a_trace_of_another_format_is_kept() -> None:
    assert Release.decode("/strongref/releases/network/A/x", newer()) is None


def test_a_hold_stack_of_another_format_is_refused() -> None:
    check_hold_format("hold", {})
    check_hold_format("hold", {HOLD_FORMAT: "1"})
    with pytest.raises(NewerFormatError, match=r"hold has format 2, written by strongref 9\.8\.7"):
        check_hold_format("hold", {HOLD_FORMAT: "2", "strongref:writer": "9.8.7"})


@pytest.mark.parametrize("text", [[], "x", None, 3, {}])
def test_what_is_no_map_has_no_format(text: object) -> None:
    check_format("x", text)


READ = """
import json, sys
from datetime import datetime, UTC
from strongref.contract.continuation import Continuation
from strongref.contract.fence import Fence
from strongref.contract.index import IndexEntry
from strongref.contract.record import decode
from strongref.contract.values import Parameter, ParameterType
given = json.load(sys.stdin)
made = lambda name, kind, text: Parameter(name, ParameterType(kind), text)
found = decode(given["path"], {name: made(name, *rest) for name, rest in given["records"].items()})
for logical_id, each in found.items():
    record = each.record
    values = {key: [value.type, value.text] for key, value in record.values.items()}
    print(logical_id, record.stack, record.hold, record.open, sorted(each.spare), json.dumps(values, sort_keys=True))
for text in given["index"]:
    entry = IndexEntry.decode(made("/i", "String", text))
    print(entry and (entry.stack, sorted(entry.places), entry.hold))
fence = Fence.decode(made("/f", "String", given["fence"]))
print(fence, fence.unfinished)
print(Continuation.parse(given["event"]))
"""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layer of the version before."""
    return unpack(tmp_path_factory.mktemp("before"), "layers/core/strongref") / "layers/core"


def test_the_version_before_reads_what_this_one_writes(before: Path) -> None:
    """So an installation can be rolled back, in the middle of a change, too."""
    stamp = RequestStamp(NOW, "request")
    large = Record(NETWORK, {**values(**{f"K{number}": "x" * 100 for number in range(60)})}, last=stamp)
    written = {
        "Small": replace(record(A="a", L=items("x", "y")), hold="network-Exports", last=stamp),
        "Secure": record(P=secure("hunter2"), Q="q"),
        "Large": large,
        "Open": replace(large, open=True),
        "Withdrawn": Record(NETWORK, {}, last=stamp, withdrawn=True),  # a record without values, which it deletes
        "Untouched": replace(record(A="a"), untouched=True),
    }
    records = {
        part_name(SCOPE, logical_id, part.number): [part.kind.value, part.text]
        for logical_id, each in written.items()
        for part in encode(each, frozenset())
    }
    fence = Fence("somebody", NOW, TagScan("request", "A", ["A"]))
    continuation = Continuation(2, NOW)
    given: dict[str, Any] = {
        "path": SCOPE.path("records"),
        "records": records,
        "index": [encode_hold(NETWORK, "h"), encode_place(NETWORK, NOW, exact=True)],
        "fence": fence.encode(),
        "event": continuation.next_event({}),
    }
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", READ],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(before)},
    )
    expected = [
        f"{logical_id} {NETWORK} {each.hold} {each.open} [] "
        + json.dumps({key: [value.type, value.text] for key, value in each.values.items()}, sort_keys=True)
        for logical_id, each in written.items()
    ]
    *lines, hold_line, place_line, fence_line, event_line = done.stdout.splitlines()
    assert sorted(lines) == sorted(expected)
    # It takes no place for an entry of its own, so it leaves them all alone.
    assert (hold_line, place_line) == (f"('{NETWORK}', [], 'h')", "None")
    assert fence_line == f"{fence} {fence.unfinished}"
    assert event_line == str(replace(continuation, invocation=3))
