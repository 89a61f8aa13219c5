"""A janitor, stopped before each call: `doctor --fix` on a laptop whose clock is wrong, or a function."""

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
    owner: str = ACCOUNT  # whose it is
    only_abroad: bool = False  # it is the function that looks after places in other accounts

    @classmethod
    def start(cls, cloud: SteppedCloud, region: str, off: float = 0.0, **more: Any) -> Laptop:
        nothing: Any = None
        laptop = cls(cloud, nothing, nothing, cloud.scheduler.seconds + SECONDS, region=region, off=off, **more)
        what = "the janitor of places abroad" if laptop.only_abroad else f"doctor --fix of account {laptop.owner}"
        laptop.task = cloud.scheduler.start(f"{what} in {region}, {off:+g} s", laptop.work)
        return laptop

    def __post_init__(self) -> None:
        self.account = self.owner
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
        patience = Patience(60, 2, lambda: 0.5)
        ports = Ports(self.stores, self, patience, self.cloud.token, self.cloud.lag, abroad=self.abroad().store)
        self.answered()  # It has asked who it is.
        janitor = Janitor(ports, self.region, self.account, tends_abroad=self.only_abroad)
        with suppress(StrongRefError):
            list(janitor.tend(self, only_abroad=self.only_abroad))
