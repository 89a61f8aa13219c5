"""`${cfn:STACK.OUTPUT}` and the other tokens of `strongref resolve`, in a cdk8s app."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from strongref.contract.names import SHARED
from strongref.untyped import Untyped
from strongref_cdk8s.errors import UnknownSchemeError
from strongref_cdk8s.resolver import CloudResolver, Mark, NotWhole
from strongref_manifests.errors import BadTokenError, NotEnabledError
from strongref_manifests.forms import formed
from strongref_manifests.resolution.wiring import sources
from strongref_manifests.tokens import BY_DEFAULT, K8S, ON_DEMAND, TF, Token, TokenSource, parse, tokens_in

if TYPE_CHECKING:
    from strongref_toolkit.json_values import Json


class TokenResolver(CloudResolver):
    """Replaces tokens such as `${cfn:network.VpcId}` by their values; `$${` stands for `${`."""

    def __init__(  # noqa: PLR0913 (as the command's options)
        self,
        *schemes: str,
        tf: Iterable[str] = (),
        consumer: str = SHARED,
        sensitive: bool = False,
        allow: Iterable[str] = (),
        region: str | None = None,
        role: str | None = None,
    ) -> None:
        """Create one, for one app. The arguments are the options of `strongref resolve`.

        Args:
            *schemes: the schemes to resolve in addition to `cfn` and `cfn-attr`, as for `--with`.
            tf: Terraform states: a file or `s3://…`; `NAME=…` for more than one.
            consumer: the exports' consumer; by default exports for all.
            sensitive: whether secrets may be written.
            allow: addresses of sensitive values of Terraform that may be written in any case.
            region: the region of tokens that name none; by default the environment's.
            role: the ARN of the role to assume in other accounts, with `ACCOUNT` in place of the account ID.

        Raises:
            BadAddressError: an address is none.
            UnknownSchemeError: there is no such scheme.
            UsageError: `export` needs a region, and there is none.
        """
        for scheme in schemes:
            if scheme not in (*BY_DEFAULT, *ON_DEMAND):
                raise UnknownSchemeError(scheme, ON_DEMAND)
        given = sources(
            schemes, tf=list(tf), consumer=consumer, sensitive=sensitive, allow=list(allow), region=region, role=role
        )
        if K8S in schemes:
            from strongref_manifests.refs.wiring import ClusterSource  # noqa: PLC0415 (needs an extra of its own)

            given.append(ClusterSource())
        self._sources: Mapping[str, TokenSource] = {source.scheme: source for source in given}

    def token_in(self, value: object) -> str | None:
        try:
            return next((str(token) for token in tokens_in(value)), None) if isinstance(value, str) else None
        except BadTokenError as error:
            return error.token

    def concerns(self, value: object) -> bool:
        return isinstance(value, str) and "${" in value

    def split(self, text: str) -> Iterator[str]:
        for part in parse(text):
            yield Mark(part) if isinstance(part, Token) else part

    def whole(self, value: Untyped) -> Json:
        token, *others = parse(value)
        if others or not isinstance(token, Token):
            raise NotWhole
        if token.scheme not in self._sources:
            how = "tf=['STATE']" if token.scheme == TF else repr(token.scheme)
            raise NotEnabledError(str(token), f"TokenResolver({how})")
        return formed(token, self._sources[token.scheme].fetch(token))
