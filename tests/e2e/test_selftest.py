"""`strongref selftest` as somebody with an account runs it: with exactly the permissions that it prints."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from time import sleep
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from strongref_cli.selftest import command
from strongref_cli.selftest.behavior import ABROAD, CHECKS
from strongref_cli.selftest.beliefs import BELIEFS
from strongref_cli.selftest.lab import PREFIX
from strongref_toolkit.session import ToolSession
from tests.e2e.between_accounts import B
from tests.e2e.conftest import TESTED_ACCOUNTS
from tests.e2e.harness import Aws
from tests.e2e.templates import EU, US
from tests.e2e.test_command_line import BOTH, COMMAND, Shell
from tests.support.commands import heed_interrupts
from tests.support.emulator import sam
from tests.support.emulator.sam import APPLICATION
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.emulator.control import Emulator

ACCEPTS = """
import json, urllib.request
def handler(event, context):
    same = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    body = {**same, "Status": "SUCCESS", "PhysicalResourceId": "accepted", "Data": {"A": "a1", "Hold": "x"}}
    urllib.request.urlopen(urllib.request.Request(event["ResponseURL"], json.dumps(body).encode(), method="PUT"))
"""
"""A function for custom resources that does nothing, and always succeeds."""


SHOWN = {each.name: each for each in BELIEFS if each.shown_by in {check.name for check in (*CHECKS, *ABROAD)}}
"""What checks show."""

ROLE = f"arn:aws:iam::{B}:role/tester"


@pytest.fixture
def shell(tested: Aws) -> Shell:
    """Of a user who may do what the command prints."""
    shell = Shell({**os.environ, **tested.emulator.env(tested.account, EU)})
    policy, iam = shell.run("selftest", "--policy", "--account-role", ROLE).out, tested.client("iam", US)
    user = f"tester-{uuid4().hex}"
    iam.create_user(UserName=user)
    iam.put_user_policy(UserName=user, PolicyName="printed", PolicyDocument=policy)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    own = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
    return Shell({**shell.environment, **own})


def passed(shell: Shell, *arguments: str, regions: Sequence[str] = BOTH) -> list[str]:
    """The checks that passed in a run in which nothing failed."""
    document = shell.ask("selftest", *regions, "--yes", *arguments)
    failed = [each for each in (*document["behavior"], *document["beliefs"]) if not each["passed"]]
    assert (document["left"], failed) == ([], [])
    return [each["check"] for each in document["behavior"]]


def left(aws: Aws, run: str = PREFIX) -> list[str]:
    """Everything of a run, or of any, that is in the account."""
    stacks = [
        each["StackName"]
        for region in (EU, US)
        for each in aws.client("cloudformation", region).describe_stacks()["Stacks"]
        if run in each["StackName"]
    ]
    return stacks + [each.name for each in aws.emulator.parameters(aws.account, run)]


@pytest.mark.story
def test_a_short_run_passes_and_leaves_nothing(shell: Shell, tested: Aws) -> None:
    assert passed(shell, "--only", "refusal", "--only", "hold") == ["refusal", "hold"]
    assert left(tested) == []


@pytest.fixture
def other(tested_abroad: Aws, shell: Shell) -> Aws:
    """The other account, which has a role with the permissions that the command prints."""
    other, policy = tested_abroad, shell.run("selftest", "--policy").out
    iam, trusted = other.client("iam", US), {"AWS": [f"arn:aws:iam::{each}:root" for each in TESTED_ACCOUNTS]}
    statement = {"Effect": "Allow", "Principal": trusted, "Action": "sts:AssumeRole"}
    with suppress(iam.exceptions.EntityAlreadyExistsException):
        iam.create_role(RoleName="tester", AssumeRolePolicyDocument=json.dumps({"Statement": [statement]}))
    iam.put_role_policy(RoleName="tester", PolicyName="printed", PolicyDocument=policy)
    return other


def test_it_runs_between_accounts_too(shell: Shell, tested: Aws, other: Aws) -> None:
    names = [each.name for each in ABROAD]
    only = [word for each in names for word in ("--only", each)]
    assert passed(shell, "--account-role", ROLE, *only) == names
    assert (left(tested), left(other)) == ([], [])


def test_what_is_left_between_accounts_is_removed_in_both(shell: Shell, tested: Aws, other: Aws) -> None:
    with started(shell, "account-hold", arguments=("--account-role", ROLE)) as run:
        wait_until(lambda: has_begun(run, "strongref-hold" in " ".join(left(tested))), "the hold")
        run.kill()
    assert len(shell.ask("selftest", *BOTH, "--yes", "--clean", "--account-role", ROLE)["removed"]) == 1
    assert (left(tested), left(other)) == ([], [])


def test_two_runs_at_once_are_not_in_each_others_way(shell: Shell, tested: Aws) -> None:
    before = {(each.region, each.name): each for each in tested.emulator.parameters(tested.account, "strongref")}
    with ThreadPoolExecutor() as pool:
        first = pool.submit(passed, shell, "--only", "race")
        second = pool.submit(passed, shell, "--only", "race", regions=("--region", US))
    assert first.result() == second.result() == ["race"]
    after = {(each.region, each.name): each for each in tested.emulator.parameters(tested.account, "strongref")}
    assert (after, left(tested)) == (before, [])


def test_no_check_passes_on_functions_that_accept_everything(emulator: Emulator) -> None:
    aws, code = Aws(emulator, "212121212121"), BytesIO()
    sam.copy_application(emulator, aws.account, sam.QUICK)
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("app.py", ACCEPTS)
    for region in (EU, US):
        for function in ("Exporter", "Importer"):
            name = aws.physical_ids(APPLICATION, region)[function]
            aws.client("lambda", region).update_function_code(FunctionName=name, ZipFile=code.getvalue())
    root = Shell({**os.environ, **emulator.env(aws.account, EU)})
    done = root.run("selftest", *BOTH, "--yes", "--quick", "--output", "json")
    document = json.loads(done.out)
    assert [each["check"] for each in document["behavior"] if each["passed"]] == ["installation"]
    assert (done.status, document["left"], left(aws)) == (1, [], [])


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_wrong_fails_the_check_that_shows_it(
    name: str, tested: Aws, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    belief = SHOWN[name]
    others = [request.getfixturevalue("other")] if belief.shown_by.startswith("account-") else []
    for variable, value in tested.emulator.env(tested.account, EU).items():
        monkeypatch.setenv(variable, value)
    lab = command._lab(ToolSession.start(), f"{PREFIX}{secrets.token_hex(4)}", (EU, US), ROLE if others else None)
    check = next(each for each in (*CHECKS, *ABROAD) if each.name == belief.shown_by)
    with tested.emulator.wrong(tested.account, belief.name):
        tried, _ = command._run([check], lab)
    lab.clean(print)
    assert not command.believed(tried)[belief].holds
    assert [each for aws in (tested, *others) for each in left(aws, lab.name)] == []


def started(shell: Shell, *checks: str, arguments: Sequence[str] = ()) -> subprocess.Popen[str]:
    """A run of these checks, which has begun with them."""
    only = [word for each in checks for word in ("--only", each)]
    return subprocess.Popen(  # noqa: S603
        [COMMAND, "selftest", *BOTH, "--yes", *only, *arguments],
        env=dict(shell.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 (there is no other thread that matters)
    )


def has_begun(run: subprocess.Popen[str], what: object) -> bool:
    """Whether something is there; it never will be if the run has ended."""
    assert run.poll() is None, run.communicate()
    return bool(what)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_what_ends_it_has_everything_removed(shell: Shell, tested: Aws, ending: signal.Signals) -> None:
    with started(shell, "refusal", "race") as run:
        wait_until(lambda: has_begun(run, left(tested)), "the first stack")
        run.send_signal(ending)
        _, err = run.communicate()
    assert (run.returncode, "Traceback" in err) == (130, False)
    assert left(tested) == []


def test_killed_at_any_of_ten_moments_it_leaves_nothing_after_clean(shell: Shell, tested: Aws) -> None:
    for moment in range(10):
        before = len(left(tested))
        with started(shell, ("hold", "request")[moment % 2]) as run:
            wait_until(lambda: has_begun(run, len(left(tested)) > before), "the first stack")  # noqa: B023 (at once)
            sleep(moment / 4)
            run.kill()
    tested.put_foreign(US, f"/{PREFIX}00000000-reads/value", value="1")  # All else of that run has gone already.
    names = sorted(set(re.findall(rf"{PREFIX}[0-9a-f]{{8}}", " ".join(left(tested)))))
    assert len(names) > 1
    assert shell.ask("selftest", *BOTH, "--yes", "--clean", names[0]) | {"asOf": 0} == {
        "version": 3,
        "asOf": 0,
        "removed": names[:1],
        "left": [],
    }
    assert names[0] not in " ".join(left(tested))
    assert shell.ask("selftest", *BOTH, "--yes", "--clean")["removed"] == names[1:]
    assert left(tested) == []
    assert shell.ask("selftest", *BOTH, "--yes", "--clean")["removed"] == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--only", "imports"), "--only imports names no check. There are cdk, chain, cleanup,"),
        (("--only", "account-hold"), "--only account-hold needs --account-role"),
        (("--region", "us-west-2"), "--region must be given once or twice, got eu-west-1, us-east-1 and us-west-2"),
        (("--account-role", "arn:aws:iam::ACCOUNT:role/x"), "--account-role must be the ARN of another account's role"),
        (("--clean", "strongref"), "--clean must be the name of a run, as in strongref-selftest-0a1b2c3d"),
    ],
)
def test_wrong_usage_is_said(shell: Shell, tested: Aws, arguments: Sequence[str], why: str) -> None:
    done = shell.run("selftest", *BOTH, "--yes", *(each.replace("ACCOUNT", tested.account) for each in arguments))
    assert (done.status, why in done.err) == (2, True), done.err


def test_a_region_without_the_functions_of_this_version_is_refused(shell: Shell, tested: Aws) -> None:
    done = shell.run("selftest", "--region", EU, "--region", "us-west-2", "--yes")
    assert (done.status, done.out) == (2, "")
    assert f"us-west-2 of account {tested.account} has no stack strongref. Run strongref install" in done.err
