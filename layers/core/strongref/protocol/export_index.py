"""Keeps an Export's entry in the index, which names a place from before its first value until after its last."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract import index
from strongref.contract.values import ParameterType
from strongref.errors import AlreadyExistsError, StoreError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.protocol.side_by_side import call_all

if TYPE_CHECKING:
    from datetime import datetime

    from strongref.protocol.ports import Store
    from strongref.protocol.stored_exports import ExportIdentity


@dataclass(frozen=True, slots=True)
class ExportIndex:
    store: Store  # of the Export's own region
    export: ExportIdentity

    def read(self) -> index.IndexEntry:
        """The entry; an empty one if there is none of this stack. Raises `NewerFormatError`."""
        found = self.store.under(f"{index.INDEX}/{self.export.producer.stack}")
        own = {name: each for name, each in found.items() if f"{name}/".startswith(f"{self._name}/")}
        return index.read_index(own).get((self._name, self.export.stack), index.IndexEntry(self.export.stack))

    def create(self, places: Iterable[index.Place], hold: str, at: datetime, check: Callable[[], None]) -> None:
        """Name the first places of an Export, before they get values, beside a check.

        Raises:
            AlreadyExistsError: there is an entry, or a former one has gone a moment ago.
            StoreError: otherwise, or by the check; what was named is taken back.
        """
        stack, texts = self.export.stack, {self._name: index.encode_hold(self.export.stack, hold)} if hold else {}
        texts |= {f"{self._name}{index.path_of(place)}": index.encode_place(stack, at, exact=True) for place in places}
        made: list[str] = []

        def create(name: str) -> None:
            self.store.create(name, ParameterType.STRING, texts[name], {})
            made.append(name)

        calls: list[Callable[[], None]] = [partial(create, name) for name in texts]
        try:
            self.store.side_by_side([[check], calls])
        except StoreError as error:
            if not isinstance(error, AlreadyExistsError):
                self.store.delete(made)
            raise

    def name(
        self, entry: index.IndexEntry, places: Collection[index.Place], hold: str, at: datetime
    ) -> index.IndexEntry:
        """Name places, with the date of the request that is about to write there; and the hold, if there is one.

        `entry` is what was read behind the fences of these places; what version 0.2.0 wrote is taken over. Returns the
        entry as it is then.
        """
        stack, named = self.export.stack, {*places, *(entry.older - entry.wrote.keys())}
        wrote = {place: max(at, entry.wrote.get(place, at)) for place in named}
        texts = {
            f"{self._name}{index.path_of(each)}": index.encode_place(stack, date, exact=True)
            for each, date in wrote.items()
            if entry.wrote.get(each) != date or each not in entry.exact
        }
        put = partial(self.store.overwrite, kind=ParameterType.STRING)
        call_all(self.store, [partial(put, name, text=text) for name, text in texts.items()])
        if entry.older or hold not in ("", entry.hold):
            put(self._name, text=index.encode_hold(stack, hold or entry.hold))
        if denied := entry.denied.keys() & named:
            self.remove(denied, index.DENIED)
        return replace(
            entry,
            places=entry.places | named,
            hold=hold or entry.hold,
            older=frozenset(),
            wrote={**entry.wrote, **wrote},
            exact=entry.exact | named,
        )

    def add(self, entry: index.IndexEntry, place: index.Place, hold: str, at: datetime) -> None:
        """Add a place whose record shows that it is missing; that makes no entry exact."""
        if place not in entry.places:
            with suppress(AlreadyExistsError):
                text = index.encode_place(self.export.stack, at)
                self.store.create(f"{self._name}{index.path_of(place)}", ParameterType.STRING, text, {})
        if hold not in ("", entry.hold) and not entry.older:
            self.store.overwrite(self._name, ParameterType.STRING, index.encode_hold(self.export.stack, hold))

    def unmark(self, places: Iterable[index.Place]) -> None:
        """Take off what says that a person gave these places up: they are published to again."""
        kinds = (index.FORGOTTEN, index.DROPPED)
        self.store.delete([f"{self._name}{index.path_of(each, kind)}" for each in places for kind in kinds])

    def remove_all(self) -> None:
        """Remove the whole entry; what a later stack of the same name has written stays."""
        found = self.store.under(f"{index.INDEX}/{self.export.producer.stack}")
        self.store.delete(
            each for each in index.names_of(found, self.export.stack) if f"{each}/".startswith(f"{self._name}/")
        )

    def note(self, kind: str, places: Iterable[index.Place], at: datetime, request: str = "") -> None:
        """Note what an event did about places that it could not reach: it was `DENIED` there, or `DROPPED` them."""
        for place in places:
            text = index.encode_place(self.export.stack, at, **({"request": request} if request else {}))
            self.store.overwrite(f"{self._name}{index.path_of(place, kind)}", ParameterType.STRING, text)

    def remove(self, places: Iterable[index.Place], *kinds: str, with_hold: bool = False) -> None:
        """Remove what is said about places that have no values any more, or these kinds of it.

        If that fails, the entry names too much until the janitor repairs it: no reason to fail what has succeeded.
        """
        kinds = kinds or ("", index.DENIED, index.FORGOTTEN, index.DROPPED)
        names = [f"{self._name}{index.path_of(place, kind)}" for place in places for kind in kinds]
        try:
            if with_hold:
                self.read()  # What a later version wrote is not deleted.
                names.append(self._name)
            self.store.delete(names)
        except UnfinishedError:
            raise
        except StrongRefError as error:
            logger.warning("The index could not be corrected", extra={"parameter": self._name, "error": str(error)})

    @property
    def _name(self) -> str:
        return index.index_name(self.export.producer.stack, self.export.logical_id)
