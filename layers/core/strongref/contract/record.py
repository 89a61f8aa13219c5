"""Records: what an Export says that it publishes, the truth of which the values' parameters are a copy. Pure.

A record that fits is one parameter, its head: `{"stack": …, "values": {…}}`. A larger one has its values in tails,
numbered parameters beside the head, which names them; secure values stand in tails of their own, SecureStrings.
A record is changed by writing new tails under numbers never used in it, then the head (one call: the change happens
at once), then deleting the old tails. So a reader finds the old record or the new one, or that it has to read again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from strongref.contract.names import Key
from strongref.contract.values import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.contract.values import Parameter

PART_BYTES = 4096
"""What one parameter of the standard tier holds (AWS: PutParameter, Value)."""

_OPEN = '"open":true,'
"""Room for this is left in every head, so that a record has the same parts open and closed."""

_NUMBER = re.compile(r"[1-9][0-9]*")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Record:
    """What one Export publishes in one place.

    Attributes:
        stack: the ARN of the stack that wrote it.
        values: by key.
        open: the values' tags may not say yet that this Export owns them, or still say so of some that it gave up:
            tags are changed one by one, and the Export has not come to the end of it.
    """

    stack: str
    values: Mapping[Key, Value] = field(repr=False)
    open: bool = False


@dataclass(frozen=True, slots=True)
class RecordPart:
    """One of a record's parameters. Number 0 is the head."""

    number: int
    kind: Kind
    text: str = field(repr=False)

    def name(self, path: str, logical_id: str) -> str:
        return part_name(path, logical_id, self.number)


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """What stands under an Export's name in the records of a place.

    Attributes:
        record: None if it cannot be put together: a head whose tails are missing (somebody is changing it right
            now), or tails left over without a head.
        torn: there is a head, and it could not be read whole.
        numbers: of all parts found.
        spare: of those among them that no record needs: left behind by a change or a deletion that died half-way.
    """

    record: Record | None
    torn: bool
    numbers: frozenset[int]
    spare: frozenset[int] = frozenset()


def part_name(path: str, logical_id: str, number: int) -> str:
    """The name of a record's part under a place's path of records."""
    return f"{path}/{logical_id}.{number}" if number else f"{path}/{logical_id}"


def encode(record: Record, used: frozenset[int]) -> list[RecordPart]:
    """The parts of a record in the order in which they are to be written: the head last.

    Args:
        record: what to write.
        used: the numbers of the parts that are there already.
    """
    plain = _compact({key: _json_of(value) for key, value in record.values.items() if value.kind is not Kind.SECURE})
    secure = {key: value.text for key, value in record.values.items() if value.kind is Kind.SECURE}
    number = max(used, default=0)
    tails: list[RecordPart] = []
    for chunk in _chunks(_unspaced(_compact(secure))) if secure else ():
        number += 1
        tails.append(RecordPart(number, Kind.SECURE, chunk))
    head: dict[str, object] = {"stack": record.stack} | ({"open": True} if record.open else {})
    if secure:
        head["secure"] = [part.number for part in tails]
    whole = _compact({**head, "values": json.loads(plain)})
    if len(whole.encode()) <= PART_BYTES - (0 if record.open else len(_OPEN)):
        return [*tails, RecordPart(0, Kind.STRING, whole)]
    plain = _unspaced(plain)
    parts = [RecordPart(number + at, Kind.STRING, chunk) for at, chunk in enumerate(_chunks(plain), start=1)]
    head |= {"parts": [part.number for part in parts], "sum": _sum(plain)}
    return [*tails, *parts, RecordPart(0, Kind.STRING, _compact(head))]


def decode(path: str, parameters: Mapping[str, Parameter]) -> dict[str, StoredRecord]:
    """The records of a place, by logical id, from all parameters below its path of records."""
    texts: dict[str, dict[int, str]] = {}
    for name, parameter in parameters.items():
        logical_id, dot, number = name.removeprefix(f"{path}/").partition(".")
        if not dot or _NUMBER.fullmatch(number):
            texts.setdefault(logical_id, {})[int(number or 0)] = parameter.text
    found = {}
    for logical_id, parts in texts.items():
        record = _assemble(parts)
        torn = 0 in parts and record is None
        spare = frozenset() if torn else frozenset(parts) - _named(parts.get(0))
        found[logical_id] = StoredRecord(record, torn, frozenset(parts), spare)
    return found


def _named(head: str | None) -> frozenset[int]:
    """The numbers of the parts that a readable head needs, itself included."""
    if head is None:
        return frozenset()
    said = json.loads(head)
    return frozenset([0, *said.get("parts", ()), *said.get("secure", ())])


def _assemble(parts: Mapping[int, str]) -> Record | None:
    try:
        head = json.loads(parts[0])
        values: dict[str, object] = head.get("values", {})
        if "parts" in head:
            plain = "".join(parts[number] for number in head["parts"])
            if _sum(plain) != head["sum"]:
                return None
            values = json.loads(plain)
        secure: dict[str, str] = {}
        if "secure" in head:
            secure = json.loads("".join(parts[number] for number in head["secure"]))
        return Record(
            head["stack"],
            {Key(key): _value_of(given) for key, given in values.items()}
            | {Key(key): Value(Kind.SECURE, text) for key, text in secure.items()},
            open=bool(head.get("open")),
        )
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def _json_of(value: Value) -> str | list[str]:
    return value.attribute


def _value_of(given: object) -> Value:
    if isinstance(given, list):
        return Value(Kind.STRING_LIST, ",".join(given))
    return Value(Kind.STRING, str(given))


def _compact(given: object) -> str:
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def _chunks(text: str) -> Iterator[str]:
    """Pieces of at most `PART_BYTES` bytes of UTF-8."""
    while text:
        end = len(text.encode()[:PART_BYTES].decode(errors="ignore"))
        yield text[:end]
        text = text[end:]


def _unspaced(compact: str) -> str:
    """The same JSON with white space escaped, so that no piece of it begins or ends with any."""
    return _SPACE.sub(lambda found: f"\\u{ord(found[0]):04x}", compact)


def _sum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
