"""Brings the control plane of a lab up and down."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
from filelock import FileLock, Timeout

from lab.cluster import access, certificates, client, crds, karpenter, lws, parts, ports, processes, record, starting
from lab.cluster.crds import Definitions
from lab.cluster.layout import Layout
from lab.cluster.processes import Running
from lab.cluster.record import Record
from lab.errors import LabError
from lab.tools.obtained import Obtained

Say = Callable[[str], None]

_PORT_ATTEMPTS = 3
"""How often ports are chosen when other programs are faster."""

_OTHER_COMMAND_SECONDS = 180


@dataclass(frozen=True)
class Wish:
    """What ``up`` is asked for.

    Attributes:
        tools: The programs, by tool.
        nodes: Node objects to have.
        karpenter: Whether Karpenter runs.
        lws_controller: Whether the controller of LeaderWorkerSet runs.
        api_port: Port that the API server must have; None for any.
        crds: The custom resources to install.
    """

    tools: Mapping[str, Obtained]
    crds: Definitions
    nodes: Sequence[dict[str, Any]] = ()
    karpenter: bool = False
    lws_controller: bool = False
    api_port: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What ``up`` did.

    Attributes:
        started: Parts that it started, in order; empty where all ran already.
        crashed: End of the log of each part that had died since the last ``up``.
        api_port: Where the API server listens.
    """

    started: tuple[str, ...]
    crashed: Mapping[str, str]
    api_port: int


def up(layout: Layout, wish: Wish, say: Say) -> Outcome:
    """Make all parts of a lab run, with its kinds and nodes; start only what does not run yet.

    Args:
        layout: The lab.
        wish: What to bring up.
        say: Takes a sentence for the person who waits.

    Raises:
        LabError: It cannot be done. Then nothing of the lab runs, unless all of it ran before.
    """
    with _only_us(layout):
        known = record.load(layout)
        alive = processes.find(layout.folder)
        if alive and not (known and known.complete):
            say("An earlier start was cut off; cleaning up after it.")
            alive = _stop(layout)
        if alive and known and wish.api_port not in (None, known.ports[parts.API_PORT]):
            raise LabError(
                f"This lab already runs, with its API server on port {known.ports[parts.API_PORT]}.",
                "Run `down` first to have it on another port.",
            )
        if alive and certificates.are_due(layout):
            say("The certificates of this lab are close to their end; it starts anew with new ones.")
            alive = _stop(layout)
        try:
            return _up(layout, wish, known, alive, say)
        except BaseException as error:
            # Also when interrupted: half a lab helps nobody.
            if not _is_complete(layout):
                _stop(layout)
            if isinstance(error, httpx.HTTPError):
                log = layout.log(parts.API_SERVER)
                raise LabError(
                    f"The lab's API server stopped answering: {error}.",
                    f"The end of its log is below; all of it is in {log}.",
                    starting.end_of(log),
                ) from error
            if isinstance(error, OSError):
                raise LabError(
                    f"The lab cannot write its state: {error}.",
                    f"Make room or set the rights right in {layout.folder}, then run `up` again.",
                ) from error
            raise


def down(layout: Layout, *, keep: bool) -> tuple[str, ...]:
    """End all processes of a lab, engines included, and delete its state; return the parts that ran.

    Args:
        layout: The lab; its folder may be gone already.
        keep: Leave the state for a later ``up``.

    Raises:
        LabError: A process cannot be ended.
    """
    with _only_us(layout):
        _end(processes.find_engines(layout.folder))
        ran = tuple(found.part for found in processes.find(layout.folder))
        _stop(layout)
        if not keep:
            if layout.folder.exists():
                shutil.rmtree(layout.folder)
            layout.lock.unlink(missing_ok=True)
        elif known := record.load(layout):
            record.save(layout, replace(known, complete=False))
    return ran


def _up(layout: Layout, wish: Wish, known: Record | None, alive: list[Running], say: Say) -> Outcome:
    crashed = _crashed(layout, known, alive)
    preferred = known.ports if known else {}
    pinned = {parts.API_PORT: wish.api_port} if wish.api_port else {}
    for attempt in range(1, _PORT_ATTEMPTS + 1):
        chosen = preferred if alive else ports.choose(parts.PORTS, preferred, pinned)
        try:
            started = _start_missing(layout, wish, known, chosen, alive)
        except starting.PartFailedError as failure:
            if not failure.lost_its_port or attempt == _PORT_ATTEMPTS:
                raise
            say("Another program took one of the ports; trying others.")
            alive, preferred = _stop(layout), {}
        else:
            return Outcome(started, crashed, chosen[parts.API_PORT])
    raise AssertionError("the last attempt returns or raises")


