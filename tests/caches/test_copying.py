"""A folder of weights is whole or not finished, and is never mixed with something else: the script itself, run."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.caches.copying import FINISH_FILE, NEVER_MENDED, Place, copying, removing
from pulumi_lws.caches.settings import NodeModel

S3 = {"kind": "s3", "uri": "s3://models/glm-5"}
HUB = {"kind": "hugging-face", "model": "openai/gpt-oss-120b", "revision": "v1"}

_AWS = """\
#!/bin/sh
[ "$1" = configure ] && exit 0
echo "aws $*" >> "$CALLS"
case "$*" in
  *--dryrun*) echo "$MISSING" ;;
  *) truncate -s "$BYTES" "$4/model.safetensors"; exit "$CODE" ;;
esac
"""

_HF = """\
#!/bin/sh
echo "hf $*" >> "$CALLS"
mkdir -p "$6/.cache"; truncate -s "$BYTES" "$6/model.safetensors"; exit "$CODE"
"""


class Folder:
    """A folder of weights, and programs that play S3 and the hub."""

    def __init__(self, home: Path) -> None:
        self.path = home / "weights of a model"
        self._home = home
        for name, text in (("aws", _AWS), ("hf", _HF)):
            (home / name).write_text(text, encoding="utf-8")
            (home / name).chmod(0o755)

    def run(
        self, origin: dict[str, Any], *, size_gb: int = 2, bytes_: str = "1900M", missing: str = "", code: int = 0
    ) -> int:
        """Run the container's script as the container would be."""
        return self._run(copying(self._copy(origin, size_gb), self._place), BYTES=bytes_, MISSING=missing, CODE=code)

    def remove(self) -> int:
        return self._run(removing(self._copy(S3, 2), self._place))

    @property
    def _place(self) -> Place:
        return Place(str(self.path), {}, {})

    def _copy(self, origin: dict[str, Any], size_gb: int) -> NodeModel:
        return NodeModel.model_validate({"origin": origin, "sizeGb": size_gb, "pools": ["p5"], "path": "/weights"})

    def _run(self, container: dict[str, Any], **variables: Any) -> int:
        told = {entry["name"]: entry["value"] for entry in container["env"]} | {"HOME": str(self._home)}
        environment = {
            "PATH": f"{self._home}:{os.environ['PATH']}",
            "CALLS": str(self._home / "calls"),
            **told,
            **{name: str(value) for name, value in variables.items()},
        }
        done = subprocess.run(container["command"], env=environment, check=False, capture_output=True, text=True)
        self.said = done.stdout + done.stderr
        return done.returncode

    @property
    def is_finished(self) -> bool:
        return (self.path / FINISH_FILE).exists()

    @property
    def calls(self) -> list[str]:
        calls = self._home / "calls"
        return calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_copy_from_s3_is_checked_and_then_finished(folder: Folder) -> None:
    assert folder.run(S3) == 0
    assert (folder.path / FINISH_FILE).read_text(encoding="utf-8") == "s3://models/glm-5\n"
    sync = f"aws s3 sync s3://models/glm-5 {folder.path} --exclude .pulumi-lws-*"
    assert folder.calls == [f"{sync} --delete --only-show-errors", f"{sync} --size-only --dryrun"]


def test_a_copy_from_the_hub_is_of_one_revision_and_leaves_no_cache(folder: Folder) -> None:
    assert folder.run(HUB) == 0
    download = f"hf download openai/gpt-oss-120b --revision v1 --local-dir {folder.path}"
    assert folder.calls == [f"{download} --exclude metal/* --exclude original/*"]
    assert sorted(path.name for path in folder.path.iterdir()) == [
        FINISH_FILE,
        ".pulumi-lws-origin",
        "model.safetensors",
    ]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"code": 1}, "copying s3://models/glm-5"),
        ({"missing": "download: a.safetensors"}, "not all of it came: download: a.safetensors"),
        ({"bytes_": "100M"}, "KB came"),
    ],
)
def test_a_part_is_never_finished_and_the_next_try_goes_on(folder: Folder, fault: dict[str, Any], said: str) -> None:
    assert (folder.run(S3, **fault), folder.is_finished) == (1, False)
    assert said in folder.said
    assert (folder.run(S3), folder.is_finished) == (0, True)


def test_what_is_finished_is_not_copied_again(folder: Folder) -> None:
    folder.run(S3)
    before = folder.calls
    assert (folder.run(S3), folder.calls) == (0, before)


@pytest.mark.parametrize("fault", [{}, {"code": 1}])
def test_a_folder_of_other_weights_is_left_alone_whole_or_not(folder: Folder, fault: dict[str, Any]) -> None:
    folder.run(S3, **fault)
    before = folder.calls
    assert (folder.run(HUB), folder.calls) == (NEVER_MENDED, before)
    assert "is of s3://models/glm-5, not of openai/gpt-oss-120b@v1: give it a path of its own" in folder.said


def test_a_folder_of_somebody_else_is_left_alone(folder: Folder) -> None:
    folder.path.mkdir()
    (folder.path / "thesis.tex").touch()
    assert (folder.run(S3), folder.calls) == (NEVER_MENDED, [])
    assert "is not empty, and not ours" in folder.said
    assert (folder.remove(), [path.name for path in folder.path.iterdir()]) == (0, ["thesis.tex"])


def test_nothing_is_copied_where_there_is_no_room(folder: Folder) -> None:
    assert (folder.run(S3, size_gb=100_000), folder.calls) == (NEVER_MENDED, [])
    assert "has room for" in folder.said


def test_a_folder_of_ours_is_emptied_and_may_be_filled_anew(folder: Folder) -> None:
    folder.run(HUB)
    assert (folder.remove(), list(folder.path.iterdir())) == (0, [])
    assert folder.remove() == 0
    assert (folder.run(S3), folder.is_finished) == (0, True)


def test_a_token_comes_from_its_secret_alone() -> None:
    model = NodeModel.model_validate(
        {"origin": HUB | {"tokenSecret": "hub"}, "sizeGb": 2, "pools": ["p5"], "path": "/weights"}
    )
    container = copying(model, Place("/weights", {"name": "weights"}, {}))
    reference = {"secretKeyRef": {"name": "hub", "key": "HF_TOKEN"}}
    assert container["env"][-1] == {"name": "HF_TOKEN", "valueFrom": reference}
