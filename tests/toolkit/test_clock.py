"""A command's clock: AWS's time by the dates of its answers, and no write by a machine that was suspended."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from strongref.aws.clients import MODELS, Clients
from strongref.contract.values import ParameterType
from strongref.protocol.time import CLOCK_SKEW_SECONDS
from strongref_toolkit.clock import JUMP_SECONDS, WRITES, AwsClock
from strongref_toolkit.errors import ClockJumpedError, UnknownTimeError
from strongref_toolkit.session import ToolSession

if TYPE_CHECKING:
    from collections.abc import Iterator

NOON = datetime(2030, 1, 1, 12, 0, 0, 700_000, tzinfo=UTC)


class Machine:
    """A machine, and AWS as it answers it.

    Attributes:
        off: by how much its wall clock is ahead.
        true: AWS's time since noon, in seconds.
        awake: how long it was not suspended.
        takes: how long a call takes.
        dated: whether answers have a date.
        sent: the actions that AWS got.
    """

    def __init__(self, off: float = 0.0) -> None:
        self.off = off
        self.true = self.awake = self.takes = 0.0
        self.dated = True
        self.sent: list[str] = []
        self.clock = AwsClock(3600, wall=lambda: self.now + self.off, steady=lambda: self.awake + 5000)

    @property
    def now(self) -> float:
        return NOON.timestamp() + self.true

    def pass_time(self, seconds: float, *, suspended: bool = False) -> None:
        self.true += seconds
        self.awake += 0 if suspended else seconds

    def answer(self) -> None:
        """An answer arrives, of a call that was sent when it began."""
        sent = self.awake + 5000
        self.pass_time(self.takes / 2)
        date = int(self.now)
        self.pass_time(self.takes / 2)
        self.clock.correct(date, sent)

    @property
    def error(self) -> float:
        """By how much its time is ahead of AWS's."""
        return self.clock.now().timestamp() - self.now

    @property
    def slack(self) -> float:
        """By how much its earliest time is behind AWS's."""
        return self.now - self.clock.earliest().timestamp()


@pytest.fixture
def machine() -> Machine:
    return Machine(off=100.0)


@pytest.mark.parametrize("off", [-200.0, 0.0, 200.0])
@pytest.mark.parametrize("takes", [0.0, 0.4, 6.0])
def test_an_answer_corrects_the_clock(off: float, takes: float) -> None:
    machine = Machine(off)
    machine.takes = takes
    machine.answer()
    assert abs(machine.error) <= 0.5 + takes / 2
    assert CLOCK_SKEW_SECONDS <= machine.slack <= CLOCK_SKEW_SECONDS + 1 + takes


def test_answers_narrow_what_is_unknown(machine: Machine) -> None:
    machine.takes = 8.0
    machine.answer()
    slow = machine.slack
    machine.takes = 0.05
    for _ in range(20):
        machine.pass_time(0.35)
        machine.answer()
    assert CLOCK_SKEW_SECONDS <= machine.slack < CLOCK_SKEW_SECONDS + 0.2 < slow
    assert abs(machine.error) < 0.2


def test_the_clock_follows_aws_when_this_machine_was_suspended(machine: Machine) -> None:
    machine.answer()
    machine.pass_time(100, suspended=True)
    assert machine.error < -99
    machine.answer()
    assert abs(machine.error) < 1


def test_without_a_date_nothing_is_known(machine: Machine) -> None:
    with pytest.raises(UnknownTimeError):
        machine.clock.earliest()
    with pytest.raises(UnknownTimeError):
        machine.clock.check()
    assert machine.error == pytest.approx(100)


@pytest.mark.parametrize("suspended", [True, False], ids=["suspended", "clock set"])
def test_nothing_is_written_after_a_jump(machine: Machine, suspended: bool) -> None:
    machine.answer()
    machine.pass_time(600)
    machine.clock.check()
    if suspended:
        machine.pass_time(100, suspended=True)
    else:
        machine.off -= 100
    machine.answer()
    with pytest.raises(ClockJumpedError, match=r"jumped by -?100 seconds"):
        machine.clock.check()


