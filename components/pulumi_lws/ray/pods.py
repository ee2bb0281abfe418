"""The pods of a Ray cluster. KubeRay adds the command, the token, and on the head Ray's autoscaler."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.ray.deciding import HEAD, WORKER, Decided
from pulumi_lws.ray.settings import RayServiceVllmArgs
from pulumi_lws.serving import placement
from pulumi_lws.serving.engines.interconnect import interconnect
from pulumi_lws.serving.pods import PRIVILEGES, SHARED_MEMORY
from pulumi_lws.serving.sources.compiling import Storage, cache_identity, compile_cache
from pulumi_lws.serving.sources.loading import wait_for_weights_command

HEAD_PORTS: Mapping[str, int] = {"gcs-server": 6379, "dashboard": 8265, "metrics": 8080}
"""Ports of the head by name. KubeRay finds the dashboard by it, and its Services have no others."""

SERVE = ("serve", 8000)
"""Port of Ray Serve, by whose name KubeRay finds it."""

CLIENT = ("client", 10001)
"""Port of Ray's clients."""

WORKER_CONTAINER = "ray-worker"
"""Name of the container of a worker."""

METRICS_PORT = HEAD_PORTS["metrics"]
"""Port of the metrics of every pod."""

_AGENT_PORT = 52365
"""Port on which every node of Ray tells about itself; its health needs no token."""

_LIVENESS_PERIOD_SECONDS = 10
_GCS_RECONNECT_SECONDS = 600
"""How long KubeRay lets workers look for a head that starts again; Ray answers for them until then."""

_SERVES = (
    "import urllib.request as r; [r.urlopen(u, timeout=2) for u in"
    f" ('http://localhost:{_AGENT_PORT}/api/local_raylet_healthz', 'http://localhost:{SERVE[1]}/-/healthz')]"
)
"""Ready once the node is up and takes requests. KubeRay's own probe needs wget, which not every image has."""


def head_template(decided: Decided, annotations: Mapping[str, str]) -> dict[str, Any]:
    """Render the template of the head."""
    head = decided.args.head
    resources = {"cpu": str(head.cpus), "memory": f"{head.memory_gib}Gi"}
    container = {
        "name": "ray-head",
        "image": decided.image,
        "env": _plain(_QUIET),
        "resources": {"requests": resources, "limits": resources},
        "ports": _ports(head_ports(decided)),
        **_probes(),
    }
    # The taint of the pools is enough where they are ours; nodes of others may have none.
    away_from_gpus = {"matchExpressions": [{"key": labels.POOL, "operator": "DoesNotExist"}]}
    spec = {
        **_shared(decided),
        # Ray's autoscaler asks the API server for workers.
        "automountServiceAccountToken": decided.is_autoscaled,
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [away_from_gpus]}}
        },
        "containers": [container],
    }
    if head.node_selector:
        spec["nodeSelector"] = dict(head.node_selector)
    return _template(decided, HEAD, spec, annotations)


def head_ports(decided: Decided) -> dict[str, int]:
    """Return the ports of the head: those of a service, or those by which a pool is driven."""
    return dict([*HEAD_PORTS.items(), SERVE, *([] if isinstance(decided.args, RayServiceVllmArgs) else [CLIENT])])


def worker_template(decided: Decided) -> dict[str, Any]:
    """Render the template of the workers, each of which takes a whole node."""
    args, pool = decided.args, decided.pool
    resources = placement.pod_resources(pool.instance, pool.instance.gpus)
    if not decided.launch.has_efa:
        # The pool may do without the interfaces that its instances have.
        resources.pop(labels.EFA, None)
    cache = _cache(decided)
    probes = _probes()
    if isinstance(args, RayServiceVllmArgs):
        probes["readinessProbe"] = {
            "exec": {"command": ["python3", "-IS", "-c", _SERVES]},
            "timeoutSeconds": 6,
            "periodSeconds": 5,
            "failureThreshold": 2,
        }
    container = {
        "name": WORKER_CONTAINER,
        "image": decided.image,
        "env": _environment(decided, cache),
        "resources": {"requests": resources, "limits": resources},
        # Folders of the node belong to root, and so does the right to lock memory.
        "securityContext": {**PRIVILEGES[args.privileges], "runAsUser": 0},
        "ports": _ports(dict([SERVE, ("metrics", METRICS_PORT)])),
        "volumeMounts": [
            {"name": SHARED_MEMORY, "mountPath": "/dev/shm"},  # noqa: S108 - where NCCL and Ray look
            *decided.weights.mounts,
            *cache.mounts,
        ],
        "lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", _drain(decided.drain_seconds)]}}},
        **probes,
    }
    memory = {"medium": "Memory", "sizeLimit": f"{shared_memory_gib(decided)}Gi"}
    spec: dict[str, Any] = {
        **_shared(decided),
        "automountServiceAccountToken": False,
        "nodeSelector": {labels.POOL: args.pool},
        "tolerations": placement.tolerations(pool),
        "terminationGracePeriodSeconds": decided.launch.timeouts.leader_grace,
        "containers": [container],
        "volumes": [{"name": SHARED_MEMORY, "emptyDir": memory}, *decided.weights.volumes, *cache.volumes],
    }
    if (finish_file := decided.weights.finish_file) is not None:
        spec["initContainers"] = [
            {
                "name": "wait-for-weights",
                "image": decided.image,
                "command": wait_for_weights_command(finish_file, decided.launch.timeouts.start),
                "resources": {kind: {"cpu": "1", "memory": "1Gi"} for kind in ("requests", "limits")},
                "volumeMounts": [dict(mount) for mount in decided.weights.mounts],
            }
        ]
    if decided.weights.service_account is not None:
        spec["serviceAccountName"] = decided.weights.service_account
    return _template(decided, WORKER, spec, {})


