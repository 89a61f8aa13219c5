"""`strongref refs resolve`: writes manifests with values in place of references."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.names import SHARED, is_level
from strongref.errors import StrongRefError
from strongref_cli.claims import CLAIM, set_claims
from strongref_cli.jobs import STANDARD, Job, Result, add_arguments, check_not_empty, count, read_all
from strongref_cli.output import put_out
from strongref_cli.parsing import register
from strongref_manifests.errors import InputError
from strongref_manifests.resolution import files
from strongref_refs.manifests import DEFAULT_NAMESPACE, ManifestObject, ManifestObjects, location, objects_in
from strongref_refs.manifests_writing import PlacedEdit, rewritten
from strongref_refs.resolution import ReferenceResolver
from strongref_refs.wiring import StackSources, cluster, generators
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from strongref.contract.values import Value
    from strongref_cli.parsing import Commands
    from strongref_manifests.errors import ManifestError
    from strongref_manifests.text.manifests import Manifest
    from strongref_refs.base import Kind, ObjectSource, Subject, ValueSource
    from strongref_refs.resolution import Condition
    from strongref_toolkit.published_exports import Use
    from strongref_toolkit.toolbox import Toolbox


def add(commands: Commands, common: argparse.ArgumentParser) -> None:
    """Add the command; `common` has the options of all commands of `strongref refs`."""
    parser = register(commands, "resolve", "write manifests with values in place of their references", parents=[common])
    add_arguments(parser, "resolve everything, and write nothing")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--from",
        dest="others",
        action="append",
        default=[],
        metavar="MANIFEST",
        help="files or folders with referenced objects, as kubectl get -o yaml prints them; repeatable",
    )
    source.add_argument("--cluster", action="store_true", help="read referenced objects from a live cluster")
    parser.add_argument("--kubeconfig", metavar="FILE", help="kubeconfig of the cluster; by default the one of kubectl")
    parser.add_argument("--context", help="context of the kubeconfig; by default its current one")
    parser.add_argument(
        "-n", "--namespace", help="namespace of objects without one; by default the context's, or default"
    )
    parser.add_argument(
        "--conditions", action="store_true", help="print the condition of each object, one JSON object per line"
    )
    parser.add_argument("--consumer", default=SHARED, help="consumer of the exports; by default the shared ones")
    parser.add_argument(CLAIM, metavar="NAME", help="claim the exports in use, and release those that NAME used before")
    parser.add_argument("--sensitive", action="store_true", help="write exports that are secret too")
    parser.add_argument("--region", help="region of stacks and exports, unless a reference has one")
    parser.add_argument(
        "--role",
        help="role to assume in other accounts: arn:aws:iam::ACCOUNT:role/NAME, with ACCOUNT written literally",
    )
    parser.set_defaults(do=_resolve)


def _resolve(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    _check_given(asked)
    kinds = [kind for given in generators(asked.generator, asked.service, asked.crd) for kind in given.kinds]
    try:
        job, others = Job.of(asked), files.find(asked.others, None)
    except InputError as error:
        raise UsageError(str(error)) from None
    return _run(asked, job, others, kinds, toolbox)


def _check_given(asked: argparse.Namespace) -> None:
    """Check that no option is empty and that the options go together.

    Raises:
        UsageError: they do not.
    """
    check_not_empty(
        {
            "a manifest": asked.manifest,
            "--generator": asked.generator or (),
            "--service": [asked.service],
            "--crd": asked.crd,
            "-o": [asked.out],
            "--from": asked.others,
            "--kubeconfig": [asked.kubeconfig],
            "--context": [asked.context],
            "--namespace": [asked.namespace],
            "--region": [asked.region],
            "--role": [asked.role],
        }
    )
    if not asked.cluster and (asked.kubeconfig or asked.context):
        raise UsageError("--kubeconfig and --context require --cluster")
    if asked.claim is not None and asked.in_place:
        raise UsageError(
            f"{CLAIM} and --in-place do not go together: without the references, the manifests do not show which "
            "exports they use. Write to another folder with -o"
        )
    if asked.conditions and asked.manifest == [STANDARD] and not asked.check:
        raise UsageError("--conditions prints to standard output, as the manifest does: add --check")
    if not is_level(asked.consumer):
        raise UsageError("--consumer must be a stack's name or a label of letters, digits, _ and -")


@dataclass(eq=False)
class _UnresolvedError(StrongRefError):
    """With the claimed values, the manifests cannot be resolved any more."""

    failures: Sequence[_Failure]


class _Failure(NamedTuple):
    """A problem, and the manifest and document that have it."""

    where: str
    error: StrongRefError

    def __str__(self) -> str:
        return f"{self.where}: {self.error}"


@dataclass
class _Attempt:
    """All manifests, resolved once.

    Attributes:
        texts: of each manifest, with values in place of references; not usable if there are failures.
        conditions: of each object that has references.
        filled: the number of fields with a value in place of a reference.
        failures: all problems.
    """

    texts: list[str] = field(default_factory=list)
    conditions: list[tuple[ManifestObject, Subject, Condition]] = field(default_factory=list)
    filled: int = 0
    failures: list[_Failure] = field(default_factory=list)


class _Run(NamedTuple):
    """Manifests, and what they are resolved with."""

    manifests: Sequence[Manifest]
    kinds: Sequence[Kind]
    objects: ObjectSource
    values: ValueSource
    namespace: str

    def attempt(self) -> _Attempt:
        resolver = ReferenceResolver(self.kinds, self.objects, self.values, namespace=self.namespace)
        attempt = _Attempt()
        for manifest in self.manifests:
            placed: list[PlacedEdit] = []
            for found in objects_in(manifest):
                outcome = resolver.resolve(found.content)
                attempt.failures += [_Failure(found.where, problem) for problem in outcome.problems]
                placed += [PlacedEdit(found.document, found.path, edit, str(outcome.subject)) for edit in outcome.edits]
                if outcome.condition:
                    attempt.conditions.append((found, outcome.subject, outcome.condition))
            attempt.filled += len(placed)
            written = rewritten(manifest, placed)
            attempt.texts.append(written.text)
            attempt.failures += [
                _Failure(location(manifest.file, each.change.document), each.error) for each in written.problems
            ]
        return attempt


def _run(
    asked: argparse.Namespace, job: Job, others: Sequence[files.InputFile], kinds: Sequence[Kind], toolbox: Toolbox
) -> int:
    stacks = StackSources(
        consumer=asked.consumer, sensitive=asked.sensitive, region=asked.region, role=asked.role, toolbox=toolbox
    )
    claims = None if asked.claim is None else set_claims(CLAIM, asked.claim, asked, toolbox)
    manifests, unread = read_all(job.inputs)
    given, unread_too = read_all(others) if others else ([], [])
    unread += unread_too
    objects, namespace = _objects(asked, manifests, given)
    run = _Run(manifests, kinds, objects, stacks.values, namespace)
    attempt = run.attempt()
    if asked.conditions:
        _print_conditions(attempt)
    if unread or attempt.failures:
        return _failed(unread, attempt.failures)
    result = Result(job, asked.in_place)
    if claims and not asked.check:

        def write(held: Mapping[Use, Value]) -> None:
            """Resolve again with the claimed values: they may have changed since they were read."""
            stacks.exports.hold(held)
            again = run.attempt()
            if again.failures:
                raise _UnresolvedError(again.failures)
            result.write(manifests, again.texts)

        try:
            claims.hold(stacks.exports.uses, write)
        except _UnresolvedError as error:
            return _failed((), error.failures)
    elif not asked.check:
        result.write(manifests, attempt.texts)
    done = [count(len(manifests), "file"), count(len(attempt.conditions), "object", "with references")]
    done.append(count(attempt.filled, "field", "filled in"))
    if claims:
        done.append(count(len(stacks.exports.uses), "export", f"used by manifests {asked.claim}"))
    sys.stderr.write(f"strongref: {', '.join(done)}\n")
    return 0


def _objects(
    asked: argparse.Namespace, manifests: Sequence[Manifest], given: Sequence[Manifest]
) -> tuple[ObjectSource, str]:
    """Where referenced objects are read, and the namespace of objects without one."""
    if asked.cluster:
        live, namespace = cluster(asked.kubeconfig, asked.context)
        return live, asked.namespace or namespace or DEFAULT_NAMESPACE
    namespace = asked.namespace or DEFAULT_NAMESPACE
    tiers = [[found for manifest in tier for found in objects_in(manifest)] for tier in (given, manifests)]
    return ManifestObjects(*tiers, namespace=namespace), namespace


def _print_conditions(attempt: _Attempt) -> None:
    lines = [
        {"file": found.file, "document": found.document}
        | {key: getattr(subject, key) for key in ("kind", "namespace", "name")}
        | {key: getattr(condition, key) for key in ("type", "status", "reason", "message")}
        for found, subject, condition in attempt.conditions
    ]
    put_out("".join(f"{json.dumps(line)}\n" for line in lines).encode())


def _failed(unread: Sequence[ManifestError], failures: Sequence[_Failure]) -> int:
    for problem in (*unread, *failures):
        sys.stderr.write(f"{problem}\n")
    counts = [count(len(unread), "file", "could not be read")] if unread else []
    if failures:
        counts.append(count(len(failures), "problem"))
    sys.stderr.write(f"strongref: {' and '.join(counts)}. Nothing was written.\n")
    return 1
