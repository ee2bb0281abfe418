"""Declarations of workloads, rendered to what the API server takes."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem
from pulumi_lws.workloads import queued, scale_targets
from pulumi_lws.workloads.disaggregated_set import DisaggregatedSetArgs, Role
from pulumi_lws.workloads.scale_targets import DISAGGREGATED_SET, LEADER_WORKER_SET
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs, WorkloadArgs

_SLICES_SINCE = (0, 10)
"""Version of LWS from which on a DisaggregatedSet has ``slices``; an older one knows no such field."""


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
    spec = without_undeclared(args.spec.model_dump(by_alias=True, exclude_none=True))
    if args.scaled_elsewhere:
        del spec["replicas"]
    metadata = _metadata(args, annotations)
    return {"apiVersion": LEADER_WORKER_SET, "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}


def unchangeable(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what LWS cannot change in place of a LeaderWorkerSet, so that a new value means a new object.

    The webhook refuses to set, change or remove the size of subgroups. The StatefulSets refuse other claim templates,
    and the controller tries for ever. Other topologies reach the leaders outside of any rollout, all at once. In a
    Kueue queue it is also what quota was counted for.
    """
    group = manifest["spec"]["leaderWorkerTemplate"]
    annotations = manifest["metadata"].get("annotations", {})
    return {
        **queued.counted_groups(manifest),
        "subGroupSize": group.get("subGroupPolicy", {}).get("subGroupSize"),
        "volumeClaimTemplates": group.get("volumeClaimTemplates", []),
        "exclusiveTopology": annotations.get(labels.LWS_EXCLUSIVE_TOPOLOGY),
        "subgroupExclusiveTopology": annotations.get(labels.LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY),
    }


def waits(args: LeaderWorkerSetArgs) -> bool:
    """Tell whether an update waits for the groups to serve."""
    if args.wait is not None:
        return args.wait == "serving"
    return args.spec.replicas > 0 and labels.KUEUE_QUEUE not in args.labels


def scale_target(args: LeaderWorkerSetArgs) -> dict[str, str] | Problem:
    """Return what an autoscaler of a LeaderWorkerSet aims at, or why it must not."""
    if not args.scaled_elsewhere:
        fix = "Set scaledElsewhere to true: otherwise every update takes replicas back."
        return Problem("scaledElsewhere", "false", "true, where an autoscaler owns replicas", fix)
    return scale_targets.leader_worker_set(args.name)


def role_scaler(args: DisaggregatedSetArgs, name: str) -> dict[str, str] | Problem:
    """Return what an autoscaler of a role aims at, or why there is no such thing."""
    external = [role.name for role in args.spec.roles if role.is_external]
    if name not in external:
        return Problem(
            "spec.roles",
            f"no role {name} with scaling.mode External",
            f"one of {', '.join(external)}" if external else "a role with scaling.mode External",
            f"Set scaling.mode of {name} to External: the controller makes a scaler only for such a role.",
        )
    return scale_targets.role_scaler(args.name, name)


def disaggregated_set(args: DisaggregatedSetArgs) -> dict[str, Any]:
    """Render a DisaggregatedSet. Every field that server or controller would default is written."""
    spec = args.spec.model_dump(by_alias=True, exclude_none=True) | {"roles": [_role(role) for role in args.spec.roles]}
    if args.spec.slices == 1 and args.target.lws < _SLICES_SINCE:
        del spec["slices"]
    metadata = _metadata(args, args.annotations)
    return {"apiVersion": DISAGGREGATED_SET, "kind": "DisaggregatedSet", "metadata": metadata, "spec": spec}


def leader_services(args: DisaggregatedSetArgs) -> dict[str, dict[str, Any]]:
    """Render the Service in front of the leaders of each role that has ports, by role.

    The controller's own Services are headless, select workers too and change their name with every revision.
    """
    return {role: _leader_service(args, role, ports) for role, ports in args.ports.items() if ports}


def _leader_service(args: DisaggregatedSetArgs, role: str, ports: Mapping[str, int]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": f"{args.name}-{role}-leader",
            "namespace": args.namespace,
            # Pulumi would wait for endpoints, which come only once a group serves.
            "annotations": {labels.PULUMI_SKIP_AWAIT: "true"},
        },
        "spec": {
            "selector": {labels.DS_NAME: args.name, labels.DS_ROLE: role, labels.LWS_WORKER_INDEX: "0"},
            "ports": [{"name": name, "port": port, "targetPort": port} for name, port in ports.items()],
        },
    }


def _role(role: Role) -> dict[str, Any]:
    rendered = role.model_dump(by_alias=True, exclude_none=True)
    metadata = _present({"metadata": _present(rendered.pop("metadata"))})
    return rendered | metadata | {"spec": without_undeclared(rendered["spec"])}


def _metadata(args: WorkloadArgs, annotations: Mapping[str, str]) -> dict[str, Any]:
    declared = _present({"labels": dict(args.labels), "annotations": dict(annotations)})
    return {"name": args.name, "namespace": args.namespace} | declared


def without_undeclared(spec: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a spec what is empty because nobody declared it: template metadata, and claims."""
    group = spec["leaderWorkerTemplate"]
    templates = {
        name: _present({"metadata": _present(group[name]["metadata"])}) | {"spec": group[name]["spec"]}
        for name in ("leaderTemplate", "workerTemplate")
        if name in group
    }
    claims = _present({"volumeClaimTemplates": group["volumeClaimTemplates"]})
    rest = {name: value for name, value in group.items() if name != "volumeClaimTemplates"}
    return spec | {"leaderWorkerTemplate": rest | templates | claims}


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items() if value}
