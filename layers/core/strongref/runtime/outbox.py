"""Sends an invocation's notices after everything else: once, in bounded time, and whatever happens."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from strongref.contract.notices import Notice, NoticeType
from strongref.errors import StrongRefError
from strongref.log import logger

SEND_SECONDS = 4.0
"""How long sending may take as a whole. A call has timeouts to connect and to read, but none to find the host."""

DROPPED = "NoticesDropped"
"""The metric of notices that were not sent, as far as is known."""

_METRICS = {NoticeType.VALUES_PROPAGATED: "Propagations"}
"""What is counted by its notice. Refusals are counted by their error, and findings by their kind."""


class Outbox:
    """`Ports.notify`: collects the notices of one invocation.

    `put` sends them to a bus, and may raise anything; without it they are only counted.
    """

    def __init__(self, put: Callable[[Sequence[Notice]], None] | None = None) -> None:
        self._put = put
        self._notices: list[Notice] = []
        self._later: list[Callable[[], object]] = []

    def later(self, work: Callable[[], object]) -> None:
        """`Ports.later`: what `finish` does."""
        self._later.append(work)

    def finish(self) -> None:
        """Do what the response need not wait for; it never fails."""
        works, self._later = self._later, []
        for work in works:
            try:
                work()
            except Exception as error:  # noqa: BLE001 (CloudFormation has its response)
                logger.error("Something was not done after a response", extra={"error": type(error).__name__})

    def __call__(self, notice: Notice) -> None:
        self._notices.append(notice)

    def counts(self) -> Counter[str]:
        """Numbers by name, for the metrics."""
        return Counter(_METRICS[notice.type] for notice in self._notices if notice.type in _METRICS)

    def send(self, seconds: float = SEND_SECONDS) -> int:
        """Send what was collected, with one try and within the time; return how many were dropped.

        It never fails, and never takes longer: a call that hangs is left to a thread.
        """
        notices, self._notices = self._notices, []
        if not (self._put and notices):
            return 0
        problem = "no time left"
        if seconds > 0:
            try:
                problem = _within(min(seconds, SEND_SECONDS), partial(self._put, notices))
            except Exception as error:  # noqa: BLE001 (no thread can be started)
                problem = type(error).__name__
        if problem:
            kinds = [notice.type.value for notice in notices]
            logger.warning("Notices were not sent", extra={"detail_types": kinds, "error": problem})
        return len(notices) if problem else 0


def _within(seconds: float, send: Callable[[], None]) -> str:
    """What went wrong; empty if the bus accepted all notices in time."""
    problems = ["timed out"]

    def put() -> None:
        try:
            send()
        except StrongRefError as error:
            problems.append(str(error))
        except BaseException as error:  # noqa: BLE001 (Python would print its text, which may hold anything)
            problems.append(type(error).__name__)
        else:
            problems.append("")

    sender = threading.Thread(target=put, name="notices", daemon=True)
    sender.start()
    sender.join(seconds)
    return problems[-1]
