# ruff: noqa: N802, ARG002 - the protocol names the methods and gives each of them both arguments
"""The language host as the engine sees it: its own process, called over gRPC, with a stand-in for the engine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import psutil
import pytest
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import (
    analyzer_pb2,
    analyzer_pb2_grpc,
    engine_pb2,
    engine_pb2_grpc,
    language_pb2,
    language_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
)

from lab.language_host.install import install

PATIENCE = 20
"""Seconds after which something that must happen counts as not happening."""


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


class Engine(engine_pb2_grpc.EngineServicer, resource_pb2_grpc.ResourceMonitorServicer):
    """Takes what a program registers and logs."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.outputs: dict[str, Any] = {}
        self.resources: list[str] = []
        self.hung_up = False
        self.refusal: tuple[grpc.StatusCode, str] | None = None

    def Log(self, request: engine_pb2.LogRequest, context: Any) -> empty_pb2.Empty:
        if self.hung_up:
            context.abort(grpc.StatusCode.UNAVAILABLE, "the engine has hung up")
        if request.severity == engine_pb2.ERROR:
            self.errors.append(request.message)
        return empty_pb2.Empty()

    def SupportsFeature(self, request: Any, context: Any) -> resource_pb2.SupportsFeatureResponse:
        return resource_pb2.SupportsFeatureResponse(hasSupport=request.id == "secrets")

    def RegisterResource(
        self, request: resource_pb2.RegisterResourceRequest, context: Any
    ) -> resource_pb2.RegisterResourceResponse:
        if self.refusal and request.type != "pulumi:pulumi:Stack":
            context.abort(*self.refusal)
        self.resources.append(f"{request.type} {request.name}")
        return resource_pb2.RegisterResourceResponse(urn=f"urn:pulumi:dev::p::{request.type}::{request.name}")

    def RegisterResourceOutputs(
        self, request: resource_pb2.RegisterResourceOutputsRequest, context: Any
    ) -> empty_pb2.Empty:
        self.outputs.update(json_format.MessageToDict(request.outputs))
        return empty_pb2.Empty()

    def SignalAndWaitForShutdown(self, request: Any, context: Any) -> empty_pb2.Empty:
        return empty_pb2.Empty()


class Host:
    """The running host, its engine, and a project for it to run."""

    def __init__(self, process: subprocess.Popen[str], engine: Engine, address: str, root: Path) -> None:
        assert process.stdout
        self.process = process
        self.engine = engine
        self.address = address
        self.root = root
        self.port = int(process.stdout.readline())
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.port}")
        self.calls = language_pb2_grpc.LanguageRuntimeStub(self.channel)

    def info(self, **options: str) -> language_pb2.ProgramInfo:
        settings = struct_pb2.Struct()
        settings.update(options)
        return language_pb2.ProgramInfo(
            root_directory=str(self.root), program_directory=str(self.root), entry_point=".", options=settings
        )

    def request(self, program: str, **more: Any) -> language_pb2.RunRequest:
        (self.root / "__main__.py").write_text(program)
        return language_pb2.RunRequest(
            project="p",
            stack="dev",
            organization="us",
            pwd=str(self.root),
            parallel=4,
            monitor_address=self.address,
            **{"info": self.info(), **more},
        )

    def run(self, program: str, **more: Any) -> language_pb2.RunResponse:
        response: language_pb2.RunResponse = self.calls.Run(self.request(program, **more), timeout=PATIENCE)
        return response

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self) -> str:
        """What the host and its programs wrote after the port."""
        self.process.send_signal(signal.SIGINT)
        written, _ = self.process.communicate(timeout=PATIENCE)
        return written


@pytest.fixture(scope="session")
def executable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("it's a folder"), Path(sys.executable))


@pytest.fixture
def engine() -> Iterator[tuple[Engine, str]]:
    servicer = Engine()
    server = grpc.server(futures.ThreadPoolExecutor(8))
    engine_pb2_grpc.add_EngineServicer_to_server(servicer, server)
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield servicer, f"127.0.0.1:{port}"
    server.stop(grace=None).wait()


