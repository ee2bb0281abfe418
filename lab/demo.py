"""The demonstration: the local stack on a lab, provisioned by the real engine, read back from the API server."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx
import typer
from filelock import FileLock, Timeout

from lab import engine
from lab.cluster import client, parts, record
from lab.cluster.layout import Layout
from lab.errors import LabError
from lab.folders import DEFAULT_LAB, PROJECT
from pulumi_lws.addons.addon import AddOnFacts
from pulumi_lws.addons.catalogue import ADD_ONS

STACK = "local"
NAMESPACE = "models"
NODES = "p5=p5.48xlarge:1x2"
"""The pool of the local stack: one island of two nodes."""

COLLECTIONS = (
    f"/api/v1/namespaces/{NAMESPACE}/configmaps",
    f"/api/v1/namespaces/{NAMESPACE}/services",
    f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies",
    f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets",
    f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments",
    f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{NAMESPACE}/leaderworkersets",
    f"/apis/disaggregatedset.x-k8s.io/v1/namespaces/{NAMESPACE}/disaggregatedsets",
)
"""Where the objects of the stack's namespace are read from."""

_OTHER_DEMO_SECONDS = 300
_ENGINE_END_SECONDS = 30

_MADE_BY_KUBERNETES = {"kube-root-ca.crt"}

FURTHER = """
Look further, in a shell of your own:

  eval "$({command} env{option})"
  pulumi preview --policy-pack policies        # nothing to change
  kubectl get leaderworkersets,services,networkpolicies,poddisruptionbudgets -n {namespace}
  kubectl get nodes -L pulumi-lws/island

Edit stacks/Pulumi.{stack}.yaml and run `pulumi up --policy-pack policies` to see what a change does.
What of this is real and what stands in:  {command} status{option}
Stop it and delete its state:             {command} down{option}"""


@dataclass(frozen=True)
class Made:
    """One object, or one add-on, as the API server has it.

    Attributes:
        kind: Its kind.
        name: Its name.
        manager: Who owns its fields.
        summary: What matters about it.
    """

    kind: str
    name: str
    manager: str
    summary: str


def provision(layout: Layout) -> None:
    """Run ``pulumi up`` of the local stack with the policy pack, output as it comes.

    One demonstration at a time works on a lab; another one waits, and then finds nothing to change.

    Raises:
        LabError: The engine reports a failure; it has said which.
    """
    try:
        with FileLock(layout.folder / "demo.lock", timeout=_OTHER_DEMO_SECONDS):
            engine.release_abandoned_locks(layout)
            _pulumi(layout, ["stack", "select", "--create", STACK])
            policies = ["--policy-pack", "policies"]
            _pulumi(layout, ["up", "--yes", "--skip-preview", "--stack", STACK, *policies, "--color", "auto"])
    except Timeout:
        raise LabError(
            f"Another `make demo` has worked on this lab for {_OTHER_DEMO_SECONDS} seconds.", "Wait for it, or end it."
        ) from None


def read_back(layout: Layout) -> list[Made]:
    """Read the objects of the stack back from the API server."""
    known = record.load(layout)
    if known is None:
        raise LabError("The lab has gone in the meantime.", "Run `make demo` again.")
    found: list[Made] = []
    with client.connect(layout, known.ports[parts.API_PORT]) as api:
        kinds = set(client.annotations(api, client.CUSTOM_RESOURCE_DEFINITIONS))
        found += [made for facts in ADD_ONS.values() if (made := _add_on(api, facts, kinds))]
        for path in COLLECTIONS:
            answer = api.get(path).raise_for_status().json()
            kind = answer["kind"].removesuffix("List")
            found += [_describe(kind, item) for item in answer["items"] if _is_ours(item)]
    return found


