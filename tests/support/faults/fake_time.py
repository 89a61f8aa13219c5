"""Time that passes only when code waits, in place of the machine's; and timers without threads."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EPOCH = datetime(2025, 1, 1, tzinfo=UTC)

MOST_LOOKS = 1000
"""How often the clock may be read before time has to pass."""


class SpinningError(BaseException):
    """A loop spins until time has passed, which uses up a processor."""


class BlockedError(BaseException):
    """A lock is held. Where there is one thread, a timer that needs it has to try again later."""


class FakeTime:
    """Seconds since `EPOCH`, and the timers that are running."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.spins = False
        self.timers: list[Timer] = []
        self.before_passing: Callable[[], None] | None = None
        self._looks = 0

    def monotonic(self) -> float:
        self._looks += 1
        if self._looks > MOST_LOOKS:
            self.spins, self._looks = True, 0
            raise SpinningError
        return self.seconds

    def perf_counter(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        """Let time pass; timers that are due go off on the way."""
        end = self.seconds + seconds
        if seconds > 0:
            self._looks = 0
            if self.before_passing:
                self.before_passing()
        while due := [timer for timer in self.timers if timer.due <= end]:
            first = min(due, key=lambda timer: timer.due)
            self.timers.remove(first)
            self.seconds = max(self.seconds, first.due)
            first.go_off()
        self.seconds = max(self.seconds, end)

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.seconds)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Every module of strongref that is imported already takes its time, timers and locks from here."""
        now = type("Now", (_Now,), {"passing": self})
        stand_ins: dict[str, tuple[object, object]] = {
            "datetime": (datetime, now),
            "time": (time, self),
            "threading": (threading, _Threading(self)),
        }
        with ExitStack() as patches:
            for name, module in list(sys.modules.items()):
                for attribute, (real, ours) in stand_ins.items() if name.startswith("strongref.") else ():
                    if getattr(module, attribute, None) is real:
                        patches.enter_context(patch.object(module, attribute, ours))
            yield


class Timer:
    """As `threading.Timer`, without a thread."""

    def __init__(self, passing: FakeTime, interval: float, function: Callable[..., object], args: Any = ()) -> None:
        self.due = 0.0
        self.daemon = False
        self._time = passing
        self._interval = interval
        self._function = function
        self._args = args

    def start(self) -> None:
        self.due = self._time.seconds + self._interval
        self._time.timers.append(self)

    def cancel(self) -> None:
        if self in self._time.timers:
            self._time.timers.remove(self)

    def go_off(self) -> None:
        try:
            self._function(*self._args)
        except BlockedError:
            self._interval = 1.0
            self.start()


class Lock:
    """As `threading.Lock`, where there is one thread: where it would block, it raises `BlockedError`."""

    def __init__(self) -> None:
        self._held = False

    def __enter__(self) -> None:
        if self._held:
            raise BlockedError
        self._held = True

    def __exit__(self, *_: object) -> None:
        self._held = False


class _Threading:
    """As the module `threading`, with these timers and locks."""

    Lock = Lock

    def __init__(self, passing: FakeTime) -> None:
        self.Timer = partial(Timer, passing)

    def __getattr__(self, name: str) -> object:
        return getattr(threading, name)


class _Now(datetime):
    """As `datetime`, with another time of day."""

    passing: FakeTime

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> _Now:
        return cls.fromtimestamp(cls.passing.now().timestamp(), tz)
