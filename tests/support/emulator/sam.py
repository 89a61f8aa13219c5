"""Builds and deploys the application with the real sam: for the end-to-end tests and the demonstration."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from tests.support.emulator.control import ACCOUNT, ROOT, executable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tests.support.emulator.control import Emulator

APPLICATION = "strongref"
"""The name of the application's stack in each region."""

REGIONS = ("eu-west-1", "us-east-1")

QUICK = {"ReadsPerSecond": "200", "WritesPerSecond": "100", "TagsPerSecond": "100", "DeletesPerSecond": "100"}
"""Parameters that let the functions call faster than AWS's quotas allow."""


def build(workdir: Path, template: Path = ROOT / "template.yaml") -> Path:
    """The built template, which names what it needs beside it.

    Raises:
        RuntimeError: with what sam said.
    """
    built = workdir / "build"
    environment = os.environ | {
        "SAM_CLI_TELEMETRY": "0",
        "__SAM_CLI_APP_DIR": str(workdir / "sam"),
        "AWS_DEFAULT_REGION": REGIONS[0],
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    _sam(["build", "--template-file", str(template), "--build-dir", str(built)], environment, workdir)
    return built / "template.yaml"


def deploy_application(  # noqa: PLR0913 (all but the first two by name)
    emulator: Emulator,
    built: Path,
    *,
    region: str,
    overrides: Mapping[str, str] = QUICK,
    account: str = ACCOUNT,
    stack: str = APPLICATION,
) -> None:
    """Deploy the built application into a region.

    Raises:
        RuntimeError: with what sam said.
    """
    arguments = [
        *("deploy", "--template-file", str(built), "--stack-name", stack, "--region", region),
        *("--resolve-s3", "--s3-prefix", stack, "--capabilities", "CAPABILITY_IAM"),
        *("--no-confirm-changeset", "--no-fail-on-empty-changeset", "--no-progressbar"),
    ]
    if overrides:
        arguments += ["--parameter-overrides", *(f"{name}={value}" for name, value in overrides.items())]
    _sam(arguments, emulator.env(account, region), built.parent)


def deploy_everywhere(
    emulator: Emulator,
    built: Path,
    regions: Iterable[str] = REGIONS,
    overrides: Mapping[str, str] = QUICK,
) -> None:
    """Deploy the built application into several regions at once."""
    deploy = partial(deploy_application, emulator, built, overrides=overrides)
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(deploy, region=region) for region in regions]:
            done.result()


def _sam(arguments: list[str], environment: Mapping[str, str], folder: Path) -> None:
    command = [executable("STRONGREF_SAM", ".build/venv-sam/bin/sam"), *arguments]
    done = subprocess.run(  # noqa: S603
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise RuntimeError(f"sam {arguments[0]} failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
