"""What all resolvers for cdk8s share: `cdk8s.IResolver`, based on what each knows about its own tokens."""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import cdk8s
import jsii

from strongref.errors import StrongRefError
from strongref.memo import Memo
from strongref_cdk8s.dry_run import AppRun, DryRunParticipant, FieldPath, Text, TextPart, text_of, with_values
from strongref_cdk8s.errors import ConstructGivenError
from strongref_manifests.errors import SeveralError, TokenInKeyError
from strongref_manifests.forms import as_text, wrong_there
from strongref_toolkit.jsii_objects import reference

if TYPE_CHECKING:
    import re

    from strongref_toolkit.json_values import Json


class Mark(str):
    """A token in a text."""

    __slots__ = ()


class NotWhole(Exception):  # noqa: N818 (it is an answer)
    """A text is not one token as a whole: its parts have to be resolved."""


@jsii.implements(cdk8s.IResolver)
class CloudResolver(DryRunParticipant):
    """Resolves tokens of one kind, for one app and one run of its program; each value is fetched once.

    cdk8s asks from the outside in: about a map first, then about its values. It asks again about each replacement
    (cdk8s 2.70, lib/resolve.js).
    """

    _run: AppRun | None = None
    _object: Json = None  # what is being written, or its kind alone
    _above: tuple[str, ...] = ()  # what leads to that in the object
    _written: str = ""  # the reference of that object
    _whole: Mapping[str, Json] = MappingProxyType({})  # that object, once cdk8s has asked about it

    def resolve(self, context: cdk8s.ResolutionContext) -> None:
        """Replace a value that holds tokens of this resolver.

        Raises:
            UnresolvedValuesError: naming every value of the app that cannot be resolved; cdk8s turns it into a
                RuntimeError.
        """
        value, question = _asked(context)
        run = self._run
        # A part may look like a whole API object, too. This one is about to be written.
        starts = not context.key and isinstance(value, dict) and value.keys() >= {"apiVersion", "kind", "metadata"}
        if run is None or starts:
            run = self._run = AppRun.of(context.obj, self, question if starts else None)
        if not context.key:
            self._begin(context.obj, value if starts else None)
        elif context.key[0] in self._whole:
            self._object, self._above = self._whole, ()
        concerns = self.concerns(value)
        keys = [key for key in value if self.token_in(key)] if isinstance(value, dict) and not concerns else []
        if not concerns and not keys:
            return
        at = FieldPath(context.obj.node.path, (*self._above, *context.key))
        if run.has_failed(at):
            return
        if concerns:
            self._replace(context, run, at, value)
        for key in keys:
            error = TokenInKeyError(str(self.token_in(key)))
            run.fail(FieldPath(at.construct, (*at.key, key)), key, error, context.obj)

    def _begin(self, obj: cdk8s.ApiObject, whole: dict[str, Json] | None) -> None:
        """Note what is asked about: a whole object, or metadata.

        cdk8s asks about an object's metadata by itself, then again as a part of the object; and in the midst of a
        workload about that of its pods.
        """
        written = reference(obj)
        if whole or written != self._written:
            self._whole, self._written = whole or {}, written
        self._object, self._above = (whole, ()) if whole else ({"kind": obj.kind}, ("metadata",))

    @abstractmethod
    def concerns(self, value: object) -> bool:
        """Whether a value may hold tokens of this resolver. It is called for every value, so it has to be fast."""

    @abstractmethod
    def whole(self, value: object) -> Json:
        """The value of a token.

        Raises:
            NotWhole: it is a text with tokens in it.
            StrongRefError: it cannot be resolved.
        """

    @abstractmethod
    def split(self, text: str) -> Iterator[str]:
        """A text's parts in order, each token as a `Mark`."""

    def _replace(self, context: cdk8s.ResolutionContext, run: AppRun, at: FieldPath, value: object) -> None:
        text = run.text_at(at, value) if isinstance(value, str) else None
        if text is not None and not any(part.is_open_to(self) for part in text):
            return
        try:
            result, made = self._resolved(value, text)
            if error := wrong_there(str(value), result, self._object, at.key):
                raise error
        except StrongRefError as error:
            run.fail(at, value, error, context.obj)
            return
        run.write(at, result, made)
        if (type(result), result) != (type(value), value):
            context.replace_value(result)

    def _resolved(self, value: object, text: Text | None) -> tuple[Json, Text | None]:
        """The replacement, and its pieces if it is a text that may hold tokens of other resolvers."""
        if text is None or len(text) == 1:
            try:
                return self.whole(value), None
            except NotWhole:
                pass
        errors: list[StrongRefError] = []

        def split(part: str) -> Iterator[TextPart]:
            for each in self.split(part):
                if not isinstance(each, Mark):
                    yield TextPart(each)
                    continue
                try:
                    yield TextPart(as_text(str(each), self.whole(str(each))), None)
                except StrongRefError as error:
                    errors.append(error)

        made = with_values(text or (), self, split)
        if errors:
            raise errors[0] if len(errors) == 1 else SeveralError(errors)
        return text_of(made), made


class MarkedResolver(CloudResolver):
    """Resolves tokens that a CDK marks, in texts and in the two highest bytes of numbers; each is read once in a run.

    A subclass has `mark` for a token in a text, with one group; `any_mark` for what resembles one; and `number`.
    """

    mark: ClassVar[re.Pattern[str]]
    any_mark: ClassVar[re.Pattern[str]]
    number: ClassVar[bytes]

    def __init__(self) -> None:
        self._values: Memo[str, Json] = Memo()

    def begin(self) -> None:
        self._values = Memo()

    def token_in(self, value: object) -> str | None:
        if isinstance(value, str):
            found = self.any_mark.search(value)
            return found[0] if found else None
        return repr(value) if is_marked(value, self.number) else None

    def split(self, text: str) -> Iterator[str]:
        for position, part in enumerate(self.mark.split(text)):
            if part:
                yield Mark(part) if position % 2 else part


def is_marked(value: object, mark: bytes) -> bool:
    """Whether a value is a number that a CDK uses as a token: its two highest bytes say so."""
    return isinstance(value, float) and struct.pack(">d", value)[:2] == mark


def _asked(context: cdk8s.ResolutionContext) -> tuple[Any, str]:
    """The value that cdk8s asks about, and an ID of the question: jsii's reference of the context.

    All resolvers of an app get the same context, and reading a value from it costs a message to Node.js.
    """
    global _LAST  # noqa: PLW0603 (jsii itself has one process for all)
    question = reference(context)
    if _LAST[1] != question:
        _LAST = context.value, question
    return _LAST


_LAST: tuple[Any, str] = (None, "")


def check_is_value(value: object) -> None:
    """Refuse, by `ConstructGivenError`, a construct that is no token: the CDK would follow its tree without end."""
    if hasattr(value, "node") and not (hasattr(value, "resolve") and hasattr(value, "creation_stack")):  # IResolvable
        raise ConstructGivenError(str(value.node.path) or "App")


def is_of_library(library: str, value: object) -> bool:
    """Whether a value is an object of a jsii library's classes or interfaces."""
    if value is None or isinstance(value, str | int | float | list | dict):
        return False
    faces = [value, *getattr(value, "_delegates", ())]  # jsii 1.142, _reference_map.InterfaceDynamicProxy
    return any(cls.__module__.partition(".")[0] == library for face in faces for cls in type(face).__mro__)