def show(objects: Sequence[Made], lab: str) -> None:
    """Print the objects, and how to go on."""
    rows = [("KIND", "NAME", "FIELDS MANAGED BY", ""), *((o.kind, o.name, o.manager, o.summary) for o in objects)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    typer.echo("\nRead back from the API server:\n")
    for row in rows:
        typer.echo("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    option = "" if lab == DEFAULT_LAB else f" --name {lab}"
    typer.echo(FURTHER.format(command=".venv/bin/python -m lab", option=option, namespace=NAMESPACE, stack=STACK))


def _pulumi(layout: Layout, arguments: Sequence[str]) -> None:
    variables = engine.environment(layout, os.environ.get("PATH", ""))
    command = [str(layout.programs / "pulumi"), *arguments, "--non-interactive"]
    with subprocess.Popen(command, cwd=PROJECT, env=os.environ | variables) as process:
        try:
            code = process.wait()
        except BaseException:
            # Asked to end, the engine ends its children and lets go of the stack; killed, it does neither.
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_ENGINE_END_SECONDS)
            process.kill()
            raise
    if code:
        raise LabError(
            f"`pulumi {' '.join(arguments)}` ended with code {code}.",
            "What it said stands above; mend that and run `make demo` again.",
        )


def _add_on(api: httpx.Client, facts: AddOnFacts, kinds: set[str]) -> Made | None:
    """Describe an add-on; None where nothing of it is there."""
    inside = f"/apis/apps/v1/namespaces/{facts.namespace}"
    paths = [f"{inside}/{kind.lower()}s/{name}" for kind, _, name in (one.partition("/") for one in facts.controllers)]
    controllers = [answer.json() for answer in map(api.get, paths) if answer.is_success]
    own = kinds & set(facts.crds)
    if not controllers and (facts.controllers or not own):
        return None
    running = f"{facts.namespace}: {sum(map(_runs, controllers))} of {_count(len(paths), 'controller')} available"
    summary = [*([running] if paths else []), *([_count(len(own), "kind")] if own else [])]
    return Made("add-on", facts.title, _managers(controllers[0]) if controllers else "", ", ".join(summary))


def _runs(controller: Mapping[str, Any]) -> bool:
    """Tell whether all pods of a Deployment or DaemonSet are available."""
    status = controller["status"]
    wanted = controller["spec"].get("replicas", status.get("desiredNumberScheduled"))
    return bool(status.get("availableReplicas", status.get("numberAvailable", 0)) == wanted)


def _managers(item: Mapping[str, Any]) -> str:
    entries = item["metadata"].get("managedFields", [])
    return ", ".join(sorted({entry["manager"] for entry in entries if entry.get("subresource") != "status"}))


def _is_ours(item: Mapping[str, Any]) -> bool:
    # What has an owner is a controller's, such as the Service that the real one of LeaderWorkerSet adds.
    metadata = item["metadata"]
    return metadata["name"] not in _MADE_BY_KUBERNETES and "ownerReferences" not in metadata


def _describe(kind: str, item: Mapping[str, Any]) -> Made:
    metadata, spec = item["metadata"], item.get("spec", {})
    match kind:
        case "LeaderWorkerSet":
            template = spec["leaderWorkerTemplate"]
            summary = f"{_count(spec['replicas'], 'group')} of {template['size']} pods, {spec['startupPolicy']}"
        case "Service":
            summary = f"port {spec['ports'][0]['port']} of the pods that serve"
        case "NetworkPolicy":
            summary = f"{len(spec['ingress'])} rules for who may connect"
        case "PodDisruptionBudget":
            summary = ", ".join(
                f"{bound} {spec[bound]}" for bound in ("minAvailable", "maxUnavailable") if bound in spec
            )
        case "Deployment":
            summary = f"{item['status'].get('availableReplicas', 0)} of {spec['replicas']} pods available"
        case "DisaggregatedSet":
            summary = f"roles {', '.join(role['name'] for role in spec['roles'])}"
        case _:
            summary = ", ".join(item.get("data", {}))
    return Made(kind, metadata["name"], _managers(item), summary)


def _count(number: int, unit: str) -> str:
    return f"1 {unit}" if number == 1 else f"{number} {unit}s"
