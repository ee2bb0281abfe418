"""What a lab says about itself."""

from dataclasses import dataclass, field

import httpx

from lab.aws import install as aws
from lab.cluster import client, crds, parts, processes, record, starting
from lab.cluster.kinds import with_status_writer
from lab.cluster.layout import Layout
from lab.cluster.parts import Part
from lab.cluster.record import Record, Tool

PROVIDER_NOTE = (
    "A Kubernetes provider that was built from source behaves like 4.25: it creates by server-side apply. From 4.29 on"
    " the first create is a POST, and an object that exists already is an error; from 4.32 on the CRDs of a chart"
    " resolve in preview."
)


@dataclass(frozen=True)
class PartStatus:
    """One part of a lab.

    Attributes:
        name: Its name.
        running: Whether its process lives.
        pid: Its process; None where it does not run.
        port: Where it listens; None where it does not.
        log_end: The end of its log where it does not run.
    """

    name: str
    running: bool
    pid: int | None = None
    port: int | None = None
    log_end: str = ""


@dataclass(frozen=True)
class LabStatus:
    """A whole lab.

    Attributes:
        parts: Its parts, in the order in which they start.
        tools: Version and origin of each tool.
        upstream_crds: CRD → release that it comes from.
        stand_in_crds: CRDs that accept anything.
        written_statuses: CRDs whose status the lab writes.
        real_controllers: Program of each part that writes the statuses of its kinds itself.
        aws_providers: Version of each provider that stands in for AWS.
    """

    parts: tuple[PartStatus, ...]
    tools: dict[str, Tool] = field(default_factory=dict)
    upstream_crds: dict[str, str] = field(default_factory=dict)
    stand_in_crds: tuple[str, ...] = ()
    written_statuses: tuple[str, ...] = ()
    real_controllers: dict[str, str] = field(default_factory=dict)
    aws_providers: dict[str, str] = field(default_factory=dict)

    @property
    def all_run(self) -> bool:
        """Whether every part runs, and what they are is known."""
        return bool(self.tools) and all(part.running for part in self.parts)


def look(layout: Layout) -> LabStatus | None:
    """Look at a lab; None where nothing of it runs and nothing is remembered."""
    known = record.load(layout)
    alive = {found.part: found.process.pid for found in processes.find(layout.folder)}
    if not known:
        # Its state is gone; what still runs is all that can be said.
        strays = tuple(PartStatus(part, running=True, pid=pid) for part, pid in alive.items())
        return LabStatus(strays) if strays else None
    sources = _crd_sources(layout, known) if parts.API_SERVER in alive else {}
    wanted = parts.all_parts(layout, known)
    return LabStatus(
        parts=tuple(_part_status(layout, part, alive.get(part.name)) for part in wanted),
        tools=dict(known.tools),
        upstream_crds={name: source for name, source in sources.items() if source != crds.STAND_IN},
        stand_in_crds=tuple(name for name, source in sources.items() if source == crds.STAND_IN),
        written_statuses=tuple(kind.name for kind in with_status_writer(known.real_controllers)),
        real_controllers={part.name: part.command[0] for part in wanted if part.name in parts.ON_DEMAND},
        aws_providers=aws.versions(),
    )


def _part_status(layout: Layout, part: Part, pid: int | None) -> PartStatus:
    log_end = "" if pid else starting.end_of(layout.log(part.name))
    return PartStatus(part.name, running=pid is not None, pid=pid, port=part.port, log_end=log_end)


def _crd_sources(layout: Layout, known: Record) -> dict[str, str]:
    """Where each of our definitions comes from; those that others installed are theirs to describe."""
    try:
        with client.connect(layout, known.ports[parts.API_PORT]) as api:
            found = client.annotations(api, client.CUSTOM_RESOURCE_DEFINITIONS)
    except httpx.HTTPError:
        return {}
    return {name: own[crds.SOURCE] for name, own in sorted(found.items()) if crds.SOURCE in own}
