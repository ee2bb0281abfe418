"""How a plugin of the engine runs: gRPC on a free port of loopback, until the engine ends it or is gone."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

import grpc.aio

from lab.language_host.channels import LOOPBACK, OPTIONS


async def answer_until_ended(
    register: Callable[[grpc.aio.Server], None], close: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Answer calls on a free port, printed as the first line, until the engine ends this process or is gone.

    Args:
        register: Adds what answers to the server.
        close: Ends what the plugin started, while it still answers.
    """
    server = grpc.aio.server(options=OPTIONS)
    register(server)
    port = server.add_insecure_port(LOOPBACK)
    await server.start()
    asked_to_end = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, asked_to_end.set)
    starter = os.getppid()
    print(port, flush=True)  # noqa: T201 - how the engine learns the port
    while os.getppid() == starter and not asked_to_end.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(asked_to_end.wait(), timeout=1)
    if close is not None:
        await close()
    await server.stop(grace=None)
