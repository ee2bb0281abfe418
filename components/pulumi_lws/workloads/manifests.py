"""Declarations of workloads, rendered to what the API server takes."""

from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs, PodTemplate

API_VERSION = "leaderworkerset.x-k8s.io/v1"
"""The one version that LWS serves."""


def leader_worker_set(args: LeaderWorkerSetArgs) -> dict[str, Any]:
    """Render a LeaderWorkerSet.

    Every field that the server would default is written, so that a later default of the server changes nothing.
    """
    annotations = dict(args.annotations)
    if args.exclusive_topology is not None:
        annotations[labels.LWS_EXCLUSIVE_TOPOLOGY] = args.exclusive_topology
    if waits(args):
        annotations[labels.PULUMI_WAIT_FOR] = "condition=Available"
    templates = {"workerTemplate": _template(args.worker_template)}
    if args.leader_template is not None:
        templates["leaderTemplate"] = _template(args.leader_template)
    return {
        "apiVersion": API_VERSION,
        "kind": "LeaderWorkerSet",
        "metadata": _metadata(args.name, args.namespace, args.labels, annotations),
        "spec": {
            "replicas": args.replicas,
            "startupPolicy": args.startup_policy,
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {
                    "maxUnavailable": args.rollout.max_unavailable,
                    "maxSurge": args.rollout.max_surge,
                    "partition": args.rollout.partition,
                },
            },
            "leaderWorkerTemplate": {"size": args.size, "restartPolicy": args.restart_policy, **templates},
        },
    }


def waits(args: LeaderWorkerSetArgs) -> bool:
    """Tell whether an update waits for the groups to serve; there is nothing to wait for without groups."""
    return args.wait == "serving" and args.replicas > 0


def _template(template: PodTemplate) -> dict[str, Any]:
    metadata = {"labels": dict(template.labels), "annotations": dict(template.annotations)}
    present = {key: value for key, value in metadata.items() if value}
    return ({"metadata": present} if present else {}) | {"spec": dict(template.spec)}


def _metadata(name: str, namespace: str, object_labels: Any, annotations: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    if object_labels:
        metadata["labels"] = dict(object_labels)
    if annotations:
        metadata["annotations"] = dict(annotations)
    return metadata
