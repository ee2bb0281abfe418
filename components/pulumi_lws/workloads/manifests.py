"""Declarations of workloads, rendered to what the API server takes."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs

LEADER_WORKER_SET = "leaderworkerset.x-k8s.io/v1"
"""The one version of its API that LWS serves."""


def leader_worker_set(args: LeaderWorkerSetArgs) -> dict[str, Any]:
    """Render a LeaderWorkerSet.

    Every field that the server would default is written, so that a later default of the server changes nothing. Where
    an autoscaler owns ``replicas`` the field is left out, so that no update takes it back.
    """
    annotations = dict(args.annotations)
    if args.exclusive_topology is not None:
        annotations[labels.LWS_EXCLUSIVE_TOPOLOGY] = args.exclusive_topology
    if args.subgroup_exclusive_topology is not None:
        annotations[labels.LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY] = args.subgroup_exclusive_topology
    if waits(args):
        annotations[labels.PULUMI_WAIT_FOR] = "condition=Available"
    metadata: dict[str, Any] = {"name": args.name, "namespace": args.namespace}
    metadata |= _present({"labels": dict(args.labels), "annotations": annotations})
    spec = without_undeclared(args.spec.model_dump(by_alias=True, exclude_none=True))
    if args.scaled_elsewhere:
        del spec["replicas"]
    return {"apiVersion": LEADER_WORKER_SET, "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}


def waits(args: LeaderWorkerSetArgs) -> bool:
    """Tell whether an update waits for the groups to serve."""
    if args.wait is not None:
        return args.wait == "serving"
    return args.spec.replicas > 0 and labels.KUEUE_QUEUE not in args.labels


def without_undeclared(spec: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a spec what is empty because nobody declared it: template metadata, and claims."""
    group = spec["leaderWorkerTemplate"]
    templates = {
        name: _present({"metadata": _present(group[name]["metadata"])}) | {"spec": group[name]["spec"]}
        for name in ("leaderTemplate", "workerTemplate")
        if name in group
    }
    claims = _present({"volumeClaimTemplates": list(group["volumeClaimTemplates"])})
    rest = {name: value for name, value in group.items() if name != "volumeClaimTemplates"}
    return spec | {"leaderWorkerTemplate": rest | templates | claims}


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
