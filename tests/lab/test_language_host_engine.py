"""Ordinary Python projects on the real engine, through our language host."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.lab

PATIENCE = 120
"""Seconds that any one command may take."""


@dataclass(frozen=True)
class Project:
    """A Pulumi project with one stack, `dev`."""

    folder: Path
    environment: dict[str, str]

    def write(self, program: str) -> None:
        (self.folder / "__main__.py").write_text(program)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["pulumi", *arguments, "--color", "never"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def pulumi(self, *arguments: str, code: int = 0) -> str:
        """Run a command that must end with an exit code, and give what it writes."""
        with self.start(*arguments) as process:
            written, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, written
        return written

    def outputs(self) -> dict[str, Any]:
        outputs: dict[str, Any] = json.loads(self.pulumi("stack", "output", "--json", "--show-secrets"))
        return outputs


@pytest.fixture
def project(pulumi_cli: Path, tmp_path: Path) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: sample\nruntime: python\n")
    state = tmp_path / "state"
    state.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")}
    project = Project(
        folder,
        kept
        | {
            "PATH": f"{pulumi_cli}{os.pathsep}{os.environ['PATH']}",
            "PULUMI_HOME": str(tmp_path / "home"),
            "PULUMI_BACKEND_URL": state.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "of a test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        },
    )
    project.pulumi("stack", "init", "dev")
    return project


def diagnostics(written: str) -> str:
    """The section of an update's display that tells what went wrong."""
    _, _, rest = written.partition("Diagnostics:\n")
    return rest.partition("\nResources:")[0].partition("\nOutputs:")[0]


COMPONENTS = """
import pulumi

class Thing(pulumi.ComponentResource):
    def __init__(self, name, size):
        super().__init__("lws:index:Thing", name, {"size": size})
        self.register_outputs({})

config = pulumi.Config()
Thing("thing", config.get_int("size") or 2)
pulumi.export("size", config.get_int("size") or 2)
pulumi.export("password", config.get_secret("password"))
"""


def test_a_stack_lives_from_preview_to_destroy(project: Project) -> None:
    project.write(COMPONENTS)
    project.pulumi("config", "set", "--secret", "password", "swordfish")
    assert "+ 2 to create" in project.pulumi("preview")
    assert "+ 2 created" in project.pulumi("up", "--yes", "--skip-preview")
    assert project.outputs() == {"size": 2, "password": "swordfish"}
    assert "swordfish" not in (project.folder / "Pulumi.dev.yaml").read_text()
    assert "swordfish" not in project.pulumi("stack", "output")
    project.pulumi("preview", "--expect-no-changes")
    project.pulumi("config", "set", "size", "3")
    project.pulumi("up", "--yes", "--skip-preview")
    assert project.outputs()["size"] == 3
    assert "2 unchanged" in project.pulumi("refresh", "--yes", "--skip-preview")
    assert "- 2 deleted" in project.pulumi("destroy", "--yes", "--skip-preview")


def test_what_a_program_prints_is_shown(project: Project) -> None:
    project.write("print('said in passing')\n")
    assert "    said in passing\n" in diagnostics(project.pulumi("preview"))


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        pytest.param(
            "import pulumi\nraise pulumi.RunError('replicas: found 3; use 2')\n",
            "    error: replicas: found 3; use 2\n",
            id="a run error is one line",
        ),
        pytest.param(
            "raise ValueError('bad')\n",
            "    error: Program failed with an unhandled exception:\n"
            "    Traceback (most recent call last):\n"
            '      File "{program}", line 1, in <module>\n'
            "        raise ValueError('bad')\n"
            "    ValueError: bad\n",
            id="any other error is a traceback of the user's frames",
        ),
        pytest.param(
            "import pulumi\n"
            "def late(value):\n"
            "    raise ValueError(value)\n"
            "pulumi.export('x', pulumi.Output.from_input('bad').apply(late))\n",
            "    error: Program failed with an unhandled exception:\n"
            "    Traceback (most recent call last):\n"
            '      File "{program}", line 3, in late\n'
            "        raise ValueError(value)\n"
            "    ValueError: bad\n",
            id="an error in a callback too",
        ),
        pytest.param(
            "x = (\n",
            "    error: Program failed with an unhandled exception:\n"
            '      File "{program}", line 1\n'
            "        x = (\n"
            "            ^\n"
            "    SyntaxError: '(' was never closed\n",
            id="a syntax error has its place",
        ),
        pytest.param(
            "import nothere\n",
            "    error: Program failed with an unhandled exception:\n"
            "    Traceback (most recent call last):\n"
            '      File "{program}", line 1, in <module>\n'
            "        import nothere\n"
            "    ModuleNotFoundError: No module named 'nothere'\n",
            id="a missing package is named",
        ),
        pytest.param(
            "import sys\nsys.exit(7)\n",
            "    error: an unhandled error occurred: program exited with non-zero exit code: 7\n",
            id="an exit code is told",
        ),
    ],
)
def test_program_errors_are_shown_once(project: Project, program: str, shown: str) -> None:
    project.write(program)
    written = diagnostics(project.pulumi("preview", code=1))
    expected = shown.format(program=project.folder / "__main__.py")
    assert written == f"  pulumi:pulumi:Stack (sample-dev):\n{expected}"


