"""The commands of the first pages, and every example deployed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples.emulator import Files, stop
from tests.e2e.reader import reading
from tests.e2e.templates import EU, US
from tests.e2e.terminal import IMPATIENT, terminal
from tests.support.documents import ROOT, blocks, example, load
from tests.support.emulator.control import ACCOUNT, executable
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.harness import Aws
    from tests.support.documents import Block
    from tests.support.emulator.control import Emulator


PAGES = ("README.md", "docs/get-started.md")

FIRST_STEPS = ROOT / "docs/get-started.md"
IN_ACCOUNT = "In an AWS account"

CHECKOUT = ("Makefile", "pyproject.toml", "requirements", "examples", "tests/support")
"""What the emulator of a checkout needs."""


@pytest.mark.story
def test_each_command_of_these_pages_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, ["README.md"], tmp_path) as reader:
        reader.run("strongref install")
        reader.run("sam deploy --stack-name certificate")
        certificate = reader.aws.outputs("site", EU)["CertificateArn"]
        assert certificate.startswith("arn:aws:acm:us-east-1:")


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A fresh checkout, whose tools are installed already."""
    folder = tmp_path / "checkout"
    for part in CHECKOUT:
        (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, _made(folder / part))
    sam = Path(executable("STRONGREF_SAM", ".build/venv-sam/bin/sam"))
    emulator = Path(executable("STRONGREF_EMULATOR_PYTHON", ".build/venv-emulator/bin/python"))
    for name, program in (("dev", Path(sys.executable)), ("sam", sam), ("emulator", emulator)):
        _made(folder / f".build/venv-{name}").symlink_to(program.parents[1])
    for name in ("dev", "sam", "emulator", "project"):
        (folder / f".build/{name}.installed").touch()
    yield folder
    stop(Files(folder / ".build"))


def _made(path: Path) -> Path:
    """A path, in a folder that exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.story
def test_a_new_user_takes_the_first_steps_from_top_to_bottom(checkout: Path, tmp_path: Path) -> None:
    """Each block as printed, in one terminal; in the account, only what is the emulator's too."""
    steps = [block for kind in ("sh", "console", "text") for block in blocks(kind) if block.page == FIRST_STEPS]
    failed: list[str] = []
    with terminal(checkout, tmp_path, IMPATIENT) as user:
        printed = ""
        for block in sorted((block for block in steps if _tab(block) != IN_ACCOUNT), key=lambda block: block.line):
            if block.language != "sh":
                assert _words(block.text) in _words(printed), f"{block}:\n{printed}"
                continue
            if "emulator-stop" in block.text:
                emulator = Files(checkout / ".build").join()
                _nothing_is_left(emulator)
                emulator.release()
            done = user.run(block.text)
            printed = done.printed
            failed += [block.text] if done.failed else []
        assert user.run("make emulator-stop").printed == "No emulator is running.\n"
    check, deployment = failed
    assert check.startswith("strongref check ")
    assert deployment.startswith("aws cloudformation deploy ")
    assert "TopicName=invoices" in deployment


def _tab(block: Block) -> str | None:
    """The name of the content tab that a block is in."""
    lines = block.page.read_text().splitlines()
    if not lines[block.line - 1].startswith(" "):
        return None
    return next(line for line in reversed(lines[: block.line]) if line.startswith("=== ")).split('"')[1]


def _nothing_is_left(emulator: Emulator) -> None:
    for region in (EU, US):
        for service, action, key in (
            ("cloudformation", "describe_stacks", "Stacks"),
            ("ssm", "describe_parameters", "Parameters"),
            ("lambda", "list_functions", "Functions"),
            ("lambda", "list_layers", "Layers"),
            ("logs", "describe_log_groups", "logGroups"),
            ("events", "list_rules", "Rules"),
            ("cloudwatch", "describe_alarms", "MetricAlarms"),
            ("sns", "list_topics", "Topics"),
            ("s3", "list_buckets", "Buckets"),
            ("iam", "list_roles", "Roles"),
        ):
            assert getattr(emulator.client(service, region), action)()[key] == [], f"{action} in {region}"


