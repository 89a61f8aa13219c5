"""Stored exports, read by name as a weak import reads them: nothing is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from strongref.contract.names import SHARED, ExportScope, Key, Producer
from strongref.contract.values import Value, select
from strongref.memo import Memo
from strongref.protocol.fences import live_fence
from strongref.protocol.published import RecordedExports
from strongref.refusals import ChangingError
from strongref.text import attribute_name
from strongref_toolkit.errors import NotExportedError, SecureValueError

if TYPE_CHECKING:
    from strongref.errors import StrongRefError
    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock, Patience
    from strongref_toolkit.json_values import Json

Use = tuple[ExportScope, Key]
"""One exported value that is in use."""


class PublishedExports:
    """What stacks export to one consumer, in the Parameter Store of one account and region. It lives for one run.

    `patience` says how long to wait for an Export that is being written. Secret values are read only if `sensitive`.
    """

    def __init__(
        self, store: Store, clock: Clock, patience: Patience, consumer: str = SHARED, *, sensitive: bool = False
    ) -> None:
        self.consumer = consumer
        self._uses: set[Use] = set()
        self._claimed: dict[ExportScope, dict[Key, Value]] = {}
        self._store = store
        self._clock = clock
        self._patience = patience
        self._sensitive = sensitive
        self._published: Memo[ExportScope, Mapping[Key, Value]] = Memo()
        self._recorded: dict[ExportScope, RecordedExports] = {}

    @property
    def uses(self) -> frozenset[Use]:
        """All values that were read: what a claim has to hold."""
        return frozenset(self._uses)

    def hold(self, claimed: Mapping[Use, Value]) -> None:
        """Return these values from now on: they are claimed."""
        for (scope, key), value in claimed.items():
            self._claimed.setdefault(scope, {})[key] = value

    def values(self, producer: Producer) -> Mapping[Key, Value]:
        """All values that a stack exports to this consumer.

        Raises:
            ChangingError: they are being written, for longer than patience lasts.
            StoreError: Parameter Store failed.
        """
        scope = ExportScope(self.consumer, producer)
        return self._claimed.get(scope) or self._published.get(scope, lambda: self._read(scope))

    def value(self, producer: Producer, name: str, shown: str) -> Json:
        """An export's value: text, a list, or a map of these.

        `name` is a key, or the name of a map, with `/` between levels. Errors show the token or reference as `shown`.

        Raises:
            NotExportedError: the stack exports nothing of that name to this consumer.
            SecureValueError: it is a secret, and secrets may not be read.
            ChangingError: it is being written, for longer than patience lasts.
            NewerFormatError: a later version of strongref wrote it.
            StoreError: Parameter Store failed, or it cannot be decrypted.
        """
        scope, values = ExportScope(self.consumer, producer), self.values(producer)
        if (recorded := self._recorded.get(scope)) and scope not in self._claimed:
            recorded.check_secure(self._store, scope, [name])
        keys = [Key(name)] if name in values else select([name], values)[name]
        if not keys:
            raise self._missing(scope, name, values)
        if not self._sensitive and any(values[key].is_secure for key in keys):
            raise SecureValueError(shown)
        self._uses.update((scope, key) for key in keys)
        return value_or_map(values, name)

    def _read(self, scope: ExportScope) -> Mapping[Key, Value]:
        waiting = self._patience.begin(self._clock)
        while True:
            published = RecordedExports.read(self._store, scope).readable()
            if not published.torn:
                self._recorded[scope] = published
                return published.values
            if not waiting.pause():
                raise waiting.over(ChangingError(str(scope.producer), "another deployment"))

    def _missing(self, scope: ExportScope, name: str, values: Mapping[Key, Value]) -> StrongRefError:
        producer = str(scope.producer)
        if fence := live_fence(self._store, scope, self._clock):
            return ChangingError(producer, str(fence))
        shared = scope.consumer == SHARED
        whom = f"{'to all' if shared else f'to consumer {scope.consumer}'} in {self._store.region}"
        exported = [attribute_name(key) for key in sorted(values)]
        close = get_close_matches(attribute_name(Key(name)), exported, 2) or exported
        hint = (
            "Correct the key, or export it there first."
            if exported
            else "Check that stack's name, region and account, its Export's Region and "
            f"Consumer, and {'whether --consumer is missing' if shared else '--consumer'} here."
        )
        return NotExportedError(attribute_name(Key(name)), producer, whom, close, hint)


def value_or_map(values: Mapping[Key, Value], name: str) -> Json:
    """The value with this key, or the map of all values below this name; of all values, if it is empty.

    If a name is that of a value and of a map, the value wins.
    """
    if name in values:
        return values[Key(name)].attribute
    prefix = f"{name}/" if name else ""
    tree: dict[str, Json] = {}
    for key in sorted(each for each in values if each.startswith(prefix)):
        *above, last = key.removeprefix(prefix).split("/")
        at = tree
        for level in above:
            below = at.setdefault(level, {})
            at = below if isinstance(below, dict) else {}
        at[last] = values[key].attribute
    return tree


def export_scopes(store: Store, consumer: str | None, stack: str | None = None) -> list[ExportScope]:
    """The scopes in a region that have records or values; only those to a consumer, and of a stack, if given."""
    below = f"/{consumer}" if consumer else ""
    found = {
        ExportScope.of(branch, name)
        for branch in ("exports", "records")
        for name in store.under(f"/strongref/{branch}{below}", decrypted=False)
    }
    return sorted(scope for scope in found if scope and stack in (None, scope.producer.stack))
