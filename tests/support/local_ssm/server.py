"""The local service as a process: prints its port, and ends when the process that started it does.

python -m tests.support.local_ssm.server < pipe
"""

from __future__ import annotations

import asyncio
import sys

from tests.support.local_ssm.service import Service
from tests.support.local_ssm.wire import Connection


async def serve() -> None:
    """Serve until the standard input, which nobody writes to, is closed."""
    loop = asyncio.get_running_loop()
    service = Service()
    server = await loop.create_server(lambda: Connection(service.answer), "127.0.0.1", 0, backlog=2048)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    ended = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
