"""A run: whatever an app holds is resolved before cdk8s writes the first of its manifests.

cdk8s asks its resolvers about every value while it writes one chart after the other. An error at the last value of the
last chart would come after all others are written, and be the only one that is told. So the first question of an app
begins with a survey: each object is turned into JSON, as cdk8s will do again, and what fails is listed. Only if nothing
does, the question is answered, and cdk8s goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import cdk8s

from strongref.text import cut
from strongref_cdk8s.errors import LeftOverError, NothingResolvedError, UnresolvedError, told
from strongref_cdk8s.pieces import Piece, leaves, text_of
from strongref_manifests.errors import SeveralError
from strongref_manifests.leftovers import leftover

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strongref.errors import StrongRefError
    from strongref_cdk8s.pieces import Text
    from strongref_toolkit.json_values import Json


class Spot(NamedTuple):
    """Where a value stands.

    Attributes:
        construct: the path of its API object in the app.
        key: what leads to it in there; positions in lists are text.
    """

    construct: str
    key: tuple[str, ...]

    def __str__(self) -> str:
        """`Manifest/CronJob/Resource, spec.containers[0].image`."""
        steps = "".join(f"[{step}]" if step.isdecimal() else f".{step}" for step in self.key)
        return f"{cut(self.construct, 300)}, {cut(steps.removeprefix('.'), 300)}"


class Participant(Protocol):
    """A resolver that takes part in a run."""

    def begin(self) -> None:
        """A survey begins: what apps define may be something else than the last time."""
        ...

    def left_in(self, value: object) -> str | None:
        """What in a value is a token of this resolver's; None where nothing is."""
        ...