def _start_missing(
    layout: Layout, wish: Wish, known: Record | None, chosen: Mapping[str, int], alive: list[Running]
) -> tuple[str, ...]:
    """Start the parts that do not run, or run with another command line than they should; return their names."""
    planned = record.new(
        chosen, wish.tools, wish.crds.sources, karpenter=wish.karpenter, lws_controller=wish.lws_controller
    )
    wanted = parts.all_parts(layout, planned)
    commands = {part.command for part in wanted}
    right = {found.part for found in alive if found.command in commands}
    missing = [part for part in wanted if part.name not in right]
    _end([found for found in alive if found.part not in right])
    if missing:
        record.save(layout, planned)
        _write_files(layout, chosen)
    same_crds = known is not None and known.crds == planned.crds and parts.ETCD in right
    with ThreadPoolExecutor(1) as reader:
        # Reading megabytes of YAML takes the second that the API server needs to start.
        definitions = reader.submit(list if same_crds else wish.crds.read)
        core = [part for part in missing if part.name in (parts.ETCD, parts.API_SERVER)]
        starting.wait_until_ready(layout, starting.launch(layout, core))
        with client.connect(layout, chosen[parts.API_PORT]) as api:
            if core:
                client.apply(api, client.ROLES, access.roles())
                client.apply(api, client.ROLE_BINDINGS, access.role_bindings())
            rest = [part for part in missing if part not in core]
            if parts.KWOK not in right:
                # Each run of kwok is another holder of the nodes' leases, and waits out those of the run before it.
                client.delete(api, client.NODE_LEASES)
            builtin = starting.launch(layout, [part for part in rest if not part.needs_crds])
            client.apply(api, client.CUSTOM_RESOURCE_DEFINITIONS, definitions.result())
            served = [resource for document in definitions.result() for resource in crds.served(document)]
            client.wait_until_served(api, served)
            _register_webhooks(layout, planned, api)
            custom = starting.launch(layout, [part for part in rest if part.needs_crds])
            client.apply(api, client.NODES, wish.nodes)
            starting.wait_until_ready(layout, [*builtin, *custom])
            client.wait_until_pods_can_be_made(api)
    record.save(layout, replace(planned, complete=True))
    return tuple(part.name for part in missing)


def _is_complete(layout: Layout) -> bool:
    known = record.load(layout)
    return known is not None and known.complete


def _write_files(layout: Layout, chosen: Mapping[str, int]) -> None:
    certificates.issue_if_due(layout)
    access.write_kubeconfigs(layout, chosen[parts.API_PORT])
    layout.logs.mkdir(exist_ok=True)
    layout.instance_types.write_text(json.dumps(karpenter.instance_types()))
    layout.lws_controller.mkdir(exist_ok=True)
    layout.lws_configuration.write_text(json.dumps(lws.configuration(layout, chosen)))
    for link, target in lws.certificate_links(layout).items():
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def _register_webhooks(layout: Layout, lab: Record, api: httpx.Client) -> None:
    """Have the API server ask the LWS controller; without one, nobody, since what nobody answers is refused."""
    if lab.lws_controller:
        # Before it starts, so that no pod is made that it has not seen.
        authority = layout.certificate(certificates.CLUSTER_AUTHORITY).read_bytes()
        for collection, document in lws.webhook_configurations(lab.ports[lws.WEBHOOK_PORT], authority).items():
            client.apply(api, collection, [document])
    else:
        for collection in lws.WEBHOOKS:
            client.delete(api, f"{collection}/{lws.NAME}")


def _crashed(layout: Layout, known: Record | None, alive: list[Running]) -> dict[str, str]:
    """End of the log of each part that lacks beside those that run; nothing where none runs, as after a reboot."""
    running = {found.part for found in alive}
    expected = parts.all_parts(layout, known) if known and running else ()
    return {part.name: starting.end_of(layout.log(part.name)) for part in expected if part.name not in running}


def _stop(layout: Layout) -> list[Running]:
    """End every process of the lab; return those that run then, which is none.

    Raises:
        LabError: Some would not end.
    """
    _end(processes.find(layout.folder))
    return processes.find(layout.folder)


def _end(running: Sequence[Running]) -> None:
    if left := processes.stop(running, parts.START_ORDER):
        names = ", ".join(f"{found.part} (process {found.process.pid})" for found in left)
        raise LabError(f"These would not end even when killed: {names}.", "End them by hand, then run `down` again.")


@contextmanager
def _only_us(layout: Layout) -> Iterator[None]:
    """Keep other commands on the same lab waiting; bounded."""
    layout.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with FileLock(layout.lock, timeout=_OTHER_COMMAND_SECONDS):
            yield
    except Timeout:
        raise LabError(
            f"Another command has been changing this lab for {_OTHER_COMMAND_SECONDS} seconds.",
            "Wait for it or end it, then try again.",
        ) from None
