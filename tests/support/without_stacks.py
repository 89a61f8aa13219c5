"""Events of stacks that the tests' CloudFormation does not have, handled as if it waited for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from strongref.protocol.unreached import EventPlaces

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def waited_for() -> AbstractContextManager[Any]:
    return patch.object(EventPlaces, "is_over", new=False)
