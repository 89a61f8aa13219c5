"""`make peers` compares a file with those that the same parser reads, and reads what it finds in any checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.peers import SECONDS, SLOW, Result, results, slow

if TYPE_CHECKING:
    from pathlib import Path


def test_yaml_is_not_slow_because_json_is_fast(tmp_path: Path) -> None:
    size = 100_000
    fast = [Result("resolve", tmp_path, size, SECONDS / SLOW / 5, is_json=True) for _ in range(9)]
    usual = [Result("resolve", tmp_path, size, SECONDS * 2) for _ in range(3)]
    slowest = [Result("resolve", tmp_path, size, SECONDS * 2 * SLOW * 2), fast[0]._replace(seconds=SECONDS * 2)]
    assert [each for each, _ in slow([*fast, *usual, *slowest])] == [slowest[1], slowest[0]]


def test_a_block_before_an_empty_line_is_replaced(tmp_path: Path) -> None:
    for name, text in (("a.yaml", "a: |\n\nb: |\n\n\nc: 1\n"), ("b.json", '\ufeff {"a": 1}')):
        (tmp_path / name).write_text(text)
    assert [(each.is_json, each.defect, each.refused) for each in results(tmp_path, ["resolve"], "")] == [
        (False, "", ""),
        (True, "", ""),
    ]
