"""`strongref resolve`: write manifests with the values that their tokens stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.aws.rate_limit import RateLimiter, RateLimits, Turn
from strongref_cli.manifests.manifest_files import (
    ManifestPaths,
    ManifestWriter,
    check_claims,
    claims_of,
    read_manifests,
)
from strongref_cli.terminal.output import count, progress, put_out
from strongref_manifests.resolution.run import SchemeResolver, resolve
from strongref_manifests.resolution.wiring import sources
from strongref_manifests.sources.on_demand import ExportSource
from strongref_manifests.tokens import BY_DEFAULT, EXPORT, K8S, ON_DEMAND, TokenSource
from strongref_toolkit.errors import UsageError
from strongref_toolkit.messages import tell

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from strongref_toolkit.session import ToolSession


def resolve_tokens(args: argparse.Namespace, session: ToolSession) -> int:
    if args.unclaim is not None:
        return _unclaim(args, session)
    check_claims(args, "tokens")
    paths = ManifestPaths.of(args)
    limiter = CountingLimiter(RateLimits.from_environment())
    session = session._replace(limiter=limiter)
    claims = None if args.claim is None else claims_of("--claim", args.claim, args, session)
    given = _sources(args, session)
    tokens = SchemeResolver(given, strict=args.strict)
    manifests, unread = read_manifests(paths.inputs, tokens_only=not args.strict)
    with progress("Resolving tokens"):
        outcome = resolve(manifests, tokens)
    exports = next((source.exports for source in given if isinstance(source, ExportSource)), None)
    writer = ManifestWriter(args, paths, manifests, unread, ("value", "could not be resolved"))
    if status := writer.write(outcome, claims, exports, lambda: resolve(manifests, tokens)):
        return status
    done = [count(len(manifests), "file"), count(outcome.documents, "document")]
    done += [count(outcome.values, "value", "resolved"), count(limiter.calls, "call")]
    if claims and exports:
        done.append(count(len(exports.uses), "export", f"used by manifests {args.claim}"))
    tell("note", ", ".join(done))
    return 0


def _unclaim(args: argparse.Namespace, session: ToolSession) -> int:
    """Release everything that a manifest set claims in the command's region."""
    for given, what in ((args.manifest, "the manifests"), (args.hold, "--hold")):
        if given:
            raise UsageError(f"--unclaim {args.unclaim} releases all claims: leave {what} out")
    claims = claims_of("--unclaim", args.unclaim, args, session)
    with progress("Releasing claims"):
        released = claims.release_all()
    lines = (f"{claims.region}  {scope.parameter_name(key)} is no longer claimed\n" for scope, key in released)
    put_out("".join(lines).encode())
    if not released:
        tell("note", f"manifests {args.unclaim} claim nothing in {claims.region}")
    return 0


def _sources(args: argparse.Namespace, session: ToolSession) -> list[TokenSource]:
    schemes = {scheme for given in args.schemes for scheme in given.split(",")}
    if args.claim is not None:
        schemes.add(EXPORT)
    unknown = sorted(schemes - {*BY_DEFAULT, *ON_DEMAND})
    if unknown:
        raise UsageError(f"--with must be one of {', '.join(ON_DEMAND)}, got {unknown[0]}; for tf give --tf STATE")
    options = {name: getattr(args, name) for name in ("tf", "consumer", "sensitive", "allow", "region", "role")}
    made = sources(schemes, **options, session=session)
    if K8S in schemes:
        from strongref_manifests.refs.wiring import ClusterSource  # noqa: PLC0415 (needs an extra of its own)

        made.append(ClusterSource(args.kubeconfig, args.context))
    elif args.kubeconfig or args.context:
        raise UsageError("--kubeconfig and --context require --with k8s")
    return made


class CountingLimiter(RateLimiter):
    calls = 0  # those that it let through, retries included

    def take(self, action: str, region: str, now: datetime, within: float, chance: float = 0.0) -> Turn | None:
        turn = super().take(action, region, now, within, chance)
        self.calls += turn is not None
        return turn

    def is_valid(self, action: str, region: str, turn: Turn) -> bool:
        found = super().is_valid(action, region, turn)
        self.calls -= not found
        return found
