"""Where values come from: a source for each scheme of tokens, and the accounts and regions of AWS that they ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref_manifests.tokens import Token
    from strongref_toolkit.json_values import Json


class Source(Protocol):
    """Fetches what the tokens of one scheme stand for. It lives for one run, and asks nothing twice.

    Attributes:
        scheme: one of `tokens.FORMS`.
    """

    scheme: str

    def prefetch(self, tokens: Iterable[Token]) -> None:
        """Ask in batches, if that is how it can be asked, for all of a run's tokens of this scheme, before any `fetch`.

        It raises nothing: what cannot be had is told by `fetch`.
        """
        ...

    def fetch(self, token: Token) -> Json:
        """The value.

        Raises:
            StrongRefError: there is none, or it could not be asked for; the same each time.
        """
        ...