@dataclass(eq=False)
class Run:
    """Of one app.

    Attributes:
        resolvers: those that take part.
        surveying: whether a survey is under way: failures are collected.
        surveyed: the paths of the objects that a survey has found nothing wrong with.
        problems: of the survey: where, and why.
        written: texts that were put into values' places, in pieces, by their objects' paths and where they stand.
        answered: which question was the last one about an object since then, by the object's path.
    """

    resolvers: list[Participant] = field(default_factory=list)
    surveying: bool = False
    surveyed: set[str] = field(default_factory=set)
    problems: dict[Spot, list[str]] = field(default_factory=dict)
    written: dict[str, dict[tuple[str, ...], Text]] = field(default_factory=dict, repr=False)
    answered: dict[str, str] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set, repr=False)
    _of_others: Exception | None = None

    @classmethod
    def of(cls, obj: Any, resolver: Participant, question: str | None) -> Run:  # noqa: ANN401 (a cdk8s.ApiObject)
        """The run of an API object's app, which this resolver takes part in from now on.

        An object that no survey has seen, or that is asked about once more, is the beginning of another writing: the
        program may have changed anything since the last one, so there is another survey first.

        Args:
            obj: the object.
            resolver: it.
            question: what tells one question about the whole object from the next; None where it is about a part.

        Raises:
            UnresolvedError: something in the app cannot be resolved.
        """
        app = obj.node.root
        run = _RUNS.setdefault(app, cls())
        if resolver not in run.resolvers:
            run.resolvers.append(resolver)
        if not run.surveying:
            path = obj.node.path
            if path not in run.surveyed or (question and run.answered.get(path, question) != question):
                run.survey(app)
            if question:
                run.answered[path] = question
        return run

    def survey(self, app: Any) -> None:  # noqa: ANN401 (a cdk8s.App)
        """Resolve all that is in an app, and write nothing.

        Raises:
            UnresolvedError: naming everything that cannot be resolved.
            RuntimeError: what else has failed, if nothing else has.
        """
        for each in (self.problems, self.written, self.surveyed, self.answered):
            each.clear()
        self._of_others = None
        for resolver in self.resolvers:
            resolver.begin()
        seen = set()
        self.surveying = True
        try:
            for each in app.node.find_all():
                if isinstance(each, cdk8s.ApiObject):
                    seen.add(each.node.path)
                    self._look_at(each)
        finally:
            self.surveying = False
        if self.problems:
            # cdk8s asks about an object's metadata by itself first, and again where it stands.
            once = [spot for spot in self.problems if spot._replace(key=("metadata", *spot.key)) not in self.problems]
            problems = [f"{spot}: {why}" for spot in once for why in self.problems[spot]]
            raise UnresolvedError(problems) from self._of_others
        if self._of_others:
            raise self._of_others
        self.surveyed = seen

    def text_at(self, spot: Spot, text: str) -> Text:
        """A text that is found somewhere, in pieces: whole and open, unless one of the run's resolvers put it there."""
        known = self.written.get(spot.construct, {}).get(spot.key, ())
        return known if known and text_of(known) == text else (Piece(text),)

    def write(self, spot: Spot, value: Json, text: Text | None = None) -> None:
        """Remember what is put into a value's place.

        Args:
            spot: where.
            value: what.
            text: in pieces, where some may hold tokens still.
        """
        written = self.written.setdefault(spot.construct, {})
        if text is not None:
            written[spot.key] = text
            return
        for path, each in leaves(value):
            written[(*spot.key, *path)] = (Piece(each, None),)

    def fail(self, spot: Spot, token: str, error: StrongRefError, obj: Any) -> None:  # noqa: ANN401 (an ApiObject)
        """Collect a failure; outside of a survey, have one first, so that it is not told alone.

        Raises:
            UnresolvedError: there is no survey under way.
        """
        problems = [told(each) for each in (error.errors if isinstance(error, SeveralError) else [error])]
        if not self.surveying:
            self.survey(obj.node.root)
            self.surveyed.clear()
            raise UnresolvedError([f"{spot}: {why}" for why in problems])  # It has come up since.
        self._failed.add(token)
        self.problems[spot] = problems

    def has_failed(self, spot: Spot) -> bool:
        """Whether a value, or what it is in, has failed already: what is left in its place is looked into no more."""
        return any(Spot(spot.construct, spot.key[:end]) in self.problems for end in range(len(spot.key) + 1))

    def _look_at(self, obj: Any) -> None:  # noqa: ANN401 (a cdk8s.ApiObject)
        construct = obj.node.path
        self._failed = set()
        try:
            content = obj.to_json()
        except Exception as error:  # noqa: BLE001 (not ours, which are collected: it is told when all are)
            self._of_others = self._of_others or error
            return
        written = {text_of(text): text for text in self.written.get(construct, {}).values()}
        for key, value in _each(content, ()):
            spot = Spot(construct, key)
            if str(value) in self._failed or self.has_failed(spot):
                continue
            known = written.get(value) if isinstance(value, str) else None
            problem = self._left_over(value) if known is None else _foreign(known)
            if problem:
                self.problems[spot] = [str(problem)]

    def _left_over(self, value: Any) -> StrongRefError | None:  # noqa: ANN401 (a single value)
        """What is wrong with a value that none of the resolvers has written."""
        for resolver in self.resolvers:
            left = resolver.left_in(value)
            if left:
                return NothingResolvedError(left)
        return _foreign((Piece(value),))


_RUNS: WeakKeyDictionary[Any, Run] = WeakKeyDictionary()


def _foreign(parts: Iterable[Piece]) -> StrongRefError | None:
    """What nobody here resolves, in parts that are no fetched values.

    `${…}` that is no token of a CDK's is left alone: in an app's manifests it is a program's own, more often than not.
    """
    for part in parts:
        found = leftover(part.text) if part.done is not None else None
        if found and ("token[" in found[0].lower() or not found[0].startswith("${")):
            return LeftOverError(*found)
    return None


def _each(content: object, key: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every single value of an object, and every key as if it were one."""
    if isinstance(content, dict):
        for name, below in content.items():
            yield (*key, name), name
            yield from _each(below, (*key, name))
    elif isinstance(content, list):
        for number, below in enumerate(content):
            yield from _each(below, (*key, str(number)))
    else:
        yield key, content
