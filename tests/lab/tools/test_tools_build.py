import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from lab.errors import LabError
from lab.folders import PROJECT
from lab.tools.cache import built_folder, only_one, require_space
from lab.tools.obtain import Obtained, obtain_tools
from lab.tools.table import Tool

ToolMaker = Callable[..., Tool]
WAIT_SECONDS = 60.0


def until(condition: Callable[[], bool]) -> None:
    """Polls for something that another process does."""
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)


def start_obtaining(tool: Tool, output: Path) -> "subprocess.Popen[bytes]":
    """Obtains a tool in a process of its own, as a second command in another shell would."""
    program = (
        "from pathlib import PosixPath\n"
        "from lab.tools.obtain import obtain_tools\n"
        "from lab.tools.progress import Reporter\n"
        "from lab.tools.table import Recipe, Tool\n"
        f"obtain_tools([{tool!r}], Reporter(lambda line: print(line, flush=True)))\n"
    )
    with output.open("wb") as file:
        return subprocess.Popen([sys.executable, "-c", program], cwd=PROJECT, stdout=file, stderr=file)


def names_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def output_of(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stderr


def refusal(call: Callable[[], Any]) -> LabError:
    with pytest.raises(LabError) as caught:
        call()
    return caught.value


def test_a_build_gives_stamped_programs_and_what_they_carry(
    a_greeter: ToolMaker, report: Any, own_folders: Path
) -> None:
    module = "example.org/greeter"
    tool = a_greeter(
        packages={"greeter": f"{module}/cmd/greeter", "second": f"{module}/cmd/second"},
        carries={"crds": ("crds/*.yaml", "more/*.yaml")},
    )
    found = obtain_tools([tool], report)
    folder = built_folder(tool)
    assert found == {
        "greeter": Obtained(folder, {"greeter": folder / "greeter", "second": folder / "second"}, "1.2.3", "build")
    }
    assert names_in(own_folders / "greeter") == [
        *(f"{folder.name}/{name}" for name in ("crds/one.yaml", "crds/two.yaml", "greeter", "second")),
        "build.log",
        "lock",
    ]
    assert [output_of(found["greeter"].binaries[name]) for name in ("greeter", "second")] == [
        "greeter version 1.2.3"
    ] * 2
    assert [re.sub(r" in \d+ s$", "", line) for line in report.lines] == [
        "[1/1] building greeter, a program for tests: 0 s of usually 30 s, about 1 min to go in all",
        "[1/1] built greeter 1.2.3",
    ]


def test_a_program_of_ours_embeds_files_of_the_module_and_the_version(
    a_greeter: ToolMaker, report: Any, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "main.go").write_text(
        'package main\n\nimport (\n\t_ "embed"\n\n\t"example.org/greeter/pkg/greeting"\n)\n\n'
        "var (\n\t//go:embed schema.json\n\tschema []byte\n\t//go:embed names.json\n\tnames []byte\n)\n\n"
        "func main() { greeting.Say(append(schema, names...)) }\n"
    )
    tool = a_greeter(
        version="4.5.6",
        packages={"ours": "."},
        stamp="",
        source=source,
        imports=("pkg/greeting",),
        embeds=("data/names.json",),
        schema="data/schema.json",
    )
    found = obtain_tools([tool], report)["greeter"]
    assert output_of(found.binaries["ours"]) == '{"name":"greeter","version":"4.5.6"}{}'


def test_settings_for_the_users_own_modules_do_not_reach_the_build(
    a_greeter: ToolMaker, report: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFLAGS", "-modcacherw -mod=vendor -modfile=other.mod")
    monkeypatch.setenv("GOWORK", "/nowhere/go.work")
    monkeypatch.setenv("GOOS", "plan9")
    monkeypatch.setenv("GO111MODULE", "off")
    found = obtain_tools([a_greeter()], report)["greeter"]
    assert output_of(found.binaries["greeter"]) == "greeter version 1.2.3"


def test_what_is_built_is_not_built_again_and_needs_no_toolchain(
    a_greeter: ToolMaker, report: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = obtain_tools([a_greeter()], report)
    monkeypatch.setenv("PATH", "")
    assert obtain_tools([a_greeter()], report) == first


def test_another_recipe_or_source_is_another_build(a_greeter: ToolMaker, tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text("package main\n")
    folders = [built_folder(a_greeter()), built_folder(a_greeter(stamp="")), built_folder(a_greeter(source=tmp_path))]
    (tmp_path / "main.go").write_text("package main // changed\n")
    folders.append(built_folder(a_greeter(source=tmp_path)))
    assert len(set(folders)) == 4


def test_a_program_deleted_from_the_cache_is_built_again(a_greeter: ToolMaker, report: Any) -> None:
    program = obtain_tools([a_greeter()], report)["greeter"].binaries["greeter"]
    program.unlink()
    assert obtain_tools([a_greeter()], report)["greeter"].binaries["greeter"] == program
    assert output_of(program) == "greeter version 1.2.3"


def test_a_build_that_fails_leaves_only_its_log(a_greeter: ToolMaker, report: Any, own_folders: Path) -> None:
    tool = a_greeter(packages={"broken": "example.org/greeter/cmd/broken"})
    error = refusal(lambda: obtain_tools([tool], report))
    log = own_folders / "greeter" / "build.log"
    assert (error.sentence, error.way_out) == ("Building greeter 1.2.3 failed.", f"The whole log is in {log}.")
    assert 'invalid operation: "never" + 1' in error.detail
    assert error.detail in log.read_text()
    assert sorted(path.name for path in log.parent.iterdir()) == ["build.log", "lock"]


def test_a_partial_build_never_counts_as_built(
    a_greeter: ToolMaker, report: Any, held_go: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = a_greeter()
    builder = start_obtaining(tool, held_go / "output")
    until((held_go / "builds").exists)
    builder.kill()
    builder.wait()
    orphan = int((held_go / "builds").read_text())
    assert psutil.pid_exists(orphan)
    assert sorted(path.name for path in (own_folders / "greeter").iterdir()) == ["build.log", "lock", "partial"]

    monkeypatch.setenv("PATH", os.environ["PATH"].partition(os.pathsep)[2])  # the toolchain that does not wait
    found = obtain_tools([tool], report)["greeter"]
    assert output_of(found.binaries["greeter"]) == "greeter version 1.2.3"
    assert sorted(path.name for path in (own_folders / "greeter").iterdir()) == [found.folder.name, "build.log", "lock"]
    until(lambda: not psutil.pid_exists(orphan))


def test_two_builders_at_once_make_it_once(a_greeter: ToolMaker, held_go: Path) -> None:
    first = start_obtaining(a_greeter(), held_go / "first")
    until((held_go / "builds").exists)
    second = start_obtaining(a_greeter(), held_go / "second")
    until(lambda: "waiting for another process that is making greeter" in (held_go / "second").read_text())
    (held_go / "go-on").touch()
    assert [first.wait(WAIT_SECONDS), second.wait(WAIT_SECONDS)] == [0, 0]
    assert len((held_go / "builds").read_text().split()) == 1


def test_waiting_for_another_builder_is_bounded(a_greeter: ToolMaker, held_go: Path, report: Any) -> None:
    builder = start_obtaining(a_greeter(), held_go / "output")
    until((held_go / "builds").exists)

    def wait_briefly() -> None:
        with only_one(a_greeter(), report, patience=0.01):
            raise AssertionError("the other one has the lock")

    error = refusal(wait_briefly)
    assert error.sentence == "Another process has been making greeter for more than 0 min."
    (held_go / "go-on").touch()
    assert builder.wait(WAIT_SECONDS) == 0


def test_an_interrupt_ends_the_toolchain_too(a_greeter: ToolMaker, held_go: Path, own_folders: Path) -> None:
    builder = start_obtaining(a_greeter(), held_go / "output")
    until((held_go / "builds").exists)
    builder.send_signal(signal.SIGINT)
    assert builder.wait(WAIT_SECONDS) != 0
    assert not psutil.pid_exists(int((held_go / "builds").read_text()))
    assert sorted(path.name for path in (own_folders / "greeter").iterdir()) == ["build.log", "lock"]


def test_a_missing_toolchain_names_both_ways_out(
    a_greeter: ToolMaker, report: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    error = refusal(lambda: obtain_tools([a_greeter()], report))
    assert (error.sentence, error.way_out) == (
        "No Go toolchain was found to build greeter.",
        "Install Go 1.26.6 or newer (https://go.dev/dl).",
    )


@pytest.mark.parametrize("release", ["go1.26.5", "go1.20.1"])
def test_a_toolchain_too_old_is_refused_before_anything_is_built(
    a_greeter: ToolMaker,
    report: Any,
    put_program: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    release: str,
) -> None:
    toolchain = {"go1.26.5": "local", "go1.20.1": "auto"}[release]
    answer = f'{{"GOVERSION": "{release}", "GOTOOLCHAIN": "{toolchain}"}}'
    folder = put_program("go", f"echo '{answer}'")
    monkeypatch.setenv("PATH", str(folder))
    error = refusal(lambda: obtain_tools([a_greeter()], report))
    assert error.sentence == f"The Go toolchain {folder}/go is {release}, but Go 1.26.6 is needed."


def test_a_refused_module_is_named_and_its_server_is_not(
    a_greeter: ToolMaker, report: Any, monkeypatch: pytest.MonkeyPatch, own_folders: Path
) -> None:
    monkeypatch.setenv("GOPROXY", "off")
    tool = a_greeter(module="example.org/unknown", packages={"unknown": "example.org/unknown/cmd/unknown"})
    error = refusal(lambda: obtain_tools([tool], report))
    module, log = "example.org/unknown/cmd/unknown v1.2.3", own_folders / "greeter" / "build.log"
    assert (error.sentence, error.way_out, error.detail) == (
        f"Go could not download the module {module} that greeter is built from: GOPROXY is off.",
        f"Check the network and the GOPROXY setting; the whole log is in {log}.",
        "",
    )


def test_a_full_disk_is_told_before_the_build(tmp_path: Path) -> None:
    roomy, full = tmp_path / "roomy", tmp_path / "full"
    error = refusal(lambda: require_space(2000, [roomy, full], {roomy: 2000, full: 1999}.__getitem__))
    assert error.sentence == f"Building needs 2.0 GB of disk space at {full}, but 2.0 GB are free."


def test_a_disk_that_fills_up_during_the_build_leaves_nothing(
    a_greeter: ToolMaker, report: Any, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_arguments: object, **_named: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("lab.tools.build.stamp_version", no_space)
    tool = a_greeter(schema="data/schema.json")
    error = refusal(lambda: obtain_tools([tool], report))
    assert error.sentence == f"The disk became full while programs were made for {own_folders}/greeter."
    assert sorted(path.name for path in (own_folders / "greeter").iterdir()) == ["build.log", "lock"]


def test_a_cache_that_cannot_be_made_is_one_sentence(a_greeter: ToolMaker, report: Any, own_folders: Path) -> None:
    own_folders.parent.write_text("a file where the folder should be")
    error = refusal(lambda: obtain_tools([a_greeter()], report))
    assert (error.sentence, error.way_out) == (
        f"The cache folder {own_folders}/greeter cannot be written (Not a directory).",
        "Make it writable, or set XDG_CACHE_HOME to a folder that is.",
    )
