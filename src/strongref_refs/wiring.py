"""What the command's references are wired to: generator.yaml files and CRDs, a cluster or manifests, stacks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from strongref.text import os_problem
from strongref_manifests import files
from strongref_manifests.errors import InputError, ManifestError
from strongref_manifests.sources.exports import Exports
from strongref_manifests.text.manifests import FORMATS, read
from strongref_manifests.tokens import EXPORT
from strongref_manifests.wiring import sources
from strongref_refs.config import load
from strongref_refs.crds import CRD_KIND, Crds
from strongref_refs.errors import GeneratorError, ServiceUnknownError
from strongref_refs.manifests import objects_in
from strongref_refs.stacks import StackValues
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strongref_manifests.sources.base import Source
    from strongref_refs.config import Generator
    from strongref_refs.manifests import Found
    from strongref_toolkit.toolbox import Toolbox


def generators(paths: Sequence[str] | None, service: str | None, crds: Sequence[str]) -> list[Generator]:
    """What the command is given about reference fields.

    Args:
        paths: generator.yaml files.
        service: whose controller the only one of them is for, if that is not to be told from the file.
        crds: files and folders with CRDs.

    Raises:
        UsageError: they are not given rightly.
        GeneratorError: one of them cannot be read or understood.
        ServiceUnknownError: whose controller one is for cannot be told.
        ManifestError: a CRD's file cannot be read.
    """
    if not paths:
        raise UsageError("no reference fields are known: give controllers' generator.yaml with --generator")
    if service is not None and len(paths) > 1:
        raise UsageError("--service goes with one --generator; folders SERVICE-controller tell it of several")
    shapes = Crds((found.file, found.content) for found in _crds(crds)) if crds else None
    made: dict[str, Generator] = {}
    for path in paths:
        generator = _generator(path, service, shapes)
        if generator.service in made:
            raise UsageError(f"{made[generator.service].source} and {path} are both for {generator.service}: give one")
        made[generator.service] = generator
    return list(made.values())


def _generator(path: str, service: str | None, shapes: Crds | None) -> Generator:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        problem = os_problem(error)
    except UnicodeDecodeError:
        problem = "it is no text in UTF-8"
    else:
        try:
            return load(text, path, service, shapes)
        except ServiceUnknownError:
            return load(text, str(Path(path).resolve()), service, shapes)
    raise GeneratorError(path, "", problem)


def _crds(given: Sequence[str]) -> Iterator[Found]:
    try:
        found = files.find(given, None)
    except InputError as error:
        raise UsageError(str(error)) from None
    known = [crd for each in found for crd in _crds_in(each.path)]
    if not known:
        raise UsageError("--crd: there is no CustomResourceDefinition in it")
    yield from known


def _crds_in(path: Path) -> list[Found]:
    try:
        content = path.read_bytes()
    except OSError as error:
        problem = os_problem(error)
    else:
        manifest = read(str(path), content, FORMATS[path.suffix.lower()])
        return [each for each in objects_in(manifest) if each.kind == CRD_KIND]
    raise ManifestError(str(path), None, problem)


class StackSources:
    """Stacks' values for one run. Nothing of AWS is needed as long as nothing refers to a stack."""

    def __init__(
        self,
        *,
        consumer: str,
        sensitive: bool,
        region: str | None,
        role: str | None,
        toolbox: Toolbox,
    ) -> None:
        """As `resolvers.wiring.sources`."""

        @cache
        def of(scheme: str) -> Source:
            made = sources(
                {scheme} & {EXPORT},
                tf=(),
                consumer=consumer,
                sensitive=sensitive,
                region=region,
                role=role,
                toolbox=toolbox,
            )
            return next(source for source in made if source.scheme == scheme)

        self._of = of
        self.values = StackValues(of)

    @property
    def exports(self) -> Exports:
        """The source of exports.

        Raises:
            UsageError: there is no region to read them in.
        """
        exports = self._of(EXPORT)
        assert isinstance(exports, Exports)  # noqa: S101 (what `sources` makes of that scheme)
        return exports
