"""Makes the AWS CLI look each second whether a stack is ready, not each 30, and for as long: an emulator is quick."""

from botocore.waiter import Waiter

_wait = Waiter.wait


def _impatient(self: Waiter, **arguments: object) -> None:
    _wait(self, **arguments | {"WaiterConfig": {"Delay": 1, "MaxAttempts": 3600}})


Waiter.wait = _impatient  # type: ignore[method-assign]
