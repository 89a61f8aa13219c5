"""Starts and stops the local service, sets it up, and reads its state."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.request import Request, urlopen

from tests.support.local_ssm.service import ACCOUNT, ANSWERS, CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from tests.support.quota import Quotas

ROOT = Path(__file__).resolve().parents[3]
_STOP_SECONDS = 10


@dataclass(frozen=True)
class State:
    """What the service has seen since it was last reset.

    Attributes:
        counts: calls that were carried out, by action.
        throttled: calls that were not.
        answers: what custom resources answered.
        invocations: functions that were invoked, and the events.
        stored: how many parameters an account has in a region, by `account/region`.
    """

    counts: dict[str, int]
    throttled: dict[str, int]
    answers: list[dict[str, Any]]
    invocations: list[dict[str, Any]]
    stored: dict[str, int]


@dataclass(frozen=True)
class LocalSsm:
    """A running service. It ends with this process, however that ends."""

    url: str
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls) -> Self:
        """Start one, on a free port of the loopback.

        Raises:
            RuntimeError: it did not come up.
        """
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.local_ssm.server"],
            cwd=ROOT,
            stdin=subprocess.PIPE,  # its lifeline: closed when this process ends
            stdout=subprocess.PIPE,
        )
        port = process.stdout.readline().strip() if process.stdout else b""
        if not port:
            process.kill()
            process.wait(_STOP_SECONDS)
            raise RuntimeError("the local service did not start")
        return cls(f"http://127.0.0.1:{int(port)}", process)

    def stop(self) -> None:
        """End it."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(_STOP_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def answer_url(self) -> str:
        """Where custom resources answer."""
        return f"{self.url}{ANSWERS}presigned?X-Amz-Signature=none"

    def env(self, region: str = "eu-west-1", account: str = ACCOUNT) -> dict[str, str]:
        """What an SDK needs to talk to it and to no one else."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": account,
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def state(self) -> State:
        return State(**self._ask("state"))

    def reset(self) -> None:
        """Forget what was counted and answered; parameters stay."""
        self._ask("reset")

    def clear(self) -> None:
        """Forget everything but the options and the stacks."""
        self._ask("clear")

    def options(self, *, latency_ms: float = 0.0, quotas: Quotas | None = None) -> None:
        """How long each call takes, and what is admitted: everything, if no quotas are given."""
        limits = {key: value for key, value in asdict(quotas).items() if key[0] != "_"} if quotas else None
        self._ask("options", latency_ms=latency_ms, quotas=limits)

    def preload(
        self, region: str, names: Iterable[str], text: str = "somebody else's", tags: Mapping[str, str] | None = None
    ) -> None:
        """Put parameters there at once."""
        self._ask("preload", region=region, names=list(names), text=text, tags=dict(tags or {}))

    def stacks(self, stacks: Iterable[Mapping[str, Any]]) -> None:
        """Say which stacks there are (`cloudformation.Stack`)."""
        self._ask("stacks", stacks=list(stacks))

    def _ask(self, what: str, **given: Any) -> Any:
        request = Request(self.url + CONTROL + what, json.dumps(given).encode(), method="POST")  # noqa: S310
        with urlopen(request, timeout=60) as response:  # noqa: S310
            return json.load(response)
