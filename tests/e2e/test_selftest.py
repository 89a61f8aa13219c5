"""`strongref selftest` as somebody with an account runs it: with exactly the permissions that it prints."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from time import sleep
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from strongref_cli.selftest.lab import PREFIX
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


@pytest.fixture
def shell(tested: Aws) -> Shell:
    """Of a user who may do what the command prints."""
    shell = Shell({**os.environ, **tested.emulator.env(tested.account, EU)})
    policy, iam = shell.run("selftest", "--policy").out, tested.client("iam", US)
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


def left(aws: Aws) -> list[str]:
    """Everything of any run that is in the account."""
    stacks = [
        each["StackName"]
        for region in (EU, US)
        for each in aws.client("cloudformation", region).describe_stacks()["Stacks"]
        if PREFIX in each["StackName"]
    ]
    return stacks + [each.name for each in aws.emulator.parameters(aws.account, PREFIX)]


@pytest.mark.story
def test_a_short_run_passes_and_leaves_nothing(shell: Shell, tested: Aws) -> None:
    assert passed(shell, "--only", "refusal", "--only", "hold") == ["refusal", "hold"]
    assert left(tested) == []


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


def started(shell: Shell, *checks: str) -> subprocess.Popen[str]:
    """A run of these checks, which has begun with them."""
    only = [word for each in checks for word in ("--only", each)]
    return subprocess.Popen(  # noqa: S603
        [COMMAND, "selftest", *BOTH, "--yes", *only],
        env=dict(shell.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 (there is no other thread that matters)
    )


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_what_ends_it_has_everything_removed(shell: Shell, tested: Aws, ending: signal.Signals) -> None:
    with started(shell, "refusal", "race") as run:
        wait_until(lambda: left(tested), "the first stack")
        run.send_signal(ending)
        _, err = run.communicate()
    assert (run.returncode, "Traceback" in err) == (130, False)
    assert left(tested) == []


def test_killed_at_any_of_ten_moments_it_leaves_nothing_after_clean(shell: Shell, tested: Aws) -> None:
    for moment in range(10):
        before = len(left(tested))
        with started(shell, "hold") as run:
            wait_until(lambda before=before: len(left(tested)) > before, "the first stack")  # type: ignore[misc]
            sleep(moment / 4)
            run.kill()
    names = sorted(set(re.findall(rf"{PREFIX}[0-9a-f]{{8}}", " ".join(left(tested)))))
    assert names
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
        (("--only", "imports"), "--only imports names no check. There are cleanup, continuation,"),
        (("--region", "us-west-2"), "--region must be given once or twice, got eu-west-1, us-east-1 and us-west-2"),
        (("--clean", "strongref"), "--clean must be the name of a run, as in strongref-selftest-0a1b2c3d"),
    ],
)
def test_wrong_usage_is_said(shell: Shell, arguments: Sequence[str], why: str) -> None:
    done = shell.run("selftest", *BOTH, "--yes", *arguments)
    assert (done.status, why in done.err) == (2, True), done.err


def test_a_region_without_the_functions_of_this_version_is_refused(shell: Shell) -> None:
    done = shell.run("selftest", "--region", EU, "--region", "us-west-2", "--yes")
    assert (done.status, done.out) == (2, "")
    assert "us-west-2 has no strongref, and the command is" in done.err
