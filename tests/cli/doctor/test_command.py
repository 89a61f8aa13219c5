"""`strongref doctor`: how it reports and repairs, whom it gives way to, and what it does where calls are denied."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.clients import Clients
from strongref.aws.parameter_store import SsmStore
from strongref.contract.index import INDEX
from strongref.errors import AccessDeniedError
from strongref.log import logger
from strongref_cli.doctor.examination import Examination
from strongref_cli.install.stacks import RegionStacks
from strongref_toolkit.errors import CallerDeniedError
from tests.support.commands import SECRET, heed_interrupts
from tests.support.doctor import (
    EU,
    HOME,
    NETWORK,
    RELEASE,
    US,
    findings,
    lose_a_value_in_both_regions,
    put_up_fence,
    wait_a_little,
)
from tests.support.empty_aws import deny
from tests.support.schemas import messages, validate

if TYPE_CHECKING:
    from strongref_cli.doctor.diagnosis import Problem, RegionFailure
    from tests.support.commands import Run
    from tests.support.overview import Account

BOTH = ("--region", EU, "--region", US)
DENIED = f"GetParametersByPath of /strongref/fences in {US} was denied (AccessDeniedException)."


def test_where_all_is_well_nothing_is_wrong(run: Run) -> None:
    assert run("doctor", "--region", US) == (0, "Nothing is wrong in us-east-1.\n", "")


def test_without_fix_nothing_is_written(run: Run, account: Account) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    before = account.everything(US)
    findings(run)
    assert account.everything(US) == before


def test_fix_repairs_what_is_safe_and_says_what_is_left(run: Run, account: Account) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    account.ssm(US).put_parameter(Name=f"{NETWORK}/Mine", Value="x", Type="String")
    status, out, err = run("doctor", "--region", US, "--fix")
    assert (status, err) == (2, "strongref: nothing was changed: give --yes where nobody can be asked\n")
    assert "missing" in out
    status, out, _ = run("doctor", "--region", US, "--fix", "--yes")
    assert status == 1
    assert "Repaired: missing (Alb.Arn of network for _shared)." in out
    assert account.ssm(US).get_parameter(Name=f"{NETWORK}/Alb/Arn")["Parameter"]["Value"] == SECRET
    assert findings(run) == [
        ("foreign", "action", "Mine of network for _shared"),
        ("restored", "action", "Alb.Arn of network for _shared"),
    ]
    restored = json.loads(run("doctor", "--region", US, "--output", "json")[1])["findings"][1]
    assert [each["name"] for each in restored["stacks"]] == ["shop"]
    assert restored["nextStep"] == "its claims were lost; deploy shop, and perhaps others, with another Revision"


class Function:
    """A janitor that answers so, and a response's payload."""

    def __init__(self, answer: dict[str, Any] | None, error: str = "") -> None:
        self.answer, self.error = answer, error
        self.invoked: list[dict[str, Any]] = []

    def invoke(self, **request: Any) -> dict[str, Any]:
        self.invoked.append({**request, "Payload": json.loads(request["Payload"])})
        return {
            "Payload": io.BytesIO(json.dumps(self.answer).encode()),
            **({"FunctionError": self.error} if self.error else {}),
        }


