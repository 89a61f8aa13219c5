"""What a command that waits for another one's fence shows."""

from __future__ import annotations

import sys
from math import ceil
from typing import TYPE_CHECKING

from strongref.text import cut
from strongref_toolkit.messages import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.contract.fence import Fence
    from strongref.contract.names import ExportScope


class WaitNotice:
    """`ports.OnWait` for people: on a terminal in the line that shows the progress, elsewhere a line for each wait."""

    def __init__(self, step: Callable[[str], None]) -> None:
        self._step = step
        self._written: set[tuple[ExportScope, str]] = set()

    def __call__(self, scope: ExportScope, fence: Fence, seconds: float) -> None:
        what = f"waiting up to {ceil(seconds)} s for {cut(fence.held_by, 200)}, which is changing exports of "
        text = printable(f"{what}{scope.producer.stack}")
        if sys.stderr.isatty():
            from rich.markup import escape  # noqa: PLC0415 (as in `output`)

            self._step(escape(text))
        elif (scope, fence.held_by) not in self._written:
            self._written.add((scope, fence.held_by))
            sys.stderr.write(f"strongref: {text}\n")
