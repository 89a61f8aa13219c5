"""Starts and stops the emulator, and talks to it: for the end-to-end tests and the demonstration."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from base64 import urlsafe_b64encode
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.request import Request, urlopen

from tests.support.node import NODE, PACKAGES
from tests.support.waiting import GIVE_UP_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

ROOT = Path(__file__).resolve().parents[3]
ACCOUNT = "111111111111"
OTHER_ACCOUNT = "222222222222"
_ASK_SECONDS = 300
_CALL_SECONDS = 900
"""As long as a function may run: a call that waits for one must not give up before."""

_END_SECONDS = 10

_LIFELINE = "lifeline"


def executable(variable: str, default: str) -> str:
    """A tool's path: of the environment, or where `make` installs it."""
    return os.environ.get(variable) or str(ROOT / default)


@dataclass(frozen=True)
class Answer:
    """What a custom resource reported to CloudFormation.

    Attributes:
        token: of the request that it answers.
        size: of the body, in bytes.
        body: as JSON; None if it is none.
        violations: of CloudFormation's rules.
        count: how many answers that request got.
    """

    token: str
    size: int
    body: dict[str, Any] | None
    violations: list[str]
    count: int


@dataclass(frozen=True)
class Call:
    """How often a caller (a function's or a user's name, or root's account) called an action in a region."""

    service: str
    action: str
    region: str
    caller: str
    count: int


@dataclass(frozen=True)
class Parameter:
    """What Parameter Store has."""

    region: str
    name: str
    value: str
    tags: dict[str, str]


