"""The identity of objects that jsii shows to Python: constructs, apps and tokens of any CDK."""

from __future__ import annotations

from strongref.untyped import Untyped


def reference(of: Untyped) -> str:
    """Identifies an object of a CDK in this process.

    jsii keeps a Python object only while the program uses it, and none for what the CDK made itself, such as the app of
    a stack without one: the same object of the CDK is another Python object each time.
    """
    found: str = of.__jsii_ref__.ref
    return found


def same(one: object, other: object) -> bool:
    """Whether two values are equal, or one object of a CDK."""
    if hasattr(one, "__jsii_ref__") and hasattr(other, "__jsii_ref__"):
        return reference(one) == reference(other)
    return bool(one == other)
