"""Writes `docs/pictures/{who,check,doctor}.svg`: what these commands print on a terminal, on stacks in the emulator."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.e2e.harness import Aws
from tests.support.documents import example, load
from tests.support.emulator import sam
from tests.support.emulator.control import ROOT, Emulator

TARGET = ROOT / "docs/pictures"
EU, US = "eu-west-1", "us-east-1"
COLUMNS = 116
_FONT = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""rich's pictures load their font from the network."""

_COMMANDS = {
    "who": (EU, ["who", "network", "Vpc"]),
    "check": (
        US,
        [
            *("check", "--stack", "certificate", "--template", "examples/certificate/certificate.yaml"),
            *("--parameters", "DomainName=shop.example.com"),
        ],
    ),
    "doctor": (EU, ["doctor", "--region", EU, "--region", US]),
}


def deploy(aws: Aws) -> None:
    """Stacks to look at, and what goes wrong with them."""
    for name, template, region in (
        ("network", "network/network", EU),
        ("service", "network/service", EU),
        ("service", "network/service", US),
        ("certificate", "certificate/certificate", US),
        ("site", "certificate/site", EU),
    ):
        aws.deploy(name, load(example(template)), region, "CREATE_COMPLETE")
    network = load(example("network/network"))
    network["Resources"]["Exports"]["Properties"] |= {"OnChange": "propagate"}
    network["Resources"]["Exports"]["Properties"]["Values"]["Vpc"]["Cidr"] = "10.0.0.0/8"
    aws.deploy("network", network, EU, "UPDATE_COMPLETE")
    shared = f"/strongref/exports/_shared/{aws.account}/{EU}/network"
    ssm = aws.client("ssm", US)
    ssm.put_parameter(Name=f"{shared}/SubnetIds", Value="subnet-by-hand", Type="StringList", Overwrite=True)
    ssm.delete_parameter(Name=f"{shared}/Vpc/Id")


def picture(name: str, arguments: list[str], environment: dict[str, str]) -> None:
    """Run the command on a terminal, and write what it shows."""
    command = [str(Path(sys.executable).with_name("strongref")), *arguments]
    main, terminal = pty.openpty()
    size = {"COLUMNS": str(COLUMNS), "LINES": "50", "TERM": "xterm-256color"}
    with subprocess.Popen(  # noqa: S603
        command, cwd=ROOT, env={**environment, **size}, stdout=terminal, stderr=subprocess.DEVNULL
    ):
        os.close(terminal)
        shown = b""
        with suppress(OSError):  # Linux ends a terminal that nobody writes to with an error.
            while part := os.read(main, 65536):
                shown += part
    os.close(main)
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text(f"$ strongref {' '.join(arguments)}\n", style="bold"))
    console.print(Text.from_ansi(shown.decode().replace("\r", "")))
    svg = console.export_svg(title="strongref", theme=MONOKAI, unique_id=name)
    (TARGET / f"{name}.svg").write_text(_FONT.sub("", svg).replace("Fira Code, monospace", "monospace"), "utf-8")


def write_pictures() -> None:
    """Needs sam and the emulator, as `make setup` installs them."""
    with tempfile.TemporaryDirectory() as folder, Emulator.start(Path(folder, "log")) as emulator:
        sam.deploy_everywhere(emulator, sam.build(Path(folder)))
        aws = Aws(emulator)
        deploy(aws)
        for name, (region, arguments) in _COMMANDS.items():
            picture(name, arguments, {**os.environ, **emulator.env(region=region)})