def test_a_missing_virtualenv_is_an_error_with_its_way_out(project: Project) -> None:
    (project.folder / "Pulumi.yaml").write_text("name: sample\nruntime: {name: python, options: {virtualenv: env}}\n")
    project.write("")
    assert (
        f"The option 'virtualenv' of the project names {project.folder}/env, which does not exist. "
        f"Run `pulumi install` in {project.folder} to make it and install the dependencies."
    ) in project.pulumi("preview", code=1)


def test_ctrl_c_ends_the_program_and_leaves_the_stack_usable(project: Project) -> None:
    project.write("import time\nprint('asleep')\ntime.sleep(1000)\n")
    with project.start("up", "--yes", "--skip-preview") as process:
        assert process.stdout
        while "asleep" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "error: update canceled" in rest
    assert "Traceback" not in rest
    project.write(COMPONENTS)
    project.pulumi("up", "--yes", "--skip-preview")
    assert project.outputs()["size"] == 2


PACK = """
import pulumi
from pulumi_policy import EnforcementLevel, PolicyConfigSchema, PolicyPack, ResourceValidationPolicy

def limit(args, report):
    most = args.get_config()["most"]
    if args.resource_type == "lws:index:Thing" and args.props["size"] > most:
        report(f"{args.props['size']:g} is over {most:g} in {pulumi.get_project()}/{pulumi.get_stack()}")

PolicyPack("limits", enforcement_level=EnforcementLevel.MANDATORY, policies=[
    ResourceValidationPolicy("limit", "Things are small.", limit, config_schema=PolicyConfigSchema(
        properties={"most": {"type": "number"}}, required=["most"])),
])
"""


@pytest.fixture
def with_policies(project: Project, tmp_path: Path) -> Callable[[str, dict[str, Any]], list[str]]:
    """The arguments that make an update heed a policy pack with its configuration."""

    def arguments(program: str, configuration: dict[str, Any]) -> list[str]:
        pack = tmp_path / "pack"
        pack.mkdir(exist_ok=True)
        (pack / "PulumiPolicy.yaml").write_text("runtime: python\n")
        (pack / "__main__.py").write_text(program)
        file = tmp_path / "configuration.json"
        file.write_text(json.dumps(configuration))
        return ["--policy-pack", str(pack), "--policy-pack-config", str(file)]

    project.write(COMPONENTS)
    return arguments


Policies = Callable[[str, dict[str, Any]], list[str]]


def test_a_policy_pack_judges_by_its_configuration(project: Project, with_policies: Policies) -> None:
    strict = with_policies(PACK, {"limit": {"most": 1}})
    assert "2 is over 1 in sample/dev" in project.pulumi("preview", *strict, code=1)
    refused = project.pulumi("up", "--yes", "--skip-preview", *strict, code=1)
    assert "2 is over 1 in sample/dev" in refused
    assert "Traceback" not in refused
    lenient = with_policies(PACK, {"limit": {"most": 2}})
    project.pulumi("up", "--yes", "--skip-preview", *lenient)


def test_a_policy_pack_that_does_not_load_is_shown_in_full(project: Project, with_policies: Policies) -> None:
    written = project.pulumi("preview", *with_policies("import nothere\n", {}), code=1)
    assert "    ModuleNotFoundError: No module named 'nothere'\n" in written
    assert "ended with exit code 1; its output says why." in written


def test_a_policy_pack_without_policies_is_told_apart(project: Project, with_policies: Policies) -> None:
    written = project.pulumi("preview", *with_policies("", {}), code=1)
    assert "has no policies: its program ended without making a PolicyPack." in written
