"""crhelper without everything that a handler here does itself (see `custom_resource`): it only calls the use case."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from crhelper import CfnResource

if TYPE_CHECKING:
    from strongref.untyped import Untyped


EMPTY_EVENT = {"StackId": "", "RequestId": "", "LogicalResourceId": "", "ResponseURL": "", "PhysicalResourceId": "-"}
"""The event that crhelper gets: nothing that it could log or send."""


class SilentCrhelper(CfnResource):
    """crhelper without its responses, its timer and its logging."""

    def __init__(self, run: Callable[[object, object], None]) -> None:
        before = os.environ.get("AWS_SAM_LOCAL")
        os.environ["AWS_SAM_LOCAL"] = "true"  # In that mode, crhelper makes no clients for polling, which is not used.
        try:
            super().__init__(json_logging=False, log_level="ERROR", boto_level="ERROR", sleep_on_delete=0)
        finally:
            del os.environ["AWS_SAM_LOCAL"]
            if before is not None:
                os.environ["AWS_SAM_LOCAL"] = before
        self.create(run)
        self.update(run)
        self.delete(run)

    def _set_timeout(self) -> None:
        """Does nothing: `_Invocation.watchdog` is the timer."""

    def _log_setup(self, event: object, context: object) -> None:
        """Does nothing: crhelper would set the level of every logger at each event."""

    def _send(self, status: Untyped = None, reason: Untyped = "", send_response: Untyped = None) -> None:
        """Does nothing: `_Invocation` has responded."""
