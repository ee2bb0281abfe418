"""The pods of a role: what runs in them, what they take of a node, and where they may run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pulumi_lws.facts import labels
from pulumi_lws.serving import container_checks, placement, readiness, transfer
from pulumi_lws.serving.engines.engine import Process
from pulumi_lws.serving.engines.settings import CustomEngine
from pulumi_lws.serving.queueing import queue_labels, topology_request
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.routing import attached
from pulumi_lws.serving.settings import DisaggregatedVllmArgs, SecretKey
from pulumi_lws.serving.sources.compiling import Storage, cache_identity, compile_cache
from pulumi_lws.serving.sources.loading import wait_for_weights_command
from pulumi_lws.serving.timeouts import PRE_STOP_SECONDS
from pulumi_lws.workloads.settings import PodTemplate, TemplateMetadata

Position = Literal["leader", "worker"]
"""Place of a pod in its group. The only pod of a group is its leader."""

ENGINE_CONTAINER = "engine"
"""Name of the engine's container."""

PRIVILEGES: Mapping[str, Mapping[str, Any]] = {
    # Memory that EFA and NCCL register must not be swapped.
    "ipc-lock": {"capabilities": {"add": ["IPC_LOCK"]}},
    "privileged": {"privileged": True},
}
"""What the security context of a container with GPUs says, by what was declared."""

_PROGRAM_VOLUME = "pulumi-lws"
SHARED_MEMORY = "shared-memory"
"""Name of the volume at ``/dev/shm``, which users may replace."""


def pod_template(role: Role, position: Position) -> PodTemplate:
    """Return the template of the leaders or the workers of a role."""
    annotations = {labels.DO_NOT_DISRUPT: "true", **topology_request(role)}
    serving = _serving_labels(role) if _serves(role, position) else {}
    # A new queue in the metadata of a role alone would reach nothing until the next change of a template.
    queued = queue_labels(role) if role.is_scaled_by_role else {}
    metadata = TemplateMetadata(labels=pod_labels(role) | serving | queued, annotations=annotations)
    return PodTemplate(metadata=metadata, spec=pod_spec(role, position))


def _serving_labels(role: Role) -> dict[str, str]:
    """Return the labels of pods that answer requests."""
    engine = role.deployment.engine
    unseen = {labels.METRICS: "none"} if isinstance(engine, CustomEngine) and not engine.has_metrics else {}
    return {labels.SERVES: "true", **unseen, **attached.serving_labels(role)}


def _serves(role: Role, position: Position) -> bool:
    """Tell whether a pod answers requests."""
    return position == "leader" or role.behaviour.serves == "every_pod"


def pod_labels(role: Role) -> dict[str, str]:
    """Return the labels of a role's pods; the user's own cannot take the place of those that selectors need."""
    return {**role.deployment.labels, labels.DEPLOYMENT: role.deployment_name, labels.ROLE: role.name}


def pod_spec(role: Role, position: Position) -> dict[str, Any]:
    """Render the pod spec of a leader or a worker."""
    deployment = role.deployment
    serves = _serves(role, position)
    grace = role.launch.timeouts.leader_grace if serves else role.launch.timeouts.worker_grace
    spec: dict[str, Any] = {
        # A Service called vllm would set VLLM_PORT. https://github.com/vllm-project/vllm/issues/34199
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "nodeSelector": {labels.POOL: role.settings.pool},
        "tolerations": placement.tolerations(role.pool),
        "terminationGracePeriodSeconds": grace,
        "containers": [_engine_container(role, position, serves), *(deployment.sidecars if serves else ())],
        "volumes": volumes_of(role),
    }
    if (account := attached.service_account(role)) is not None:
        spec["serviceAccountName"] = account
    if deployment.image_pull_secret is not None:
        spec["imagePullSecrets"] = [{"name": deployment.image_pull_secret}]
    if deployment.host_network is not None:
        # Without this policy a pod on the node's network does not find the names of its group.
        spec |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    if position == "leader" and (affinity := _affinity(role)):
        spec["affinity"] = affinity
    if before := _init_containers(role, position):
        spec["initContainers"] = before
    return spec


def volumes_of(role: Role) -> list[dict[str, Any]]:
    """Return the volumes of the pods of a role: ours, and the user's."""
    return _merged(own_volumes(role), role.deployment.volumes, key="name")


def containers_of(role: Role) -> list[str]:
    """Return the names of the containers of ours in the pods of a role."""
    positions: Sequence[Position] = ("leader", "worker") if role.shape.size > 1 else ("leader",)
    before = [container["name"] for position in positions for container in _init_containers(role, position)]
    return [ENGINE_CONTAINER, *dict.fromkeys(before)]


def _affinity(role: Role) -> dict[str, Any]:
    apart = placement.apart_from_other_groups() if role.keeps_islands else {}
    return {**apart, **attached.affinity(role)}


