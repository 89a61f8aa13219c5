"""What stacks export by strongref: `${export:STACK.KEY}`, read as a weak import reads it, and not claimed.

`@REGION` and `#ACCOUNT` are the exporting stack's, as in the `From` of an Import. The values are read where the run is:
in its own region and the caller's own account. A name of a map stands for the map, with all that is below it.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from strongref.address import SHARED, Key, Place, Producer
from strongref.errors import ChangingError, StrongRefError
from strongref.fencing import fences_below
from strongref.ports import Kind
from strongref.published import Published
from strongref.resolvers.errors import NotExportedError, SecureValueError
from strongref.resolvers.once import Once
from strongref.resolvers.tokens import EXPORT, malformed
from strongref.values import attribute_name, select

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strongref.manifest_set import Use
    from strongref.patience import Patience
    from strongref.ports import Clock, Store
    from strongref.resolvers.base import Json
    from strongref.resolvers.sources import Aws
    from strongref.resolvers.tokens import Token
    from strongref.values import Value

_REFERENCE = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\.([A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*)")


class Exports:
    """The source of `export` tokens.

    Attributes:
        consumer: for whom the exports are.
        used: the keys that were asked for, by place: what a claim would have to hold.
    """

    scheme = EXPORT

    def __init__(  # noqa: PLR0913 (what it is wired to)
        self,
        aws: Aws,
        store: Store,
        clock: Clock,
        patience: Patience,
        consumer: str = SHARED,
        *,
        sensitive: bool = False,
    ) -> None:
        """Make one, for one run.

        Args:
            aws: tells the caller's own account.
            store: of the run's own region.
            clock: time, and how much of it is left.
            patience: with an Export that is being written.
            consumer: for whom the exports are; by default, those for all.
            sensitive: whether secret values are given; they are refused otherwise.
        """
        self.consumer = consumer
        self.used: dict[Place, set[Key]] = {}
        self._held: dict[Place, dict[Key, Value]] = {}
        self._aws = aws
        self._store = store
        self._clock = clock
        self._patience = patience
        self._sensitive = sensitive
        self._published: Once[Place, Mapping[Key, Value]] = Once()

    @property
    def uses(self) -> frozenset[Use]:
        """What was asked for: what a claim has to hold."""
        return frozenset((place, key) for place, keys in self.used.items() for key in keys)

    def hold(self, held: Mapping[Use, Value]) -> None:
        """Give these values from now on: somebody has claimed them."""
        for (place, key), value in held.items():
            self._held.setdefault(place, {})[key] = value

    def prefetch(self, tokens: Iterable[Token]) -> None:
        """Nothing: all that a stack exports to a consumer is read at once, whichever key is asked for first."""

    def place(self, token: Token) -> Place:
        """Where a token's export is to be found.

        Raises:
            BadTokenError: the reference is no stack and key.
            UnknownCallerError: the caller's own account cannot be found out.
        """
        stack, _ = _taken_apart(token)
        account = token.account or self._aws.accounts.own
        return Place(self.consumer, Producer(account, token.region or self._store.region, stack))

    def fetch(self, token: Token) -> Json:
        """The export's value: text, a list, or a map of such.

        Raises:
            BadTokenError: the reference is no stack and key.
            NotExportedError: that stack exports nothing of that name to this consumer.
            SecureValueError: it is a secret, and those were not asked for.
            ChangingError: it is being written, for longer than patience lasts.
            StoreError: Parameter Store does not tell.
        """
        place = self.place(token)
        _, name = _taken_apart(token)
        values = self._held.get(place) or self._published.get(place, lambda: self._read(place))
        keys = [Key(name)] if name in values else select([name], values)[name]
        if not keys:
            raise self._missing(place, name, values)
        if not self._sensitive and any(values[key].kind is Kind.SECURE for key in keys):
            raise SecureValueError(str(token))
        self.used.setdefault(place, set()).update(keys)
        if keys == [name]:
            return values[keys[0]].attribute
        return _nested({key.removeprefix(f"{name}/"): values[key].attribute for key in keys})

    def _read(self, place: Place) -> Mapping[Key, Value]:
        waiting = self._patience.begin(self._clock)
        while True:
            published = Published.read(self._store, place)
            if not published.torn:
                return published.values
            if not waiting.pause():
                raise waiting.over(ChangingError(str(place.producer), "another deployment"))

    def _missing(self, place: Place, name: str, values: Mapping[Key, Value]) -> StrongRefError:
        producer = str(place.producer)
        now = self._clock.now()
        for fence in fences_below(self._store, place.fences).values():  # looked at only: who reads takes nothing away
            if fence.stands(now):
                return ChangingError(producer, str(fence))
        shared = place.consumer == SHARED
        whom = f"{'to all' if shared else f'to consumer {place.consumer}'} in {self._store.region}"
        there = [attribute_name(key) for key in sorted(values)]
        close = get_close_matches(attribute_name(Key(name)), there, 2) or there
        hint = (
            "Correct the key, or export it there first."
            if there
            else "Check that stack's name, region and account, its Export's Region and "
            f"Consumer, and {'whether --consumer is to be given' if shared else '--consumer'} here."
        )
        return NotExportedError(attribute_name(Key(name)), producer, whom, close, hint)


def _taken_apart(token: Token) -> tuple[str, str]:
    """The stack, and the key or name of a map with `/` between levels."""
    found = _REFERENCE.fullmatch(token.reference)
    if not found:
        raise malformed(token)
    return found[1], found[2].replace(".", "/")


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
