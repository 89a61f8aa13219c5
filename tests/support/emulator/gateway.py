"""What stands before the emulator's services: around one service's handler, or around every request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ministack import app

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Response = tuple[int, dict[str, str], bytes]


class Request(NamedTuple):
    """A request as the emulator hands it on."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    query: dict[str, list[str]]


if TYPE_CHECKING:
    Serve = Callable[[Request], Awaitable[Response]]
    Wrapper = Callable[[Request, Serve], Awaitable[Response]]


def around_service(service: str, wrapper: Wrapper) -> None:
    """Have a service's authorized requests go through `wrapper`, which may serve them as they were served before."""
    original = app.SERVICE_HANDLERS[service]

    async def serve(request: Request) -> Response:
        answer: Response = await original(*request)
        return answer

    async def handler(*request: object) -> Response:
        return await wrapper(Request._make(request), serve)

    app.SERVICE_HANDLERS[service] = handler


def around_requests(wrapper: Wrapper) -> None:
    """Have every request go through `wrapper`, before it is authorized."""
    original = app._dispatch_service_request

    async def dispatch(*given: object) -> Response:
        *request, request_id = given

        async def serve(request: Request) -> Response:
            answer: Response = await original(*request, request_id)
            return answer

        return await wrapper(Request._make(request), serve)

    app._dispatch_service_request = dispatch
