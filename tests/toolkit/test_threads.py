"""Work side by side: what Ctrl-C does to it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from strongref_toolkit.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def test_ctrl_c_while_work_is_being_handed_out_waits_for_what_has_begun() -> None:
    interrupted = threading.Event()
    cleaned: list[str] = []

    def first() -> None:
        assert interrupted.wait(60)
        cleaned.append("first")

    def work() -> Iterator[Callable[[], None]]:
        yield first
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(work(), interrupted.set)
    assert cleaned == ["first"]
