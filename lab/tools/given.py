"""The controller of LeaderWorkerSet, which no registry serves: a program that its user names."""

import os
from collections.abc import Mapping
from pathlib import Path

from lab.errors import LabError
from lab.tools.installed import told_version
from lab.tools.obtained import Obtained
from pulumi_lws.facts.versions import PINS

LWS_CONTROLLER = "lws-controller"

_PROGRAM = "LWS_LAB_CONTROLLER"
_VERSION = "LWS_LAB_CONTROLLER_VERSION"

_UNSTAMPED = (0, 0, 0)
"""What a controller says that was built without the flags that put its version in."""


def given_controller(environment: Mapping[str, str]) -> Obtained | None:
    """The controller that ``LWS_LAB_CONTROLLER`` names; None where it names none.

    Its version is what it says of itself, else ``LWS_LAB_CONTROLLER_VERSION``, else the pinned one.

    Raises:
        LabError: What it names is no program.
    """
    value = environment.get(_PROGRAM)
    if not value:
        return None
    program = Path(value)
    if not program.is_absolute():
        raise _useless(program, "a relative path")
    if not program.is_file():
        raise _useless(program, "no file")
    if not os.access(program, os.X_OK):
        raise _useless(program, "not executable")
    told = told_version(program)
    if told and told != _UNSTAMPED:
        version = ".".join(map(str, told))
    else:
        version = environment.get(_VERSION, "").removeprefix("v") or PINS["lws"].version
    return Obtained(program.parent, {LWS_CONTROLLER: program}, version, "given")


def _useless(program: Path, what: str) -> LabError:
    return LabError(
        f"{_PROGRAM} names {program}, which is {what}.",
        "Name the controller of LeaderWorkerSet by its absolute path, or unset the variable to do without it.",
    )
