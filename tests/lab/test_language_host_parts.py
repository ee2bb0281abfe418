"""The decisions of the language host, without any process."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto.analyzer_pb2 import AnalyzerStackConfigureRequest
from pulumi.runtime.proto.language_pb2 import ProgramInfo

from lab.errors import LabError
from lab.language_host.install import install
from lab.language_host.interpreter import Interpreter, direct_dependencies, installation, interpreter_of
from lab.language_host.policies import PORT, stack_variables
from lab.language_host.program import describe

HOST = Path("/the/host/bin/python")


def a_project(root: Path, **options: str) -> ProgramInfo:
    settings = struct_pb2.Struct()
    settings.update(options)
    return ProgramInfo(root_directory=str(root), program_directory=str(root), entry_point=".", options=settings)


def make_virtualenv(folder: Path) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    return python


def test_a_project_without_options_runs_with_the_interpreter_of_the_host(tmp_path: Path) -> None:
    assert interpreter_of(a_project(tmp_path), HOST) == Interpreter(HOST)


def test_a_virtualenv_is_found_from_the_root_of_the_project(tmp_path: Path) -> None:
    python = make_virtualenv(tmp_path / "env")
    assert interpreter_of(a_project(tmp_path, virtualenv="env"), HOST) == Interpreter(python, tmp_path / "env")


def test_an_absolute_virtualenv_is_taken_as_it_is(tmp_path: Path) -> None:
    python = make_virtualenv(tmp_path / "env")
    info = a_project(tmp_path / "project", virtualenv=str(tmp_path / "env"))
    assert interpreter_of(info, HOST) == Interpreter(python, tmp_path / "env")


def test_the_toolchain_uv_has_its_virtualenv_in_the_project(tmp_path: Path) -> None:
    python = make_virtualenv(tmp_path / ".venv")
    assert interpreter_of(a_project(tmp_path, toolchain="uv"), HOST) == Interpreter(python, tmp_path / ".venv")


@pytest.mark.parametrize(("exists", "state"), [(False, "does not exist"), (True, "is not a virtual environment")])
def test_a_virtualenv_without_python_is_an_error_with_its_way_out(tmp_path: Path, exists: bool, state: str) -> None:
    if exists:
        (tmp_path / "env").mkdir()
    with pytest.raises(LabError) as caught:
        interpreter_of(a_project(tmp_path, virtualenv="env"), HOST)
    assert str(caught.value) == (
        f"The option 'virtualenv' of the project names {tmp_path}/env, which {state}. "
        f"Run `pulumi install` in {tmp_path} to make it and install the dependencies."
    )


def test_an_unknown_toolchain_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        interpreter_of(a_project(tmp_path, toolchain="poetry"), HOST)
    assert str(caught.value) == (
        "The option 'toolchain' of the project is 'poetry', which this language host does not know. "
        "Set it to pip or uv, or use the official language host."
    )


def test_an_activated_environment_is_that_of_the_virtualenv() -> None:
    interpreter = Interpreter(Path("/env/bin/python"), Path("/env"))
    base = {"PATH": "/usr/bin", "PYTHONHOME": "/elsewhere", "VIRTUAL_ENV": "/other", "KEPT": "1"}
    assert interpreter.environment(base) == {"PATH": "/env/bin:/usr/bin", "VIRTUAL_ENV": "/env", "KEPT": "1"}
    assert Interpreter(HOST).environment(base) == base


def test_installation_makes_the_virtualenv_and_then_takes_the_requirements(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").touch()
    (tmp_path / "pyproject.toml").touch()
    env = Interpreter(tmp_path / "env" / "bin" / "python", tmp_path / "env")
    pip = (env, ("-m", "pip", "install", "-r", "requirements.txt"))
    info = a_project(tmp_path, virtualenv="env")
    assert installation(info, HOST) == [(Interpreter(HOST), ("-m", "venv", str(tmp_path / "env"))), pip]
    make_virtualenv(tmp_path / "env")
    assert installation(info, HOST) == [pip]


def test_installation_of_a_package_is_editable(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    env = Interpreter(make_virtualenv(tmp_path / "env"), tmp_path / "env")
    assert installation(a_project(tmp_path, virtualenv="env"), HOST) == [(env, ("-m", "pip", "install", "-e", "."))]


def test_nothing_is_ever_installed_beside_the_host(tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        installation(a_project(tmp_path), HOST)
    assert caught.value.way_out == (
        "Set the option 'virtualenv' of the runtime in the project's file, for example to `venv`."
    )


def test_a_direct_dependency_is_required_by_no_other() -> None:
    packages: list[dict[str, Any]] = [
        {"name": "pulumi-kubernetes", "requires": ["pulumi"]},
        {"name": "pulumi", "requires": []},
    ]
    assert direct_dependencies({"packages": packages}) == packages[:1]


def test_a_policy_pack_learns_its_stack_from_the_environment() -> None:
    stack = AnalyzerStackConfigureRequest(project="p", stack="dev", dry_run=True, config={"p:k": "v"})
    assert stack_variables(stack) == {
        "PULUMI_PROJECT": "p",
        "PULUMI_STACK": "dev",
        "PULUMI_DRY_RUN": "true",
        "PULUMI_CONFIG": '{"p:k": "v"}',
    }
    assert stack_variables(None) == {}


def test_the_port_of_a_policy_pack_is_the_first_line_of_digits() -> None:
    found = PORT.search(b"loading 3 rules\n40123\nmore")
    assert found is not None
    assert found[1] == b"40123"
    assert PORT.search(b"401") is None, "the rest of the line may still be on its way"


def raised_by(program: Path) -> Exception:
    try:
        exec(compile(program.read_text(), program, "exec"), {})  # noqa: S102 - stands for a user's program
    except Exception as error:  # noqa: BLE001 - whatever it raises
        return error
    raise AssertionError("the program raised nothing")


def test_a_traceback_begins_in_the_users_program(tmp_path: Path) -> None:
    program = tmp_path / "__main__.py"
    program.write_text("def broken():\n    raise ValueError('bad')\nbroken()\n")
    assert describe(raised_by(program), tmp_path) == (
        "Traceback (most recent call last):\n"
        f'  File "{program}", line 3, in <module>\n'
        "    broken()\n"
        f'  File "{program}", line 2, in broken\n'
        "    raise ValueError('bad')\n"
        "ValueError: bad\n"
    )


def test_a_syntax_error_of_the_program_shows_its_place_and_no_frames(tmp_path: Path) -> None:
    program = tmp_path / "__main__.py"
    program.write_text("x = (\n")
    assert describe(raised_by(program), tmp_path) == (
        f"  File \"{program}\", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed\n"
    )


def test_an_error_outside_the_project_keeps_its_whole_traceback(tmp_path: Path) -> None:
    program = tmp_path / "elsewhere.py"
    program.write_text("1 / 0\n")
    assert "in raised_by" in describe(raised_by(program), tmp_path / "project")


def test_the_installed_host_starts_from_any_folder_and_with_spaces_in_paths(tmp_path: Path) -> None:
    folder = tmp_path / "a b's"
    folder.mkdir()
    python = folder / "python 3"
    python.symlink_to(sys.executable)
    executable = install(folder, python)
    assert executable == folder / "pulumi-language-python"
    assert set(folder.iterdir()) == {executable, python}
    script = executable.read_text().replace("exec ", "echo ", 1)
    command = ["sh", "-c", script, "host", "-v=9", "addr ess"]
    started = subprocess.run(command, capture_output=True, text=True, check=True)
    assert started.stdout.startswith(f"{python} -P ")
    assert started.stdout.endswith("/lab/language_host/__main__.py -v=9 addr ess\n")
