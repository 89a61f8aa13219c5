"""Records: what each Export publishes. The record is the truth; the parameters of the values are copies of it. Pure.

A small record is one parameter, its head: `{"stack": …, "writer": …, "last": […], "values": {…}}`. A larger one has
its values in tails: numbered parameters next to the head, which lists them. Secure values have tails of their own:
SecureStrings. To change a record, write new tails under numbers that were never used in it, then the head (one call, so
the change is atomic), then delete the old tails. So a reader finds the old record, or the new one, or that it must read
again.

What is withdrawn, or deleted, leaves its head with a mark until the last value is gone. So it is told from a record
that was lost: a claimed value of a lost record is refused like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

from strongref import __version__
from strongref.contract.format import WRITER, check_format
from strongref.contract.names import ExportScope, Key
from strongref.contract.values import Parameter, ParameterType, Value
from strongref.errors import NewerFormatError, UndecryptableError

PART_BYTES = 4096
"""The size of one parameter of the standard tier (AWS: PutParameter, Value)."""

_OPEN = '"open":true,'
_MARKS = _OPEN + '"untouched":true,'
"""Every head has room for these, so that a record has the same parts with and without them."""

_NUMBER = re.compile(r"[1-9][0-9]*")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class RequestStamp:
    """Which request of CloudFormation's it was: events may be delivered again, and in another order."""

    at: datetime  # when CloudFormation sent it (UTC, whole seconds)
    request_id: str

    def is_outdated_by(self, last: RequestStamp | None) -> bool:
        """Whether a later request has been carried out. Those of one second count in the order in which they come."""
        return last is not None and self.at < last.at and self.request_id != last.request_id


@dataclass(frozen=True, slots=True)
class Record:
    """What one Export publishes in one scope."""

    stack: str  # the ARN of the stack that wrote it
    values: Mapping[Key, Value] = field(repr=False)  # by key
    hold: str = ""  # the CloudFormation export that imports hold (`hold_stacks`); empty if there is none
    # the Export has not finished changing the values' tags, which takes one call each. Some values may not have its
    # owner tag yet, or still have it although the Export gave them up
    open: bool = False
    # the last request that changed it; None if it is not known. Records that say the same are equal
    last: RequestStamp | None = field(default=None, compare=False)
    # the hold that it named before it named none. The attribute Hold keeps it, because the output may still exist
    former_hold: str = field(default="", compare=False)
    withdrawn: bool = False  # nothing is published any more; what is stored is going, or is kept for its importers
    untouched: bool = field(default=False, compare=False)  # the last Update failed before it began to write it


@dataclass(frozen=True, slots=True)
class RecordPart:
    """One of a record's parameters. Number 0 is the head."""

    number: int
    kind: ParameterType
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """The stored parts of an Export's record."""

    record: Record | None  # None if it is incomplete: tails are missing (it is being changed right now), or the head is
    torn: bool  # the head exists, but the record is incomplete
    numbers: frozenset[int]  # of all parts found
    # the numbers of parts that no record needs, left by a change or a deletion that crashed
    spare: frozenset[int] = frozenset()
    # why it can never be put together, if that is known: a later version wrote it, or a part cannot be decrypted
    why: NewerFormatError | UndecryptableError | None = None
    # of a record whose secure part cannot be decrypted, everything else
    without_secure: Record | None = None
    withdrawn: Record | None = None  # the mark that a withdrawn record left; it counts as no record

    @property
    def readable(self) -> Record | None:
        return self.record or self.without_secure


def part_name(scope: ExportScope, logical_id: str, number: int) -> str:
    return f"{scope.path('records')}/{logical_id}{f'.{number}' if number else ''}"


def encode(record: Record, used: frozenset[int]) -> list[RecordPart]:
    """The parts of a record, in the order in which they must be written: the head last.

    Tails get numbers above all that are `used`.
    """
    values = _compact({key: value.attribute for key, value in record.values.items() if not value.is_secure})
    secure = {key: value.text for key, value in record.values.items() if value.is_secure}
    number = max(used, default=0)
    tails: list[RecordPart] = []
    for chunk in _chunks(_unspaced(_compact(secure))) if secure else ():
        number += 1
        tails.append(RecordPart(number, ParameterType.SECURE, chunk))
    last = record.last and [record.last.at.isoformat(timespec="seconds"), record.last.request_id]
    fields: dict[str, object] = {"stack": record.stack, "open": record.open, WRITER: __version__, "hold": record.hold}
    fields |= {"formerHold": record.former_hold, "withdrawn": record.withdrawn, "last": last}
    fields |= {"secure": [part.number for part in tails]}
    head = {name: given for name, given in fields.items() if given}
    whole = _compact({**head, "values": json.loads(values)})
    if len(whole.encode()) <= PART_BYTES - len(_MARKS) + (len(_OPEN) if record.open else 0):
        return [*tails, RecordPart(0, ParameterType.STRING, whole)]
    values = _unspaced(values)
    parts = [RecordPart(number + at, ParameterType.STRING, chunk) for at, chunk in enumerate(_chunks(values), start=1)]
    head |= {"parts": [part.number for part in parts], "sum": _sum(values)}
    return [*tails, *parts, RecordPart(0, ParameterType.STRING, _compact(head))]


