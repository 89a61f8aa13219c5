"""A laptop whose clock is wrong, with `doctor --fix`: the janitor's repairs, stopped before each call."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongref.errors import StrongRefError
from strongref.protocol.janitor import Janitor
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref_toolkit.clock import AwsClock
from tests.support.builders import ACCOUNT
from tests.support.fuzz.invocation import Invocation

if TYPE_CHECKING:
    from datetime import datetime

    from tests.support.fuzz.stepped_cloud import SteppedCloud

SECONDS = 900.0


@dataclass(eq=False)
class Laptop(Invocation):
    """One command. It has no event, and nobody waits for its answer."""

    region: str = ""
    off: float = 0.0  # by how many seconds its clock is ahead

    @classmethod
    def start(cls, cloud: SteppedCloud, region: str, off: float) -> Laptop:
        nothing: Any = None
        laptop = cls(cloud, nothing, nothing, cloud.scheduler.seconds + SECONDS, region=region, off=off)
        laptop.task = cloud.scheduler.start(f"doctor --fix in {region}, {off:+g} s", laptop.work)
        return laptop

    def __post_init__(self) -> None:
        scheduler = self.cloud.scheduler
        self._clock = AwsClock(SECONDS, lambda: self.cloud.now().timestamp() + self.off, lambda: scheduler.seconds)

    def now(self) -> datetime:
        return self._clock.now()

    def earliest(self) -> datetime:
        return self._clock.earliest()

    def answered(self) -> None:
        """An answer has a date, in whole seconds."""
        self._clock.correct(float(int(self.cloud.now().timestamp())), self.cloud.scheduler.seconds)

    def work(self) -> None:
        ports = Ports(self.stores, self, Patience(60, 2, lambda: 0.5), self.cloud.token, self.cloud.lag)
        self.answered()  # It has asked who it is.
        with suppress(StrongRefError):
            list(Janitor(ports, self.region, ACCOUNT).tend(self))
