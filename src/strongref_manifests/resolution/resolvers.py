"""Resolvers in a row, and the one for our own tokens."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from strongref.errors import StrongRefError
from strongref_manifests.errors import (
    LooksUnresolvedError,
    NotEnabledError,
    SeveralError,
    TokenInKeyError,
    TokenNotTextError,
)
from strongref_manifests.leftovers import leftover
from strongref_manifests.tokens import TF, Token, parse, text_around, tokens_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from strongref_manifests.tokens import TokenSource
    from strongref_toolkit.json_values import (
        Json,
        Primitive,
    )

_PLAIN = re.compile(r'[^\s."\[\]]+')
"""A key that needs no quotes in a path."""


@dataclass(frozen=True, slots=True)
class ResolutionContext:
    """Where a value stands."""

    obj: Mapping[str, Json]  # the object that is being written, whole: a manifest's document
    # the keys and positions that lead to the value in it, as in `("spec", "containers", 0, "image")`
    key: tuple[str | int, ...]

    @property
    def path(self) -> str:
        """`spec.containers[0].image`, `metadata.annotations["example.com/queue"]`."""
        return "".join(map(_step, self.key)).removeprefix(".")


def _step(step: str | int) -> str:
    if isinstance(step, str) and _PLAIN.fullmatch(step):
        return f".{step}"
    return f"[{json.dumps(step, ensure_ascii=False)}]"


class Resolver(Protocol):
    """One step of a chain: each gets what the one before it returned."""

    def resolve(self, context: ResolutionContext, value: Primitive) -> Json:
        """What is to be written in the place of a value; the value itself where it is none of this resolver's.

        Raises:
            StrongRefError: what the value stands for cannot be found; the run fails, and nothing is written.
        """
        ...


INSIDE = "inside a longer text"

_HOW = {TF: "--tf STATE"}


@dataclass(frozen=True, slots=True)
class ResolverChain:
    """Resolvers in a row: each gets what the one before it returned.

    A list or a map is passed to no further resolver.
    """

    resolvers: Sequence[Resolver]

    def resolve(self, context: ResolutionContext, value: Primitive) -> Json:
        """What all of them make of a value.

        Raises:
            StrongRefError: one of them cannot find what it stands for.
        """
        result: Json = value
        for resolver in self.resolvers:
            if result is not None and not isinstance(result, str | int | float | bool):
                break
            result = resolver.resolve(context, result)
        return result


class SchemeResolver:
    """Resolves `${cfn:…}` and its like, by a source for each scheme. It lives for one run.

    What a token stands for is written as it is: nothing in it is taken for a token again.
    """

    def __init__(self, sources: Iterable[TokenSource], *, strict: bool = False) -> None:
        """Make one.

        Args:
            sources: of the schemes that are resolved; a token of another one is an error.
            strict: whether text that looks like another tool's token is an error.
        """
        self._sources: Mapping[str, TokenSource] = {source.scheme: source for source in sources}
        self._strict = strict

    def prefetch(self, values: Iterable[Primitive]) -> None:
        """Let the sources read what a run needs in batches."""
        wanted: dict[str, dict[Token, None]] = {}
        for value in values:
            if isinstance(value, str):
                for token in _readable(value):
                    wanted.setdefault(token.scheme, {})[token] = None
        for scheme, tokens in wanted.items():
            if scheme in self._sources:
                self._sources[scheme].prefetch(tokens)

    def resolve(self, context: ResolutionContext, value: Primitive) -> Json:
        """A token that is the whole of a value gives a value of its own type; tokens within text give text.

        Raises:
            StrongRefError: a token cannot be resolved; `SeveralError` if it is more than one.
        """
        del context
        if not isinstance(value, str):
            self._check_strictly(value)
            return value
        parts = parse(value)
        self._check_strictly(text_around(value))
        if len(parts) == 1 and isinstance(parts[0], Token):
            return self._fetch(parts[0])
        texts: list[str] = []
        errors: list[StrongRefError] = []
        for part in parts:
            try:
                texts.append(as_text(str(part), self._fetch(part)) if isinstance(part, Token) else part)
            except StrongRefError as error:
                errors.append(error)
        if errors:
            raise errors[0] if len(errors) == 1 else SeveralError(errors)
        return "".join(texts)

    def check_key(self, key: str) -> None:
        """Check that a key has no tokens: keys are not resolved.

        Raises:
            BadTokenError: a token in it cannot be understood.
            TokenInKeyError: there is a token in it.
            LooksUnresolvedError: in a strict run, there is something like one in it.
        """
        for token in tokens_in(key):
            raise TokenInKeyError(str(token))
        self._check_strictly(text_around(key))

    def _check_strictly(self, value: Primitive) -> None:
        found = leftover(value) if self._strict else None
        if found:
            raise LooksUnresolvedError(*found)

    def _fetch(self, token: Token) -> Json:
        if token.scheme not in self._sources:
            raise NotEnabledError(str(token), _HOW.get(token.scheme, f"--with {token.scheme}"))
        return self._sources[token.scheme].fetch(token)


def _readable(value: str) -> list[Token]:
    """The tokens of a value; none if one is not valid: `resolve` reports that."""
    try:
        return tokens_in(value)
    except StrongRefError:
        return []


def as_text(token: str, value: Json) -> str:
    """What a token's value is within text.

    Raises:
        NotTextError: it is a list, a map or null.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    kind = "nothing (null)" if value is None else "a list" if isinstance(value, list) else "a map"
    raise TokenNotTextError(token, kind, INSIDE)
