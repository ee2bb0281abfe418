"""What a lab remembers about itself between commands. Never a proof that something runs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.cluster.layout import Layout
from lab.tools.obtained import Obtained


@dataclass(frozen=True)
class Tool:
    """A tool as the lab was started with it."""

    version: str
    origin: str


@dataclass(frozen=True)
class Record:
    """One lab.

    Attributes:
        ports: Port of each purpose.
        karpenter: Whether Karpenter belongs to it.
        lws_controller: Whether the controller of LeaderWorkerSet belongs to it.
        binaries: Path of each program.
        tools: Version and origin of each tool.
        crds: Upstream releases that its custom resources come from.
        complete: Whether all its parts were up at the end of the last ``up``, and ``down`` was not asked for since.
    """

    ports: Mapping[str, int]
    karpenter: bool
    lws_controller: bool
    binaries: Mapping[str, str]
    tools: Mapping[str, Tool]
    crds: Sequence[str]
    complete: bool = False

    @property
    def real_controllers(self) -> frozenset[str]:
        """Components whose own controller runs, by their names in the table of kinds."""
        karpenter = ("karpenter", "karpenter-kwok") if self.karpenter else ()
        lws = ("lws",) if self.lws_controller else ()
        return frozenset((*karpenter, *lws))

    def programs(self) -> dict[str, Path]:
        """Path of each program."""
        return {name: Path(path) for name, path in self.binaries.items()}


def new(
    ports: Mapping[str, int],
    tools: Mapping[str, Obtained],
    crds: Sequence[str],
    *,
    karpenter: bool,
    lws_controller: bool,
) -> Record:
    """The record of a lab that is about to start."""
    return Record(
        ports=dict(ports),
        karpenter=karpenter,
        lws_controller=lws_controller,
        binaries={name: str(path) for tool in tools.values() for name, path in tool.binaries.items()},
        tools={name: Tool(tool.version, tool.origin) for name, tool in tools.items()},
        crds=list(crds),
    )


def load(layout: Layout) -> Record | None:
    """The record of a lab; None where there is none that can be read."""
    try:
        data = json.loads(layout.record.read_text())
        return Record(**{**data, "tools": {name: Tool(**tool) for name, tool in data["tools"].items()}})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save(layout: Layout, record: Record) -> None:
    """Write the record; a reader meets the old one or the new one, never a part."""
    draft = layout.record.with_suffix(".draft")
    draft.write_text(json.dumps(asdict(record), indent=2) + "\n")
    draft.replace(layout.record)
