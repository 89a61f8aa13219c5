"""SAM CLI runs the rules from their folder, in an environment of its own that has no strongref."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cfn_lint.test_macro import SERVERLESS
from tests.support.documents import ROOT
from tests.support.emulator.control import executable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """With its configuration of cfn-lint, and strongref where pip puts it."""
    site = tmp_path / "site-packages"
    site.mkdir()
    for package in (ROOT / "layers/core/strongref", ROOT / "src/strongref_cli"):
        (site / package.name).symlink_to(package)
    (tmp_path / ".cfnlintrc").write_text("append_rules: [site-packages/strongref_cli/lint]\n")
    return tmp_path


def validate(project: Path, template: str) -> subprocess.CompletedProcess[str]:
    (project / "template.yaml").write_text(template)
    nowhere = {"AWS_DEFAULT_REGION": "us-east-1", "AWS_CONFIG_FILE": os.devnull, "SAM_CLI_TELEMETRY": "0"}
    return subprocess.run(  # noqa: S603
        [executable("STRONGREF_SAM", ".build/venv-sam/bin/sam"), "validate", "--lint"],
        cwd=project,
        env={name: each for name, each in os.environ.items() if name != "PYTHONPATH"} | nowhere,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_template_of_the_macro_is_valid(project: Path) -> None:
    done = validate(project, SERVERLESS)
    assert "is a valid SAM Template" in done.stdout, done.stderr


def test_a_typo_is_found(project: Path) -> None:
    done = validate(project, SERVERLESS.replace("Region: eu-west-1, Values", "Regin: eu-west-1, Values"))
    assert done.returncode == 1
    assert "E9702" in done.stdout + done.stderr
    assert "did you mean Region?" in done.stdout + done.stderr
