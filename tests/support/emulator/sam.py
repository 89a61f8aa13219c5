"""The application as its users install it: real `sam build` and real `sam deploy`, into the emulator."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.emulator.control import ACCOUNT, ROOT, executable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.support.emulator.control import Emulator

APPLICATION = "strongref"
"""The application's stack in each region, as in samconfig.toml."""

REGIONS = ("eu-west-1", "us-east-1")

QUICK = {
    "ReadsPerSecond": "200",
    "WritesPerSecond": "100",
    "TagsPerSecond": "100",
    "DeletesPerSecond": "100",
    "ReadLag": "0",
}
"""Parameters for the emulator: it has no quotas, and its reads show every write at once."""


class SamError(RuntimeError):
    """A command failed; the text is what it printed."""


def build(workdir: Path, source: Path = ROOT) -> Path:
    """Build the application, of this version or of another one, into a folder of `workdir`; the built template."""
    built = workdir / "build"
    environment = os.environ | {
        "AWS_DEFAULT_REGION": REGIONS[0],
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    _sam(environment, workdir, "build", "--template-file", str(source / "template.yaml"), "--build-dir", str(built))
    return built / "template.yaml"


def deploy_application(
    emulator: Emulator, built: Path, *, region: str, overrides: Mapping[str, str] = QUICK, account: str = ACCOUNT
) -> None:
    """Deploy what was built into a region, with the repository's own samconfig.toml."""
    options = ["--template-file", str(built), "--region", region, "--config-file", str(ROOT / "samconfig.toml")]
    if overrides:
        options += ["--parameter-overrides", " ".join(f"{name}={value}" for name, value in overrides.items())]
    _sam(emulator.env(account, region), built.parents[1], "deploy", *options)


def deploy_everywhere(
    emulator: Emulator,
    built: Path,
    regions: Iterable[str] = REGIONS,
    overrides: Mapping[str, str] = QUICK,
    account: str = ACCOUNT,
) -> None:
    """Deploy what was built into several regions at once."""
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(deploy_application, emulator, built, region=region, overrides=overrides, account=account)
            for region in regions
        ]
        for job in jobs:
            job.result()


def _sam(environment: Mapping[str, str], folder: Path, *arguments: str) -> None:
    sam = Path(executable("STRONGREF_SAM", ".build/venv-sam/bin/sam"))
    own = {
        "SAM_CLI_TELEMETRY": "0",
        "__SAM_CLI_APP_DIR": str(folder / "sam"),
        "PATH": f"{sam.parent}{os.pathsep}{environment['PATH']}",  # The layer's build wants a Python with pip: sam's.
    }
    done = subprocess.run(  # noqa: S603
        [str(sam), *arguments],
        env={**environment, **own},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SamError(f"sam {' '.join(arguments)}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
