"""`strongref resolve`: manifests with the values that their tokens stand for."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from strongref.address import SHARED, is_level
from strongref.cli.claims import CLAIM, UNCLAIM, set_claims, unclaim
from strongref.cli.output import put_out
from strongref.cli.parsing import register
from strongref.limiter import Limiter, Rates
from strongref.manifest_set import HalfWrittenError
from strongref.resolvers import files
from strongref.resolvers.chain import TokenResolver
from strongref.resolvers.errors import InputError, ManifestError, WriteFailedError
from strongref.resolvers.exports import Exports
from strongref.resolvers.manifests import FORMATS, read
from strongref.resolvers.resolving import resolve
from strongref.resolvers.tokens import EXPORT
from strongref.resolvers.wiring import BY_DEFAULT, ON_DEMAND, sources
from strongref.toolbox import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from strongref.cli.parsing import Commands
    from strongref.manifest_set import Use
    from strongref.resolvers.files import Input
    from strongref.resolvers.manifests import Manifest
    from strongref.resolvers.resolving import Outcome
    from strongref.resolvers.sources import Source
    from strongref.toolbox import Toolbox
    from strongref.values import Value

STANDARD = "-"
"""For standard input and output."""


def add(commands: Commands) -> None:
    parser = register(commands, "resolve", "write manifests with the values that their tokens stand for")
    parser.add_argument("manifest", nargs="*", help="files, folders of *.yaml, *.yml and *.json, or - alone")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", help="the folder to write to; paths are kept")
    where.add_argument("--in-place", action="store_true", help="write over the manifests themselves")
    where.add_argument("--check", action="store_true", help="resolve everything, and write nothing")
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
    limiter = CountingLimiter(Rates.from_environment())
    try:
        job = _job(asked)
    except InputError as error:
        problem = str(error)
    else:
        return _run(asked, job, toolbox._replace(limiter=limiter), limiter)
    raise UsageError(problem)


def _check_given(asked: argparse.Namespace) -> None:
    """Nothing may be given empty, as a variable of the shell is that was never set: it would mean something else.

    Raises:
        UsageError: naming what was.
    """
    given = {"a manifest": asked.manifest, "-o": [asked.out], "--region": [asked.region], "--role": [asked.role]}
    for what, values in given.items():
        if "" in values:
            raise UsageError(f"{what} is empty: is a variable not set?")
    if asked.claim is not None and asked.in_place:
        raise UsageError(
            f"{CLAIM} and --in-place do not go together: once the tokens are overwritten, nothing tells what the "
            "manifests use. Write to another folder with -o"
        )


class _Job(NamedTuple):
    """What is to be done.

    Attributes:
        inputs: the files; none where it is standard input.
        targets: where each is written to; none where nothing is, or to standard output.
    """

    inputs: Sequence[Input]
    targets: Sequence[Path]


def _job(asked: argparse.Namespace) -> _Job:
    if not asked.manifest:
        raise InputError("no manifests: give files or folders, or - for standard input")
    if STANDARD in asked.manifest:
        if asked.manifest != [STANDARD] or asked.out or asked.in_place:
            raise InputError("- is standard input, whose result goes to standard output: give it alone, without -o")
        return _Job((), ())
    if not (asked.out or asked.in_place or asked.check):
        raise InputError("say where to write: -o FOLDER, or --in-place; --check writes nothing")
    out = Path(asked.out) if asked.out else None
    inputs = files.find(asked.manifest, out)
    if out:
        return _Job(inputs, files.targets(inputs, out))
    return _Job(inputs, [each.path for each in inputs] if asked.in_place else ())


def _sources(asked: argparse.Namespace, toolbox: Toolbox) -> list[Source]:
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


def _run(asked: argparse.Namespace, job: _Job, toolbox: Toolbox, limiter: CountingLimiter) -> int:
    claims = None if asked.claim is None else set_claims(CLAIM, asked.claim, asked, toolbox)
    given = _sources(asked, toolbox)
    tokens = TokenResolver(given, strict=asked.strict)
    manifests, unread = _read(job.inputs, tokens_only=not asked.strict)
    outcome = resolve(manifests, tokens)
    for problem in [*unread, *outcome.failures]:
        sys.stderr.write(f"{problem}\n")
    if unread or outcome.failures:
        sys.stderr.write(f"strongref: {_failed(len(unread), len(outcome.failures))}. Nothing was written.\n")
        return 1
    exports = next((source for source in given if isinstance(source, Exports)), None)
    result = _Result(asked, job)
    if claims and exports and not asked.check:

        def write(held: Mapping[Use, Value]) -> None:
            """Resolve once more, with what is held from now on: it may have changed since it was read."""
            nonlocal outcome
            exports.hold(held)
            outcome = resolve(manifests, tokens)
            for failure in outcome.failures:
                raise failure.error
            result.write(manifests, outcome)

        claims.hold(exports.uses, write)
    elif not asked.check:
        result.write(manifests, outcome)
    done = _done(outcome, len(manifests), limiter.calls)
    if claims and exports:
        done += f", {_count(len(exports.uses), 'export', 'used')} by manifests {asked.claim}"
    sys.stderr.write(f"strongref: {done}\n")
    return 0


@dataclass
class _Result:
    """Where the result goes: into files, or to standard output, and there only once."""

    asked: argparse.Namespace
    job: _Job
    printed: bool = False

    def write(self, manifests: Sequence[Manifest], outcome: Outcome) -> None:
        """Write it.

        Raises:
            WriteFailedError: nothing was written.
            HalfWrittenError: something was.
        """
        if self.job.inputs:
            changed = {
                target: text.encode()
                for target, text, manifest in zip(self.job.targets, outcome.texts, manifests, strict=False)
                if not self.asked.in_place or text != manifest.text
            }
            try:
                files.write(changed)
            except WriteFailedError as error:
                raise (HalfWrittenError(error) if error.written else error) from None
        elif not self.printed:
            self.printed = True
            put_out(outcome.texts[0].encode())


def _read(inputs: Sequence[Input], *, tokens_only: bool) -> tuple[list[Manifest], list[ManifestError]]:
    """The manifests, and why some cannot be read; what has no token in it need not be read where it is about tokens."""
    manifests: list[Manifest] = []
    unread: list[ManifestError] = []
    for each in inputs or (None,):
        try:
            manifests.append(_read_one(each, tokens_only=tokens_only))
        except ManifestError as error:
            unread.append(error)
    return manifests, unread


def _read_one(given: Input | None, *, tokens_only: bool) -> Manifest:
    if given is None:
        return read("standard input", sys.stdin.buffer.read(), tokens_only=tokens_only)
    try:
        content = given.path.read_bytes()
    except OSError as error:
        problem = (error.strerror or type(error).__name__).lower()
    else:
        return read(str(given.path), content, FORMATS[given.path.suffix.lower()], tokens_only=tokens_only)
    raise ManifestError(str(given.path), None, problem)


def _failed(unread: int, failures: int) -> str:
    told = [_count(unread, "file", "could not be read")] if unread else []
    if failures:
        told.append(_count(failures, "value", "could not be resolved"))
    return " and ".join(told)


def _done(outcome: Outcome, count: int, calls: int) -> str:
    return ", ".join(
        [
            _count(count, "file"),
            _count(outcome.documents, "document"),
            _count(outcome.values, "value", "resolved"),
            _count(calls, "call"),
        ]
    )


def _count(number: int, what: str, done: str = "") -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}{f' {done}' if done else ''}"


class CountingLimiter(Limiter):
    """A limiter that knows how many calls it has let through.

    Attributes:
        calls: how many, tries included.
    """

    calls = 0

    def take(self, action: str, region: str, now: datetime, within: float) -> float | None:
        wait = super().take(action, region, now, within)
        self.calls += wait is not None
        return wait