def _engine_container(role: Role, position: Position, serves: bool) -> dict[str, Any]:
    process = role.engine.leader(role.launch) if position == "leader" else role.engine.worker(role.launch)
    command = process.command
    if position == "leader":
        command = readiness.leader_command(role.behaviour, command, role.shape.size, role.launch.timeouts)
    resources = placement.pod_resources(
        role.pool.instance, role.shape.gpus_per_pod, [*role.deployment.sidecars, *attached.sidecars(role)]
    )
    if not role.launch.has_efa:
        # The pool may do without the interfaces that its instances have.
        resources.pop(labels.EFA, None)
    if container_checks.wants_huge_pages(role.settings.environment):
        resources |= placement.huge_pages(role.pool, role.shape.gpus_per_pod)
    container: dict[str, Any] = {
        "name": ENGINE_CONTAINER,
        "image": role.launch.image,
        "command": list(command),
        "env": _environment(role, process),
        "resources": {"requests": resources, "limits": resources},
        "securityContext": PRIVILEGES[role.deployment.privileges],
        "volumeMounts": _merged(own_mounts(role), role.deployment.volume_mounts, key="mountPath"),
        **readiness.probes(
            role.behaviour,
            position,
            role.shape.size,
            role.launch.timeouts,
            host_network=role.launch.host_network,
        ),
    }
    if serves:
        container["ports"] = [{"name": name, "containerPort": port} for name, port in role.behaviour.ports.items()]
        # Services, gateways and routers learn of the end while the pod still takes requests.
        container["lifecycle"] = {"preStop": {"sleep": {"seconds": PRE_STOP_SECONDS}}}
    return container


def _environment(role: Role, process: Process) -> list[dict[str, Any]]:
    """Return the environment of the engine: ours, then the user's, each name once and the user's in its place."""
    address = {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    entries: list[Mapping[str, Any]] = [
        {"name": "POD_IP", **address},
        # Without it vLLM guesses its address by a route to the internet.
        # https://github.com/vllm-project/vllm/issues/2857
        {"name": "VLLM_HOST_IP", **address},
        *role.loading.environment,
        *_cache(role).environment,
        *(_plain(process.environment)),
    ]
    if isinstance(role.deployment, DisaggregatedVllmArgs):
        entries += transfer.environment(role.deployment.transfer, role.launch)
    added = [*_plain(role.settings.environment), *_secret(role.settings.secret_environment)]
    return _merged(entries, added, key="name")


def _plain(variables: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in variables.items()]


def _secret(variables: Mapping[str, SecretKey]) -> list[dict[str, Any]]:
    return [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": source.secret, "key": source.key}}}
        for name, source in variables.items()
    ]


def _init_containers(role: Role, position: Position) -> list[dict[str, Any]]:
    before = attached.sidecars(role) if _serves(role, position) else []
    if (finish_file := role.loading.finish_file) is not None:
        command = wait_for_weights_command(finish_file, role.launch.timeouts.start)
        before = [*before, _waiting(role, "wait-for-weights", command, role.loading.mounts)]
    if position == "leader" or role.behaviour.startup == "workers_first":
        return before
    command = readiness.wait_for_leader_command(role.launch.timeouts)
    return [*before, _waiting(role, "wait-for-leader", command, [_program_mount()])]


def _waiting(role: Role, name: str, command: list[str], mounts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "name": name,
        "image": role.launch.image,
        "command": command,
        "resources": {kind: {"cpu": "1", "memory": "1Gi"} for kind in ("requests", "limits")},
        "volumeMounts": [dict(mount) for mount in mounts],
    }


def own_volumes(role: Role) -> list[Mapping[str, Any]]:
    """Return the volumes of ours in the pods of a role."""
    size = placement.shared_memory_gib(role.pool.instance, role.shape.gpus_per_pod, role.deployment.shared_memory_gib)
    program = {"name": _PROGRAM_VOLUME, "configMap": {"name": readiness.config_map_name(role.deployment_name)}}
    return [
        *([program] if needs_program(role) else []),
        {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": f"{size}Gi"}},
        *role.loading.volumes,
        *attached.volumes(role),
        *_cache(role).volumes,
    ]


def own_mounts(role: Role) -> list[Mapping[str, Any]]:
    """Return the mounts of ours in the engine's container of a role."""
    return [
        *([_program_mount()] if needs_program(role) else []),
        {"name": SHARED_MEMORY, "mountPath": "/dev/shm"},  # noqa: S108 - where NCCL looks
        *role.loading.mounts,
        *_cache(role).mounts,
    ]


def _cache(role: Role) -> Storage:
    return compile_cache(
        role.deployment.compile_cache, cache_identity(role.launch.image, role.pool.instance.gpu, role.deployment.model)
    )


def needs_program(role: Role) -> bool:
    """Tell whether pods of a role run the probe program: those of groups with workers do."""
    return role.shape.size > 1


def _program_mount() -> dict[str, Any]:
    return {"name": _PROGRAM_VOLUME, "mountPath": readiness.FOLDER, "readOnly": True}


def _merged(own: Iterable[Mapping[str, Any]], added: Sequence[Mapping[str, Any]], *, key: str) -> list[dict[str, Any]]:
    """Return both lists as one; what the user added takes the place of ours where ``key`` is the same."""
    entries = {str(entry[key]): dict(entry) for entry in own}
    return list((entries | {str(entry[key]): dict(entry) for entry in added}).values())
