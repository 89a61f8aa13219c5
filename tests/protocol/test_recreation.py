"""Creating a parameter whose name is taken, or was a moment ago: what is waited for, and no longer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref.contract.names import PRODUCER_TAG
from strongref.errors import AlreadyExistsError
from strongref.protocol.lag import ReadLag
from strongref.protocol.recreation import PatientWriter
from tests.support.builders import WEB, text
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class Taken:
    """A store in which the name is taken, by a parameter that has these tags, one look after the other."""

    found: Iterable[dict[str, str] | None]
    region: str = "us-east-1"
    clock: FakeClock = field(default_factory=FakeClock)

    def create(self, name: str, *_what: object) -> None:
        raise AlreadyExistsError("PutParameter", "ParameterAlreadyExists", name, self.region)

    def tags(self, _name: str) -> dict[str, str] | None:
        return next(iter(self.found))

    def writer(self) -> PatientWriter:
        return PatientWriter(cast("Any", self), self.clock, ReadLag(2.0))


TAGS = {PRODUCER_TAG: WEB}


@pytest.mark.parametrize(
    ("looks", "slept"),
    [
        pytest.param([TAGS], [2.5], id="until reads show it"),
        pytest.param([None, {}, {"team": "web"}, TAGS], [2.5, 3.0, 3.0, 3.0], id="until it has a producer"),
    ],
)
def test_what_has_the_name_is_waited_for(looks: list[dict[str, str] | None], slept: list[float]) -> None:
    taken = Taken(iter(looks))
    assert taken.writer().create("name", text("a"), {}) == TAGS
    assert taken.clock.slept == slept


@pytest.mark.parametrize("tags", [{}, {"team": "web"}])
def test_what_never_has_a_producer_is_foreign(tags: dict[str, str]) -> None:
    assert Taken(iter([tags] * 20)).writer().create("name", text("a"), {}) == tags
