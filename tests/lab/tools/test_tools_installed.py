import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.folders import lab_folder
from lab.tools.installed import at_least, installed, same_minor, version_numbers
from lab.tools.obtained import Obtained
from lab.tools.table import LANGUAGE_HOST, TOOLS, Tool

Put = Callable[..., Path]
PULUMI = dataclasses.replace(TOOLS["pulumi"], version="3.274.1")
CONTROL_PLANE = dataclasses.replace(TOOLS["control-plane"], version="1.35.4")


@pytest.fixture(autouse=True)
def only_the_tests_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), "/usr/bin", "/bin"]))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("etcd Version: 3.6.16\nGit SHA: abc\nGo Version: go1.26.8", (3, 6, 16)),
        ("Kubernetes v1.35.4", (1, 35, 4)),
        ("kwok version v0.8.0 go1.26.8 (linux/amd64)", (0, 8, 0)),
        ("v3.275.0-alpha.1", (3, 275, 0)),
        ("unknown", None),
    ],
)
def test_versions_are_read_from_what_programs_say(text: str, want: tuple[int, int, int] | None) -> None:
    assert version_numbers(text) == want


def test_rules_accept_at_the_bound_and_refuse_beyond_it() -> None:
    assert [at_least(found, (3, 6, 16)) for found in [(3, 6, 16), (3, 7, 0), (3, 6, 15), (4, 0, 0)]] == [
        True,
        True,
        False,
        False,
    ]
    assert [same_minor(found, (1, 35, 4)) for found in [(1, 35, 0), (1, 35, 9), (1, 36, 4), (2, 35, 4)]] == [
        True,
        True,
        False,
        False,
    ]


def test_a_suitable_cli_brings_the_language_host_beside_it(put_program: Put) -> None:
    folder = put_program("pulumi", "echo v3.280.0")
    without = Obtained(folder, {"pulumi": folder / "pulumi"}, "3.280.0", "path")
    assert (installed(PULUMI), without.has_language_host) == (without, False)

    put_program(LANGUAGE_HOST, "exit 0")
    found = installed(PULUMI)
    both = {name: folder / name for name in ("pulumi", LANGUAGE_HOST)}
    assert found == dataclasses.replace(without, binaries=both)
    assert found.has_language_host


def test_a_language_host_elsewhere_on_path_counts_too(
    put_program: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_program("pulumi", "echo v3.280.0")
    other = put_program(LANGUAGE_HOST, "exit 0", "other")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), str(other), "/usr/bin", "/bin"]))
    found = installed(PULUMI)
    assert found is not None
    assert found.binaries[LANGUAGE_HOST] == other / LANGUAGE_HOST


@pytest.mark.parametrize("script", ["echo v3.274.0", "echo v4.0.0", "echo unknown", "echo v3.280.0; exit 1"])
def test_a_program_that_does_not_suit_or_does_not_work_is_passed_over(put_program: Put, script: str) -> None:
    put_program("pulumi", script)
    assert installed(PULUMI) is None


def test_a_program_that_never_answers_is_passed_over(put_program: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.tools.installed.ANSWER_SECONDS", 0.2)
    put_program("pulumi", "exec sleep 600")
    assert installed(PULUMI) is None


def test_a_control_plane_counts_only_whole_and_of_one_minor_version(put_program: Put) -> None:
    put_program("kube-apiserver", "echo Kubernetes v1.35.9")
    folder = put_program("kube-controller-manager", "echo Kubernetes v1.35.9")
    assert installed(CONTROL_PLANE) is None
    put_program("kube-scheduler", "echo Kubernetes v1.34.9")
    assert installed(CONTROL_PLANE) is None
    put_program("kube-scheduler", "echo Kubernetes v1.35.2")
    programs = {name: folder / name for name in CONTROL_PLANE.binaries}
    assert installed(CONTROL_PLANE) == Obtained(folder, programs, "1.35.2", "path")


def test_programs_of_a_running_lab_do_not_count_as_installed(
    put_program: Put, own_folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labs = lab_folder("any").parent.name
    (tmp_path / labs).mkdir()
    of_a_lab = put_program("pulumi", "echo v3.280.0", f"{labs}/bin")
    own_folders.mkdir(parents=True)
    of_the_cache = put_program("pulumi", "echo v3.280.0", own_folders.relative_to(tmp_path) / "pulumi")
    monkeypatch.setenv("PATH", os.pathsep.join([str(of_a_lab), str(of_the_cache), "/usr/bin", "/bin"]))
    assert installed(PULUMI) is None


def test_the_provider_is_taken_from_the_plugin_folder_of_exactly_its_version(tmp_path: Path, put_program: Put) -> None:
    provider = dataclasses.replace(TOOLS["kubernetes-provider"], version="4.34.2")
    put_program("pulumi-resource-kubernetes", "exit 0")
    plugins = tmp_path / "home" / ".pulumi" / "plugins"
    plugins.mkdir(parents=True)
    put_program("pulumi-resource-kubernetes", "exit 0", plugins / "resource-kubernetes-v4.34.1")
    assert installed(provider) is None
    folder = put_program("pulumi-resource-kubernetes", "exit 0", plugins / "resource-kubernetes-v4.34.2")
    binaries = {"pulumi-resource-kubernetes": folder / "pulumi-resource-kubernetes"}
    assert installed(provider) == Obtained(folder, binaries, "4.34.2", "path")


def test_karpenter_is_never_taken_from_path(put_program: Put) -> None:
    put_program("karpenter", "echo 9.9.9")
    assert installed(TOOLS["karpenter"]) is None


def test_a_tool_without_a_rule_is_not_looked_for(a_greeter: Callable[..., Tool], put_program: Put) -> None:
    put_program("greeter", "echo 1.2.3")
    assert installed(a_greeter()) is None
