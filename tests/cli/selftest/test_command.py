"""What `strongref selftest` says of what it saw. The runs themselves are end to end: tests/e2e/test_selftest.py."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

import strongref_cli as cli
from strongref import __version__
from strongref_cli.install.plan import Found, FoundStack
from strongref_cli.selftest import command
from strongref_cli.selftest.behavior import ABROAD, CHECKS
from strongref_cli.selftest.command import POLICY, Tried
from strongref_cli.selftest.lab import Ended, Lab, StoppedError, TooLongError, UnexpectedError
from strongref_cli.selftest.probes import PROBES
from strongref_cli.selftest.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref_toolkit.session import ToolSession

LAB = Lab(cast("ToolSession", None), "strongref-selftest-0a1b2c3d", ("eu-west-1", "us-east-1"), "111111111111")


@pytest.mark.parametrize(
    ("ended", "status", "words", "why"),
    [
        (Ended("CREATE_COMPLETE"), "CREATE_COMPLETE", (), ""),
        (Ended("UPDATE_ROLLBACK_COMPLETE", "imported by web"), "UPDATE_ROLLBACK_COMPLETE", ("web",), ""),
        (
            Ended("UPDATE_COMPLETE"),
            "UPDATE_ROLLBACK_COMPLETE",
            ("web",),
            "UPDATE_COMPLETE, not UPDATE_ROLLBACK_COMPLETE with 'web'",
        ),
        (
            Ended("UPDATE_ROLLBACK_COMPLETE", "x"),
            "UPDATE_ROLLBACK_COMPLETE",
            ("web",),
            "UPDATE_ROLLBACK_COMPLETE: x, not",
        ),
        (Ended("DELETE_FAILED", "in use"), "", (), "DELETE_FAILED: in use, not deleted"),
        (Ended(""), "CREATE_COMPLETE", (), "deleted, not CREATE_COMPLETE"),
    ],
)
def test_an_operation_has_to_end_as_it_should(ended: Ended, status: str, words: Sequence[str], why: str) -> None:
    if not why:
        assert ended.expect(status, *words) is ended
        return
    with pytest.raises(UnexpectedError) as error:
        ended.expect(status, *words)
    assert str(error.value).startswith(why)


def test_no_stack_of_anybody_else_is_deployed() -> None:
    with pytest.raises(ValueError, match=r"^network$"):
        LAB.deploy("eu-west-1", "network", {})


def test_a_wait_ends_when_it_is_stopped_or_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LAB.wait(lambda: "seen", "It") == "seen"
    with pytest.raises(StoppedError):
        Lab(LAB.session, LAB.name, LAB.regions, LAB.account, stopped()).wait(lambda: None, "It")
    monkeypatch.setattr("strongref_cli.selftest.lab._GIVE_UP", -1.0)
    with pytest.raises(TooLongError, match=r"^It took longer than 30 minutes\.$"):
        LAB.wait(lambda: None, "It")


def stopped() -> Event:
    event = Event()
    event.set()
    return event


def test_the_report_has_no_account(capsys: pytest.CaptureFixture[str]) -> None:
    tried = [
        Tried(
            next(each for each in CHECKS if each.name == "import"),
            False,
            "refused by stack web (us-east-1, 123456789012), not 1234567890123",
            1.04,
            {},
        )
    ]
    result = command._report(tried, ["stack x: y"], LAB)
    assert result.document["behavior"] == [
        {
            "check": "import",
            "passed": False,
            "seconds": 1.0,
            "seen": "refused by stack web (us-east-1, ACCOUNT), not 1234567890123",
        }
    ]
    first, *_, last = result.tables
    assert first.rows == [("import", "FAIL", "1.0", "refused by stack web (us-east-1, ACCOUNT), not 1234567890123")]
    assert last.notes == ["Not removed: stack x: y", "0 of 1 check passed, 0 of 0 beliefs hold."]
    assert not capsys.readouterr().out


def test_what_could_not_be_seen_is_unknown_and_fails_no_belief() -> None:
    probe = next(each for each in PROBES if each.name == "rates")
    denied = "arn:aws:sts::123456789012:assumed-role/Admin/jane@example.org may not"
    result = command._report([Tried(probe, None, denied, 1.0, {})], ["stack x of 123456789012: y"], LAB)
    table, last = result.tables
    assert table.rows == [("rates", "UNKNOWN", "arn:aws:sts::ACCOUNT:assumed-role/CALLER may not", "")]
    assert last.notes == ["Not removed: stack x of ACCOUNT: y", "0 of 0 checks passed, 0 of 1 belief hold."]
    assert (result.document["beliefs"][0]["passed"], result.document["left"]) == (None, ["stack x of ACCOUNT: y"])


def test_what_takes_longest_begins_first_and_what_disturbs_the_others_is_last() -> None:
    checks = command._chosen((), quick=False, abroad=True)
    assert [each.name for each in checks[:3]] == ["continuation", "race", "request"]
    assert len(checks) == len(CHECKS) + len(ABROAD) + len(PROBES)


def test_when_the_time_is_up_what_has_not_begun_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in ("delete_consumer", "delete_producer"):
        monkeypatch.setattr(Scene, each, lambda _: None)
    stopped_lab = replace(LAB, stop=stopped())
    tried = command._try(next(each for each in CHECKS if each.name == "import"), stopped_lab)
    assert (tried.passed, tried.seen) == (None, "The selftest was stopped.")


def test_the_policy_is_printed_without_a_call(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.main(["selftest", "--policy"]) == 0
    statements: list[dict[str, Any]] = json.loads(capsysbinary.readouterr().out)["Statement"]
    assert {each["Sid"] for each in statements} == set(POLICY)
    everywhere = [action for each in statements if each["Resource"] == "*" for action in each["Action"]]
    assert all(re.match(r"\w+:(Describe|List|Get)[A-Z]", action) for action in everywhere)
    others = {each["Sid"]: each["Resource"] for each in statements if each["Resource"] != "*"}
    others = {sid: resource for sid, resource in others.items() if "strongref-selftest-*" not in resource}
    assert others == {
        "Macro": "arn:*:cloudformation:*:*:transform/StrongRef",
        "Functions": "arn:*:lambda:*:*:function:strongref-*",
    }


@pytest.mark.parametrize(
    ("lags", "status", "why"),
    [
        (("2", "2"), "UPDATE_COMPLETE", ""),
        (("2", "3"), "UPDATE_COMPLETE", "ReadLag differs between the regions"),
        (("2", "2"), "UPDATE_ROLLBACK_FAILED", "The stack in us-east-1 is in UPDATE_ROLLBACK_FAILED."),
    ],
)
def test_an_installation_that_is_broken_or_differs_is_found(
    lags: tuple[str, str], status: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stacks = {
        region: FoundStack("arn", each, __version__, {"ReadLag": lag}, {})
        for region, lag, each in zip(LAB.regions, lags, ("CREATE_COMPLETE", status), strict=True)
    }
    monkeypatch.setattr(
        "strongref_cli.selftest.behavior.installed_in", lambda _session, region: Found(region, stacks[region])
    )
    monkeypatch.setattr("strongref_cli.selftest.behavior._dry_run", lambda _at, _suite, region: f" in {region}")
    check = next(each for each in CHECKS if each.name == "installation")
    if not why:
        there = [f"{region}: {__version__} in {region}" for region in LAB.regions]
        assert check.run(Scene(LAB, "x", LAB)) == ", ".join(there)
        return
    with pytest.raises(UnexpectedError) as error:
        check.run(Scene(LAB, "x", LAB))
    assert str(error.value) == why


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (["old", "old", "UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"], "UPDATE_COMPLETE"),
        (["UPDATE_IN_PROGRESS", None], ""),  # somebody has deleted it
    ],
)
def test_what_is_older_than_the_operation_is_not_its_end(
    shown: Sequence[str | None], status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [None if each is None else {"StackStatus": each, "LastUpdatedTime": 2} for each in shown]
    before = {"StackStatus": "CREATE_COMPLETE"}
    described = iter([before if each and each["StackStatus"] == "old" else each for each in looks])
    stacks = SimpleNamespace(stack=lambda _: next(described, looks[-1]))
    monkeypatch.setattr("strongref_cli.selftest.lab._FIRST_PAUSE", 0.0)
    arn = "arn:aws:cloudformation:eu-west-1:111111111111:stack/web/1"
    assert LAB._ended(cast("Any", stacks), arn, "UPDATE", cast("Any", before)).status == status


@pytest.mark.parametrize(("limits", "warned"), [((1000, 10), True), ((1000, 1000), False)])
def test_an_account_that_runs_few_functions_at_once_is_told(
    limits: tuple[int, int], warned: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = iter([{"AccountLimit": {"UnreservedConcurrentExecutions": limit}} for limit in limits])
    monkeypatch.setattr(Lab, "call", lambda *_: next(found))
    command._warn_of_few_functions(LAB)
    assert ("At most 10 functions run at once" in capsys.readouterr().err) is warned
