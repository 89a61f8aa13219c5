"""tools/hold_time.py: it measures hold stacks, and leaves nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import HOLDS
from tests.e2e.templates import EU
from tools import hold_time

if TYPE_CHECKING:
    import pytest

    from tests.e2e.harness import Aws


def test_it_measures_hold_stacks_and_leaves_nothing(
    aws: Aws, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in aws.emulator.env(aws.account, EU).items():
        monkeypatch.setenv(name, value)
    hold_time.main(["--region", EU, "--rounds", "1"])
    printed = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    measured = {kind: text.strip() for kind, text in printed.items()}
    assert measured["create a hold stack"].endswith("CREATE_COMPLETE")
    assert measured["hold one export more"].endswith("UPDATE_COMPLETE")
    assert measured["delete the held producer"] == "CREATE_COMPLETE"  # refused
    assert measured["delete the hold stack"].endswith(" s")
    assert "import during the producer's deletion" in measured
    assert not [name for name in aws.parameters(EU, HOLDS) if "/probe/" in name]