def decode(path: str, parameters: Mapping[str, Parameter]) -> dict[str, StoredRecord]:
    """The records of a scope by logical ID, from all parameters below its path of records."""
    stored: dict[str, dict[int, Parameter]] = {}
    for name, parameter in parameters.items():
        logical_id, dot, number = name.removeprefix(f"{path}/").partition(".")
        if not dot or _NUMBER.fullmatch(number):
            stored.setdefault(logical_id, {})[int(number or 0)] = parameter
    return {logical_id: _decode(parts) for logical_id, parts in stored.items()}


def _decode(parts: Mapping[int, Parameter]) -> StoredRecord:
    numbers, texts = frozenset(parts), {number: part.text for number, part in parts.items()}
    try:
        if 0 in parts:
            check_format(parts[0].name, json.loads(parts[0].text))
    except NewerFormatError as newer:
        return StoredRecord(None, torn=True, numbers=numbers, why=newer)
    except (ValueError, RecursionError):
        pass  # Nor can it be assembled.
    locked = next((part.locked for part in parts.values() if part.locked), None)
    record = _assemble(texts)
    if record and record.withdrawn:
        return StoredRecord(None, False, numbers, numbers - {0}, withdrawn=record)
    torn = 0 in parts and record is None
    if torn and locked:
        return StoredRecord(None, torn, numbers, why=locked, without_secure=_assemble(texts, without_secure=True))
    spare = frozenset() if torn else numbers - _needed(texts.get(0))
    return StoredRecord(record, torn, numbers, spare)


def _needed(head: str | None) -> frozenset[int]:
    """The numbers of the parts that a readable head lists, and its own."""
    if head is None:
        return frozenset()
    stored = json.loads(head)
    return frozenset([0, *stored.get("parts", ()), *stored.get("secure", ())])


def _assemble(parts: Mapping[int, str], *, without_secure: bool = False) -> Record | None:
    """The record of these parts, with or without its secure values; None if a part is missing or unreadable."""
    try:
        head = json.loads(parts[0])
        values: dict[str, object] = head.get("values", {})
        if "parts" in head:
            joined = "".join(parts[number] for number in head["parts"])
            if _sum(joined) != head["sum"]:
                return None
            values = json.loads(joined)
        secure: dict[str, str] = {}
        if "secure" in head and not without_secure:
            secure = json.loads("".join(parts[number] for number in head["secure"]))
        if not isinstance(head["stack"], str) or not all(isinstance(text, str) for text in secure.values()):
            return None
        return Record(
            head["stack"],
            {Key(key): _value_of(given) for key, given in values.items()}
            | {Key(key): Value(ParameterType.SECURE, text) for key, text in secure.items()},
            hold=str(head.get("hold", "")),
            open=bool(head.get("open")),
            last=_stamp(head.get("last")),
            former_hold=str(head.get("formerHold", "")),
            withdrawn=head.get("withdrawn") is True,
            untouched=head.get("untouched") is True,
        )
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def as_untouched(head: str) -> str:
    """The head of a record that an Update has not begun to write; the next one that writes it takes the mark away.

    Empty if it is none.
    """
    try:
        return _compact(json.loads(head) | {"untouched": True})
    except (ValueError, TypeError, RecursionError):
        return ""


def _stamp(given: object) -> RequestStamp | None:
    match given:
        case [str(at), str(request_id)]:
            return RequestStamp(datetime.fromisoformat(at).astimezone(UTC), request_id)
    return None


def _value_of(given: object) -> Value:
    if isinstance(given, list):
        return Value(ParameterType.STRING_LIST, ",".join(given))
    return Value(ParameterType.STRING, str(given))


def _compact(given: object) -> str:
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def _chunks(text: str) -> Iterator[str]:
    """Pieces of at most `PART_BYTES` bytes of UTF-8."""
    while text:
        end = len(text.encode()[:PART_BYTES].decode(errors="ignore"))
        yield text[:end]
        text = text[end:]


def _unspaced(compact: str) -> str:
    """Compact JSON with the white space in its texts escaped, so that no chunk begins or ends with it."""
    return _SPACE.sub(lambda found: f"\\u{ord(found[0]):04x}", compact)


def _sum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