def test_fix_has_the_janitor_look_into_other_accounts(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.ssm(US).put_parameter(
        Name=f"{INDEX}/network/Exports/222222222222/{US}/web",
        Value='{"stack": "arn", "at": "2026-01-01"}',
        Type="String",
    )
    (known,) = findings(run)
    assert known == ("other-accounts", "note", "exports to 222222222222")
    account.stack("strongref", US)
    monkeypatch.setattr(RegionStacks, "resource", lambda *_: {"PhysicalResourceId": "strongref-janitor"})
    found = {"Region": US, "Account": "222222222222", "Stacks": [], "Why": ""}
    path = f"/strongref/exports/web/{HOME}/{US}/network"
    function = Function(
        {
            "Findings": [
                {**found, "Kind": "unreachable", "Parameter": path, "Why": "It was denied."},
                {
                    **found,
                    "Kind": "unheld",
                    "Parameter": "strongref-hold-222222222222-web-1",
                    "Region": "",
                    "Account": "",
                },
                {**found, "Kind": "of a later version", "Parameter": path},
            ],
            "Continues": True,
        }
    )
    monkeypatch.setattr(Clients, "answering", lambda *_: function)
    status, out, _ = run("doctor", "--region", US, "--fix", "--yes", "--output", "json")
    document = json.loads(out)
    assert status == 1
    assert function.invoked == [{"FunctionName": "strongref-janitor", "Payload": {"Only": "abroad"}}]
    assert [each["kind"] for each in document["repaired"]] == ["unheld"]
    by_kind = {each["kind"]: each for each in document["findings"]}
    assert by_kind.keys() == {"unreachable", "failed-call", "in-progress", "other-accounts"}
    assert by_kind["unreachable"]["subject"] == f"{path} in {US} of account 222222222222"
    assert by_kind["unreachable"]["nextStep"].endswith("It was denied.")

    monkeypatch.setattr(Clients, "answering", lambda *_: Function({"errorType": "Runtime.ExitError"}, "Unhandled"))
    _, out, err = run("doctor", "--region", US, "--fix", "--yes")
    assert "The janitor of us-east-1 failed with Runtime.ExitError." in out + err
    monkeypatch.setattr(Clients, "answering", lambda *_: Function(None))
    _, out, err = run("doctor", "--region", US, "--fix", "--yes")
    assert "Is its version that of this command?" in out + err
    monkeypatch.setattr(RegionStacks, "resource", lambda *_: None)
    _, out, err = run("doctor", "--region", US, "--fix", "--yes")
    assert "strongref is not installed in us-east-1" in out + err


def test_who_lost_a_claim_may_be_out_of_reach(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    run("doctor", "--region", US, "--fix", "--yes")

    def denied(*_: object) -> None:
        raise AccessDeniedError("GetParametersByPath", "AccessDenied", "/strongref/holds", EU)

    monkeypatch.setattr("strongref_cli.doctor.examination.importers", denied)
    assert ("restored", "action", "Alb.Arn of network for _shared") in findings(run)


def test_one_finding_needs_a_person(run: Run, account: Account) -> None:
    account.ssm(US).put_parameter(Name=f"{NETWORK}/VpcId", Value="by hand", Type="String", Overwrite=True)
    out = run("doctor", "--region", US)[1]
    assert out.endswith("1 finding in us-east-1: 0 that --fix repairs, 1 that needs a person, 0 to know.\n")


@pytest.mark.parametrize("command", ["list", "who network", "graph", "order", "republish network"])
@pytest.mark.parametrize("what", ["record", "index entry"])
def test_other_commands_refuse_a_later_format(run: Run, account: Account, command: str, what: str) -> None:
    head = NETWORK.replace("/exports/", "/records/") + "/Exports"
    name = head if what == "record" else "/strongref/index/other/Exports"
    newer = '{"format": 2, "writer": "9.8.7"}'
    account.ssm(US).put_parameter(Name=name, Value=newer, Type="String", Overwrite=True)
    status, _, err = run(*command.split(), "--region", US, "--region", EU)
    assert status in (1, 3)
    assert f"{name} has format 2, written by strongref 9.8.7" in err


def test_nothing_is_logged_while_it_repairs(run: Run, account: Account) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    account.ssm(US).put_parameter(Name=f"{NETWORK}/Mine", Value="x", Type="String")
    put_up_fence(account, "janitor.2", by="the janitor", until="2001-01-01T00:00:00+00:00")
    status, _, err = run("doctor", "--region", US, "--fix", "--yes")
    assert (status, err) == (1, "")
    logger.warning("Logged again")
    assert run("doctor", "--region", US)[2] == ""


def test_a_repair_that_fails_is_a_finding_that_remains_with_its_reason(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.export("other", EU, US, Values={"A": "x"})
    other = f"/strongref/exports/_shared/{HOME}/{EU}/other/A"
    account.ssm(US).delete_parameters(Names=[f"{NETWORK}/Alb/Arn", other])
    create = SsmStore.create

    def refused(store: SsmStore, name: str, *more: Any) -> None:
        if name.startswith(NETWORK):
            raise CallerDeniedError("PutParameter", "AccessDenied", name, store.region)
        create(store, name, *more)

    monkeypatch.setattr(SsmStore, "create", refused)
    status, out, err = run("doctor", "--region", US, "--fix", "--yes", "--output", "json")
    document = json.loads(out)
    validate("doctor", document)
    (left,) = [each for each in document["findings"] if each["kind"] == "missing"]
    reason = f"PutParameter of {NETWORK}/Alb/Arn in {US} was denied (AccessDenied). Check the caller's permissions"
    assert f"That failed: {reason}" in left["nextStep"]
    assert [each["subject"] for each in document["repaired"]] == ["A of other for _shared"]
    assert (status, [text.startswith(reason) for text in messages(err)]) == (3, [True])


def test_only_what_fix_repairs_is_said_to_be_repaired(run: Run, account: Account) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    for region, version in ((US, "0.1.0"), (EU, "0.2.0")):
        account.stack("strongref", region, outputs={"Version": {"Value": version}})
    arguments = ("doctor", "--region", US, "--region", EU, "--fix", "--yes", "--output", "json")
    status, out, _ = run(*arguments)
    document = json.loads(out)
    assert [each["kind"] for each in document["repaired"]] == ["missing"]
    assert [each["kind"] for each in document["findings"]] == ["version-differs", "restored"]
    assert status == 1


def test_a_region_that_fails_does_not_keep_others_from_being_repaired(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_a_value_in_both_regions(account)
    create, failed = SsmStore.create, threading.Event()

    def slow(store: SsmStore, name: str, *more: Any) -> None:
        if store.region == EU:
            failed.set()
            raise AccessDeniedError("PutParameter", "AccessDenied", name, store.region)
        failed.wait(10)
        time.sleep(0.2)
        create(store, name, *more)

    monkeypatch.setattr(SsmStore, "create", slow)
    status, _, err = run("doctor", "--region", EU, "--region", US, "--fix", "--yes")
    assert (status, err.count("PutParameter of /strongref/exports/_shared/")) == (3, 1)
    assert f"{NETWORK}/Alb/Arn" in account.everything(US)


def test_repairs_give_way_to_a_deployment_and_say_so(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_a_little(monkeypatch)
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    found = Examination.repair

    def late(examination: Examination, regions: list[str]) -> tuple[list[Problem], list[RegionFailure]]:
        put_up_fence(account, "Exports.1", by="Exports of stack network", until="2099-01-01T00:00:00+00:00")
        return found(examination, regions)

    monkeypatch.setattr(Examination, "repair", late)
    status, out, err = run("doctor", "--region", US, "--fix", "--yes", "--output", "json")
    assert messages(err) == ["waiting up to 1 s for Exports of stack network, which is changing exports of network"]
    assert [each["kind"] for each in json.loads(out)["findings"]] == ["in-progress"]
    assert (status, json.loads(out)["repaired"]) == (0, [])


def test_ctrl_c_takes_the_fences_of_all_regions_away(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_a_value_in_both_regions(account)
    both, fenced = threading.Barrier(2), list[bool]()

    def pressed(store: SsmStore, *_: object) -> None:
        both.wait(60)
        fenced.append(any("/fences/" in name for name in account.everything(store.region)))
        if store.region == US:
            os.kill(os.getpid(), signal.SIGINT)
        store.clock.sleep(60)
        fenced.append(False)  # It goes on.

    monkeypatch.setattr(SsmStore, "create", pressed)
    heed_interrupts()
    assert run("doctor", "--region", EU, "--region", US, "--fix", "--yes")[::2] == (130, "strongref: interrupted\n")
    assert fenced == [True, True]
    assert [name for region in (EU, US) for name in account.everything(region) if "/fences/" in name] == []


def test_who_is_asked_has_seen_what_is_found(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    monkeypatch.setattr(sys, "stdin", None)
    status, out, err = run("doctor", "--region", US, "--fix", "--output", "json")
    plan, problem = messages(err)
    assert (status, out, "--fix restores it" in plan, "give --yes" in problem) == (2, "", True, True)
    status, out, err = run(*RELEASE, "--reason", "x", "--output", "markdown")
    assert (status, out, "shop still uses this." in err) == (2, "", True)


def test_a_region_that_cannot_be_read_is_named_and_the_others_are_examined(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.export("certificate", US, EU, Values={"A": "x"})
    lost = f"/strongref/exports/_shared/{HOME}/{US}/certificate/A"
    account.ssm(EU).delete_parameter(Name=lost)
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    deny(monkeypatch, "GetParametersByPath")
    status, out, err = run("doctor", *BOTH, "--output", "json")
    document = json.loads(out)
    validate("doctor", document)
    assert (status, document["regions"]) == (3, [EU])
    assert [(each["region"], each["kind"]) for each in document["findings"]] == [(EU, "missing")]
    (unread,) = document["unread"]
    assert (unread["region"], unread["error"].startswith(DENIED)) == (US, True)
    assert messages(err) == [f"{US} was not read: {unread['error']}"]

    status, out, err = run("doctor", *BOTH, "--fix", "--yes")
    assert (status, err.count("\n")) == (3, 1)
    assert "Repaired: missing (A of certificate for _shared)." in out
    assert account.ssm(EU).get_parameter(Name=lost)


@pytest.mark.parametrize(
    "action", ["GetParametersByPath", "ListTagsForResource", "DescribeParameters", "GetResources", "ListExports"]
)
def test_whatever_is_denied_the_region_is_named_once(run: Run, monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    deny(monkeypatch, action)
    status, out, err = run("doctor", *BOTH)
    assert (status, out) == (3, f"Nothing is wrong in {EU}.\n")
    assert (err.startswith(f"strongref: {US} was not read: "), err.count("\n")) == (True, 1)


def test_where_no_region_can_be_read_the_first_error_is_raised(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    deny(monkeypatch, "GetParametersByPath", EU)
    deny(monkeypatch, "GetParametersByPath", US)
    status, out, err = run("doctor", *BOTH)
    assert (status, out, err.count("\n")) == (3, "", 1)
    assert err.startswith(f"strongref: GetParametersByPath of /strongref/fences in {EU} was denied")


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("RemoveTagsFromResource", ("release", "network", "VpcId", "--consumer", "shop", "--reason", "x", "--yes")),
        ("PutParameter", ("release", "network", "VpcId", "--consumer", "shop", "--reason", "x", "--yes")),
        ("PutParameter", ("republish", "network", "--yes")),
        ("GetParametersByPath", ("doctor",)),
    ],
)
def test_a_denied_call_is_about_the_callers_permissions(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch, action: str, arguments: tuple[str, ...]
) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    deny(monkeypatch, action)
    status, _, err = run(*arguments, "--region", US)
    assert status == 3
    assert err.startswith(f"strongref: {action} of /strongref")
    assert "was denied (AccessDeniedException). Check the caller's permissions" in err
    assert "function" not in err
