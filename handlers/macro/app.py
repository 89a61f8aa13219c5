"""The macro `StrongRef`: the Lambda handler."""

from strongref.macro.event import transform_event as handler

__all__ = ["handler"]
