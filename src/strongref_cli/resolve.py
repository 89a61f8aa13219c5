"""`strongref resolve`: manifests with the values that their tokens stand for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from strongref.aws.retry_and_rate_limit import RateLimiter, RateLimits
from strongref.contract.names import SHARED, is_level
from strongref_cli.claims import CLAIM, UNCLAIM, set_claims, unclaim
from strongref_cli.jobs import Job, Result, add_arguments, check_not_empty, count, read_all
from strongref_cli.parsing import register
from strongref_manifests.errors import InputError
from strongref_manifests.resolution.resolvers import SchemeResolver
from strongref_manifests.resolution.run import resolve
from strongref_manifests.resolution.wiring import BY_DEFAULT, ON_DEMAND, sources
from strongref_manifests.sources.exports import ExportSource
from strongref_manifests.tokens import EXPORT
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from datetime import datetime

    from strongref.contract.values import Value
    from strongref_cli.parsing import Commands
    from strongref_manifests.resolution.run import ResolveResult
    from strongref_manifests.tokens import TokenSource
    from strongref_toolkit.published_exports import Use
    from strongref_toolkit.toolbox import Toolbox


def add(commands: Commands) -> None:
    parser = register(commands, "resolve", "write manifests with the values that their tokens stand for")
    add_arguments(parser, "resolve everything, and write nothing")
    parser.add_argument("--strict", action="store_true", help="fail for whatever else looks like an unresolved token")
    parser.add_argument(
        "--with",
        dest="schemes",
        action="append",
        default=[],
        metavar="SCHEME",
        help=f"resolve these too: {', '.join(ON_DEMAND)}; more than once, or with commas",
    )
    parser.add_argument(
        "--tf",
        action="append",
        default=[],
        metavar="STATE",
        help="a Terraform state: a file or s3://…; NAME=… for more",
    )
    parser.add_argument("--sensitive", action="store_true", help="also write secrets: SecureStrings, sensitive values")
    parser.add_argument("--consumer", default=SHARED, help="for whom the exports are; by default those for all")
    hold = parser.add_mutually_exclusive_group()
    hold.add_argument(
        CLAIM, metavar="NAME", help="claim the exports that are used, and let go of what NAME used before"
    )
    hold.add_argument(UNCLAIM, metavar="NAME", help="let go of all that NAME claims; without manifests")
    parser.add_argument("--region", help="where things are, unless a token says otherwise")
    parser.add_argument("--role", help="to assume in other accounts: arn:aws:iam::ACCOUNT:role/NAME, ACCOUNT as it is")
    parser.set_defaults(do=_resolve)


def _resolve(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    _check_given(asked)
    if asked.unclaim is not None:
        if asked.manifest:
            raise UsageError(f"{UNCLAIM} {asked.unclaim} lets go of everything: leave the manifests out")
        return unclaim(asked, toolbox)
    limiter = CountingLimiter(RateLimits.from_environment())
    try:
        job = Job.of(asked)
    except InputError as error:
        problem = str(error)
    else:
        return _run(asked, job, toolbox._replace(limiter=limiter), limiter)
    raise UsageError(problem)


def _check_given(asked: argparse.Namespace) -> None:
    """What goes together.

    Raises:
        UsageError: naming what does not.
    """
    check_not_empty(
        {"a manifest": asked.manifest, "-o": [asked.out], "--region": [asked.region], "--role": [asked.role]}
    )
    if asked.claim is not None and asked.in_place:
        raise UsageError(
            f"{CLAIM} and --in-place do not go together: once the tokens are overwritten, nothing tells what the "
            "manifests use. Write to another folder with -o"
        )


def _sources(asked: argparse.Namespace, toolbox: Toolbox) -> list[TokenSource]:
    """A source for each scheme that is to be resolved."""
    schemes = {scheme for given in asked.schemes for scheme in given.split(",")} | (
        set() if asked.claim is None else {EXPORT}
    )
    unknown = sorted(schemes - {*BY_DEFAULT, *ON_DEMAND})
    if unknown:
        raise UsageError(f"--with {unknown[0]}: allowed are {', '.join(ON_DEMAND)}; for tf give --tf STATE")
    if not is_level(asked.consumer):
        raise UsageError("--consumer: a stack's name or a label of letters, digits, _ and - is needed")
    return sources(
        schemes,
        tf=asked.tf,
        consumer=asked.consumer,
        sensitive=asked.sensitive,
        region=asked.region,
        role=asked.role,
        toolbox=toolbox,
    )


def _run(asked: argparse.Namespace, job: Job, toolbox: Toolbox, limiter: CountingLimiter) -> int:
    claims = None if asked.claim is None else set_claims(CLAIM, asked.claim, asked, toolbox)
    given = _sources(asked, toolbox)
    tokens = SchemeResolver(given, strict=asked.strict)
    manifests, unread = read_all(job.inputs, tokens_only=not asked.strict)
    outcome = resolve(manifests, tokens)
    for problem in [*unread, *outcome.failures]:
        sys.stderr.write(f"{problem}\n")
    if unread or outcome.failures:
        sys.stderr.write(f"strongref: {_failed(len(unread), len(outcome.failures))}. Nothing was written.\n")
        return 1
    exports = next((source for source in given if isinstance(source, ExportSource)), None)
    result = Result(job, asked.in_place)
    if claims and exports and not asked.check:

        def write(held: Mapping[Use, Value]) -> None:
            """Resolve once more, with what is held from now on: it may have changed since it was read."""
            nonlocal outcome
            exports.hold(held)
            outcome = resolve(manifests, tokens)
            for failure in outcome.failures:
                raise failure.error
            result.write(manifests, outcome.texts)

        claims.hold(exports.uses, write)
    elif not asked.check:
        result.write(manifests, outcome.texts)
    done = _done(outcome, len(manifests), limiter.calls)
    if claims and exports:
        done += f", {count(len(exports.uses), 'export', 'used')} by manifests {asked.claim}"
    sys.stderr.write(f"strongref: {done}\n")
    return 0


def _failed(unread: int, failures: int) -> str:
    told = [count(unread, "file", "could not be read")] if unread else []
    if failures:
        told.append(count(failures, "value", "could not be resolved"))
    return " and ".join(told)


def _done(outcome: ResolveResult, files: int, calls: int) -> str:
    return ", ".join(
        [
            count(files, "file"),
            count(outcome.documents, "document"),
            count(outcome.values, "value", "resolved"),
            count(calls, "call"),
        ]
    )


class CountingLimiter(RateLimiter):
    """A limiter that knows how many calls it has let through.

    Attributes:
        calls: how many, tries included.
    """

    calls = 0

    def take(self, action: str, region: str, now: datetime, within: float) -> float | None:
        wait = super().take(action, region, now, within)
        self.calls += wait is not None
        return wait