@pytest.fixture
def start(executable: Path, engine: tuple[Engine, str], tmp_path: Path) -> Iterator[Callable[..., Host]]:
    """Starts the host with given arguments."""
    hosts: list[Host] = []
    root = tmp_path / "project"
    root.mkdir()

    def start(*arguments: str) -> Host:
        process = subprocess.Popen(
            [executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=tmp_path,
            start_new_session=True,
        )
        hosts.append(Host(process, *engine, root))
        return hosts[-1]

    yield start
    for host in hosts:
        host.channel.close()
        with host.process:
            host.process.kill()


@pytest.fixture
def host(start: Callable[..., Host], engine: tuple[Engine, str]) -> Host:
    return start("--logtostderr", "-v=9", engine[1])


def test_the_host_ends_without_a_word_when_it_is_interrupted(host: Host) -> None:
    assert (host.end(), host.process.returncode) == ("", 0)


def test_a_program_sees_its_stack_its_configuration_and_what_is_secret(host: Host) -> None:
    program = """
import os, sys, pulumi
import helper
config = pulumi.Config()
pulumi.export("config", [config.require("plain"), config.require_secret("hidden")])
pulumi.export("place", [pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack(), helper.NAME])
pulumi.export("run", [pulumi.runtime.is_dry_run(), sys.argv, sys.stdin.read()])
pulumi.ComponentResource("lws:index:Thing", "thing")
print("said in passing")
"""
    (host.root / "helper.py").write_text("NAME = 'of the project'\n")
    response = host.run(
        program, config={"p:plain": "one", "p:hidden": "two"}, configSecretKeys=["p:hidden"], dryRun=True, args=["x"]
    )
    assert response == language_pb2.RunResponse()
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "two"}
    assert host.engine.outputs == {
        "config": ["one", secret],
        "place": ["us", "p", "dev", "of the project"],
        "run": [True, [".", "x"], ""],
    }
    assert host.engine.resources == ["pulumi:pulumi:Stack p-dev", "lws:index:Thing thing"]
    assert host.end() == "said in passing\n"


def test_secrets_are_not_on_the_command_line(host: Host) -> None:
    program = "import pulumi; pulumi.export('line', open('/proc/self/cmdline').read())"
    host.run(program, config={"p:hidden": "swordfish"}, configSecretKeys=["p:hidden"])
    assert "swordfish" not in host.engine.outputs["line"]
    assert "program.py" in host.engine.outputs["line"]


def test_the_modules_of_the_host_are_not_in_the_way_of_the_programs(host: Host) -> None:
    assert host.run("import policies").bail
    assert host.engine.errors[0].endswith("ModuleNotFoundError: No module named 'policies'\n")


def test_a_run_error_is_shown_once_as_one_line(host: Host) -> None:
    response = host.run("import pulumi\nraise pulumi.RunError('replicas: found 3; use 2')\n")
    assert response == language_pb2.RunResponse(bail=True)
    assert host.engine.errors == ["replicas: found 3; use 2"]
    assert host.end() == ""


def test_any_other_error_is_shown_once_with_the_users_frames_only(host: Host) -> None:
    response = host.run("def apply():\n    raise ValueError('bad')\napply()\n")
    assert response == language_pb2.RunResponse(bail=True)
    program = host.root / "__main__.py"
    (shown,) = host.engine.errors
    assert shown == (
        "Program failed with an unhandled exception:\n"
        "Traceback (most recent call last):\n"
        f'  File "{program}", line 3, in <module>\n'
        "    apply()\n"
        f'  File "{program}", line 2, in apply\n'
        "    raise ValueError('bad')\n"
        "ValueError: bad\n"
    )
    assert host.end() == ""


@pytest.mark.parametrize("error", ["pulumi.RunError('x')", "ValueError('x')"])
def test_a_program_that_fails_because_the_engine_has_hung_up_says_nothing(host: Host, error: str) -> None:
    host.engine.hung_up = True
    assert host.run(f"import pulumi\nraise {error}\n") == language_pb2.RunResponse(bail=True)
    assert host.end() == ""


