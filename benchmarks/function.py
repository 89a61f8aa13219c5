"""A Lambda function in Python as a process of its own: a script that imports nothing before it is told what.

    python function.py exporter|importer|boto3|botocore|bare FD

Events come as lines of JSON on the standard input. `ready`, and then what came of each event, goes as a line of JSON to
the file descriptor FD, since whatever a handler logs goes to the standard output.
"""

import os
import sys

TYPE_CHECKING = False  # typing itself would be imported
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from strongref.untyped import Untyped

    Handler = Callable[[Any, Any], Any]

SECONDS = 900
"""Of an invocation, as in template.yaml."""


class Context:
    """As much of Lambda's context as a handler uses."""

    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def __init__(self, function: str) -> None:
        import time  # noqa: PLC0415 (what is not needed to be ready is not part of that)

        self.invoked_function_arn = function
        self._now = time.monotonic
        self._ends = time.monotonic() + SECONDS

    def get_remaining_time_in_millis(self) -> int:
        return int((self._ends - self._now()) * 1000)


def load(what: str) -> "Handler":
    """What carries events out: `handler(event, context)`."""
    if what in {"exporter", "importer"}:
        import app  # type: ignore[import-not-found] # noqa: PLC0415 (the function's folder is on the path)

        handler: Handler = app.handler
        return handler
    if what == "boto3":
        import boto3  # noqa: PLC0415

        return call(boto3.client("ssm", region_name="us-east-1"))
    if what == "botocore":
        import botocore.session  # noqa: PLC0415

        return call(botocore.session.get_session().create_client("ssm", region_name="us-east-1"))
    return lambda _event, _context: None


def call(client: "Untyped") -> "Handler":
    """What makes one call, whatever the event."""
    return lambda _event, _context: client.put_parameter(Name="/bare", Type="String", Value="1", Overwrite=True)


def main() -> None:
    what, report = sys.argv[1], int(sys.argv[2])
    handler = load(what)
    os.write(report, b'{"ready": true}\n')
    import json  # noqa: PLC0415
    import time  # noqa: PLC0415

    for line in sys.stdin:
        event = json.loads(line)
        began, busy = time.monotonic(), time.process_time()
        error = None
        try:
            handler(event, Context(event.get("ServiceToken", "")))
        except Exception as failed:  # noqa: BLE001 (as Lambda does: it is told, and the function goes on)
            error = type(failed).__name__
        seconds, cpu = time.monotonic() - began, time.process_time() - busy
        found = {"seconds": seconds, "cpu_seconds": cpu, "error": error, "peak_kb": _peak()}
        os.write(report, json.dumps(found).encode() + b"\n")


def _peak() -> int:
    """The most memory that was ever in use; that of the process which started this one is no part of it on Linux."""
    if os.path.exists("/proc/self/status"):  # noqa: PTH110 (pathlib is half of what a bare Python takes)
        with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    import resource  # noqa: PLC0415

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


if __name__ == "__main__":
    main()
