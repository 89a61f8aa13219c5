"""Keeps an Export's entry in the index, which names a place from before its first value until after its last."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.contract.index import IndexEntry, Place, index_name
from strongref.contract.values import ParameterType
from strongref.errors import AlreadyExistsError, StrongRefError, UnfinishedError
from strongref.log import logger

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from strongref.protocol.ports import Store
    from strongref.protocol.snapshot import Destination
    from strongref.protocol.stored_exports import ExportIdentity


@dataclass(frozen=True, slots=True)
class ExportIndex:
    """The entry of one Export."""

    store: Store  # of the Export's own region
    export: ExportIdentity
    hold: str = ""  # the CloudFormation export that the Export names; empty if it names none

    def read(self) -> IndexEntry | None:
        """The entry; None if there is none of this stack. Raises `NewerFormatError`."""
        entry = IndexEntry.decode(self.store.get([self._name]).get(self._name))
        return entry if entry and entry.stack == self.export.stack else None

    def add(
        self, destinations: Sequence[Destination], *, is_new: bool = False, must_not_fail: bool = False
    ) -> IndexEntry:
        """Add the places that get values, before they do. `is_new` means that there is no entry yet, presumably.

        In a rollback, which must not fail, the entry may name too little until the janitor repairs it.
        """
        entry = IndexEntry(self.export.stack, self._places(destinations), self.hold)
        try:
            if is_new:
                with suppress(AlreadyExistsError):
                    self.store.create(self._name, ParameterType.STRING, entry.encode(), {})
                    return entry
            found = self.read()
            if found:
                entry = replace(entry, places=entry.places | found.places, hold=self.hold or found.hold)
            if entry != found and (entry.places or entry.hold):
                self.store.overwrite(self._name, ParameterType.STRING, entry.encode())
        except UnfinishedError:
            raise
        except StrongRefError as error:
            if not must_not_fail:
                raise
            self._leave_it(error)
            return IndexEntry(self.export.stack, hold=self.hold)
        return entry

    def remove(self, entry: IndexEntry | None, destinations: Sequence[Destination]) -> None:
        """Remove the places that have no values anymore from an entry; if there is none, the Export is being deleted.

        If that fails, the entry names too much until the janitor repairs it: no reason to fail what has succeeded.
        """
        left = entry and replace(entry, places=self._places(destinations))
        try:
            if left is None or not (left.places or left.hold):
                self.read()  # What a later version wrote is not deleted.
                self.store.delete([self._name])
            elif left != entry:
                self.store.overwrite(self._name, ParameterType.STRING, left.encode())
        except UnfinishedError:
            raise
        except StrongRefError as error:
            self._leave_it(error)

    def _leave_it(self, error: StrongRefError) -> None:
        """Leave an entry that could not be written to the janitor."""
        logger.warning("The index could not be corrected", extra={"parameter": self._name, "error": str(error)})

    @property
    def _name(self) -> str:
        return index_name(self.export.producer.stack, self.export.logical_id)

    def _places(self, destinations: Collection[Destination]) -> frozenset[Place]:
        account = self.export.producer.account
        return frozenset(Place(account, each.region, each.scope.consumer) for each in destinations if each.wanted)