@pytest.mark.parametrize(
    "refusal",
    [
        (grpc.StatusCode.UNKNOWN, "context canceled"),
        (grpc.StatusCode.UNKNOWN, "failed to run policy: context canceled"),
        (grpc.StatusCode.UNKNOWN, "resource monitor shut down"),
        (grpc.StatusCode.UNAVAILABLE, "resource monitor shut down while waiting on step's done channel"),
    ],
    ids=["cancelled", "cancelled in a policy", "shut down", "unavailable"],
)
def test_a_program_whose_update_the_engine_has_ended_says_nothing_more(
    host: Host, refusal: tuple[grpc.StatusCode, str]
) -> None:
    host.engine.refusal = refusal
    response = host.run("import pulumi\npulumi.ComponentResource('lws:index:Thing', 'thing')\n")
    assert response == language_pb2.RunResponse(bail=True)
    assert host.engine.errors == []
    assert host.end() == ""


def test_any_other_refusal_of_the_engine_is_shown(host: Host) -> None:
    host.engine.refusal = (grpc.StatusCode.UNKNOWN, "the type token is malformed")
    host.run("import pulumi\npulumi.ComponentResource('lws:index:Thing', 'thing')\n")
    (shown,) = host.engine.errors
    assert shown.endswith("Exception: the type token is malformed\n")


def test_a_folder_without_a_program_is_named(host: Host) -> None:
    request = host.request("")
    (host.root / "__main__.py").unlink()
    assert host.calls.Run(request) == language_pb2.RunResponse(bail=True)
    assert host.engine.errors == [f"There is no program: {host.root} holds no __main__.py."]


@pytest.mark.parametrize(
    ("program", "code"),
    [("import sys; sys.exit(7)", 7), ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9)],
)
def test_a_program_that_does_not_end_well_is_reported_by_its_exit_code(host: Host, program: str, code: int) -> None:
    assert host.run(program).error == f"program exited with non-zero exit code: {code}"


def test_a_program_runs_with_the_python_of_its_virtualenv(host: Host) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", host.root / "env"], check=True)
    (packages,) = (host.root / "env").glob("lib/*/site-packages")
    (packages / "sdk.pth").write_text(str(Path(grpc.__file__).parent.parent))
    program = "import os, sys, pulumi; pulumi.export('env', [sys.prefix, os.environ['VIRTUAL_ENV']])"
    assert host.run(program, info=host.info(virtualenv="env")) == language_pb2.RunResponse()
    assert host.engine.outputs == {"env": [str(host.root / "env")] * 2}


def test_a_virtualenv_without_the_sdk_is_told_how_to_get_it(host: Host) -> None:
    env = host.root / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    response = host.run("", info=host.info(virtualenv="env"))
    assert response.error == "program exited with non-zero exit code: 1"
    assert host.end() == (
        f"The Python environment {env} has no package pulumi. "
        "Name it in the dependencies of the project and run `pulumi install`.\n"
    )


def test_a_missing_virtualenv_fails_every_call_in_the_same_words(host: Host) -> None:
    info = host.info(virtualenv="env")
    calls: list[Callable[[], object]] = [
        lambda: host.run("", info=info),
        lambda: host.calls.GetRequiredPackages(language_pb2.GetRequiredPackagesRequest(info=info)),
        lambda: list(host.calls.RunPlugin(language_pb2.RunPluginRequest(info=info, kind="analyzer"))),
    ]
    expected = (
        f"The option 'virtualenv' of the project names {host.root}/env, which does not exist. "
        f"Run `pulumi install` in {host.root} to make it and install the dependencies."
    )
    for call in calls:
        with pytest.raises(grpc.RpcError) as caught:
            call()
        assert caught.value.details() == expected


SLEEPER = """
import subprocess, time
print("asleep")
subprocess.Popen(["sleep", "1000"])
time.sleep(1000)
"""


class Sleeping(NamedTuple):
    """A program that sleeps."""

    host: Host
    call: Any
    processes: list[psutil.Process]  # itself and the one that it started

    def wait_for_end(self) -> None:
        wait_until(lambda: not any(process.is_running() for process in self.processes))


@pytest.fixture
def sleeping(host: Host) -> Sleeping:
    call = host.calls.Run.future(host.request(SLEEPER))
    wait_until(lambda: [child for child in host.children() if child.name() == "sleep"])
    return Sleeping(host, call, host.children())


def test_cancel_ends_the_program_and_what_it_started(sleeping: Sleeping) -> None:
    sleeping.host.calls.Cancel(empty_pb2.Empty(), timeout=PATIENCE)
    assert sleeping.call.result(PATIENCE) == language_pb2.RunResponse(bail=True)
    sleeping.wait_for_end()
    assert sleeping.host.end() == "asleep\n"