def shared_memory_gib(decided: Decided) -> int:
    """Return the size of a worker's ``/dev/shm`` in GiB."""
    instance = decided.pool.instance
    return placement.shared_memory_gib(instance, instance.gpus, decided.args.shared_memory_gib)


def _drain(seconds: int) -> str:
    """Return what a worker does that was told to stop: Serve starts its copies elsewhere and lets requests end here."""
    return (
        "ray drain-node --reason=DRAIN_NODE_REASON_PREEMPTION --reason-message='the pod was told to stop'"
        f" --deadline-remaining-seconds={seconds} & sleep {seconds}"
    )


_QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}


def _environment(decided: Decided, cache: Storage) -> list[dict[str, Any]]:
    args, timeouts = decided.args, decided.launch.timeouts
    engine: dict[str, str] = {}
    if isinstance(args, RayServiceVllmArgs):
        engine = {
            "RAYLLM_ENGINE_START_TIMEOUT_S": str(timeouts.start),
            "VLLM_ENGINE_READY_TIMEOUT_S": str(timeouts.engine_ready),
        }
    entries: list[Mapping[str, Any]] = [
        # Without it vLLM guesses its address by a route to the internet.
        # https://github.com/vllm-project/vllm/issues/2857
        {"name": "VLLM_HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        *_plain({**_QUIET, **engine, **interconnect(decided.launch)}),
        *decided.weights.environment,
        *cache.environment,
        *_plain(args.environment),
        *(
            {"name": name, "valueFrom": {"secretKeyRef": {"name": source.secret, "key": source.key}}}
            for name, source in args.secret_environment.items()
        ),
    ]
    # What the user says comes last, and takes the place of ours.
    return list({entry["name"]: dict(entry) for entry in entries}.values())


def _cache(decided: Decided) -> Storage:
    if not isinstance(decided.args, RayServiceVllmArgs):
        return Storage()
    identity = cache_identity(decided.image, decided.pool.instance.gpu, decided.args.model)
    return compile_cache(decided.args.compile_cache, identity)


def _probes() -> dict[str, Any]:
    healthy = {"httpGet": {"path": "/api/healthz", "port": _AGENT_PORT}, "timeoutSeconds": 5}
    return {
        "livenessProbe": {
            **healthy,
            "initialDelaySeconds": 30,
            "periodSeconds": _LIVENESS_PERIOD_SECONDS,
            "failureThreshold": _GCS_RECONNECT_SECONDS // _LIVENESS_PERIOD_SECONDS,
        },
        "readinessProbe": {**healthy, "periodSeconds": 5, "failureThreshold": 10},
    }


def _shared(decided: Decided) -> dict[str, Any]:
    secret = decided.args.image_pull_secret
    return {
        # A Service called vllm would set VLLM_PORT. https://github.com/vllm-project/vllm/issues/34199
        "enableServiceLinks": False,
        **({} if secret is None else {"imagePullSecrets": [{"name": secret}]}),
    }


def _template(decided: Decided, role: str, spec: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    return {
        "metadata": {
            "labels": decided.pod_labels(role),
            "annotations": {labels.DO_NOT_DISRUPT: "true", **annotations},
        },
        "spec": dict(spec),
    }


def _ports(ports: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "containerPort": port} for name, port in ports.items()]


def _plain(variables: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in variables.items()]