def test_a_clock_that_is_adjusted_has_not_jumped(machine: Machine) -> None:
    machine.answer()
    machine.off += JUMP_SECONDS - 0.1
    machine.clock.check()


# -- as botocore's client uses it --------------------------------------------------------------------------------------


@pytest.fixture
def clients(machine: Machine) -> Clients:
    def watch(events: Any) -> None:
        machine.clock.watch(events)
        events.register_last("before-send", send)

    def send(event_name: str, **_: object) -> AWSResponse:
        machine.sent.append(event_name.rpartition(".")[2])
        headers = HTTPHeaders()
        if machine.dated:
            headers["Date"] = format_datetime(NOON + timedelta(seconds=machine.true), usegmt=True)
        return AWSResponse("x", 200, headers, _Body())

    return Clients(boto3.Session("x", "x"), watch)


class _Body:
    def stream(self) -> Iterator[bytes]:
        yield b'{"Parameters": [], "Version": 1}'


def test_a_read_corrects_the_clock_and_a_write_may_follow(machine: Machine, clients: Clients) -> None:
    ssm = clients.ssm("us-east-1")
    with pytest.raises(UnknownTimeError):
        ssm.put_parameter(Name="/x", Value="x")
    ssm.get_parameters(Names=["/x"])
    assert abs(machine.error) <= 1
    ssm.put_parameter(Name="/x", Value="x")
    assert machine.sent == ["GetParameters", "PutParameter"]


def test_behind_a_proxy_that_strips_dates_only_reads_are_sent(machine: Machine, clients: Clients) -> None:
    machine.dated = False
    ssm = clients.ssm("us-east-1")
    ssm.get_parameters(Names=["/x"])
    with pytest.raises(UnknownTimeError):
        ssm.delete_parameters(Names=["/x"])
    assert machine.sent == ["GetParameters"]


def test_a_machine_that_is_suspended_between_signing_and_sending_does_not_send(
    machine: Machine, clients: Clients
) -> None:
    ssm = clients.ssm("us-east-1")
    ssm.get_parameters(Names=["/x"])
    ssm.meta.events.register_last("before-sign", lambda **_: machine.pass_time(100, suspended=True))
    with pytest.raises(ClockJumpedError):
        ssm.put_parameter(Name="/x", Value="x")
    assert machine.sent == ["GetParameters"]


def test_every_write_behind_a_fence_is_checked() -> None:
    """Those are all that the functions' models have, and nobody else's."""
    found = set()
    for service, version in (("ssm", "2014-11-06"), ("cloudformation", "2010-05-15")):
        model = json.loads((MODELS / service / version / "service-2.json").read_bytes())
        found |= {
            f"{service}.{each}" for each in model["operations"] if not each.startswith(("Get", "List", "Describe"))
        }
    assert found == WRITES


def test_the_clients_of_a_session_and_those_of_its_other_accounts_keep_its_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from moto import mock_aws  # noqa: PLC0415 (only here)

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        session, other = ToolSession.start(), ToolSession.start()
        with pytest.raises(UnknownTimeError):
            session.clock.earliest()
        store = session.ports().stores("us-east-1", session.clock)
        with pytest.raises(UnknownTimeError):
            store.create("/x", ParameterType.STRING, "x", {})
        store.get(["/x"])
        store.create("/x", ParameterType.STRING, "x", {})
        assert abs(session.clock.now() - datetime.now(UTC)) < timedelta(seconds=10)
        watched: list[object] = []
        monkeypatch.setattr(AwsClock, "watch", lambda _, events: watched.append(events))
        accounts = other.accounts("us-east-1", "arn:aws:iam::ACCOUNT:role/reader")
        accounts._own.watch = other.clock.watch  # type: ignore[attr-defined] # the one that is replaced here
        client = accounts.clients("222222222222").ssm("us-east-1")
        assert client.meta.events in watched
