import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.tools.progress import Reporter
from lab.vllm import environment
from lab.vllm.environment import VERSION, interpreter, python_of

QUIET = Reporter(lambda _: None)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(environment, "NEEDED_GIGABYTES", 0)
    return tmp_path / "pulumi-lws" / "vllm"


class Installation:
    """Stands for uv: writes what an environment is known by, and remembers how often."""

    def __init__(self) -> None:
        self.folders: list[Path] = []
        self.may_end = threading.Event()
        self.may_end.set()
        self.began = threading.Event()

    def __call__(self, folder: Path, log: Path, limit: float, tick: Callable[[], None]) -> None:  # noqa: ARG002 - as uv's
        self.folders.append(folder)
        python_of(folder).parent.mkdir(parents=True)
        self.began.set()
        assert self.may_end.wait(timeout=60)
        python_of(folder).write_text("", encoding="utf-8")


def test_an_environment_is_made_once(home: Path) -> None:
    install = Installation()
    assert interpreter(QUIET, install) == home / VERSION / "bin" / "python"
    assert interpreter(QUIET, install).exists()
    assert install.folders == [home / f"{VERSION}.partial"]


def test_an_environment_is_seen_only_when_it_is_whole(home: Path) -> None:
    install = Installation()
    install.may_end.clear()
    made: list[Path] = []
    first = threading.Thread(target=lambda: made.append(interpreter(QUIET, install)))
    second = threading.Thread(target=lambda: made.append(interpreter(QUIET, install)))
    first.start()
    assert install.began.wait(timeout=60)
    second.start()
    assert not (home / VERSION).exists()
    install.may_end.set()
    first.join(timeout=60)
    second.join(timeout=60)
    assert made == [home / VERSION / "bin" / "python"] * 2
    assert len(install.folders) == 1


def test_whoever_waits_too_long_for_another_says_so(home: Path) -> None:
    install = Installation()
    install.may_end.clear()
    first = threading.Thread(target=lambda: interpreter(QUIET, install))
    first.start()
    assert install.began.wait(timeout=60)
    with pytest.raises(LabError, match="Another process has been installing vLLM for more than 0 min"):
        interpreter(QUIET, install, limit=0)
    install.may_end.set()
    first.join(timeout=60)
    assert (home / VERSION).exists()


def test_a_failed_installation_leaves_nothing_and_what_a_killed_one_left_is_removed(home: Path) -> None:
    def fails(folder: Path, *_: object) -> None:
        folder.mkdir()
        raise LabError("vLLM cannot be installed.", "Look.")

    with pytest.raises(LabError, match="cannot be installed"):
        interpreter(QUIET, fails)
    assert sorted(path.name for path in home.iterdir()) == [f"{VERSION}.lock"]
    left = home / f"{VERSION}.partial" / "bin" / "half"
    left.parent.mkdir(parents=True)
    left.touch()
    interpreter(QUIET, Installation())
    assert sorted(path.name for path in (home / VERSION / "bin").iterdir()) == ["python"]


@pytest.mark.usefixtures("home")
def test_an_environment_whose_python_is_gone_is_made_anew() -> None:
    interpreter(QUIET, Installation()).unlink()
    install = Installation()
    interpreter(QUIET, install)
    assert len(install.folders) == 1


def test_a_disk_without_room_is_said_before_anything_is_installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "NEEDED_GIGABYTES", 10**9)
    install = Installation()
    with pytest.raises(LabError, match=f"vLLM needs 1000000000 GB of disk space at {home}, but "):
        interpreter(QUIET, install)
    assert install.folders == []
