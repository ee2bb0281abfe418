import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import engine
from lab.cluster.layout import Layout
from lab.tools.obtained import Obtained


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "it's a lab")


def _obtained(folder: Path, *programs: str, version: str = "1.2.3") -> Obtained:
    folder.mkdir(exist_ok=True)
    for program in programs:
        (folder / program).write_text(f"{program} {version}")
    return Obtained(folder, {program: folder / program for program in programs}, version, "build")


def _files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_engine_finds_the_provider_of_the_sdk_and_our_host(layout: Layout, tmp_path: Path) -> None:
    provider = _obtained(tmp_path / "provider", "pulumi-resource-kubernetes", version="4.34.2")
    engine.prepare(layout, _obtained(tmp_path / "cli", "pulumi"), provider)
    files = _files(layout.folder)
    host = files.pop("bin/pulumi-language-python")
    assert host.startswith("#!/bin/sh")
    # The stand-ins for AWS are there where their SDKs are.
    stand_ins = [name for name in files if "resource-kubernetes" not in name and name != "bin/pulumi"]
    assert all(files.pop(name).startswith("#!/bin/sh") for name in stand_ins)
    assert {name.split("/")[2].partition("-v")[0] for name in stand_ins} <= {"resource-aws", "resource-eks"}
    assert files == {
        "bin/pulumi": "pulumi 1.2.3",
        "pulumi/plugins/resource-kubernetes-v4.34.2/pulumi-resource-kubernetes": "pulumi-resource-kubernetes 4.34.2",
    }
    assert layout.stacks.is_dir()


def test_an_official_host_comes_with_all_its_programs_and_ours_stays_out(layout: Layout, tmp_path: Path) -> None:
    official = ("pulumi", "pulumi-language-python", "pulumi-language-python-exec")
    engine.prepare(layout, _obtained(tmp_path / "cli", *official), _obtained(tmp_path, "pulumi-resource-kubernetes"))
    assert _files(layout.programs) == {program: f"{program} 1.2.3" for program in official}


def test_preparing_again_replaces_what_changed_and_leaves_the_rest(layout: Layout, tmp_path: Path) -> None:
    provider = _obtained(tmp_path / "provider", "pulumi-resource-kubernetes")
    for version in ("1.0.0", "1.0.0", "2.0.0"):
        engine.prepare(layout, _obtained(tmp_path / version, "pulumi", version=version), provider)
        assert (layout.programs / "pulumi").samefile(tmp_path / version / "pulumi")
    assert sorted(path.name for path in layout.programs.iterdir()) == ["pulumi", "pulumi-language-python"]


def test_a_program_on_another_file_system_is_copied(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path, __: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    engine.prepare(layout, _obtained(tmp_path / "cli", "pulumi"), _obtained(tmp_path, "pulumi-resource-kubernetes"))
    assert (layout.programs / "pulumi").read_text() == "pulumi 1.2.3"
    assert not (layout.programs / "pulumi").samefile(tmp_path / "cli" / "pulumi")


def test_the_programs_of_the_lab_come_first_on_the_path_and_once(layout: Layout) -> None:
    first = engine.environment(layout, "/usr/bin:/bin")["PATH"]
    assert first == f"{layout.programs}:/usr/bin:/bin"
    assert engine.environment(layout, first)["PATH"] == first


def test_the_shell_lines_survive_eval_whatever_the_folder_is_called(layout: Layout) -> None:
    variables = engine.environment(layout, os.defpath)
    read_back = subprocess.run(
        ["sh", "-c", 'eval "$1"; env -0', "sh", engine.as_shell(variables)],
        capture_output=True,
        check=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    ).stdout.split("\0")
    assert {f"{name}={value}" for name, value in variables.items()} <= set(read_back)
    assert set(variables) == {
        "PATH",
        "KUBECONFIG",
        "PULUMI_HOME",
        "PULUMI_BACKEND_URL",
        "PULUMI_CONFIG_PASSPHRASE",
        "PULUMI_SKIP_UPDATE_CHECK",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
        "PULUMI_ERROR_OUTPUT_STRING",
    }


def test_only_locks_of_processes_that_are_gone_are_released(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    locks = layout.stacks / ".pulumi" / "locks" / "organization"
    locks.mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    with subprocess.Popen([sys.executable, "-c", ""]) as uncollected:
        os.waitid(os.P_PID, uncollected.pid, os.WEXITED | os.WNOWAIT)
        for name, text in {
            "ours": json.dumps({"pid": os.getpid()}),
            "abandoned": json.dumps({"pid": ended.pid}),
            "killed": json.dumps({"pid": uncollected.pid}),
            "strange": "[]",
        }.items():
            (locks / f"{name}.json").write_text(text)
        engine.release_abandoned_locks(layout)
    assert sorted(path.stem for path in locks.iterdir()) == ["ours", "strange"]
