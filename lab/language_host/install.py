"""Puts the host where the engine finds it."""

import shlex
from pathlib import Path

NAME = "pulumi-language-python"


def install(folder: Path, python: Path) -> Path:
    """Write the executable that starts the host and give its path.

    Args:
        folder: The folder of the program ``pulumi``, where the engine looks without a warning.
        python: The interpreter that the host runs with, which needs the packages of the lab.
    """
    host = Path(__file__).resolve().with_name("__main__.py")
    executable = folder.absolute() / NAME
    # Made whole under another name: an engine may start it at any moment.
    draft = executable.with_suffix(".new")
    # `absolute`, since the target of a virtual environment's link is another Python.
    draft.write_text(f'#!/bin/sh\nexec {shlex.quote(str(python.absolute()))} -P {shlex.quote(str(host))} "$@"\n')
    draft.chmod(0o755)
    return draft.replace(executable)
