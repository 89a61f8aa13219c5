"""What is stored in a whole account, as far as it matters: two runs that came to the same have the same state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.record import Record, decode
from strongref.contract.values import Kind, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.fake_ssm import FakeSsm
    from tests.support.fake_ssm import Record as Stored

EXPORTS, RECORDS, FENCES = (f"/strongref/{branch}/" for branch in ("exports", "records", "fences"))

Name = tuple[str, str]
"""A region, and a parameter's name."""


@dataclass(frozen=True)
class State:
    """What is stored.

    Attributes:
        parameters: the values, and all that is not strongref's: type, text and tags.
        records: what each says, decoded, or that it cannot be; the numbers of their parts do not matter.
    """

    parameters: Mapping[Name, tuple[str, str, tuple[tuple[str, str], ...]]]
    records: Mapping[Name, object]

    @classmethod
    def of(cls, regions: Mapping[str, FakeSsm]) -> State:
        """The state of an account's regions, without fences."""
        parameters = {}
        parts: dict[Name, dict[str, Parameter]] = {}
        for (region, name), record in stored(regions):
            if name.startswith(RECORDS):
                part = Parameter(name, Kind(record.kind), record.text)
                parts.setdefault((region, name.rsplit("/", 1)[0]), {})[name] = part
            elif not name.startswith(FENCES):
                parameters[region, name] = (record.kind, record.text, record.tags)
        records = {
            (region, f"{path}/{logical_id}"): found.record or "cannot be put together"
            for (region, path), each in parts.items()
            for logical_id, found in decode(path, each).items()
        }
        return cls(parameters, records)

    def without_tags(self, tags: frozenset[str], only: frozenset[Name] | None = None) -> State:
        """The same, but for tags of these keys; of some parameters, or of all."""
        return State(
            {
                name: (kind, text, tuple(tag for tag in each if tag[0] not in tags))
                if only is None or name in only
                else (kind, text, each)
                for name, (kind, text, each) in self.parameters.items()
            },
            self.records,
        )

    def differences(self, wanted: State) -> list[str]:
        """What is not as it should be, for people."""
        return [
            f"{name} in {region} is {_shown(there.get((region, name)))}, not {_shown(should.get((region, name)))}"
            for there, should in ((self.parameters, wanted.parameters), (self.records, wanted.records))
            for region, name in sorted(there.keys() | should.keys())
            if there.get((region, name)) != should.get((region, name))
        ]


def _shown(found: object) -> str:
    if isinstance(found, Record):
        return f"{found.values} of {found.stack}"
    return "gone" if found is None else str(found)


def stored(regions: Mapping[str, FakeSsm]) -> Iterator[tuple[Name, Stored]]:
    """Every parameter of an account."""
    for region, ssm in regions.items():
        for name, slot in ssm.snapshot():
            if slot.record:
                yield (region, name), slot.record
