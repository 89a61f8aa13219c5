"""`${cfn:STACK.OUTPUT}` and its like in a cdk8s app: the tokens that `strongref resolve` knows, and the same values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED
from strongref_cdk8s.errors import UnknownSchemeError
from strongref_cdk8s.resolver import CloudResolver, Mark, NotWhole
from strongref_manifests.errors import BadTokenError, NotEnabledError
from strongref_manifests.resolution import wiring
from strongref_manifests.tokens import TF, Token, parse, tokens_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from strongref_manifests.tokens import TokenSource
    from strongref_toolkit.json_values import Json


class TokenResolver(CloudResolver):
    """Gives tokens such as `${cfn:network.VpcId}` the values that they stand for; `$${` stands for `${`."""

    def __init__(
        self,
        *schemes: str,
        tf: Iterable[str] = (),
        consumer: str = SHARED,
        sensitive: bool = False,
        region: str | None = None,
        role: str | None = None,
    ) -> None:
        """Make one, for one app. All that it takes is as the options of `strongref resolve`.

        Args:
            *schemes: what is resolved besides `cfn` and `cfn-attr`: `export`, `ssm`, `secret`, `env`.
            tf: Terraform's states: a file or `s3://…`, and `NAME=…` for more.
            consumer: for whom the exports are; by default those for all.
            sensitive: whether secrets may be written.
            region: where things are, unless a token says otherwise; the environment's by default.
            role: the ARN of the role to assume in other accounts, with `ACCOUNT` in the place of its number.

        Raises:
            UnknownSchemeError: there is no such scheme.
            UsageError: exports are asked for, and no region is given.
        """
        for scheme in schemes:
            if scheme not in (*wiring.BY_DEFAULT, *wiring.ON_DEMAND):
                raise UnknownSchemeError(scheme, wiring.ON_DEMAND)
        self._sources: Mapping[str, TokenSource] = {
            source.scheme: source
            for source in wiring.sources(
                schemes, tf=list(tf), consumer=consumer, sensitive=sensitive, region=region, role=role
            )
        }

    def begin(self) -> None:
        """Nothing: what a token stands for does not depend on the app."""

    def left_in(self, value: object) -> str | None:
        try:
            return next((str(token) for token in tokens_in(value)), None) if isinstance(value, str) else None
        except BadTokenError as error:
            return error.token

    def concerns(self, value: object) -> bool:
        return isinstance(value, str) and "${" in value

    def split(self, text: str) -> Iterator[str]:
        for part in parse(text):
            yield Mark(part) if isinstance(part, Token) else part

    def whole(self, value: Any) -> Json:  # noqa: ANN401 (text)
        token, *others = parse(value)
        if others or not isinstance(token, Token):
            raise NotWhole
        if token.scheme not in self._sources:
            how = "tf=['STATE']" if token.scheme == TF else repr(token.scheme)
            raise NotEnabledError(str(token), f"TokenResolver({how})")
        return self._sources[token.scheme].fetch(token)
