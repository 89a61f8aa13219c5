"""What the command reads references with: generator.yaml files and CRDs, a live cluster, stacks."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from strongref.text import os_problem
from strongref_manifests.errors import InputError, ManifestError
from strongref_manifests.resolution import files
from strongref_manifests.resolution.wiring import sources
from strongref_manifests.sources.exports import ExportSource
from strongref_manifests.text.manifests import FORMATS, read
from strongref_manifests.tokens import EXPORT
from strongref_refs.config import load
from strongref_refs.crds import CRD_KIND, Crds
from strongref_refs.errors import GeneratorError, ServiceUnknownError
from strongref_refs.manifests import objects_in
from strongref_refs.stacks import StackValues
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strongref_manifests.tokens import TokenSource
    from strongref_refs.base import Generator, ObjectSource
    from strongref_refs.manifests import ManifestObject
    from strongref_toolkit.session import ToolSession


def generators(paths: Sequence[str] | None, service: str | None, crds: Sequence[str]) -> list[Generator]:
    """Read generator.yaml files.

    Args:
        paths: the files.
        service: of the only one of them, if its content and path do not name it.
        crds: files and folders with CRDs.

    Raises:
        UsageError: the options are not valid.
        GeneratorError: a file is not readable or not valid.
        ServiceUnknownError: the service of a file is unknown.
        ManifestError: a CRD's file is not readable.
    """
    if not paths:
        raise UsageError("no reference fields are known: add controllers' generator.yaml files with --generator")
    if service is not None and len(paths) > 1:
        raise UsageError("--service requires a single --generator; folders SERVICE-controller name it for several")
    shapes = Crds((found.file, found.content) for found in _crds(crds)) if crds else None
    made: dict[str, Generator] = {}
    for path in paths:
        generator = _generator(path, service, shapes)
        if generator.service in made:
            raise UsageError(f"{made[generator.service].source} and {path} are both for {generator.service}: keep one")
        made[generator.service] = generator
    return list(made.values())


def _generator(path: str, service: str | None, shapes: Crds | None) -> Generator:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise GeneratorError(path, "", os_problem(error)) from None
    except UnicodeDecodeError:
        raise GeneratorError(path, "", "not UTF-8 text") from None
    try:
        return load(text, path, service, shapes)
    except ServiceUnknownError:
        return load(text, str(Path(path).resolve()), service, shapes)


def _crds(given: Sequence[str]) -> Iterator[ManifestObject]:
    try:
        found = files.find(given, None)
    except InputError as error:
        raise UsageError(str(error)) from None
    known = [crd for each in found for crd in _crds_in(each.path)]
    if not known:
        raise UsageError("--crd must have a CustomResourceDefinition, got none")
    yield from known


def _crds_in(path: Path) -> list[ManifestObject]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ManifestError(str(path), None, os_problem(error)) from None
    manifest = read(str(path), content, FORMATS[path.suffix.lower()])
    return [each for each in objects_in(manifest) if each.kind == CRD_KIND]


def cluster(kubeconfig: str | None, context: str | None) -> tuple[ObjectSource, str | None]:
    """Referenced objects of a live cluster, and the namespace of its context.

    Raises:
        ModuleNotFoundError: Kubernetes' client is not installed (`strongref_toolkit.extras`).
        ClusterConfigError: the kubeconfig or its credentials are not valid.
        ClusterError: the cluster cannot be reached, or rejects the credentials.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from strongref_refs.cluster import ClusterObjects  # noqa: PLC0415 (an extra, and it takes a second)
        from strongref_refs.cluster_config import connect  # noqa: PLC0415
    connection = connect(kubeconfig, context)
    return ClusterObjects(connection), connection.namespace


class StackSources:
    """Sources of stacks' values for one run. Without a reference to a stack they make no AWS call."""

    def __init__(
        self,
        *,
        consumer: str,
        sensitive: bool,
        region: str | None,
        role: str | None,
        session: ToolSession,
    ) -> None:
        """As `strongref_manifests.resolution.wiring.sources`."""

        @cache
        def source(scheme: str) -> TokenSource:
            made = sources(
                {scheme} & {EXPORT},
                tf=(),
                consumer=consumer,
                sensitive=sensitive,
                region=region,
                role=role,
                session=session,
            )
            return next(source for source in made if source.scheme == scheme)

        self._source = source
        self.values = StackValues(source)

    @property
    def exports(self) -> ExportSource:
        """The source of exports.

        Raises:
            UsageError: there is no region to read them in.
        """
        exports = self._source(EXPORT)
        assert isinstance(exports, ExportSource)  # noqa: S101 (what `sources` makes of that scheme)
        return exports
