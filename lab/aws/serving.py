"""Runs a provider's process: gRPC on a free port of loopback, until the engine ends it or is gone."""

import asyncio
import os
import signal
from contextlib import suppress

import grpc.aio
from pulumi.runtime.proto import provider_pb2_grpc

from lab.language_host.channels import LOOPBACK, OPTIONS


async def serve(provider: provider_pb2_grpc.ResourceProviderServicer) -> None:
    """Answer calls on a free port, printed as the first line."""
    server = grpc.aio.server(options=OPTIONS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
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
    await server.stop(grace=None)
