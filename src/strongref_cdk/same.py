"""Which of the CDK's objects are one and the same.

jsii keeps a Python object only for as long as the program does: what the CDK gives again later is another one, of the
same reference.
"""

from __future__ import annotations

from typing import Any


def reference(of: Any) -> str:  # noqa: ANN401 (an object of the CDK)
    """What tells an object of the CDK from all others of the process."""
    found: str = of.__jsii_ref__.ref
    return found


def same(one: Any, other: Any) -> bool:  # noqa: ANN401 (anything)
    """Whether two are equal, or one object of the CDK."""
    if hasattr(one, "__jsii_ref__") and hasattr(other, "__jsii_ref__"):
        return reference(one) == reference(other)
    return bool(one == other)
