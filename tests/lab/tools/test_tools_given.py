from collections.abc import Callable
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.tools.given import given_controller
from lab.tools.obtained import Obtained
from pulumi_lws.facts.versions import PINS

Put = Callable[..., Path]

SAYS_WHICH = "echo Version: v0.9.0; echo Build Date: N/A; echo Git Commit: 1.2.3"
UNSTAMPED = "echo Version: v0.0.0-main"
SAYS_NOTHING = "echo flag provided but not defined: -version >&2; exit 2"


def test_without_the_variable_there_is_no_controller() -> None:
    assert given_controller({}) is None
    assert given_controller({"LWS_LAB_CONTROLLER": ""}) is None


@pytest.mark.parametrize(
    ("script", "declared", "version"),
    [
        (SAYS_WHICH, {}, "0.9.0"),
        (SAYS_WHICH, {"LWS_LAB_CONTROLLER_VERSION": "0.10.0"}, "0.9.0"),
        (UNSTAMPED, {"LWS_LAB_CONTROLLER_VERSION": "0.9.0"}, "0.9.0"),
        (SAYS_NOTHING, {"LWS_LAB_CONTROLLER_VERSION": "v0.9.0"}, "0.9.0"),
        (SAYS_NOTHING, {}, PINS["lws"].version),
    ],
)
def test_its_version_is_what_it_says_else_what_is_declared_else_the_pinned_one(
    put_program: Put, script: str, declared: dict[str, str], version: str
) -> None:
    folder = put_program("manager", script)
    program = folder / "manager"
    assert given_controller({"LWS_LAB_CONTROLLER": str(program), **declared}) == Obtained(
        folder, {"lws-controller": program}, version, "given"
    )


def test_what_is_no_program_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    refusals = {}
    for path in ("bin/manager", str(tmp_path / "absent"), str(tmp_path), str(tmp_path / "text")):
        with pytest.raises(LabError) as refused:
            given_controller({"LWS_LAB_CONTROLLER": path})
        refusals[path] = refused.value.sentence
    assert refusals == {
        "bin/manager": "LWS_LAB_CONTROLLER names bin/manager, which is a relative path.",
        f"{tmp_path / 'absent'}": f"LWS_LAB_CONTROLLER names {tmp_path / 'absent'}, which is no file.",
        f"{tmp_path}": f"LWS_LAB_CONTROLLER names {tmp_path}, which is no file.",
        f"{tmp_path / 'text'}": f"LWS_LAB_CONTROLLER names {tmp_path / 'text'}, which is not executable.",
    }
