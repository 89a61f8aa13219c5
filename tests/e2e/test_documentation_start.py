"""The commands of the first pages, and every example deployed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e.reader import reading
from tests.e2e.templates import EU, US
from tests.support.documents import ROOT, blocks, example, load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.harness import Aws

PAGES = ("README.md",)


@pytest.mark.deep
def test_each_command_of_these_pages_does_what_it_says(tmp_path: Path) -> None:
    with reading(PAGES, tmp_path) as reader:
        reader.run("strongref install")
        reader.run("sam deploy --stack-name certificate")
        certificate = reader.aws.outputs("site", EU)["CertificateArn"]
        assert certificate.startswith("arn:aws:acm:us-east-1:")


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
        [sys.executable, "-m", "examples.demo"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CertificateArn and DomainName cannot be changed: they are imported by stack site" in " ".join(
        done.stdout.split()
    )
    assert "nothing is left over" in done.stdout
    (shown,) = [block for block in blocks("console") if block.page.name == "README.md"]
    assert _timeless(done.stdout) == _timeless(shown.text)
    assert list(tmp_path.iterdir()) == []


def _timeless(text: str) -> str:
    """What the demo prints, without what differs from run to run."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+ s\b|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "…", text).strip()
