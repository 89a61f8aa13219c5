"""What stacks export by strongref: `${export:STACK.KEY}`, read as a weak import reads it, and not claimed.

`@REGION` and `#ACCOUNT` are the exporting stack's, as in the `From` of an Import. The values are read where the run is:
in its own region and the caller's own account. A name of a map stands for the map, with all that is below it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref.contract.names import SHARED, ExportScope, Producer
from strongref_manifests.tokens import EXPORT, malformed
from strongref_toolkit.published_exports import PublishedExports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock, Patience
    from strongref_manifests.tokens import Token
    from strongref_toolkit.aws import Aws
    from strongref_toolkit.json_values import Json

_REFERENCE = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\.([A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*)")


class ExportSource(PublishedExports):
    """The source of `export` tokens."""

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
            aws: knows the caller's own account.
            store: as `PublishedExports`, like all that follow.
            clock: the same.
            patience: the same.
            consumer: the same.
            sensitive: the same.
        """
        super().__init__(store, clock, patience, consumer, sensitive=sensitive)
        self._aws = aws

    def prefetch(self, tokens: Iterable[Token]) -> None:
        """Nothing: all that a stack exports to a consumer is read at once, whichever key is asked for first."""

    def scope(self, token: Token) -> ExportScope:
        """Where a token's export is to be found.

        Raises:
            BadTokenError: the reference is no stack and key.
            UnknownCallerError: the caller's own account cannot be found out.
        """
        stack, _ = _taken_apart(token)
        account = token.account or self._aws.accounts.own
        return ExportScope(self.consumer, Producer(account, token.region or self._store.region, stack))

    def fetch(self, token: Token) -> Json:
        """The export's value, as `PublishedExports.value`.

        Raises:
            BadTokenError: the reference is no stack and key.
            StrongRefError: as `PublishedExports.value`.
        """
        _, name = _taken_apart(token)
        return self.value(self.scope(token).producer, name, str(token))


def _taken_apart(token: Token) -> tuple[str, str]:
    """The stack, and the key or name of a map with `/` between levels."""
    found = _REFERENCE.fullmatch(token.reference)
    if not found:
        raise malformed(token)
    return found[1], found[2].replace(".", "/")
