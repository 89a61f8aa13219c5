"""What is stored in a whole account, as far as it matters: two runs with the same outcome have the same state.

The index is a hint, which may name too much; `invariants.unindexed` says whether it names enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.index import INDEX
from strongref.contract.record import Record
from strongref.contract.unclaimed import UNCLAIMED
from tests.support.invariants import FENCES, RECORDS, Name, records, stored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.fake_ssm import FakeSsm


@dataclass(frozen=True)
class AccountState:
    """What is stored, without fences, and without notes of what a rollback could not claim because of a fault.

    Attributes:
        parameters: the values, and all that is not strongref's: type, text and tags.
        records: what each says; the numbers of their parts do not matter.
    """

    parameters: Mapping[Name, tuple[str, str, tuple[tuple[str, str], ...]]]
    records: Mapping[Name, object]

    @classmethod
    def of(cls, regions: Mapping[str, FakeSsm]) -> AccountState:
        """The state of an account's regions."""
        there = stored(regions)
        return cls(
            {
                (region, name): (found.kind, found.text, found.tags)
                for (region, name), found in there.items()
                if not name.startswith((RECORDS, FENCES, INDEX, UNCLAIMED))
            },
            {
                (region, f"{path}/{logical_id}"): record
                for (region, path), each in records(there).items()
                for logical_id, record in each.items()
            },
        )

    def without_tags(self, tags: frozenset[str], only: frozenset[Name] | None = None) -> AccountState:
        """This state without the tags of these keys; of some parameters, or of all."""
        return AccountState(
            {
                name: (kind, text, tuple(tag for tag in each if tag[0] not in tags))
                if only is None or name in only
                else (kind, text, each)
                for name, (kind, text, each) in self.parameters.items()
            },
            self.records,
        )

    def differences(self, wanted: AccountState) -> list[str]:
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
