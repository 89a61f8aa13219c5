"""The dry run of an app: everything in it is resolved before cdk8s writes the first manifest.

cdk8s asks its resolvers about every value while it writes one chart after the other. An error in the last chart would
come after all others are written, and only the first error would be shown. So the first question about an app starts a
dry run: each object is turned into JSON, as cdk8s is about to do, and all failures are collected. If there are none,
the question is answered, and cdk8s continues.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import cdk8s

from strongref.text import cut
from strongref.untyped import AnyJson
from strongref_cdk8s.errors import LeftOverError, NothingResolvedError, UnresolvedValuesError, in_program_terms
from strongref_manifests.errors import SeveralError
from strongref_manifests.leftovers import leftover
from strongref_toolkit.jsii_objects import reference
from strongref_toolkit.json_values import Json, keys_and_values, texts_in

if TYPE_CHECKING:
    from strongref.errors import StrongRefError


class TextPart(NamedTuple):
    """A part of a text: a fetched value, or what may still hold tokens.

    cdk8s passes what a resolver returned to all resolvers again, that one first. A fetched value must not be read for
    tokens then: anyone who can set the value could have any other value written.
    """

    text: str
    # the resolvers that have read it for tokens; None for a fetched value, which none may read
    done: frozenset[object] | None = frozenset()

    def is_open_to(self, resolver: object) -> bool:
        return self.done is not None and resolver not in self.done


Text: TypeAlias = "tuple[TextPart, ...]"


def text_of(parts: Iterable[TextPart]) -> str:
    return "".join(part.text for part in parts)


def with_values(text: Text, resolver: object, split: Callable[[str], Iterable[TextPart]]) -> Text:
    """A text with the parts split that are open to a resolver; what they become is not open to it any more."""
    made: list[TextPart] = []
    for part in text:
        if part.done is None or resolver in part.done:
            made.append(part)
            continue
        done = part.done | {resolver}
        made += [new if new.done is None else TextPart(new.text, done) for new in split(part.text)]
    return tuple(made)


class FieldPath(NamedTuple):
    construct: str  # the path of its API object in the app
    key: tuple[str, ...]  # the keys that lead to it in the object; list indices are text

    def __str__(self) -> str:
        """`Manifest/CronJob/Resource, spec.containers[0].image`."""
        steps = "".join(f"[{step}]" if step.isdecimal() else f".{step}" for step in self.key)
        return f"{cut(self.construct, 300)}, {cut(steps.removeprefix('.'), 300)}"


class DryRunParticipant(ABC):
    def begin(self) -> None:  # noqa: B027 (by default nothing)
        """A dry run begins: apps may define other outputs than in the last one."""

    @abstractmethod
    def token_in(self, value: object) -> str | None:
        """The token of this resolver in a single value; None if there is none."""


@dataclass(eq=False)
class AppRun:
    resolvers: list[DryRunParticipant] = field(default_factory=list)  # the app's
    is_dry: bool = False  # whether a dry run is under way, which collects failures
    checked: set[str] = field(default_factory=set)  # the paths of the objects that the last dry run has resolved
    problems: dict[FieldPath, list[str]] = field(default_factory=dict)  # the failures of the dry run, by location
    # texts that replace values, in parts, by their objects' paths and keys
    written: dict[str, dict[tuple[str, ...], Text]] = field(default_factory=dict, repr=False)
    # the last question about each object since then, by the object's path
    answered: dict[str, str] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set, repr=False)
    _of_others: Exception | None = None

    @classmethod
    def of(cls, obj: cdk8s.ApiObject, resolver: DryRunParticipant, question: str | None) -> AppRun:
        """The run of an API object's app; the resolver takes part in it from now on.

        An object that the last dry run has not seen, or that is asked about again, means that the app is written again.
        The program may have changed anything, so there is another dry run first. The question identifies one about the
        whole object; it is None if the resolver is asked about a part.

        Raises:
            UnresolvedValuesError: something in the app cannot be resolved.
        """
        app = obj.node.root
        run = _RUNS.setdefault(reference(app), cls())
        if resolver not in run.resolvers:
            run.resolvers.append(resolver)
        if not run.is_dry:
            path = obj.node.path
            if path not in run.checked or (question and run.answered.get(path, question) != question):
                run.dry_run(app)
            if question:
                run.answered[path] = question
        return run

    def dry_run(self, app: cdk8s.App) -> None:
        """Resolve everything in an app, and write nothing.

        Raises:
            UnresolvedValuesError: naming everything that cannot be resolved.
            RuntimeError: another failure, if that is the only one.
        """
        for each in (self.problems, self.written, self.checked, self.answered):
            each.clear()
        self._of_others = None
        for resolver in self.resolvers:
            resolver.begin()
        seen = set()
        self.is_dry = True
        try:
            for each in app.node.find_all():
                if isinstance(each, cdk8s.ApiObject):
                    seen.add(each.node.path)
                    self._check(each)
        finally:
            self.is_dry = False
        if self.problems:
            problems = [f"{at}: {why}" for at, reasons in self.problems.items() for why in reasons]
            raise UnresolvedValuesError(problems) from self._of_others
        if self._of_others:
            raise self._of_others
        self.checked = seen

    def text_at(self, at: FieldPath, text: str) -> Text:
        """A text in parts: one open part, unless a resolver of the run has written it."""
        known = self.written.get(at.construct, {}).get(at.key, ())
        return known if known and text_of(known) == text else (TextPart(text),)

    def write(self, at: FieldPath, value: Json, text: Text | None = None) -> None:
        """Record what replaces a value: in parts, if it is a text some of which may still hold tokens."""
        written = self.written.setdefault(at.construct, {})
        if text is not None:
            written[at.key] = text
            return
        for path, each in texts_in(value):
            written[(*at.key, *map(str, path))] = (TextPart(each, None),)

    def fail(self, at: FieldPath, value: AnyJson, error: StrongRefError, obj: cdk8s.ApiObject) -> None:
        """Collect the failure of a value. Outside of a dry run, start one first, so that all are reported together.

        Raises:
            UnresolvedValuesError: no dry run is under way.
        """
        errors = error.errors if isinstance(error, SeveralError) else [error]
        problems = [in_program_terms(each) for each in errors]
        if not self.is_dry:
            self.dry_run(obj.node.root)
            self.checked.clear()
            raise UnresolvedValuesError([f"{at}: {why}" for why in problems])  # It did not fail in the dry run.
        self._failed |= {str(each) for _, each in keys_and_values(value)}  # cdk8s may write them under other keys
        self.problems[at] = problems

    def has_failed(self, at: FieldPath) -> bool:
        """Whether a value, or one that contains it, has failed: what is left there is not resolved."""
        return any(FieldPath(at.construct, at.key[:end]) in self.problems for end in range(len(at.key) + 1))

    def _check(self, obj: cdk8s.ApiObject) -> None:
        """Resolve an object, and look for tokens that are left in it."""
        construct = obj.node.path
        self._failed = set()
        try:
            content = obj.to_json()
        except Exception as error:  # noqa: BLE001 (not a resolver's, which are collected; raised after all others)
            self._of_others = self._of_others or error
            return
        written = {text_of(text): text for text in self.written.get(construct, {}).values()}
        for path, value in keys_and_values(content):
            at = FieldPath(construct, tuple(map(str, path)))
            if str(value) in self._failed or self.has_failed(at):
                continue
            known = written.get(value) if isinstance(value, str) else None
            problem = self._left_over(value) if known is None else _foreign(known)
            if problem:
                self.problems[at] = [str(problem)]

    def _left_over(self, value: AnyJson) -> StrongRefError | None:
        """The error of a value that no resolver has written."""
        for resolver in self.resolvers:
            if left := resolver.token_in(value):
                return NothingResolvedError(left)
        return _foreign((TextPart(value),))


_RUNS: dict[str, AppRun] = {}


def _foreign(parts: Iterable[TextPart]) -> StrongRefError | None:
    """The error of a token that no resolver here knows, in parts that are not fetched values.

    Any other `${…}` is left alone: in an app's manifests it most often belongs to the program.
    """
    for part in parts:
        found = leftover(part.text) if part.done is not None else None
        if found and ("token[" in found[0].lower() or not found[0].startswith("${")):
            return LeftOverError(*found)
    return None
