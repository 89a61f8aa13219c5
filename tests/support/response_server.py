"""Where CloudFormation waits for an answer: a real HTTP server on a free port; and what Lambda calls a handler with."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal, Self

from aws_lambda_powertools.utilities.typing import LambdaContext

from tests.support.waiting import GIVE_UP_SECONDS

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

Act = int | Literal["hang", "close"]
"""A status to answer with; or to keep silent, or to hang up, once the request was read."""

SIGNATURE = "PRESIGNED"
"""In every URL: it must turn up nowhere but in a request."""


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def answer(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


FUNCTION = "arn:aws:lambda:us-east-1:111111111111:function:strongref-Importer-1"


class FakeContext(LambdaContext):
    """Lambda's, with so many seconds left."""

    def __init__(self, seconds: float = 900.0) -> None:
        self._aws_request_id = "function-request"
        self._invoked_function_arn = FUNCTION
        ends = time.monotonic() + seconds
        self.get_remaining_time_in_millis = lambda: int((ends - time.monotonic()) * 1000)  # type: ignore[method-assign]


class ResponseServer:
    """Records requests. Acts by `script`, one entry a request; then, and without one, answers 200."""

    def __init__(self, *script: Act, tls: ssl.SSLContext | None = None) -> None:
        self.received: list[Received] = []
        self._script = list(script)
        self._scheme = "https" if tls else "http"
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign] # a client may hang up
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """A URL with a signature, as CloudFormation's have."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}/answer?X-Amz-Signature={SIGNATURE}"

    @property
    def answers(self) -> list[dict[str, Any]]:
        return [each.answer for each in self.received]

    def then(self, *script: Act) -> None:
        """What to do next."""
        self._script += script

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                server.received.append(Received("PUT", self.path, dict(self.headers), body))
                act = server._script.pop(0) if server._script else 200
                if act == "hang":
                    server._closing.wait(GIVE_UP_SECONDS)
                elif act != "close":
                    self.send_response(act)
                    self.send_header("content-length", "0")
                    if 300 <= act < 400:
                        self.send_header("location", server.url)
                    self.end_headers()
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