def test_an_emulator_runs_until_it_is_stopped(checkout: Path, tmp_path: Path) -> None:
    with terminal(checkout, tmp_path, {"AWS_PROFILE": "mine", "HTTP_PROXY": "http://127.0.0.1:9"}) as user:
        assert user.run("make emulator-stop") == (False, "No emulator is running.\n")
        first = user.run("make emulator")
        assert "\nsource .build/emulator.env\n" in first.printed
        again = user.run("make emulator & make emulator; wait")
        assert again == (False, first.printed * 2)
        account = user.run("source .build/emulator.env && aws sts get-caller-identity --query Account")
        assert account == (False, f'"{ACCOUNT}"\n')
        assert user.run("command -v strongref sam aws").printed.count(f"{checkout}/.build/venv-") == 3
        stopped = user.run("make emulator-stop")
        assert stopped == (False, "The emulator is stopped, and everything in it is gone.\n")
        assert user.run("make emulator-stop") == (False, "No emulator is running.\n")
        assert user.run("aws sts get-caller-identity").failed
        assert not (checkout / ".build/emulator.env").exists()


def test_an_emulator_that_crashed_is_not_taken_for_a_running_one(checkout: Path, tmp_path: Path) -> None:
    """Nor is a process that has its number: this one's stands in the file, and is not ended."""
    build = checkout / ".build"
    (build / "emulator.lock").write_text(str(os.getpid()))
    (build / "emulator.env").write_text("export AWS_ENDPOINT_URL=http://127.0.0.1:1\n")
    with terminal(checkout, tmp_path) as user:
        assert user.run("make emulator-stop").printed == "No emulator is running.\n"
        user.run("make emulator")
        assert "http://127.0.0.1:1\n" not in (build / "emulator.env").read_text()
        keeper = int((build / "emulator.lock").read_text())
        os.kill(keeper, signal.SIGKILL)
        wait_until(lambda: not Files(build).is_kept(), "the end of the keeper")
        assert "is running" in user.run("make emulator").printed
        assert int((build / "emulator.lock").read_text()) != keeper


def test_an_emulator_ends_when_its_folder_is_deleted(checkout: Path, tmp_path: Path) -> None:
    """As `make clean` does."""
    build = checkout / ".build"
    with terminal(checkout, tmp_path) as user:
        user.run("make emulator")
        url = re.search("AWS_ENDPOINT_URL=(.*)", (build / "emulator.env").read_text())
        assert url
        shutil.rmtree(build)
        port = int(url[1].rpartition(":")[2])
        wait_until(lambda: _is_closed(port), "the end of the emulator")


def _is_closed(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_an_emulator_that_does_not_start_says_why(checkout: Path, tmp_path: Path) -> None:
    (checkout / "tests/support/emulator/server.py").write_text("raise SystemExit('no emulator today')\n")
    with terminal(checkout, tmp_path) as user:
        done = user.run("make emulator")
        assert done.failed
        assert "The emulator did not start:" in done.printed
        assert "no emulator today" in done.printed
        assert user.run("make emulator-stop").printed == "No emulator is running.\n"


def test_the_examples_are_deployed_and_read_each_other(aws: Aws) -> None:
    password = [{"ParameterKey": "DatabasePassword", "ParameterValue": "correct-horse"}]
    aws.deploy("network", load(example("network/network")), EU, "CREATE_COMPLETE")
    for region in (EU, US):
        aws.deploy("service", load(example("network/service")), region, "CREATE_COMPLETE")
    aws.deploy("producer", load(example("structured/producer")), EU, "CREATE_COMPLETE", Parameters=password)
    aws.deploy("consumer", load(example("structured/consumer")), US, "CREATE_COMPLETE")
    assert "correct-horse" not in str(aws.outputs("consumer", US)) + aws.logs(EU) + aws.logs(US)

    aws.delete("network", EU, "CREATE_COMPLETE")
    assert f"in use by strongref-hold-{aws.account}-service-" in "".join(aws.reasons("network", EU))
    for stack_name, region in (("service", EU), ("service", US), ("network", EU), ("consumer", US), ("producer", EU)):
        aws.delete(stack_name, region)


def test_the_demo_tells_its_story_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CertificateArn and DomainName cannot be changed: they are imported by stack site" in " ".join(
        done.stdout.split()
    )
    accounts = _words(done.stdout.partition("strongref trust")[2])
    assert f"imported by stack web ({US}, 222222222222)" in accounts
    assert "Cannot delete export network-Exports as it is in use by strongref-hold-222222222222-web-" in accounts
    assert "nothing is left in either account" in accounts
    (shown,) = [block for block in blocks("console") if block.page.name == "README.md"]
    assert _timeless(done.stdout).startswith(_timeless(shown.text))
    assert list(tmp_path.iterdir()) == []


def _words(text: str) -> str:
    """What a command prints, without what differs from run to run, and however its lines are broken."""
    return " ".join(_timeless(text).split())


def _timeless(text: str) -> str:
    """What the demo prints, without what differs from run to run."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+ s\b|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "…", text).strip()
