"""The stand-in for AWS: its provider without an engine, and projects on the real engine without a control plane."""

import asyncio
import importlib.util
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from pulumi.runtime.proto import provider_pb2

from lab import engine
from lab.aws import wire
from lab.aws.cluster_access import ClusterAccess
from lab.aws.install import install
from lab.aws.state import AccountFile
from lab.cluster.layout import Layout
from lab.folders import PROJECT, lab_folder
from lab.project import STACK, Project
from lab.tools.obtain import obtain
from lab.tools.progress import reporter

REGION = "us-east-2"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip all of it where the SDKs are missing: nothing here works, and nobody could use it."""
    missing = [name for name in ("pulumi_aws", "pulumi_eks") if importlib.util.find_spec(name) is None]
    for item in items if missing else ():
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=f"needs {' and '.join(missing)}: install the extra aws"))


class Refusal(Exception):  # noqa: N818 - what AWS says, not a failure of the test
    """The provider refused a call."""


class _Context:
    async def abort(self, _: grpc.StatusCode, message: str) -> None:
        raise Refusal(message)


@dataclass
class Aws:
    """The provider, asked directly."""

    folder: Path
    refused: type[Refusal] = Refusal

    def __post_init__(self) -> None:
        from lab.aws.provider import AwsProvider  # noqa: PLC0415 - needs the SDKs

        access = ClusterAccess(self.folder / "kubeconfig", self.folder / "credential.json")
        self.account = AccountFile(self.folder)
        self.provider = AwsProvider(self.folder, "preview", access)
        self.configure()

    def configure(self, **settings: Any) -> None:
        """Set the provider up anew."""
        # As the engine sends settings: what is no string as JSON.
        plain = {key: value if isinstance(value, str) else json.dumps(value) for key, value in settings.items()}
        self._ask("Configure", provider_pb2.ConfigureRequest(args=wire.sent({"region": REGION, **plain})))

    def check(self, kind: str, inputs: Mapping[str, Any], name: str = "one") -> tuple[dict[str, Any], list[str]]:
        """What the program wants with what is filled in, and what is wrong with it."""
        request = provider_pb2.CheckRequest(type=kind, name=name, news=wire.sent(inputs))
        response = self._ask("Check", request)
        return wire.received(response.inputs), [failure.reason for failure in response.failures]

    def create(self, kind: str, urn_name: str = "one", /, *, preview: bool = False, **inputs: Any) -> dict[str, Any]:
        """Make something that passes the check, and give what it is with its id."""
        wanted, wrong = self.check(kind, inputs, urn_name)
        assert not wrong, wrong
        request = provider_pb2.CreateRequest(
            type=kind, name=urn_name, urn=f"urn:{kind}::{urn_name}", properties=wire.sent(wanted), preview=preview
        )
        response = self._ask("Create", request)
        return {**wire.received(response.properties), "id": response.id}

    def update(self, kind: str, made: Mapping[str, Any], /, *, preview: bool = False, **inputs: Any) -> dict[str, Any]:
        """Change something."""
        wanted, wrong = self.check(kind, inputs)
        assert not wrong, wrong
        olds = wire.sent({key: value for key, value in made.items() if key != "id"})
        request = provider_pb2.UpdateRequest(
            type=kind, id=made["id"], news=wire.sent(wanted), olds=olds, preview=preview
        )
        return wire.received(self._ask("Update", request).properties)

    def delete(self, kind: str, identifier: str) -> None:
        """Remove something."""
        self._ask("Delete", provider_pb2.DeleteRequest(type=kind, id=identifier))

    def diff(self, kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[list[str], list[str], bool]:
        """What differs, what replaces, and whether the old one goes first."""
        request = provider_pb2.DiffRequest(type=kind, old_inputs=wire.sent(old), news=wire.sent(new))
        response = self._ask("Diff", request)
        return sorted(response.detailedDiff), list(response.replaces), response.deleteBeforeReplace

    def invoke(self, token: str, **arguments: Any) -> dict[str, Any]:
        """Ask a function."""
        response = self._ask("Invoke", provider_pb2.InvokeRequest(tok=token, args=wire.sent(arguments)))
        if response.failures:
            raise Refusal(response.failures[0].reason)
        return wire.received(getattr(response, "return"))

    def _ask(self, method: str, request: Any) -> Any:
        return asyncio.run(getattr(self.provider, method)(request, _Context()))


@pytest.fixture
def aws(tmp_path: Path) -> Aws:
    """An account in which nothing exists."""
    return Aws(tmp_path)


@dataclass(frozen=True)
class AwsProject(Project):
    """A project in an account of its own.

    Attributes:
        account: What exists in the account.
    """

    account: AccountFile

    def succeeds(self, *arguments: str, **environment: str) -> str:
        """Run a command that must succeed and give what it printed."""
        ended = self.pulumi(*arguments, **environment)
        assert ended.returncode == 0, ended.stdout
        return ended.stdout

    def fails(self, *arguments: str) -> str:
        """Run a command that must fail and give what it printed."""
        ended = self.pulumi(*arguments)
        assert ended.returncode != 0, ended.stdout
        return ended.stdout

    def set(self, **configuration: Any) -> None:
        """Set configuration of the program."""
        for key, value in configuration.items():
            self.succeeds("config", "set", key, str(value).lower() if isinstance(value, bool) else str(value))

    def operations(self, *arguments: str, **environment: str) -> dict[str, list[str]]:
        """What a preview would do: names of resources by operation, what stays left out."""
        found: dict[str, list[str]] = {}
        for step in json.loads(self.succeeds("preview", "--json", *arguments, **environment))["steps"]:
            if step["op"] != "same":
                found.setdefault(step["op"], []).append(step["urn"].rpartition("::")[2])
        return found

    def names(self) -> list[str]:
        """Names of the resources in the state, default providers left out."""
        exported = json.loads(self.succeeds("stack", "export"))
        names = (one["urn"].rpartition("::")[2] for one in exported["deployment"].get("resources", []))
        return [name for name in names if not name.startswith("default")]


@pytest.fixture(scope="session")
def aws_layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """The real engine, without a control plane."""
    layout = Layout(tmp_path_factory.mktemp("aws") / "lab")
    tools = obtain(["pulumi", "kubernetes-provider"], reporter())
    engine.prepare(layout, tools["pulumi"], tools["kubernetes-provider"])
    return layout


@dataclass(frozen=True)
class Lab:
    """A running lab.

    Attributes:
        name: Its name.
    """

    name: str

    @property
    def layout(self) -> Layout:
        """Where its files stand."""
        return Layout(lab_folder(self.name))

    def command(self, *arguments: str) -> str:
        """Run a command of the lab that must succeed and give what it printed."""
        ended = subprocess.run(
            [sys.executable, "-m", "lab", *arguments, "--name", self.name],
            cwd=PROJECT,
            # Statuses are the lab's to write, whoever runs the tests.
            env={**os.environ, "LWS_LAB_CONTROLLER": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def variables(self) -> dict[str, str]:
        """The variables with which the engine uses it."""
        found: dict[str, str] = json.loads(self.command("env", "--format", "json"))
        return found


@pytest.fixture(scope="module")
def running_lab() -> Iterator[Lab]:
    """A lab whose API server runs, with a node for the pods of a plain pool called small."""
    lab = Lab(f"aws-{secrets.token_hex(3)}")
    try:
        lab.command("up", "--nodes", "small=g6e.12xlarge:1")
        yield lab
    finally:
        lab.command("down")


@pytest.fixture
def aws_project(aws_layout: Layout, tmp_path: Path) -> Iterator[Callable[..., AwsProject]]:
    """Make a project from the text of a program; its stack is destroyed at the end.

    The variables of a running lab make its account and its API server those of the project.
    """
    made: list[AwsProject] = []

    def make(program: str, lab: Mapping[str, str] | None = None) -> AwsProject:
        folder, account, backend = tmp_path / "project", tmp_path / "account", tmp_path / "backend"
        folder.mkdir()
        backend.mkdir()
        install(aws_layout.pulumi_home, account, tmp_path / "no kubeconfig", Path(sys.executable))
        runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "shop", "runtime": runtime}))
        (folder / "__main__.py").write_text(program)
        environment = {**os.environ, **(lab or engine.environment(aws_layout, os.environ["PATH"]))}
        environment["PULUMI_BACKEND_URL"] = backend.as_uri()
        project = AwsProject(folder, environment, AccountFile(account))
        project.succeeds("stack", "select", "--create", STACK)
        project.set(**{"aws:region": REGION})
        made.append(project)
        return project

    yield make
    for project in made:
        project.pulumi("destroy", "--yes", "--skip-preview")
