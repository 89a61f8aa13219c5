"""What all resolvers for cdk8s have in common: `cdk8s.IResolver`, over what each knows of its own tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import cdk8s
import jsii

from strongref.errors import StrongRefError
from strongref_cdk8s.pieces import Piece, text_of, with_values
from strongref_cdk8s.running import Run, Spot
from strongref_manifests.errors import SeveralError, TokenInKeyError
from strongref_manifests.resolution.resolvers import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref_cdk8s.pieces import Text
    from strongref_toolkit.json_values import Json


class Mark(str):
    """A token as it stands in a text."""

    __slots__ = ()


class NotWhole(Exception):  # noqa: N818 (it is an answer)
    """A value is not one token as a whole: its parts have to be looked at."""


@jsii.implements(cdk8s.IResolver)
class CloudResolver(ABC):
    """Resolves tokens of one kind, for one app and one run of its program: what was fetched is not asked for again.

    cdk8s asks in the order of an object: a map first, then what is in it. It asks again about what was put in a value's
    place (cdk8s 2.70, lib/resolve.js).
    """

    _run: Run | None = None

    def resolve(self, context: Any) -> None:  # noqa: ANN401 (a cdk8s.ResolutionContext)
        """Put what a value stands for in its place, if it is one of this resolver's tokens.

        Args:
            context: what cdk8s tells of the value.

        Raises:
            UnresolvedError: naming every value of the app that cannot be resolved; cdk8s makes a RuntimeError of it.
        """
        value, question = _asked(context)
        run = self._run
        whole = _is_an_object(value) and not context.key  # It begins to be written.
        if run is None or whole:
            run = self._run = Run.of(context.obj, self, question if whole else None)
        concerns = self.concerns(value)
        keys = [key for key in value if self.left_in(key)] if isinstance(value, dict) and not concerns else []
        if not concerns and not keys:
            return
        spot = Spot(context.obj.node.path, tuple(context.key))
        if run.has_failed(spot):
            return
        if concerns:
            self._replace(context, run, spot, value)
        for key in keys:
            error = TokenInKeyError(str(self.left_in(key)))
            run.fail(Spot(spot.construct, (*spot.key, key)), key, error, context.obj)

    @abstractmethod
    def begin(self) -> None:
        """A survey begins: what apps define may be something else than the last time."""

    @abstractmethod
    def left_in(self, value: object) -> str | None:
        """What in a single value is a token of this resolver's; None where nothing is."""

    @abstractmethod
    def concerns(self, value: object) -> bool:
        """Whether there is something in a value for this resolver; asked about everything, so it should be quick."""

    @abstractmethod
    def whole(self, value: Any) -> Json:  # noqa: ANN401 (text, or what else a token may be)
        """What a value stands for as a whole.

        Raises:
            NotWhole: it is a text with tokens in it.
            StrongRefError: it cannot be resolved.
        """

    @abstractmethod
    def split(self, text: str) -> Iterator[str]:
        """A text's parts, in their order: a `Mark` for each token."""

    def fetch(self, mark: Mark) -> Json:
        """What a token in a text stands for.

        Raises:
            StrongRefError: it cannot be resolved.
        """
        return self.whole(str(mark))

    def _replace(self, context: Any, run: Run, spot: Spot, value: Any) -> None:  # noqa: ANN401 (as above)
        text = run.text_at(spot, value) if isinstance(value, str) else None
        if text is not None and not any(piece.is_open_to(self) for piece in text):
            return
        try:
            result, made = self._resolved(value, text)
        except StrongRefError as error:
            run.fail(spot, str(value), error, context.obj)
            return
        run.write(spot, result, made)
        if (type(result), result) != (type(value), value):
            context.replace_value(result)

    def _resolved(self, value: Any, text: Text | None) -> tuple[Json, Text | None]:  # noqa: ANN401 (as above)
        """What is to be written, and in pieces where it is a text that somebody else may have tokens in."""
        if text is None or len(text) == 1:
            try:
                return self.whole(value), None
            except NotWhole:
                pass
        errors: list[StrongRefError] = []

        def pieces(part: str) -> Iterator[Piece]:
            for each in self.split(part):
                try:
                    yield Piece(as_text(str(each), self.fetch(each)), None) if isinstance(each, Mark) else Piece(each)
                except StrongRefError as error:
                    errors.append(error)

        made = with_values(text or (), self, pieces)
        if errors:
            raise errors[0] if len(errors) == 1 else SeveralError(errors)
        return text_of(made), made


def _asked(context: Any) -> tuple[Any, str]:  # noqa: ANN401 (a cdk8s.ResolutionContext)
    """The value that is asked about, and what tells one question from the next: jsii's number of the context.

    All resolvers of an app are asked with the same context, and each look into it costs a message to Node.js.
    """
    global _LAST  # noqa: PLW0603 (jsii itself has one process for all)
    question = context.__jsii_ref__.ref
    if _LAST[1] != question:
        _LAST = context.value, question
    return _LAST


_LAST: tuple[Any, str] = (None, "")


def _is_an_object(value: object) -> bool:
    """Whether a value looks like a whole API object, as what is in one may, too."""
    return isinstance(value, dict) and value.keys() >= {"apiVersion", "kind", "metadata"}


def is_of_library(library: str, value: object) -> bool:
    """Whether a value is an object of a jsii library's classes or interfaces."""
    if value is None or isinstance(value, str | int | float | list | dict):
        return False
    faces = [value, *getattr(value, "_delegates", ())]  # jsii 1.142, _reference_map.InterfaceDynamicProxy
    return any(cls.__module__.partition(".")[0] == library for face in faces for cls in type(face).__mro__)
