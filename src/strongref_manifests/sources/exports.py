"""What stacks export by strongref: `${export:STACK.KEY}`, read as a weak import reads it, and not claimed.

`@REGION` and `#ACCOUNT` are the exporting stack's, as in the `From` of an Import. The values are read where the run is:
in its own region and the caller's own account. A name of a map stands for the map, with all that is below it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref.contract.names import SHARED, Producer
from strongref_manifests.tokens import EXPORT, Token, TokenSource, matched
from strongref_toolkit.published_exports import PublishedExports

if TYPE_CHECKING:
    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock, Patience
    from strongref_toolkit.aws import Aws
    from strongref_toolkit.json_values import Json

_REFERENCE = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\.([A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*)")


class ExportSource(PublishedExports, TokenSource):
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
        """As `PublishedExports`; `aws` knows the caller's own account."""
        super().__init__(store, clock, patience, consumer, sensitive=sensitive)
        self._aws = aws

    def fetch(self, token: Token) -> Json:
        """The export's value, as `PublishedExports.value`."""
        stack, key = matched(token, _REFERENCE).groups()
        producer = Producer(token.account or self._aws.accounts.own, token.region or self._store.region, stack)
        return self.value(producer, key.replace(".", "/"), str(token))
