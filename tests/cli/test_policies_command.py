"""``lws policies``: what it writes, and what it leaves alone."""

from importlib import metadata
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from pulumi_lws.cli.main import app
from pulumi_lws.cli.policies import _semantic

VERSION = metadata.version("pulumi-lws")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["policies", "pack", *arguments])


def files() -> dict[str, str]:
    return {path.name: path.read_text() for path in Path("pack").iterdir()}


def test_a_pack_is_three_small_files_of_this_version() -> None:
    ended = write()
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert "pulumi preview --policy-pack pack" in ended.stdout
    written = files()
    assert yaml.safe_load(written.pop("PulumiPolicy.yaml")) == {
        "version": _semantic(VERSION),
        "description": "What a multi-node LLM deployment must hold to before it costs a GPU-hour",
        "runtime": {"name": "python", "options": {"toolchain": "pip", "virtualenv": "venv"}},
    }
    assert written == {
        "__main__.py": 'from pulumi_lws.policies.pack import run\n\nrun(preset="standard")\n',
        "requirements.txt": f"pulumi-lws[policy]=={VERSION}\n",
    }


def test_writing_again_changes_nothing() -> None:
    write("--preset", "advisory")
    before = files()
    assert write("--preset", "advisory").exit_code == 0
    assert files() == before


def test_another_preset_and_an_older_version_are_brought_up_to_date() -> None:
    write("--preset", "advisory")
    Path("pack/requirements.txt").write_text("pulumi-lws[policy]==0.0.9\n")
    assert write("--preset", "strict").exit_code == 0
    assert files()["requirements.txt"] == f"pulumi-lws[policy]=={VERSION}\n"
    assert files()["__main__.py"].endswith('run(preset="strict")\n')


@pytest.mark.parametrize("name", ["PulumiPolicy.yaml", "__main__.py"])
def test_nothing_is_written_where_somebody_elses_file_is_in_the_way(name: str) -> None:
    write()
    for path in Path("pack").iterdir():
        path.unlink()
    (Path("pack") / name).write_text("mine")
    ended = write()
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert f"pack/{name}: not written by this command" in " ".join(ended.stderr.split())
    assert files() == {name: "mine"}


WHEEL = "./wheels/pulumi_lws-0.1.0-py3-none-any.whl[policy]"


def test_the_package_is_taken_from_where_it_is_said_to_be() -> None:
    assert "pip takes" in write().stdout
    ended = write("--requirement", WHEEL)
    assert (ended.exit_code, ended.stderr, "pip takes" in ended.stdout) == (0, "", False)
    assert files()["requirements.txt"] == f"{WHEEL}\n"


@pytest.mark.parametrize(
    "mine",
    [
        f"{WHEEL}\n",
        "-e ../checkout[policy]  # pulumi-lws\n",
        f"--find-links wheels/pulumi-lws\n# ours\npulumi-lws[policy]=={VERSION}\n",
        "pulumi-lws[policy] @ git+https://example.com/pulumi-lws@v0.1.0\npulumi-policy==1.20.0\n",
    ],
)
def test_how_somebody_requires_the_package_stays_as_it_is(mine: str) -> None:
    write()
    Path("pack/requirements.txt").write_text(mine)
    assert write("--preset", "strict").exit_code == 0
    assert files()["requirements.txt"] == mine
    assert files()["__main__.py"].endswith('run(preset="strict")\n')


def test_a_requirement_takes_the_place_of_the_one_that_was_there_and_of_nothing_else() -> None:
    write()
    Path("pack/requirements.txt").write_text(f"# ours\npulumi-policy==1.20.0\n{WHEEL}\n")
    write("--requirement", "-e ../pulumi-lws[policy]")
    assert files()["requirements.txt"] == "# ours\npulumi-policy==1.20.0\n-e ../pulumi-lws[policy]\n"


@pytest.mark.parametrize("requirement", ["", "requests", "# pulumi-lws", "pulumi-lws\nrequests"])
def test_a_requirement_is_one_line_that_names_the_package(requirement: str) -> None:
    ended = write("--requirement", requirement)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "Invalid value for --requirement" in ended.stderr
    assert not Path("pack").exists()


def test_requirements_without_the_package_are_in_the_way() -> None:
    write()
    Path("pack/requirements.txt").write_text("--index-url https://me:password@example.com\n")
    ended = write("--preset", "strict")
    assert (ended.exit_code, ended.stdout) == (2, "")
    said = " ".join(ended.stderr.split())
    assert "Invalid value for pack/requirements.txt: found nothing that installs pulumi-lws; allowed:" in said
    assert "password" not in said
    assert files()["__main__.py"].endswith('run(preset="standard")\n')


def test_a_folder_that_cannot_be_made_is_said() -> None:
    Path("pack").write_text("")
    ended = write()
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "Invalid value for FOLDER: pack" in " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    ("version", "semantic"),
    {"0.1.0": "0.1.0", "0.1.0.dev0": "0.1.0-dev0", "1.2.3rc1": "1.2.3-rc1", "1.2.3+local": "1.2.3+local"}.items(),
)
def test_the_engine_gets_a_version_that_it_can_read(version: str, semantic: str) -> None:
    assert _semantic(version) == semantic
