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

from strongref.cdk8s.errors import NothingResolvedError, UnresolvedError
from strongref.cdk8s.pieces import Piece, leaves, text_of
from strongref.errors import StrongRefError, cut
from strongref.resolvers.errors import SeveralError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.cdk8s.pieces import Text
    from strongref.resolvers.base import Json


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

    def left_in(self, value: object) -> str | None:
        """What in a value is a token of this resolver's; None where nothing is."""
        ...


@dataclass(eq=False)
class Run:
    """Of one app.

    Attributes:
        resolvers: those that take part.
        surveying: whether a survey is under way: failures are collected.
        surveyed: whether a survey found nothing wrong.
        problems: of the survey: where, and why.
        written: texts that were put into values' places, by where, in pieces.
    """

    resolvers: list[Participant] = field(default_factory=list)
    surveying: bool = False
    surveyed: bool = False
    problems: dict[Spot, list[str]] = field(default_factory=dict)
    written: dict[Spot, Text] = field(default_factory=dict, repr=False)
    _failed: set[str] = field(default_factory=set, repr=False)

    @classmethod
    def of(cls, obj: Any, resolver: Participant) -> Run:  # noqa: ANN401 (a cdk8s.ApiObject)
        """The run of an API object's app, which this resolver takes part in from now on.

        Raises:
            UnresolvedError: it begins here, and something in the app cannot be resolved.
        """
        app = obj.node.root
        run = _RUNS.setdefault(app, cls())
        if resolver not in run.resolvers:
            run.resolvers.append(resolver)
        if not (run.surveying or run.surveyed):
            run.survey(app)
        return run

    def survey(self, app: Any) -> None:  # noqa: ANN401 (a cdk8s.App)
        """Resolve all that is in an app, and write nothing.

        Raises:
            UnresolvedError: naming everything that cannot be resolved.
        """
        self.problems.clear()
        self.surveying, self.surveyed = True, False
        try:
            for each in app.node.find_all():
                if isinstance(each, cdk8s.ApiObject):
                    self._look_at(each)
        finally:
            self.surveying = False
        if self.problems:
            # cdk8s asks about an object's metadata by itself first, and again where it stands.
            once = [spot for spot in self.problems if spot._replace(key=("metadata", *spot.key)) not in self.problems]
            raise UnresolvedError([f"{spot}: {why}" for spot in once for why in self.problems[spot]])
        self.surveyed = True

    def text_at(self, spot: Spot, text: str) -> Text:
        """A text that is found somewhere, in pieces: whole and open, unless one of the run's resolvers put it there."""
        known = self.written.get(spot, ())
        return known if known and text_of(known) == text else (Piece(text),)

    def write(self, spot: Spot, value: Json, text: Text | None = None) -> None:
        """Remember what is put into a value's place.

        Args:
            spot: where.
            value: what.
            text: in pieces, where some may hold tokens still.
        """
        if text is not None:
            self.written[spot] = text
            return
        for path, each in leaves(value):
            self.written[Spot(spot.construct, (*spot.key, *path))] = (Piece(each, None),)

    def fail(self, spot: Spot, token: str, error: StrongRefError, obj: Any) -> None:  # noqa: ANN401 (an ApiObject)
        """Collect a failure; outside of a survey, have one first, so that it is not told alone.

        Raises:
            UnresolvedError: there is no survey under way.
        """
        told = [str(each) for each in (error.errors if isinstance(error, SeveralError) else [error])]
        if not self.surveying:
            self.survey(obj.node.root)
            raise UnresolvedError([f"{spot}: {why}" for why in told])  # It has come up since.
        self._failed.add(token)
        self.problems[spot] = told

    def has_failed(self, spot: Spot) -> bool:
        """Whether a value, or what it is in, has failed already: what is left in its place is looked into no more."""
        return any(Spot(spot.construct, spot.key[:end]) in self.problems for end in range(len(spot.key) + 1))

    def _look_at(self, obj: Any) -> None:  # noqa: ANN401 (a cdk8s.ApiObject)
        construct = obj.node.path
        self._failed = set()
        try:
            content = obj.to_json()
        except RuntimeError:  # Not ours, which are collected. It fails again when cdk8s writes it, and is told then.
            return
        known = {text_of(text) for spot, text in self.written.items() if spot.construct == construct} | self._failed
        for key, value in _each(content, ()):
            spot = Spot(construct, key)
            if str(value) in known or self.has_failed(spot):
                continue
            for resolver in self.resolvers:
                left = resolver.left_in(value)
                if left:
                    self.problems[spot] = [str(NothingResolvedError(left))]


_RUNS: WeakKeyDictionary[Any, Run] = WeakKeyDictionary()


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