@dataclass(frozen=True)
class Emulator:
    """A running emulator.

    Any number of processes may use it: it ends itself as soon as none of them holds its lifeline any more, however
    that came about.

    Attributes:
        url: of all its services.
        folder: what it keeps while it runs.
        lifeline: the writing end of a pipe that nothing is ever written to.
        process: for whoever started it.
    """

    url: str
    folder: Path
    lifeline: int
    process: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(cls, log: Path) -> Self:
        """Start one, on a free port and with a folder of its own; its output goes to `log`.

        Raises:
            RuntimeError: it did not come up.
        """
        _reach_without_proxy()
        folder = Path(tempfile.mkdtemp(prefix="strongref-emulator-"))
        port = _free_port()
        environment = {
            "PATH": os.pathsep.join([str(NODE.parent), os.environ["PATH"]]),
            "NODE_PATH": str(PACKAGES),  # As Lambda, whose functions have the SDK.
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "AUTH": "true",
            "GATEWAY_PORT": str(port),
            "MINISTACK_HOST": "127.0.0.1",
            "IOT_MTLS_ENABLED": "0",  # It would listen on all interfaces.
            "LOG_LEVEL": "WARNING",
        }
        python = executable("STRONGREF_EMULATOR_PYTHON", ".build/venv-emulator/bin/python")
        server = str(Path(__file__).with_name("server.py"))
        os.mkfifo(folder / _LIFELINE)
        reading = os.open(folder / _LIFELINE, os.O_RDONLY | os.O_NONBLOCK)  # Nobody writes yet: do not wait for it.
        os.set_blocking(reading, True)
        emulator = cls(f"http://127.0.0.1:{port}", folder, os.open(folder / _LIFELINE, os.O_WRONLY))
        try:
            with log.open("ab") as output:
                process = subprocess.Popen(  # noqa: S603
                    [python, server, str(port)],
                    env=environment,
                    cwd=folder,
                    stdin=reading,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # A process group for it and its functions, to be ended by its id.
                )
            emulator = replace(emulator, process=process)
            emulator._wait(log)
        except BaseException:
            emulator.stop()
            raise
        finally:
            os.close(reading)
        return emulator

    @classmethod
    def join(cls, url: str, folder: Path) -> Self:
        """Use one that another process started, and hold it."""
        return cls(url, folder, os.open(folder / _LIFELINE, os.O_WRONLY | os.O_NONBLOCK))

    def _wait(self, log: Path) -> None:
        def healthy() -> bool:
            if self.process and self.process.poll() is not None:
                raise RuntimeError(f"The emulator did not start:\n{log.read_text(errors='replace')[-2000:]}")
            with suppress(OSError):
                self._ask("/_ministack/health")
                return True
            return False

        wait_until(healthy, "the emulator")

    def release(self) -> None:
        """Use it no longer; if nobody else does, it ends. Whoever started it waits, so that its CPU time is counted."""
        os.close(self.lifeline)
        if self.process:
            self.process.wait(_CALL_SECONDS)

    def stop(self) -> None:
        """End it, its functions with it, and remove what it wrote, whoever else uses it."""
        with suppress(BrokenPipeError):  # It has ended already.
            os.write(self.lifeline, b".")
        os.close(self.lifeline)
        if self.process:
            _end(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def env(self, account: str = ACCOUNT, region: str = "eu-west-1") -> dict[str, str]:
        """What boto3, sam and the command line need to talk to it as an account's root, and to no one else."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": account,
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "SAM_CLI_TELEMETRY": "0",
        }

    def client(
        self, service: str, region: str = "eu-west-1", account: str = ACCOUNT, *, key: tuple[str, ...] | None = None
    ) -> Any:
        """A client of boto3: of the account's root, or of an access key with its secret, and its session's token."""
        return _client(self.url, service, region, key or (account, "test"))

    def answers(self, part: str) -> list[Answer]:
        """The answers of custom resources so far that have a part in their token or their body."""
        return [Answer(**answer) for answer in self._ask(f"/_strongref/answers/{_encoded(part)}")]

    def calls(self) -> list[Call]:
        """The calls since the last reset."""
        return [Call(**call) for call in self._ask("/_strongref/calls")]

    def reset_calls(self) -> None:
        self._ask("/_strongref/reset-calls", "POST")

    def limit(self, account: str, **rates: float) -> None:
        """Give an account these quotas in each region, as of `quota.Quotas`; none: take them away.

        They are Parameter Store's; `describe` is Cloud Control's as well.
        """
        given = "&".join(f"{name}={rate}" for name, rate in rates.items())
        self._ask(f"/_strongref/quotas/{account}/{given}", "POST")

    def lag(self, account: str, seconds: float) -> None:
        """From now on an account's reads of Parameter Store may lag by so many seconds; 0: they do not."""
        self._ask(f"/_strongref/lag/{account}/{seconds}", "POST")

    @contextmanager
    def wrong(self, account: str, belief: str) -> Iterator[None]:
        """While this lasts, a belief of `strongref_cli.selftest.beliefs` is wrong for an account."""
        self._ask(f"/_strongref/wrong/{account}/{belief}/on", "POST")
        try:
            yield
        finally:
            self._ask(f"/_strongref/wrong/{account}/{belief}/off", "POST")

    def throttled(self, account: str) -> int:
        """How many calls were refused since an account's quotas were set."""
        found: int = self._ask(f"/_strongref/throttled/{account}")
        return found

    @contextmanager
    def in_progress(self, stack_id: str, logical_id: str, *request: str) -> Iterator[None]:
        """List a resource as in progress while this lasts, as if CloudFormation had just called its function.

        Args:
            stack_id: of its stack.
            logical_id: in the stack.
            request: Create, Update or Delete; the resource's type; and its physical ID.
        """
        self._ask(f"/_strongref/in-progress/{_encoded(stack_id, logical_id, *request)}", "POST")
        try:
            yield
        finally:
            self._ask(f"/_strongref/at-rest/{_encoded(stack_id, logical_id)}", "POST")

    def parameters(self, account: str, part: str) -> list[Parameter]:
        """The parameters whose names have a part: all of an account at one moment, in all regions."""
        return [Parameter(**each) for each in self._ask(f"/_strongref/parameters/{account}/{part}")]

    def _ask(self, path: str, method: str = "GET") -> Any:
        with urlopen(Request(self.url + path, method=method), timeout=_ASK_SECONDS) as response:  # noqa: S310
            return json.load(response)


@cache  # Making one takes 50 ms and more.
def _client(url: str, service: str, region: str, key: tuple[str, ...]) -> Any:
    from boto3.session import Session  # noqa: PLC0415 (starting and stopping does without)
    from botocore.config import Config  # noqa: PLC0415

    access_key, secret, *token = key
    session = Session(access_key, secret, token[0] if token else None, region_name=region)
    session._session.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=_time)
    config = Config(retries={"total_max_attempts": 1}, max_pool_connections=50, read_timeout=_CALL_SECONDS)
    return session.client(service, endpoint_url=url, config=config)  # type: ignore[call-overload]


def _time(given: Any) -> datetime:
    """A time in an answer. To read those of all events of a stack takes botocore longer than all else of a test."""
    from botocore.utils import parse_timestamp  # noqa: PLC0415 (as above)

    try:
        return datetime.fromisoformat(given)
    except (TypeError, ValueError):
        found: datetime = parse_timestamp(given)
        return found


def _encoded(*given: str) -> str:
    return urlsafe_b64encode(json.dumps(given).encode()).decode()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _reach_without_proxy() -> None:
    """Have this process and its children connect to the emulator directly, whatever proxy their environment names."""
    for name in ("NO_PROXY", "no_proxy"):
        hosts = os.environ.get(name, "").split(",")
        if "127.0.0.1" not in hosts:
            os.environ[name] = ",".join(filter(None, ["127.0.0.1", *hosts]))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group, if it does not end by itself: nothing that they hold outlives them."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(GIVE_UP_SECONDS)
