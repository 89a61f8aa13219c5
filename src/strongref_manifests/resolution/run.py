"""One run resolves all values of all manifests together: no call is made twice, and nothing is half done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from strongref.errors import StrongRefError, or_else
from strongref.grouping import grouped
from strongref.text import cut
from strongref_manifests import errors
from strongref_manifests.forms import AS_TEXT, TEXT_ONLY, as_text, formed, is_text_only, wrong_there
from strongref_manifests.leftovers import leftover
from strongref_manifests.text.nodes import Scalar, merged
from strongref_manifests.text.styles import in_place
from strongref_manifests.tokens import TF, Part, Token, TokenSource, parse, text_around, tokens_in
from strongref_toolkit.json_values import Json, Primitive, path_text, values_in

if TYPE_CHECKING:
    from strongref_manifests.text.manifests import Manifest

WHOLE = "the whole document"
"""The path of a value that is not in anything."""


class SchemeResolver:
    """Resolves `${cfn:…}` and its like, by a source for each scheme. It lives for one run.

    What a token stands for is written as it is: nothing in it is taken for a token again.
    """

    def __init__(self, sources: Iterable[TokenSource], *, strict: bool = False) -> None:
        """Resolve the schemes of these sources; a strict run refuses text that looks like another tool's token."""
        self._sources: Mapping[str, TokenSource] = {source.scheme: source for source in sources}
        self._strict = strict

    def prefetch(self, values: Iterable[Primitive]) -> None:
        """Let the sources read what a run needs in batches."""
        # One that is not valid is reported by `resolve`.
        found = (or_else(partial(tokens_in, value), []) for value in values if isinstance(value, str))
        for scheme, tokens in grouped((token.scheme, token) for each in found for token in each).items():
            if scheme in self._sources:
                self._sources[scheme].prefetch(dict.fromkeys(tokens))

    def resolve(self, value: Primitive, why: str = "") -> Json:
        """What a value stands for: if it is one token alone, as `formed`, with its `why`; tokens within text give text.

        Raises:
            StrongRefError: a token cannot be resolved; `SeveralError` if it is more than one.
        """
        if not isinstance(value, str):
            self._check_strictly(value)
            return value
        parts = parse(value)
        self._check_strictly(text_around(value))
        if len(parts) == 1 and isinstance(parts[0], Token):
            return self._fetch(parts[0], why)
        return self.filled(parts)

    def filled(self, parts: Iterable[Part], written: Callable[[str], str] = str) -> str:
        """Text with the values of its tokens in it, as they are to be written there. Errors as `resolve`."""
        texts: list[str] = []
        failed: list[StrongRefError] = []
        for part in parts:
            try:
                texts.append(written(as_text(str(part), self._fetch(part))) if isinstance(part, Token) else part)
            except StrongRefError as error:
                failed.append(error)
        if failed:
            raise failed[0] if len(failed) == 1 else errors.SeveralError(failed)
        return "".join(texts)

    def check_key(self, key: str) -> None:
        """Check that a key has no tokens, and in a strict run nothing like one: keys are not resolved."""
        for token in tokens_in(key):
            raise errors.TokenInKeyError(str(token))
        self._check_strictly(text_around(key))

    def _check_strictly(self, value: Primitive) -> None:
        if self._strict and (found := leftover(value)):
            raise errors.LooksUnresolvedError(*found)

    def _fetch(self, token: Token, why: str = "") -> Json:
        if token.scheme not in self._sources:
            how = "--tf STATE" if token.scheme == TF else f"--with {token.scheme}"
            raise errors.NotEnabledError(str(token), how)
        return formed(token, self._sources[token.scheme].fetch(token), why)


@dataclass(frozen=True, slots=True)
class Failure:
    file: str  # the manifest's name
    document: int  # the number of its document, from 1
    path: str  # what leads to the value in it, as in `spec.containers[0].image`
    error: StrongRefError  # why

    def __str__(self) -> str:
        return f"{self.file}, document {self.document}, {cut(self.path, 300)}: {self.error}"


@dataclass(slots=True)
class ResolveResult:
    # the new text of each manifest, in their order; those of manifests with failures are as they were
    texts: list[str] = field(default_factory=list, repr=False)
    failures: list[Failure] = field(default_factory=list)  # each value that could not be resolved
    documents: int = 0  # how many were read
    values: int = 0  # how many are other ones than before


def resolve(manifests: Sequence[Manifest], tokens: SchemeResolver) -> ResolveResult:
    """Resolve every value of every manifest of the run."""
    tokens.prefetch(each.value for manifest in manifests for each in manifest.parsed.scalars if not each.is_key)
    outcome = ResolveResult()
    for manifest in manifests:
        values: dict[Scalar, Json] = {}
        written: dict[Scalar, str] = {}
        failures: list[Failure] = []
        for scalar in manifest.parsed.scalars:
            try:
                if scalar.is_key:
                    tokens.check_key(str(scalar.value))
                    continue
                value = _resolved(manifest, scalar, tokens)
                if (type(value), value) != (type(scalar.value), scalar.value):
                    place = in_place(scalar, manifest.text, tokens.filled) if isinstance(value, str) else None
                    written[scalar] = place or manifest.format.in_style(scalar, manifest.text, value)
                    values[scalar] = value
            except StrongRefError as error:
                several = error.errors if isinstance(error, errors.SeveralError) else [error]
                path = path_text(scalar.path) or WHOLE
                failures += [Failure(manifest.file, scalar.document, path, each) for each in several]
        failures += _text_failures(manifest, values)
        outcome.documents += len(manifest.parsed.documents)
        outcome.values += len(values)
        outcome.failures += failures
        outcome.texts.append(manifest.text if failures else manifest.replaced(values, written))
    return outcome


def _resolved(manifest: Manifest, scalar: Scalar, tokens: SchemeResolver) -> Json:
    """What a value of a manifest becomes. Errors as `SchemeResolver.resolve`."""
    is_quoted = scalar.style is not None and manifest.format.quotes_mean_text
    content = manifest.parsed.documents[scalar.document - 1].content
    why = TEXT_ONLY if is_text_only(content, scalar.path) else AS_TEXT
    return tokens.resolve(scalar.value, why if is_quoted or scalar.text_only else "")


def _text_failures(manifest: Manifest, values: Mapping[Scalar, Json]) -> Iterator[Failure]:
    """The failures of values that are no text where Kubernetes takes only text, also behind aliases."""
    changed = {id(scalar.value): value for scalar, value in values.items() if not isinstance(value, str)}
    for document in manifest.parsed.documents if changed else ():
        content = merged(document.content)
        for path, each in values_in(content):
            if id(each) in changed and (error := wrong_there(str(each), changed[id(each)], content, path)):
                yield Failure(manifest.file, document.number, path_text(path), error)
