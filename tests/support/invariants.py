"""What must hold for all that is stored, in four words.

- A reference is **lost** if its value is gone, has changed, or no longer carries its claim.
- A reference is **torn** if the records do not publish its value, or publish another one.
- A parameter is a **leftover** if it is strongref's, and nothing needs it any more.
- A stack is **stuck** if its owner cannot continue its rollback, update or delete it, although nobody imports anything,
  and no fault is left, or what is away was given up.

The explorer asks after every state, the fuzz after every call, the faults after every delivery. When a record may lag
behind its value, and when everything has to be gone, is for each of them to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from strongref.contract.index import INDEX, Place, index_name, read_index
from strongref.contract.names import ExportScope, Site
from strongref.contract.record import Record, decode
from strongref.contract.values import Parameter, ParameterType, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.support.fake_ssm import FakeParameter, FakeSsm

EXPORTS, RECORDS, FENCES = (f"/strongref/{branch}/" for branch in ("exports", "records", "fences"))

Name = tuple[str, str]
"""A region, or the text of its site in another account, and a parameter's name."""

ABROAD = str(Site("", "+")).removesuffix("+")
"""What stands between a region and an account in the text of a site."""

UNREADABLE = "cannot be read"


@dataclass(frozen=True)
class Reference:
    """A value that somebody relies on.

    Attributes:
        name: of its parameter.
        claims: the tags that protect it.
        value: as it was imported; None if it may change.
    """

    name: Name
    claims: frozenset[tuple[str, str]]
    value: Value | None = None

    @property
    def scope(self) -> Name:
        """The place of the records that publish it."""
        region, name = self.name
        return region, RECORDS + "/".join(name.removeprefix(EXPORTS).split("/")[:4])

    @property
    def key(self) -> str:
        """Its key in those records."""
        return "/".join(self.name[1].removeprefix(EXPORTS).split("/")[4:])


def stored(regions: Mapping[str, FakeSsm]) -> dict[Name, FakeParameter]:
    """Every parameter of an account."""
    return {(region, name): found for region, ssm in regions.items() for name, found in ssm.parameters().items()}


def records(there: Mapping[Name, FakeParameter]) -> dict[Name, dict[str, Record | str]]:
    """What each record says, by its place and its logical ID; `UNREADABLE` if it cannot be put together."""
    parts: dict[Name, set[tuple[str, str, str]]] = {}
    for (region, name), found in there.items():
        if name.startswith(RECORDS):
            parts.setdefault((region, name.rsplit("/", 1)[0]), set()).add((name, found.kind, found.text))
    return {(region, path): _decode(path, frozenset(each)) for (region, path), each in parts.items()}


def published(reference: Reference, said: Mapping[Name, Mapping[str, Record | str]]) -> list[Value]:
    """What the records publish for a reference. Of two Exports of a stack, each may publish it."""
    found = [each for each in said.get(reference.scope, {}).values() if isinstance(each, Record)]
    return [value for record in found for key, value in record.values.items() if key == reference.key]


def lost(reference: Reference, there: Mapping[Name, FakeParameter]) -> str | None:
    """How a reference is lost, or None."""
    found = there.get(reference.name)
    if found is None:
        return "lost: it is gone"
    if not reference.claims <= set(found.tags):
        return "lost: its claim is gone"
    if reference.value is not None and value_of(found) != reference.value:
        return "lost: it has another value"
    return None


def torn(reference: Reference, said: list[Value]) -> str | None:
    """How a reference is torn from what the records publish for it, or None."""
    if not said:
        return "torn: no record publishes it"
    if reference.value is not None and reference.value not in said:
        return "torn: its record has another value"
    return None


def torn_values(there: Mapping[Name, FakeParameter]) -> list[Name]:
    """The parameters whose values are torn from the records that publish them, claimed or not."""
    said = records(there)
    found = []
    for name in (name for name in there if name[1].startswith(EXPORTS)):
        reference = Reference(name, frozenset(), value_of(there[name]))
        values = published(reference, said)
        if values and torn(reference, values):
            found.append(name)
    return found


def leftovers(there: Iterable[Name]) -> list[str]:
    """How to report parameters that nothing needs."""
    return [f"leftover: {name} in {region}" for region, name in sorted(there)]


def unindexed(there: Mapping[Name, FakeParameter]) -> set[str]:
    """The places of records that the index does not name, for people. It may name too much, but never too little."""
    index = {
        name: Parameter(name, ParameterType.STRING, found.text)
        for (_, name), found in there.items()
        if name.startswith(INDEX)
    }
    named = {(at, place) for (at, _), entry in read_index(index).items() for place in entry.places}
    missing = set()
    for (region, path), each in records(there).items():
        scope = ExportScope.of("records", f"{path}/x")
        for logical_id, record in each.items():
            if not (scope and isinstance(record, Record)):
                continue
            at, _, account = region.partition(ABROAD)
            place = Place(account or scope.producer.account, at, scope.consumer)
            if (index_name(scope.producer.stack, logical_id), place) not in named:
                missing.add(f"unindexed: {path}/{logical_id} in {region}")
    return missing


def value_of(found: FakeParameter) -> Value:
    return Value(ParameterType(found.kind), found.text)


@lru_cache(maxsize=4096)
def _decode(path: str, parts: frozenset[tuple[str, str, str]]) -> dict[str, Record | str]:
    given = {name: Parameter(name, ParameterType(kind), text) for name, kind, text in parts}
    return {logical_id: found.record or UNREADABLE for logical_id, found in decode(path, given).items()}
