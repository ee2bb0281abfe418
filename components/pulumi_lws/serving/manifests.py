"""A deployment of a model, rendered to the objects that serve it."""

from dataclasses import dataclass
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.serving import placement, readiness, timeouts
from pulumi_lws.serving.engines import vllm
from pulumi_lws.serving.settings import MultiNodeVllmArgs
from pulumi_lws.workloads.settings import (
    LeaderWorkerSetArgs,
    LeaderWorkerSetSpec,
    LeaderWorkerTemplate,
    PodTemplate,
    RollingUpdate,
    RolloutStrategy,
    TemplateMetadata,
)

_PROGRAM_VOLUME = "pulumi-lws"
_SHARED_MEMORY_VOLUME = "shared-memory"


@dataclass(frozen=True)
class MultiNodeObjects:
    """What serves a model over several nodes.

    Attributes:
        config_map: Holds the probe program; must exist before the pods.
        leader_worker_set: The groups.
        service: The stable address of the leaders.
    """

    config_map: dict[str, Any]
    leader_worker_set: LeaderWorkerSetArgs
    service: dict[str, Any]


def multi_node_vllm(args: MultiNodeVllmArgs) -> MultiNodeObjects:
    """Render a ``MultiNodeVllm``."""
    limits = timeouts.derive(args.start_budget_minutes)
    config_map = readiness.config_map_name(args.name)
    leader = _engine_container(args, vllm.leader_command(args, limits), limits) | {
        "ports": [{"name": "http", "containerPort": vllm.API_PORT}],
        **readiness.leader_probes(vllm.API_PORT, vllm.RENDEZVOUS_PORT, limits),
    }
    worker = _engine_container(args, vllm.worker_command(args, limits), limits) | readiness.worker_probes(vllm.API_PORT)
    wait = {
        "name": "wait-for-leader",
        "image": args.image,
        "command": readiness.wait_for_leader_command(limits),
        "resources": {kind: {"cpu": "1", "memory": "1Gi"} for kind in ("requests", "limits")},
        "volumeMounts": [_program_mount()],
    }
    leader_spec = _pod_spec(args, leader, config_map, limits.leader_grace) | {
        "affinity": placement.apart_from_other_groups()
    }
    worker_spec = _pod_spec(args, worker, config_map, limits.worker_grace) | {"initContainers": [wait]}
    return MultiNodeObjects(
        config_map={
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": config_map, "namespace": args.namespace},
            "data": {readiness.PROGRAM: readiness.program()},
        },
        leader_worker_set=LeaderWorkerSetArgs(
            name=args.name,
            namespace=args.namespace,
            exclusive_topology=labels.ISLAND,
            spec=LeaderWorkerSetSpec(
                replicas=args.replicas,
                leader_worker_template=LeaderWorkerTemplate(
                    leader_template=_template(leader_spec),
                    worker_template=_template(worker_spec),
                    size=args.parallelism.nodes(args.pool.instance.gpus),
                    # Pulling an image restarts nothing, but a container that fails while others still start would
                    # recreate the whole group again and again. https://github.com/kubernetes-sigs/lws/issues/726
                    restart_policy="RecreateGroupAfterStart",
                ),
                rollout_strategy=RolloutStrategy(rolling_update_configuration=_rollout(args)),
                startup_policy="LeaderReady",
            ),
            wait=args.wait,
            wait_minutes=limits.update_minutes,
        ),
        service={
            "apiVersion": "v1",
            "kind": "Service",
            # Never the name of the LeaderWorkerSet: its headless Service has that one, and the peers' DNS with it.
            "metadata": {
                "name": service_name(args.name),
                "namespace": args.namespace,
                # No endpoints is the normal state of a Service whose groups still load, or wait in a queue.
                "annotations": {labels.PULUMI_SKIP_AWAIT: "true"},
            },
            "spec": {
                "selector": {labels.LWS_NAME: args.name, labels.LWS_WORKER_INDEX: "0"},
                "ports": [{"name": "http", "port": vllm.API_PORT, "targetPort": "http"}],
            },
        },
    )


def service_name(name: str) -> str:
    """Return the name of the Service in front of the leaders of the deployment ``name``."""
    return f"{name}-leader"


def url(args: MultiNodeVllmArgs) -> str:
    """Return the address of the OpenAI API inside the cluster."""
    return f"http://{service_name(args.name)}.{args.namespace}.svc:{vllm.API_PORT}/v1"


def _rollout(args: MultiNodeVllmArgs) -> RollingUpdate:
    """Roll over a spare island where there is one, else take one group down at a time."""
    spare = args.pool.islands > args.replicas
    return RollingUpdate(max_unavailable=0, max_surge=1) if spare else RollingUpdate(max_unavailable=1, max_surge=0)


def _template(spec: dict[str, Any]) -> PodTemplate:
    return PodTemplate(metadata=TemplateMetadata(annotations={labels.DO_NOT_DISRUPT: "true"}), spec=spec)


def _pod_spec(
    args: MultiNodeVllmArgs, container: dict[str, Any], config_map: str, grace_seconds: int
) -> dict[str, Any]:
    shared_memory = {"medium": "Memory", "sizeLimit": f"{placement.SHARED_MEMORY_GIB}Gi"}
    return {
        # A Service called vllm would set VLLM_PORT. https://github.com/vllm-project/vllm/issues/34199
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "nodeSelector": {labels.POOL: args.pool_name},
        "tolerations": placement.tolerations(),
        "terminationGracePeriodSeconds": grace_seconds,
        "containers": [container],
        "volumes": [
            {"name": _PROGRAM_VOLUME, "configMap": {"name": config_map}},
            {"name": _SHARED_MEMORY_VOLUME, "emptyDir": shared_memory},
        ],
    }


def _engine_container(args: MultiNodeVllmArgs, command: list[str], limits: timeouts.Timeouts) -> dict[str, Any]:
    resources = placement.pod_resources(args.pool.instance, args.pool.instance.gpus)
    return {
        "name": "engine",
        "image": args.image,
        "command": command,
        "env": _environment(args, limits),
        "resources": {"requests": resources, "limits": resources},
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
        "volumeMounts": [_program_mount(), {"name": _SHARED_MEMORY_VOLUME, "mountPath": "/dev/shm"}],  # noqa: S108 - where NCCL looks
    }


def _environment(args: MultiNodeVllmArgs, limits: timeouts.Timeouts) -> list[dict[str, Any]]:
    plain = vllm.environment(limits) | dict(args.environment)
    entries: list[dict[str, Any]] = [
        # Without it vLLM guesses its address by a route to the internet.
        # https://github.com/vllm-project/vllm/issues/2857
        {"name": "VLLM_HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    ]
    if args.hugging_face_secret is not None:
        reference = {"name": args.hugging_face_secret, "key": "HF_TOKEN"}
        entries.append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": reference}})
    overridden = set(plain)
    return [entry for entry in entries if entry["name"] not in overridden] + [
        {"name": name, "value": value} for name, value in plain.items()
    ]


def _program_mount() -> dict[str, Any]:
    return {"name": _PROGRAM_VOLUME, "mountPath": readiness.FOLDER, "readOnly": True}
