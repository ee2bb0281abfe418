# ruff: noqa: N802, ARG002 - the protocol names the methods and gives each of them both arguments
"""Answers the engine's calls for the language Python, the service ``pulumirpc.LanguageRuntime``."""

import asyncio
import importlib.metadata
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NoReturn

import grpc
import grpc.aio
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from lab.errors import LabError
from lab.language_host import policies
from lab.language_host.answering import answer_until_ended
from lab.language_host.children import HERE, Children, output
from lab.language_host.generate import generate
from lab.language_host.interpreter import Interpreter, direct_dependencies, installation, interpreter_of
from lab.language_host.pcl import PclError
from lab.language_host.program import ERROR_SHOWN

Context = grpc.aio.ServicerContext[Any, Any]

DEFAULT = Path(sys.executable)
"""The Python of projects that name none."""


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """The Python language runtime.

    Args:
        engine: Address of the engine; empty until the handshake where a developer attached the engine to this host.
    """

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._children = Children()
        self._programs = Children()
        self._cancelled = False

    async def close(self) -> None:
        """End every child."""
        await asyncio.gather(self._programs.end_all(), self._children.end_all())

    async def Handshake(
        self, request: language_pb2.LanguageHandshakeRequest, context: Context
    ) -> language_pb2.LanguageHandshakeResponse:
        """Learn the engine's address."""
        self._engine = request.engine_address
        return language_pb2.LanguageHandshakeResponse()

    async def GetPluginInfo(self, request: empty_pb2.Empty, context: Context) -> plugin_pb2.PluginInfo:
        """The version of the SDK, which the official host shares."""
        return plugin_pb2.PluginInfo(version=importlib.metadata.version("pulumi"))

    async def Run(self, request: language_pb2.RunRequest, context: Context) -> language_pb2.RunResponse:
        """Run a program once, for a preview or an update."""
        interpreter = await self._interpreter(request.info, context)
        settings = {
            "monitor": request.monitor_address,
            "engine": self._engine,
            "project": request.project,
            "stack": request.stack,
            "organization": request.organization,
            "root_directory": request.info.root_directory,
            "parallel": request.parallel,
            "dry_run": request.dryRun,
        }
        task = {
            "folder": request.pwd or request.info.program_directory,
            "program": request.info.entry_point,
            "arguments": list(request.args),
            "root": request.info.root_directory,
            "settings": settings,
        }
        environment = os.environ | {
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        }
        arguments = (str(HERE / "program.py"), json.dumps(task))
        async with self._programs.start(interpreter, *arguments, environment=environment) as process:
            code = await process.wait()
        if code == ERROR_SHOWN or self._cancelled:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=f"program exited with non-zero exit code: {code}" if code else "")

    async def RunPlugin(
        self, request: language_pb2.RunPluginRequest, context: Context
    ) -> AsyncIterator[language_pb2.RunPluginResponse]:
        """Run a policy pack, or a provider given as source code, giving what it writes."""
        interpreter = await self._interpreter(request.info, context)
        environment = dict(variable.split("=", 1) for variable in request.env)
        if request.kind == "analyzer":
            async for response in policies.run_pack(request, interpreter, environment, self._children):
                yield response
            return
        arguments = (request.info.program_directory, *request.args)
        async with self._children.start(
            interpreter, *arguments, folder=request.pwd, environment=environment, piped=True
        ) as process:
            async for written in output(process):
                yield language_pb2.RunPluginResponse(**written)
            yield language_pb2.RunPluginResponse(exitcode=await process.wait())

    async def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        """End the programs that run. Policy packs and providers end with the calls that started them."""
        self._cancelled = True
        await self._programs.end_all()
        return request

    async def GetRequiredPackages(
        self, request: language_pb2.GetRequiredPackagesRequest, context: Context
    ) -> language_pb2.GetRequiredPackagesResponse:
        """The plugins that the installed SDKs of providers ask for."""
        inventory = await self._inventory(await self._interpreter(request.info, context))
        response = language_pb2.GetRequiredPackagesResponse()
        for package in inventory["packages"]:
            plugin = package["plugin"]
            if plugin and plugin.get("resource"):
                wanted = {"version": package["version"], **plugin, "kind": "resource"}
                json_format.ParseDict(wanted, response.packages.add(), ignore_unknown_fields=True)
        return response

    async def About(self, request: language_pb2.AboutRequest, context: Context) -> language_pb2.AboutResponse:
        """The interpreter, for ``pulumi about``."""
        inventory = await self._inventory(await self._interpreter(request.info, context))
        return language_pb2.AboutResponse(executable=inventory["executable"], version=inventory["python"])

    async def GetProgramDependencies(
        self, request: language_pb2.GetProgramDependenciesRequest, context: Context
    ) -> language_pb2.GetProgramDependenciesResponse:
        """The installed packages, for ``pulumi about``."""
        inventory = await self._inventory(await self._interpreter(request.info, context))
        packages = inventory["packages"] if request.transitiveDependencies else direct_dependencies(inventory)
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[
                language_pb2.DependencyInfo(name=package["name"], version=package["version"]) for package in packages
            ]
        )

    async def InstallDependencies(
        self, request: language_pb2.InstallDependenciesRequest, context: Context
    ) -> AsyncIterator[language_pb2.InstallDependenciesResponse]:
        """Make the project's virtual environment and install its dependencies, for ``pulumi install``."""
        try:
            steps = installation(request.info, DEFAULT)
        except LabError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        for interpreter, arguments in steps:
            async with self._children.start(
                interpreter, *arguments, folder=request.info.program_directory, piped=True
            ) as process:
                async for written in output(process):
                    yield language_pb2.InstallDependenciesResponse(**written)
                code = await process.wait()
            if code:
                await context.abort(
                    grpc.StatusCode.ABORTED, f"python {' '.join(arguments)} ended with exit code {code}."
                )

    async def GenerateProgram(
        self, request: language_pb2.GenerateProgramRequest, context: Context
    ) -> language_pb2.GenerateProgramResponse:
        """Write imported resources as Python, for ``pulumi import``."""
        try:
            program = generate("\n".join(request.source.values()))
        except PclError as error:
            await context.abort(
                grpc.StatusCode.UNIMPLEMENTED,
                f"This language host cannot write the resources as Python: {error}. What was imported is in the state; "
                "import with --generate-code=false and write the code by hand.",
            )
        return language_pb2.GenerateProgramResponse(source={"__main__.py": program.encode()})

    async def _refuse(self, request: Any, context: Context) -> NoReturn:
        await context.abort(
            grpc.StatusCode.UNIMPLEMENTED,
            "This takes the official Python language host, which comes with Pulumi's installer.",
        )

    # Converting programs and making SDKs is work for whoever publishes packages, not for running programs.
    GeneratePackage = GenerateProject = Link = Pack = _refuse

    async def _interpreter(self, info: language_pb2.ProgramInfo, context: Context) -> Interpreter:
        try:
            return interpreter_of(info, DEFAULT)
        except LabError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))

    async def _inventory(self, interpreter: Interpreter) -> dict[str, Any]:
        async with self._children.start(interpreter, str(HERE / "inventory.py"), piped=True) as process:
            lines = b"".join([written.get("stdout", b"") async for written in output(process)])
        inventory: dict[str, Any] = json.loads(lines)
        return inventory


async def serve(engine: str) -> None:
    """Answer calls until the engine ends this process or is gone."""
    host = LanguageHost(engine)
    await answer_until_ended(
        lambda server: language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server), host.close
    )
