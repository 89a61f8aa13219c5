"""Parameters that are half deleted for a while: AWS asks for 30 seconds before a deleted name is used again.

Until then, one of two things happens to a create, whichever a read, or the seed, decides: it is refused although reads
find nothing; or it succeeds, and what was created is missing from reads, and for tags, until the time is over. An
overwrite always succeeds, and may be missing likewise.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.support.cloud import Cloud
from tests.support.explorer.lagging import NOTHING
from tests.support.fake_ssm import error
from tests.support.late_reads import Lateness, LateSsm

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 30.0


class Again(Enum):
    """What happens to a create of a name that was deleted a moment ago."""

    REFUSED = "refused"
    HIDDEN = "hidden"
    EITHER = "either"
    """As the seed decides."""


class HalfDeletedSsm(LateSsm):
    """A Parameter Store that takes its time to forget a deleted parameter.

    Attributes:
        used_again: the names that were to be created too soon after their deletion.
        hidden: those that were created, and that reads do not show, with when they will.
    """

    def __init__(self, region: str, account: str, lateness: Lateness, again: Again = Again.EITHER, **how: Any) -> None:
        super().__init__(region, account, lateness, **how)
        self.used_again: set[str] = set()
        self.hidden: dict[str, float] = {}
        self._deleted: dict[str, float] = {}
        self._again = again

    def put_parameter(self, **request: Any) -> dict[str, Any]:
        name, now = request["Name"], self._lateness.now()
        deleted = self._deleted.get(name)
        if self._find(name) or deleted is None or now >= deleted + SECONDS:
            return super().put_parameter(**request)
        self.used_again.add(name)
        if not request.get("Overwrite") and self._is(Again.REFUSED):
            raise error("ParameterAlreadyExists", "The parameter already exists.", "PutParameter")
        answer = super().put_parameter(**request)
        if self._is(Again.HIDDEN):
            self.hidden[name] = deleted + SECONDS
        return answer

    def get_parameters(self, **request: Any) -> dict[str, Any]:
        return self._without_hidden(super().get_parameters, request)

    def get_parameters_by_path(self, **request: Any) -> dict[str, Any]:
        return self._without_hidden(super().get_parameters_by_path, request)

    def list_tags_for_resource(self, **request: Any) -> dict[str, Any]:
        return self._without_hidden(super().list_tags_for_resource, request)

    def add_tags_to_resource(self, **request: Any) -> dict[str, Any]:
        return self._without_hidden(super().add_tags_to_resource, request)

    def remove_tags_from_resource(self, **request: Any) -> dict[str, Any]:
        return self._without_hidden(super().remove_tags_from_resource, request)

    def _is(self, again: Again) -> bool:
        return self._again is again or (self._again is Again.EITHER and self._lateness.random.random() < 0.5)

    def _without_hidden(self, call: Callable[..., dict[str, Any]], request: dict[str, Any]) -> dict[str, Any]:
        self.hidden = {name: until for name, until in self.hidden.items() if until > self._lateness.now()}
        put_aside = {name: self._slots[name] for name in self.hidden if name in self._slots}
        past = {name: self.past.pop(name) for name in put_aside if name in self.past}
        self._slots.update(dict.fromkeys(put_aside, NOTHING))
        try:
            return call(**request)
        finally:
            self._slots.update(put_aside)
            self.past.update(past)

    def _delete(self, name: str) -> None:
        super()._delete(name)
        self._deleted[name] = self._lateness.now()
        self.hidden.pop(name, None)


class RememberingCloud(Cloud):
    """One account whose Parameter Stores take their time to forget a deleted parameter."""

    def __init__(self, again: Again) -> None:
        super().__init__()
        self._new_ssm = partial(HalfDeletedSsm, lateness=Lateness(0.0, lambda: sum(self.clock.slept)), again=again)

    def used_again(self, region: str) -> set[str]:
        """The names that were to be created too soon after their deletion."""
        ssm = self.ssm(region)
        assert isinstance(ssm, HalfDeletedSsm)
        return ssm.used_again
