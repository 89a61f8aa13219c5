"""The application as its users install it: real `sam build` and real `sam deploy`, into the emulator."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tests.support.emulator.control import ACCOUNT, ROOT, Emulator, executable

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION = "strongref"
"""The application's stack in each region, as in samconfig.toml."""

REGIONS = ("eu-west-1", "us-east-1")

# The emulator has no quotas that a deployment could exceed, and nobody wants to wait for them.
_UNHURRIED = " ".join(f"{name}PerSecond=1000" for name in ("Reads", "Writes", "Tags", "Deletes"))


class SamError(RuntimeError):
    """A command failed; the text is what it printed."""


def build(emulator: Emulator, folder: Path) -> Path:
    """Build the application into a folder, and return the built template."""
    _sam(emulator, emulator.env(), "build", "--template-file", str(ROOT / "template.yaml"), "--build-dir", str(folder))
    return folder / "template.yaml"


def deploy(emulator: Emulator, template: Path, region: str, account: str = ACCOUNT) -> None:
    """Deploy what was built into one region, with the repository's own samconfig.toml."""
    config = ("--config-file", str(ROOT / "samconfig.toml"), "--parameter-overrides", _UNHURRIED)
    _sam(
        emulator, emulator.env(account, region), "deploy", "--template-file", str(template), "--region", region, *config
    )


def deploy_everywhere(emulator: Emulator, template: Path) -> None:
    """Deploy what was built into all regions at once."""
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(deploy, emulator, template, region) for region in REGIONS]:
            done.result()


def _sam(emulator: Emulator, environment: dict[str, str], *arguments: str) -> None:
    sam = executable("STRONGREF_SAM", ".build/venv-sam/bin/sam")
    # The layer's Makefile wants a Python that has pip: sam's own.
    path = f"{os.path.dirname(sam)}{os.pathsep}{environment['PATH']}"  # noqa: PTH120 (a link's folder, not its target's)
    done = subprocess.run(  # noqa: S603
        [sam, *arguments],
        cwd=ROOT,
        env={**environment, **_reach(), "PATH": path, "__SAM_CLI_APP_DIR": str(emulator.folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SamError(f"sam {' '.join(arguments)}:\n{done.stdout}{done.stderr}")


def _reach() -> dict[str, str]:
    """How pip reaches its package index here, which the layer's build needs."""
    settings = ("HOME", "PIP_", "SSL_CERT_", "HTTPS_PROXY", "https_proxy")
    return {name: value for name, value in os.environ.items() if name.startswith(settings)}
