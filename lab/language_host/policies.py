# ruff: noqa: ARG002 - gRPC gives every method both arguments
"""Runs a policy pack, standing between the engine and the pack.

A pack learns its stack, project and configuration from the environment, when it starts. The engine tells them by a call
to the running analyzer. So a proxy takes the engine's first calls, the pack is started with what they said, and from
then on everything is passed through.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from typing import Any

import grpc
import grpc.aio
from pulumi.runtime.proto.analyzer_pb2 import AnalyzerStackConfigureRequest
from pulumi.runtime.proto.language_pb2 import RunPluginRequest, RunPluginResponse

from lab.language_host.channels import LOOPBACK, OPTIONS
from lab.language_host.children import Children, output
from lab.language_host.interpreter import Interpreter

Context = grpc.aio.ServicerContext[Any, Any]

HANDSHAKE = "/pulumirpc.Analyzer/Handshake"
CONFIGURE_STACK = "/pulumirpc.Analyzer/ConfigureStack"

PORT = re.compile(rb"^(\d+)\r?\n", re.MULTILINE)


async def run_pack(
    request: RunPluginRequest, interpreter: Interpreter, environment: dict[str, str], children: Children
) -> AsyncIterator[RunPluginResponse]:
    """Run a pack until it ends, giving what it writes; the first line is the port that the engine is to call."""
    proxy = PolicyProxy()
    server = grpc.aio.server(options=OPTIONS)
    server.add_generic_rpc_handlers([proxy])
    port = server.add_insecure_port(LOOPBACK)
    await server.start()
    folder = request.info.program_directory
    try:
        yield RunPluginResponse(stdout=f"{port}\n".encode())
        environment = environment | stack_variables(await proxy.stack())
        arguments = ("-m", "pulumi.policy", *request.args, folder)
        async with children.start(
            interpreter, *arguments, folder=folder, environment=environment, piped=True
        ) as process:
            early = b""  # what the pack writes up to its port, which is a line of digits
            async for written in output(process):
                if "stdout" not in written or proxy.attached:
                    yield RunPluginResponse(**written)
                    continue
                early += written["stdout"]
                if port_line := PORT.search(early):
                    await proxy.attach(int(port_line[1]))
                    yield RunPluginResponse(stdout=early.replace(port_line[0], b"", 1))
            if not proxy.attached:
                yield RunPluginResponse(stdout=early)
            code = await process.wait()
        proxy.fail(
            f"The policy pack in {folder} ended with exit code {code}; its output says why. "
            "If a package is missing, run `pulumi install` in that folder."
            if code
            else f"The policy pack in {folder} has no policies: its program ended without making a PolicyPack."
        )
        yield RunPluginResponse(exitcode=code)
    finally:
        await proxy.close()
        await server.stop(grace=None)


def stack_variables(stack: AnalyzerStackConfigureRequest | None) -> dict[str, str]:
    """The environment by which a pack knows its stack; empty if it runs for none, as when it is published."""
    if stack is None:
        return {}
    variables = {
        "PULUMI_ORGANIZATION": stack.organization,
        "PULUMI_PROJECT": stack.project,
        "PULUMI_STACK": stack.stack,
        "PULUMI_DRY_RUN": str(stack.dry_run).lower(),
        "PULUMI_CONFIG": json.dumps(dict(stack.config)),
    }
    return {name: value for name, value in variables.items() if value}


class PolicyProxy(grpc.GenericRpcHandler):
    """The analyzer that the engine calls: answers what comes before the pack runs, passes on the rest as it is."""

    def __init__(self) -> None:
        self._stack: AnalyzerStackConfigureRequest | None = None
        self._stack_known = asyncio.Event()
        self._channel: grpc.aio.Channel | None = None
        self._settled = asyncio.Event()
        self._failure = ""

    @property
    def attached(self) -> bool:
        """Whether the pack has given its port."""
        return self._channel is not None

    async def stack(self) -> AnalyzerStackConfigureRequest | None:
        """The stack that the engine works on, once the engine has said so or wants the pack without one."""
        await self._stack_known.wait()
        return self._stack

    async def attach(self, port: int) -> None:
        """Pass calls on to the pack that listens on a port of loopback."""
        self._channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=OPTIONS)
        if self._stack:
            # For what the environment does not tell, such as the tags. Packs of older SDKs do not know the call.
            configure: grpc.aio.UnaryUnaryMultiCallable[Any, Any] = self._channel.unary_unary(CONFIGURE_STACK)
            with suppress(grpc.aio.AioRpcError):
                await configure(self._stack.SerializeToString())
        self._settled.set()

    def fail(self, sentence: str) -> None:
        """Answer every call with this error from now on."""
        self._failure = sentence
        self._settled.set()

    async def close(self) -> None:
        """Hang up."""
        if self._channel:
            await self._channel.close()

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        """Choose what answers a call. Messages stay bytes, so methods that are not known here pass as well."""
        method = handler_call_details.method
        own = {HANDSHAKE: self._handshake, CONFIGURE_STACK: self._configure_stack}
        return grpc.unary_unary_rpc_method_handler(own.get(method) or partial(self._pass_on, method))

    async def _handshake(self, request: bytes, context: Context) -> bytes:
        return b""  # nothing to agree on

    async def _configure_stack(self, request: bytes, context: Context) -> bytes:
        self._stack = AnalyzerStackConfigureRequest.FromString(request)
        self._stack_known.set()
        return b""

    async def _pass_on(self, method: str, request: bytes, context: Context) -> bytes:
        self._stack_known.set()
        await self._settled.wait()
        if self._failure or not self._channel:
            await context.abort(grpc.StatusCode.UNAVAILABLE, self._failure)
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(method)
        try:
            return await call(request)
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "")
