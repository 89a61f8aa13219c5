"""The AWS emulator, corrected where it is more lenient than AWS: `python server.py PORT`, see `control.Emulator`."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import threading
from base64 import urlsafe_b64decode as b64decode
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Scope = dict[str, Any]
    Message = dict[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

sys.path[0] = str(Path(__file__).resolve().parents[3])  # The repository, not this folder.

from hypercorn.asyncio import serve  # noqa: E402
from hypercorn.config import Config  # noqa: E402
from ministack import app as gateway  # noqa: E402
from ministack.core import hypercorn_compat  # noqa: E402

from tests.support.emulator import (  # noqa: E402
    answers,
    attributes,
    callers,
    calls,
    cloudcontrol,
    cloudformation,
    conditions,
    custom_resources,
    exports,
    iam,
    late,
    layers,
    macros,
    naming,
    nested,
    operations,
    paging,
    ssm_guard,
    stack_permissions,
    tagging,
    throttle,
    wrong,
)

_WRONG_LIMIT = 4000


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Our own routes, and the check of custom resources' answers; all else is the emulator's."""
    path = scope.get("path", "")
    if path.startswith("/_strongref/"):
        await _respond(send, 200, _own(path))
    elif scope["type"] == "http" and scope["method"] == "PUT" and path.startswith(answers.PATH):
        await _answer(scope, receive, send)
    else:
        await gateway.app(scope, receive, send)


_ROUTES: dict[str, Callable[..., object]] = {
    "answers": lambda given: answers.recorded(*json.loads(b64decode(given))),
    "calls": calls.counts,
    "reset-calls": calls.reset,
    "quotas": throttle.limit,
    "throttled": throttle.throttled,
    "lag": late.lag,
    "wrong": wrong.switch,
    "parameters": ssm_guard.parameters,
    "in-progress": lambda given: custom_resources.show(*json.loads(b64decode(given))),
    "at-rest": lambda given: custom_resources.hide(*json.loads(b64decode(given))),
}
"""Our own, by the first segment of the path; the others are arguments."""


def _own(path: str) -> object:
    name, *given = path.removeprefix("/_strongref/").split("/")
    return _ROUTES[name](*given)


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    token = scope["path"].rpartition("|")[2].removeprefix(answers.PATH)  # of `custom_resources.response_url`
    if len(body) > _WRONG_LIMIT and wrong.is_wrong("response-size", "".join(scope["path"].split(":")[4:5])):
        failed = {**json.loads(body), "Status": "FAILED", "Reason": "Response object is too long.", "Data": {}}
        body = json.dumps(failed).encode().ljust(len(body))
    if not answers.take(token, body):
        await _respond(send, 400, {"error": "the answer is too large"})
        return

    async def replay() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    await gateway.app({**scope, "path": f"{answers.PATH}{token}"}, replay, send)


async def _respond(send: Send, status: int, content: object) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(content).encode()})


def _end_with_last_user() -> None:
    """Leave nothing behind when nobody holds the lifeline any more, see `control.Emulator`."""
    lifeline = Path(os.environ["TMPDIR"], "lifeline")
    closed = lifeline.with_suffix(".closed")
    while not os.read(0, 1):  # This returns when the last writing end closes, or when `control.Emulator.stop` writes.
        lifeline.rename(closed)  # From here on nobody can join,
        if not _is_held():
            break
        closed.rename(lifeline)  # and somebody has since the last one left.
    try:
        shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
        _end_functions()
    finally:
        os.killpg(os.getpgrp(), signal.SIGKILL)


def _is_held() -> bool:
    """Whether anybody has the writing end of the lifeline open."""
    os.set_blocking(0, False)
    try:
        return bool(os.read(0, 1))
    except BlockingIOError:
        return True
    finally:
        os.set_blocking(0, True)


def _end_functions() -> None:
    """End the functions and wait for them, so that their CPU time counts as this process's. Needs /proc."""
    children = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    for child in map(int, chain(*children)):
        with suppress(ProcessLookupError, ChildProcessError):  # The thread that started it has waited for it.
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def main(port: int) -> None:
    """Serve on the loopback interface until stopped."""
    threading.Thread(target=_end_with_last_user, daemon=True).start()
    for part in (
        wrong,
        late,
        iam,
        paging,
        ssm_guard,
        cloudcontrol,
        tagging,
        calls,
        throttle,
        callers,
        cloudformation,
        conditions,
        custom_resources,
        exports,
        operations,
        nested,
        macros,
        stack_permissions,
        naming,
        attributes,
        layers,
    ):
        part.install()
    hypercorn_compat.install()
    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.keep_alive_timeout = 75
    config.include_date_header = False  # `wrong` sets it.
    asyncio.run(serve(app, config))  # type: ignore[arg-type, unused-ignore]


if __name__ == "__main__":
    main(int(sys.argv[1]))
