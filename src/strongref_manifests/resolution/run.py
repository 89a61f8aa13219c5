"""One run resolves all values of all manifests together: no call is made twice, and nothing is half done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from strongref.errors import StrongRefError
from strongref.text import cut
from strongref_manifests.errors import SeveralError
from strongref_manifests.resolution.resolvers import ResolutionContext, ResolverChain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from strongref_manifests.resolution.resolvers import Resolver, SchemeResolver
    from strongref_manifests.text.manifests import Manifest
    from strongref_manifests.text.nodes import Scalar
    from strongref_toolkit.json_values import Json


WHOLE = "the whole document"
"""The path of a value that is not in anything."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A value that could not be resolved."""

    file: str  # the manifest's name
    document: int  # the number of its document, from 1
    path: str  # what leads to the value in it, as in `spec.containers[0].image`
    error: StrongRefError  # why

    def __str__(self) -> str:
        return f"{self.file}, document {self.document}, {cut(self.path, 300)}: {self.error}"


@dataclass(slots=True)
class ResolveResult:
    """The result of a run."""

    # the new text of each manifest, in their order; those of manifests with failures are as they were
    texts: list[str] = field(default_factory=list, repr=False)
    failures: list[Failure] = field(default_factory=list)  # each value that could not be resolved
    documents: int = 0  # how many were read
    values: int = 0  # how many are other ones than before


def resolve(manifests: Sequence[Manifest], tokens: SchemeResolver, others: Sequence[Resolver] = ()) -> ResolveResult:
    """Resolve every value of every manifest.

    Args:
        manifests: all of the run's.
        tokens: resolves our own tokens; it is asked first.
        others: resolvers that come after it.
    """
    tokens.prefetch(each.value for manifest in manifests for each in manifest.parsed.scalars if not each.is_key)
    chain = ResolverChain([tokens, *others])
    outcome = ResolveResult()
    for manifest in manifests:
        values: dict[Scalar, Json] = {}
        failures: list[Failure] = []
        for scalar in manifest.parsed.scalars:
            context = _context(manifest, scalar)
            try:
                if scalar.is_key:
                    tokens.check_key(str(scalar.value))
                    continue
                value = chain.resolve(context, scalar.value)
                if (type(value), value) != (type(scalar.value), scalar.value):
                    manifest.format.in_style(scalar, manifest.text, value)  # or raise that it cannot be
                    values[scalar] = value
            except StrongRefError as error:
                path = context.path or WHOLE
                failures += [Failure(manifest.file, scalar.document, path, each) for each in _each(error)]
        outcome.documents += len(manifest.parsed.documents)
        outcome.values += len(values)
        outcome.failures += failures
        outcome.texts.append(manifest.text if failures else manifest.replaced(values))
    return outcome


def _context(manifest: Manifest, scalar: Scalar) -> ResolutionContext:
    content = manifest.parsed.documents[scalar.document - 1].content
    return ResolutionContext(cast("Mapping[str, Json]", content), scalar.path)


def _each(error: StrongRefError) -> Iterator[StrongRefError]:
    if isinstance(error, SeveralError):
        yield from error.errors
    else:
        yield error