def test_a_program_ends_with_the_call_that_started_it(sleeping: Sleeping) -> None:
    sleeping.call.cancel()
    sleeping.wait_for_end()


def test_a_program_ends_with_a_host_that_is_interrupted(sleeping: Sleeping) -> None:
    assert sleeping.host.end() == "asleep\n"
    sleeping.wait_for_end()


def test_a_program_ends_with_a_host_that_is_killed(sleeping: Sleeping) -> None:
    sleeping.host.process.kill()
    sleeping.wait_for_end()


def test_a_program_that_ignores_ctrl_c_is_killed(host: Host) -> None:
    stubborn = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN){SLEEPER}"
    call = host.calls.Run.future(host.request(stubborn))
    wait_until(lambda: [child for child in host.children() if child.name() == "sleep"])
    host.calls.Cancel(empty_pb2.Empty(), timeout=PATIENCE)
    assert call.result(PATIENCE).bail
    assert host.children() == []


def test_a_program_that_is_interrupted_while_it_clears_up_says_nothing(host: Host) -> None:
    program = """
import pathlib, threading, time
pathlib.Path("ended").touch()
threading.Thread(target=time.sleep, args=(1.5,)).start()
"""
    call = host.calls.Run.future(host.request(program), timeout=PATIENCE)
    wait_until((host.root / "ended").exists)
    time.sleep(0.7)  # what the SDK does after the program's own code
    host.calls.Cancel(empty_pb2.Empty(), timeout=PATIENCE)
    call.result()
    assert host.end() == ""


