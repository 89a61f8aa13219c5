"""A stand-in for CloudFormation's response URL, for functions that a test invokes itself."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Listener:
    """A response URL, and the bodies that were PUT there."""

    url: str
    bodies: list[bytes] = field(default_factory=list)


@contextmanager
def listening(status: int = 200) -> Iterator[Listener]:
    """Listen on the loopback interface, and answer each PUT with that status."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing: the tests' output is pytest's."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield Listener(f"http://127.0.0.1:{server.server_port}/answer?X-Amz-Signature=secret", bodies)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
