"""What the search for a program ends in."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab.tools.table import LANGUAGE_HOST, Tool

Origin = Literal["path", "download", "build", "given"]


@dataclass(frozen=True)
class Obtained:
    """A tool that is ready to run.

    Attributes:
        folder: Folder that holds the programs and what was made with them, such as ``crds``.
        binaries: Name of each program → its file.
        version: Version that it reports, or was made from; without a leading v.
        origin: ``path`` (was on this machine), ``download`` (official archive), ``build`` (Go module) or
            ``given`` (its user named it).
    """

    folder: Path
    binaries: Mapping[str, Path]
    version: str
    origin: Origin

    @property
    def has_language_host(self) -> bool:
        """Whether the official Python language host came with it; only the Pulumi CLI can have one."""
        return LANGUAGE_HOST in self.binaries


def in_folder(tool: Tool, folder: Path, origin: Origin) -> Obtained | None:
    """The tool as it stands in a folder; None unless every one of its programs is there and may be run."""
    programs = {name: folder / name for name in (*tool.binaries, *tool.companions) if os.access(folder / name, os.X_OK)}
    if not programs.keys() >= set(tool.binaries):
        return None
    return Obtained(folder, programs, tool.version, origin)
