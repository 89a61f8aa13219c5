"""The janitor: the Lambda handler."""

from strongref.runtime.wiring import janitor

handler = janitor()
