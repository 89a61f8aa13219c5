"""`strongref refs`: reference fields of manifests, as for ACK's controllers.

`resolve` replaces references with values, `fields` lists the fields, `rbac` and `schema` write what a cluster needs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from strongref_cli.manifests.manifest_files import (
    STANDARD,
    ManifestPaths,
    ManifestWriter,
    check_claims,
    claims_of,
    read_manifests,
)
from strongref_cli.terminal.output import Result, TextTable, count, progress, put_out, show
from strongref_manifests.refs.crds import cluster_role, fragments
from strongref_manifests.refs.manifests import DEFAULT_NAMESPACE, ManifestObject, ManifestObjects, location, objects_in
from strongref_manifests.refs.manifests_writing import PlacedEdit, rewritten
from strongref_manifests.refs.resolution import Condition, ReferenceResolver
from strongref_manifests.refs.validation import find_references
from strongref_manifests.refs.wiring import cluster, generators, stack_values
from strongref_manifests.resolution import files
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import path_text
from strongref_toolkit.messages import tell

if TYPE_CHECKING:
    import argparse

    from strongref_manifests.refs.base import Field, Generator, Kind, ObjectName, ObjectSource
    from strongref_manifests.text.manifests import Manifest
    from strongref_toolkit.session import ToolSession

_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]*")
"""A role's name, as those of Kubernetes' own roles."""

_WIDTH = 120
_HEAD = ("KIND", "FIELD", "REFERENCE", "REFERS TO", "GROUP", "PATH", "")


def resolve_references(asked: argparse.Namespace, session: ToolSession) -> int:
    _check_given(asked)
    kinds = [kind for given in generators(asked.generator, asked.service, asked.crd) for kind in given.kinds]
    paths, others = ManifestPaths.of(asked), files.find(asked.others, None)
    stacks = stack_values(
        consumer=asked.consumer, sensitive=asked.sensitive, region=asked.region, role=asked.role, session=session
    )
    claims = None if asked.claim is None else claims_of("--claim", asked.claim, asked, session)
    manifests, unread = read_manifests(paths.inputs)
    given, unread_too = read_manifests(others) if others else ([], [])
    unread += unread_too
    objects, namespace = _objects(asked, manifests, given)
    resolver = ReferenceResolver(kinds, objects, stacks.get, namespace=namespace)
    with progress("Resolving references"):
        attempt = _attempt(manifests, resolver)
    if asked.conditions:
        _print_conditions(attempt)
    for each in attempt.ignored:
        sys.stderr.write(f"{each}\n")
    exports = stacks.exports if claims else None
    writer = ManifestWriter(asked, paths, manifests, unread, ("problem",))
    if status := writer.write(attempt, claims, exports, lambda: _attempt(manifests, resolver)):
        return status
    done = [count(len(manifests), "file"), count(len(attempt.conditions), "object", "with references")]
    done.append(count(attempt.filled, "field", "filled in"))
    if exports:
        done.append(count(len(exports.uses), "export", f"used by manifests {asked.claim}"))
    tell("note", ", ".join(done))
    return 0


def _check_given(asked: argparse.Namespace) -> None:
    if not asked.cluster and (asked.kubeconfig or asked.context):
        raise UsageError("--kubeconfig and --context require --cluster")
    check_claims(asked, "references")
    if asked.conditions and asked.manifest == [STANDARD] and not asked.check:
        raise UsageError("--conditions prints to standard output, as the manifest does: add --check")


@dataclass
class _Attempt:
    # of each manifest, with values in place of references; not usable if there are failures
    texts: list[str] = field(default_factory=list)
    # of each object that has references
    conditions: list[tuple[ManifestObject, ObjectName, Condition]] = field(default_factory=list)
    filled: int = 0  # the number of fields with a value in place of a reference
    ignored: list[str] = field(default_factory=list)  # problems of objects that are left as they are, and where
    failures: list[str] = field(default_factory=list)  # all other problems


def _attempt(manifests: Sequence[Manifest], resolver: ReferenceResolver) -> _Attempt:
    attempt = _Attempt()
    for manifest in manifests:
        placed: list[PlacedEdit] = []
        for found in objects_in(manifest):
            outcome = resolver.resolve(found.content)
            where = location(found.file, found.document)
            attempt.failures += [f"{where}: {problem}" for problem in outcome.problems]
            why = "Ignored, since the object is read-only or to be adopted: it is left as it is."
            attempt.ignored += [f"{where}: {problem} {why}" for problem in outcome.ignored]
            left = [] if outcome.condition or outcome.problems else [*find_references(found.content.get("spec"))]
            why = f"looks like a reference and stays as it is, since {outcome.subject} is no object of ACK's."
            attempt.ignored += [f"{where}: {path_text(path)} {why}" for path in left[:1]]
            placed += [PlacedEdit(found.document, found.path, edit, str(outcome.subject)) for edit in outcome.edits]
            if outcome.condition:
                attempt.conditions.append((found, outcome.subject, outcome.condition))
        attempt.filled += len(placed)
        text, problems = rewritten(manifest, placed)
        attempt.texts.append(text)
        attempt.failures += [f"{location(manifest.file, change.document)}: {error}" for change, error in problems]
    return attempt


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


def list_fields(asked: argparse.Namespace) -> int:
    found = [(kind, field) for given in _generators(asked) for kind in given.kinds for field in kind.fields]
    rows = [(*_row(kind, field), field.why_not and f"refused: {field.why_not}") for kind, field in found]
    show(Result([TextTable(_HEAD, rows)], {"fields": [_document(*each) for each in found]}), asked)
    return 0


def _row(kind: Kind, field: Field) -> tuple[str, ...]:
    reference = field.reference
    own = ".".join(field.steps)
    ref = ".".join(field.reference_steps)
    return kind.name, own, ref, reference.resource, reference.group, reference.path


def _document(kind: Kind, field: Field) -> dict[str, Any]:
    name, own, ref, resource, group, path = _row(kind, field)
    return {
        "group": kind.group,
        "kind": name,
        "field": own,
        "reference": ref,
        "list": field.many,
        "required": field.required,
        "refersTo": {"group": group, "kind": resource, "path": path},
        "refused": field.why_not or None,
    }


def print_role(asked: argparse.Namespace) -> int:
    if not _ROLE.fullmatch(asked.name):
        raise UsageError("--name must be letters and digits, with . : _ - after the first one")
    put_out(cluster_role(_generators(asked), asked.name, own=asked.all).encode())
    return 0


def print_schema(asked: argparse.Namespace) -> int:
    yaml = YAML()
    yaml.width = _WIDTH
    out = StringIO()
    yaml.dump(fragments(_generators(asked)), out)
    put_out(out.getvalue().encode())
    return 0


def _generators(asked: argparse.Namespace) -> list[Generator]:
    """The generators, with a note for each field that the API does not have."""
    found = generators(asked.generator, asked.service, asked.crd)
    for source, kind in ((given.source, kind) for given in found for kind in given.kinds):
        for path in (".".join(each.path) for each in kind.fields if each.absent):
            problem = f"{kind.name} has no {path} in the API, so its reference is refused"
            tell("note", f"{source}: {problem}. Correct the name, or add the kind's CRD with --crd.")
    return found
