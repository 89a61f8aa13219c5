"""HTTP/1.1 for a server on the loopback: just enough of it, and fast, so that the server is not what is measured."""

from __future__ import annotations

import asyncio
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

JSON = "application/x-amz-json-1.1"
_END_OF_HEAD = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Request:
    """A request, its headers' names in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """What to answer, and after how many seconds."""

    status: int = 200
    body: bytes = b"{}"
    kind: str = JSON
    delay: float = 0.0


class Connection(asyncio.Protocol):
    """One client's connection: one request after the other, each answered by a plain function.

    Nothing waits while an answer is delayed: other connections go on.
    """

    def __init__(self, answer: Callable[[Request], Response]) -> None:
        self._answer = answer
        self._received = b""
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment] # a stream's, which can be written to

    def data_received(self, data: bytes) -> None:
        self._received += data
        while request := self._next():
            try:
                response = self._answer(request)
            except Exception:  # noqa: BLE001 (a defect of the server must not look like a hanging network)
                traceback.print_exc(file=sys.stderr)
                response = Response(500)
            if response.delay:
                asyncio.get_running_loop().call_later(response.delay, self._send, response)
            else:
                self._send(response)

    def _next(self) -> Request | None:
        """The next request that has come as a whole."""
        head, found, rest = self._received.partition(_END_OF_HEAD)
        if not found:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return None
        self._received = rest[length:]
        method, path, _ = first.split(" ", 2)
        return Request(method, path, headers, rest[:length])

    def _send(self, response: Response) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        head = f"HTTP/1.1 {response.status} -\r\ncontent-type: {response.kind}\r\ncontent-length: {len(response.body)}"
        self._transport.write(head.encode() + _END_OF_HEAD + response.body)