def test_the_host_ends_when_the_engine_is_gone(executable: Path) -> None:
    with subprocess.Popen(
        ["sh", "-c", '"$0" no-address & wait', executable], stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout
        assert int(starter.stdout.readline()) > 0
        (host,) = psutil.Process(starter.pid).children()
        starter.kill()
        wait_until(lambda: not host.is_running() or host.status() == psutil.STATUS_ZOMBIE)


def plugin_request(host: Host, folder: Path, kind: str) -> language_pb2.RunPluginRequest:
    info = language_pb2.ProgramInfo(root_directory=str(folder), program_directory=str(folder), entry_point=".")
    env = [f"{name}={value}" for name, value in os.environ.items()]
    return language_pb2.RunPluginRequest(
        pwd=str(host.root), args=[host.address], env=[*env, "TOLD=yes"], kind=kind, info=info
    )


def test_a_provider_given_as_source_runs_in_the_folder_of_the_project(host: Host, tmp_path: Path) -> None:
    folder = tmp_path / "provider"
    folder.mkdir()
    (folder / "words.py").write_text("WORD = 'word'\n")
    (folder / "__main__.py").write_text(
        "import os, sys, words\nprint(os.getcwd(), sys.argv[1:], os.environ['TOLD'], words.WORD)\n"
        "print('trouble', file=sys.stderr)\nsys.exit(3)\n"
    )
    responses = list(host.calls.RunPlugin(plugin_request(host, folder, "resource"), timeout=PATIENCE))
    assert b"".join(response.stdout for response in responses).decode() == (
        f"{host.root} ['{host.address}'] yes word\n"
    )
    assert b"".join(response.stderr for response in responses) == b"trouble\n"
    assert responses[-1].exitcode == 3


PACK = """
import os, pulumi
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def check(args, report):
    report(f"{pulumi.get_project()} {pulumi.get_stack()} {pulumi.runtime.is_dry_run()} {pulumi.Config('p').get('k')}")

print("loading")
PolicyPack("pack", [ResourceValidationPolicy("all-refused", "No.", check)], EnforcementLevel.MANDATORY)
"""


def test_a_policy_pack_runs_for_the_stack_that_the_engine_names(host: Host, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__main__.py").write_text(PACK)
    stream = host.calls.RunPlugin(plugin_request(host, folder, "analyzer"))
    port = int(next(stream).stdout)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        pack = analyzer_pb2_grpc.AnalyzerStub(channel)
        pack.Handshake(analyzer_pb2.AnalyzerHandshakeRequest(engine_address=host.address))
        pack.ConfigureStack(
            analyzer_pb2.AnalyzerStackConfigureRequest(project="p", stack="dev", dry_run=True, config={"p:k": "v"})
        )
        assert pack.GetAnalyzerInfo(empty_pb2.Empty(), timeout=PATIENCE).name == "pack"
        response = pack.Analyze(analyzer_pb2.AnalyzeRequest(type="a:b:C", name="c", urn="urn:pulumi:dev::p::a:b:C::c"))
        assert [violation.message for violation in response.diagnostics] == ["No.\np dev True v"]
    assert next(stream).stdout == b"loading\n"
    stream.cancel()
    wait_until(lambda: not host.children())
    assert host.end() == ""


def test_a_policy_pack_that_does_not_load_says_why(host: Host, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("import nothere\n")
    stream = host.calls.RunPlugin(plugin_request(host, tmp_path, "analyzer"))
    port = int(next(stream).stdout)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel, pytest.raises(grpc.RpcError) as caught:
        analyzer_pb2_grpc.AnalyzerStub(channel).GetAnalyzerInfo(empty_pb2.Empty(), timeout=PATIENCE)
    assert caught.value.details() == (
        f"The policy pack in {tmp_path} ended with exit code 1; its output says why. "
        "If a package is missing, run `pulumi install` in that folder."
    )
    responses = list(stream)
    assert b"ModuleNotFoundError: No module named 'nothere'" in b"".join(each.stderr for each in responses)
    assert responses[-1].exitcode == 1


def test_required_packages_are_those_whose_sdk_asks_for_a_plugin(host: Host) -> None:
    response = host.calls.GetRequiredPackages(language_pb2.GetRequiredPackagesRequest(info=host.info()))
    packages = {package.name: package for package in response.packages}
    assert packages["kubernetes"].kind == "resource"
    assert packages["kubernetes"].version.startswith("4.")
    assert "policy" not in packages, "its pulumi-plugin.json says that it has no plugin"


def test_about_names_the_interpreter_and_its_packages(host: Host) -> None:
    about = host.calls.About(language_pb2.AboutRequest(info=host.info()))
    assert (about.executable, about.version) == (sys.executable, ".".join(map(str, sys.version_info[:3])))
    everything = host.calls.GetProgramDependencies(
        language_pb2.GetProgramDependenciesRequest(info=host.info(), transitiveDependencies=True)
    )
    direct = host.calls.GetProgramDependencies(language_pb2.GetProgramDependenciesRequest(info=host.info()))
    assert "grpcio" in [package.name for package in everything.dependencies]
    assert "grpcio" not in [package.name for package in direct.dependencies]


def test_dependencies_are_installed_into_the_virtualenv_of_the_project(host: Host) -> None:
    (host.root / "requirements.txt").write_text("# nothing\n")
    request = language_pb2.InstallDependenciesRequest(info=host.info(virtualenv="env"))
    list(host.calls.InstallDependencies(request, timeout=3 * PATIENCE))
    assert (host.root / "env" / "bin" / "python").exists()
    (host.root / "requirements.txt").write_text("./not-there\n")
    with pytest.raises(grpc.RpcError) as caught:
        list(host.calls.InstallDependencies(request, timeout=3 * PATIENCE))
    assert caught.value.details() == "python -m pip install -r requirements.txt ended with exit code 1."


def test_the_handshake_names_the_engine_to_a_host_started_by_hand(start: Callable[..., Host]) -> None:
    host = start()
    host.calls.Handshake(language_pb2.LanguageHandshakeRequest(engine_address=host.address))
    assert host.run("import pulumi; raise pulumi.RunError('heard')").bail
    assert host.engine.errors == ["heard"]


def test_a_program_that_cannot_be_written_as_python_says_what_to_do(host: Host) -> None:
    request = language_pb2.GenerateProgramRequest(source={"anonymous.pp": 'resource a "p:m:A" { x = f(1) }'})
    with pytest.raises(grpc.RpcError) as caught:
        host.calls.GenerateProgram(request)
    assert caught.value.details() == (
        "This language host cannot write the resources as Python: the function f is not known. What was imported is in "
        "the state; import with --generate-code=false and write the code by hand."
    )


def test_what_only_the_official_host_can_do_is_refused_in_a_sentence(host: Host) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        host.calls.GeneratePackage(language_pb2.GeneratePackageRequest())
    assert (
        caught.value.details() == "This takes the official Python language host, which comes with Pulumi's installer."
    )
