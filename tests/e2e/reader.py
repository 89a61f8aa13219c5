"""A reader of the documentation, who types what its pages tell people to type.

Each `test_documentation_….py` is about some pages: it names them in PAGES, and runs every block of their commands.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from tests.e2e.harness import Aws
from tests.e2e.terminal import IMPATIENT
from tests.support.documents import ROOT, blocks
from tests.support.emulator.control import ACCOUNT, OTHER_ACCOUNT, executable
from tests.support.emulator.sam import QUICK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tests.support.documents import Block
    from tests.support.emulator.control import Emulator

PARTS = ("template.yaml", "samconfig.toml", "handlers", "layers", "examples")


def commands() -> list[Block]:
    """Every block of commands on every page, but those of `make`, and those that begin with an installation by pip.

    The demo has a test of its own, and the tests are what runs here; `test_install.py` has a wheel installed.
    """
    return [block for block in blocks("sh") if not _is_run_elsewhere(block)]


def _is_run_elsewhere(block: Block) -> bool:
    return block.text.startswith("pip install ") or all(line.startswith("make ") for line in block.text.splitlines())


class Reader:
    """Somebody who follows the documentation, with a checkout of the project and an account of their own.

    Attributes:
        there: the reader's second account, for pages about two.
        left: the blocks of commands that were not run yet.
    """

    def __init__(self, aws: Aws, checkout: Path, pages: Collection[str]) -> None:
        self.aws = aws
        self.there = Aws(aws.emulator, str(int(aws.account) + 1))
        self.checkout = checkout
        self.left = [block for block in commands() if str(block.page.relative_to(ROOT)) in pages]

    def run(self, beginning: str, *, fails: bool = False, there: bool = False) -> str:
        """Run the next blocks that begin like this, once on each page; what the last one printed."""
        ran = [block for block in self.left if block.text.startswith(beginning)]
        assert ran, f"no block of commands begins with {beginning!r} any more"
        printed = ""
        for block in {block.text: block for block in ran}.values():
            done = self.shell(self.own(block.text), there=there)
            assert fails == (done.returncode != 0), f"{block}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
            printed = done.stdout
        self.left = [block for block in self.left if block not in ran]
        return printed

    def own(self, text: str) -> str:
        """A page's text with the reader's own accounts."""
        return text.replace(ACCOUNT, self.aws.account).replace(OTHER_ACCOUNT, self.there.account)

    def shell(self, text: str, *, there: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command that no page shows."""
        tools = Path(executable("STRONGREF_SAM", ".build/venv-sam/bin/sam")).parent
        environment = {
            **os.environ,
            **self.aws.emulator.env((self.there if there else self.aws).account),
            **IMPATIENT,
            "HOME": str(self.checkout.parent),
            # Our own Python first: it has the package that programs import.
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(tools), os.environ["PATH"]]),
            "SAM_CLI_TELEMETRY": "0",
            "AWS_PAGER": "",
        }
        return subprocess.run(  # noqa: S603
            ["bash", "-euc", text],  # noqa: S607
            cwd=self.checkout,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def install(self) -> None:
        """Install strongref in the two regions of the pages, for a page that is not about that: without waits."""
        quick = " ".join(f"--parameter {name}={value}" for name, value in QUICK.items())
        done = self.shell(f"strongref install --region us-east-1 --region eu-west-1 {quick}")
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def reading(emulator: Emulator, pages: Collection[str], folder: Path) -> Iterator[Reader]:
    """A reader of these pages, with an account of their own: the stacks have the names that the pages give them.

    At the end, no block of commands may be left that was not run.
    """
    account = str(10**11 + crc32("".join(sorted(pages)).encode()))
    checkout = folder / "checkout"
    for part in PARTS:
        source = ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        checkout.mkdir(exist_ok=True)
        copy(source, checkout / part)
    reader = Reader(Aws(emulator, account), checkout, pages)
    yield reader
    assert [str(block) for block in reader.left] == []
