"""Exports as they are stored, read by name as a weak import reads them: nothing is claimed."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from strongref.contract.names import SHARED, ExportScope, Key
from strongref.contract.values import Kind, attribute_name, select
from strongref.errors import ChangingError, StrongRefError
from strongref.protocol.fences import fences_below
from strongref.protocol.published import RecordedExports
from strongref_toolkit.errors import NotExportedError, SecureValueError
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.contract.names import Producer
    from strongref.contract.values import Value
    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock, Patience
    from strongref_toolkit.json_values import Json

Use = tuple[ExportScope, Key]
"""One export that is used."""


class PublishedExports:
    """What stacks export to one consumer, in the store of one account and region. It lives for one run.

    Attributes:
        consumer: for whom the exports are.
        used: the keys that were asked for, by place: what a claim would have to hold.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        patience: Patience,
        consumer: str = SHARED,
        *,
        sensitive: bool = False,
    ) -> None:
        """Make one, for one run.

        Args:
            store: of the account and region where the exports are.
            clock: time, and how much of it is left.
            patience: with an Export that is being written.
            consumer: for whom the exports are; by default, those for all.
            sensitive: whether secret values are given; they are refused otherwise.
        """
        self.consumer = consumer
        self.used: dict[ExportScope, set[Key]] = {}
        self._held: dict[ExportScope, dict[Key, Value]] = {}
        self._store = store
        self._clock = clock
        self._patience = patience
        self._sensitive = sensitive
        self._published: Memo[ExportScope, Mapping[Key, Value]] = Memo()

    @property
    def uses(self) -> frozenset[Use]:
        """What was asked for: what a claim has to hold."""
        return frozenset((scope, key) for scope, keys in self.used.items() for key in keys)

    def hold(self, held: Mapping[Use, Value]) -> None:
        """Give these values from now on: somebody has claimed them."""
        for (scope, key), value in held.items():
            self._held.setdefault(scope, {})[key] = value

    def value(self, producer: Producer, name: str, shown: str) -> Json:
        """An export's value: text, a list, or a map of such.

        Args:
            producer: the exporting stack.
            name: a key, or the name of a map, with `/` between levels.
            shown: what asks for it, for errors.

        Raises:
            NotExportedError: that stack exports nothing of that name to this consumer.
            SecureValueError: it is a secret, and those were not asked for.
            ChangingError: it is being written, for longer than patience lasts.
            StoreError: Parameter Store does not tell.
        """
        scope = ExportScope(self.consumer, producer)
        values = self._held.get(scope) or self._published.get(scope, lambda: self._read(scope))
        keys = [Key(name)] if name in values else select([name], values)[name]
        if not keys:
            raise self._missing(scope, name, values)
        if not self._sensitive and any(values[key].kind is Kind.SECURE for key in keys):
            raise SecureValueError(shown)
        self.used.setdefault(scope, set()).update(keys)
        if keys == [name]:
            return values[keys[0]].attribute
        return _nested({key.removeprefix(f"{name}/"): values[key].attribute for key in keys})

    def _read(self, scope: ExportScope) -> Mapping[Key, Value]:
        waiting = self._patience.begin(self._clock)
        while True:
            published = RecordedExports.read(self._store, scope)
            if not published.torn:
                return published.values
            if not waiting.pause():
                raise waiting.over(ChangingError(str(scope.producer), "another deployment"))

    def _missing(self, scope: ExportScope, name: str, values: Mapping[Key, Value]) -> StrongRefError:
        producer = str(scope.producer)
        now = self._clock.now()
        for fence in fences_below(self._store, scope.fences).values():  # looked at only: who reads takes nothing away
            if fence.is_live(now):
                return ChangingError(producer, str(fence))
        shared = scope.consumer == SHARED
        whom = f"{'to all' if shared else f'to consumer {scope.consumer}'} in {self._store.region}"
        there = [attribute_name(key) for key in sorted(values)]
        close = get_close_matches(attribute_name(Key(name)), there, 2) or there
        hint = (
            "Correct the key, or export it there first."
            if there
            else "Check that stack's name, region and account, its Export's Region and "
            f"Consumer, and {'whether --consumer is to be given' if shared else '--consumer'} here."
        )
        return NotExportedError(attribute_name(Key(name)), producer, whom, close, hint)


def _nested(flat: Mapping[str, Json]) -> dict[str, Json]:
    """`{"A/B": 1}` as `{"A": {"B": 1}}`; where a name is a value's and a map's, it is the value."""
    nested: dict[str, Json] = {}
    for path, value in flat.items():
        *above, last = path.split("/")
        at = nested
        for level in above:
            below = at.setdefault(level, {})
            at = below if isinstance(below, dict) else {}
        at[last] = value
    return nested
