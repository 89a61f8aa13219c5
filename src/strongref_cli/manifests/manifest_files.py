"""What `resolve` and `refs resolve` share: the manifests that they read, where results go, and the claims they hold."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from strongref.contract.names import ManifestSet, is_level
from strongref.contract.properties import parse_label
from strongref.errors import BadRequestError, StrongRefError
from strongref_cli.install.installed import read_lag, settings
from strongref_cli.terminal.output import count, progress, put_out
from strongref_manifests.errors import ManifestError
from strongref_manifests.manifest_set import ManifestSetClaims
from strongref_manifests.resolution import files
from strongref_manifests.text.manifests import Manifest, read, read_file
from strongref_toolkit.errors import UsageError
from strongref_toolkit.files import write
from strongref_toolkit.messages import tell
from strongref_toolkit.session import ToolSession, one_region

if TYPE_CHECKING:
    import argparse

    from strongref.contract.values import Value
    from strongref_manifests.resolution.files import InputFile
    from strongref_toolkit.published_exports import PublishedExports, Use

STANDARD = "-"
"""Standard input, and then standard output."""


def check_claims(args: argparse.Namespace, what: str) -> None:
    """Raises `UsageError` if `--in-place` would remove the tokens or references that claims are for.

    It also refuses a hold without a claim, and names that no consumer can have.
    """
    if args.hold and args.claim is None:
        raise UsageError("--hold protects what --claim NAME claims: give both")
    if args.claim is not None and args.in_place:
        raise UsageError(
            f"--claim cannot be combined with --in-place: without the {what}, the next run cannot see which exports "
            "the manifests use. Write to another folder with -o"
        )
    if not is_level(args.consumer):
        raise UsageError("--consumer must be a stack name, or a label of letters, digits, _ and -")


class ManifestPaths(NamedTuple):
    inputs: Sequence[InputFile]  # the files to read; none for standard input
    targets: Sequence[Path]  # the file that each is written to; none for standard output, or if nothing is written

    @classmethod
    def of(cls, args: argparse.Namespace) -> ManifestPaths:
        """The files that the arguments name. Raises `UsageError`: they do not go together, or a file does not exist."""
        if not args.manifest:
            raise UsageError("no manifests: give files or folders, or - for standard input")
        if STANDARD in args.manifest:
            if args.manifest != [STANDARD] or args.out or args.in_place:
                raise UsageError("- reads standard input and writes standard output: give it alone, without -o")
            return cls((), ())
        if not (args.out or args.in_place or args.check):
            raise UsageError("say where to write: -o FOLDER, or --in-place; --check writes nothing")
        out = Path(args.out) if args.out else None
        inputs = files.find(args.manifest, out)
        if out:
            return cls(inputs, files.targets(inputs, out))
        return cls(inputs, [each.path for each in inputs] if args.in_place else ())


def read_manifests(
    inputs: Sequence[InputFile], *, tokens_only: bool = False
) -> tuple[list[Manifest], list[ManifestError]]:
    """The manifests, and the errors of those that cannot be read; without files, standard input is the only one."""
    manifests: list[Manifest] = []
    unread: list[ManifestError] = []
    for each in inputs or (None,):
        try:
            if each:
                manifests.append(read_file(each.path, tokens_only=tokens_only))
            else:
                manifests.append(read("standard input", sys.stdin.buffer.read(), tokens_only=tokens_only))
        except ManifestError as error:
            unread.append(error)
    return manifests, unread


class Attempt(Protocol):
    """To resolve manifests."""

    texts: list[str]  # the new text of each, if there are no failures
    failures: list[Any]  # what to print


class _UnresolvedError(StrongRefError):
    failures: list[Any]


@dataclass
class ManifestWriter:
    """Writes results to files, or to standard output, and there only once: a claim may have it write again."""

    args: argparse.Namespace
    paths: ManifestPaths
    manifests: Sequence[Manifest]
    unread: Sequence[ManifestError]
    failure: Sequence[str]  # what one is, as for `failed`
    printed: bool = False

    def write(
        self,
        attempt: Attempt,
        claims: ManifestSetClaims | None,
        exports: PublishedExports | None,
        again: Callable[[], Attempt],
    ) -> int:
        """Write each manifest's new text; with claims, the text that it has `again` with the claimed values.

        They may have changed since they were read. Returns the exit status, after printing what failed.

        Raises:
            WriteFailedError: nothing was written, or only some files.
        """
        if self.unread or attempt.failures:
            return failed(self.unread, attempt.failures, *self.failure)
        if self.args.check:
            return 0
        if not (claims and exports):
            self._write(attempt.texts)
            return 0

        def write_claimed(claimed: Mapping[Use, Value]) -> None:
            exports.hold(claimed)
            held = again()
            if held.failures:
                raise _UnresolvedError(held.failures)
            self._write(held.texts)

        try:
            # A manifest that is printed meanwhile is not mixed with progress.
            with progress("Claiming exports") if self.paths.inputs else nullcontext():
                claims.hold(exports.uses, write_claimed, hold_stacks=self.args.hold)
        except _UnresolvedError as error:
            return failed((), error.failures, *self.failure)
        return 0

    def _write(self, texts: Sequence[str]) -> None:
        if self.paths.inputs:
            changed = {
                target: text.encode()
                for target, text, manifest in zip(self.paths.targets, texts, self.manifests, strict=False)
                if not self.args.in_place or text != manifest.text
            }
            write(changed)
        elif not self.printed:
            self.printed = True
            put_out(texts[0].encode())


def claims_of(option: str, name: str, args: argparse.Namespace, session: ToolSession) -> ManifestSetClaims:
    """The claims of the manifest set that an option names, in the command's region.

    Raises:
        UsageError: the name is not valid, or there is no region.
        UnknownCallerError: STS does not return the caller's account.
    """
    region = one_region(args.region)
    try:
        parse_label(option, name)
    except BadRequestError as error:
        raise UsageError(str(error)) from None
    account = session.accounts(region, None).own
    return ManifestSetClaims(
        session.ports(account, settings(session), read_lag(session, [region])),
        session.clock,
        region,
        ManifestSet(account, name),
    )


def failed(unread: Sequence[ManifestError], failures: Sequence[object], what: str, done: str = "") -> int:
    """Print every problem and how many there are; `what` and `done` describe a failure, as for `count`."""
    for problem in (*unread, *failures):
        sys.stderr.write(f"{problem}\n")
    counts = [count(len(unread), "file", "could not be read")] if unread else []
    counts += [count(len(failures), what, done)] if failures else []
    tell("error", f"{' and '.join(counts)}. Nothing was written.")
    return 1
