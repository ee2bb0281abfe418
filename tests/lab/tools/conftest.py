"""A small Go module behind a proxy of files, so that tests run real ``go get`` and ``go build`` within seconds."""

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab.tools.progress import Reporter
from lab.tools.table import Recipe, Tool

MODULE = "example.org/greeter"
PROGRAM = """package main

var version string

func main() { print("greeter version ", version) }
"""
LIBRARY = """package greeting

func Say(text []byte) { print(string(text)) }
"""
FILES = {
    "go.mod": f"module {MODULE}\n\ngo 1.24\n",
    "cmd/greeter/main.go": PROGRAM,
    "cmd/second/main.go": PROGRAM,
    "cmd/broken/main.go": 'package main\n\nfunc main() { print("never" + 1) }\n',
    "pkg/greeting/greeting.go": LIBRARY,
    "data/schema.json": json.dumps({"name": "greeter"}),
    "data/names.json": "{}",
    "crds/one.yaml": "kind: One\n",
    "more/two.yaml": "kind: Two\n",
}


@dataclass
class Lines(Reporter):
    """A reporter that keeps what it was told."""

    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.lines.append)


@pytest.fixture(scope="session")
def go_caches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The user's build cache, which has the standard library compiled, and a module cache of the tests' own."""
    modules = tmp_path_factory.mktemp("modules")
    asked = subprocess.run(["go", "env", "GOCACHE"], capture_output=True, text=True, check=True)
    return {"GOCACHE": asked.stdout.strip(), "GOMODCACHE": str(modules), "GOFLAGS": "-modcacherw"}


@pytest.fixture(scope="session")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of a module proxy that serves one version of one module."""
    versions = tmp_path_factory.mktemp("proxy") / MODULE / "@v"
    versions.mkdir(parents=True)
    (versions / "v1.2.3.info").write_text(json.dumps({"Version": "v1.2.3"}))
    (versions / "v1.2.3.mod").write_text(FILES["go.mod"])
    with zipfile.ZipFile(versions / "v1.2.3.zip", "w") as archive:
        for name, text in FILES.items():
            archive.writestr(f"{MODULE}@v1.2.3/{name}", text)
    return versions.parents[2].as_uri()


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, go_caches: dict[str, str], proxy: str) -> Path:
    """Points everything that the code reads from the environment below the test's own folder; gives the cache."""
    for name, value in {
        **go_caches,
        "GOPROXY": proxy,
        "GOSUMDB": "off",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path / "home"),
        "LWS_LAB_DOWNLOADS": "off",
        "NO_PROXY": "*",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "cache" / "pulumi-lws"


@pytest.fixture
def report() -> Lines:
    return Lines()


def greeter(version: str = "1.2.3", **changes: object) -> Tool:
    """A tool that builds within a second."""
    settings: dict[str, object] = {
        "module": MODULE,
        "version": "v1.2.3",
        "packages": {"greeter": f"{MODULE}/cmd/greeter"},
        "stamp": "main.version={version}",
    }
    recipe = Recipe(**(settings | changes))  # type: ignore[arg-type]  # the names are those of Recipe
    return Tool("greeter", "a program for tests", version, recipe, minutes=0.5, megabytes=10)


@pytest.fixture
def a_greeter() -> Callable[..., Tool]:
    return greeter


@pytest.fixture
def put_program(tmp_path: Path) -> Callable[..., Path]:
    """Writes an executable shell script into a folder of the test and gives the folder."""

    def put(name: str, script: str, folder: str = "bin") -> Path:
        home = tmp_path / folder
        home.mkdir(exist_ok=True)
        (home / name).write_text(f"#!/bin/sh\n{script}\n")
        (home / name).chmod(0o755)
        return home

    return put


@pytest.fixture
def held_go(tmp_path: Path, put_program: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a ``go`` on PATH that writes down each build and holds it until the file ``go-on`` appears."""
    real = shutil.which("go")
    folder = put_program(
        "go",
        f"""if [ "$1" = build ]; then
  echo $$ >> {tmp_path}/builds
  tries=0
  while [ ! -e {tmp_path}/go-on ] && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
fi
exec {real} "$@"
""",
        "held",
    )
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return tmp_path
