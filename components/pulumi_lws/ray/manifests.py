"""A Ray service or a Ray pool, rendered to every object that it consists of."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.ray import pods
from pulumi_lws.ray.deciding import HEAD, WORKER, Decided
from pulumi_lws.ray.serve import serve_config, waiting_requests
from pulumi_lws.ray.settings import RayClusterPoolArgs, RayServiceVllmArgs
from pulumi_lws.ray.upgrades import UPGRADE_TYPES, IncrementalUpgrade
from pulumi_lws.serving.network import network_policy, peer
from pulumi_lws.serving.scaling.gateways.manifests import gateway_autoscaler
from pulumi_lws.serving.settings import Client, NetworkAccess

API_VERSION = "ray.io/v1"
"""Version of KubeRay's API."""

WORKER_GROUP = "workers"
"""Name of the one group of workers. Kueue keeps ``head`` for itself."""

AUTOSCALER_RESOURCES: Mapping[str, Any] = {side: {"cpu": "1", "memory": "2Gi"} for side in ("requests", "limits")}
"""What Ray's autoscaler takes beside the head."""

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""


@dataclass(frozen=True)
class RayObjects:
    """The objects of something on Ray, each by the suffix of its Pulumi name.

    Attributes:
        url: Address inside the cluster: of the OpenAI API, of a pool that of its dashboard. None where a Gateway has
            it.
        update_minutes: How long an update waits until it serves.
        before: What must exist before the pods: who may reach them.
        cluster: The RayService or RayCluster.
        beside: What may come with it.
    """

    url: str | None
    update_minutes: int
    before: Mapping[str, Manifest]
    cluster: Manifest
    beside: Mapping[str, Manifest]

    @property
    def manifests(self) -> dict[str, Manifest]:
        """Every object, in the order in which they may be made."""
        return {**self.before, "ray": self.cluster, **self.beside}


def render(decided: Decided) -> RayObjects:
    """Render everything."""
    args, beside = decided.args, _budgets(decided)
    if isinstance(args, RayServiceVllmArgs):
        url, cluster, beside = _service_url(args), _service(decided, args), {**beside, **_gateway(args)}
    else:
        url, cluster = _dashboard_url(args), _pool(decided, args)
    minutes = decided.launch.timeouts.update_minutes
    return RayObjects(url, minutes, _network(decided), cluster, beside)


def _service_url(args: RayServiceVllmArgs) -> str | None:
    if isinstance(args.upgrade, IncrementalUpgrade):
        return None
    return f"http://{args.name}-serve-svc.{args.namespace}.svc:{pods.SERVE[1]}/v1"


def _dashboard_url(args: RayClusterPoolArgs) -> str:
    return f"http://{args.name}-head-svc.{args.namespace}.svc:{pods.HEAD_PORTS['dashboard']}"


def _service(decided: Decided, args: RayServiceVllmArgs) -> Manifest:
    config = serve_config(decided, args)
    revision = hashlib.sha256(f"{config}{decided.least} {decided.most}".encode()).hexdigest()[:16]
    spec: dict[str, Any] = {
        "serveConfigV2": config,
        "upgradeStrategy": _upgrade(args),
        # Clients reach workers, which go on without the head.
        "excludeHeadPodFromServeSvc": True,
        # The old cluster ends what it answers.
        "rayClusterDeletionDelaySeconds": decided.drain_seconds,
        "rayClusterConfig": _cluster(decided, {labels.SERVE_REVISION: revision}),
    }
    wait = ["condition=Ready", "condition=UpgradeInProgress=False"]
    return _object(decided, "RayService", spec, json.dumps(wait))


def _upgrade(args: RayServiceVllmArgs) -> dict[str, Any]:
    upgrade = args.upgrade
    found: dict[str, Any] = {"type": UPGRADE_TYPES[upgrade.kind]}
    if isinstance(upgrade, IncrementalUpgrade):
        found["clusterUpgradeOptions"] = {
            "gatewayClassName": upgrade.gateway_class,
            "stepSizePercent": upgrade.step_percent,
            "intervalSeconds": upgrade.interval_seconds,
            "maxSurgePercent": upgrade.surge_percent,
        }
    return found


def _pool(decided: Decided, args: RayClusterPoolArgs) -> Manifest:
    strategy = {"type": "Recreate" if args.upgrade == "recreate" else "None"}
    spec = {**_cluster(decided, {}), "upgradeStrategy": strategy}
    manifest = _object(decided, "RayCluster", spec, "jsonpath={.status.state}=ready")
    if decided.is_autoscaled:
        manifest["metadata"]["annotations"] |= {
            labels.PULUMI_PATCH_FORCE: "true",
            labels.PATCH_FORCE_REASON: "the autoscaler writes its wish into the list that Pulumi owns as a whole",
        }
    return manifest


def _object(decided: Decided, kind: str, spec: Mapping[str, Any], wait: str) -> Manifest:
    args = decided.args
    awaited = {labels.PULUMI_WAIT_FOR: wait} if args.is_awaited else {labels.PULUMI_SKIP_AWAIT: "true"}
    metadata: dict[str, Any] = {"name": args.name, "namespace": args.namespace, "annotations": awaited}
    if args.queue is not None:
        metadata["labels"] = {labels.KUEUE_QUEUE: args.queue}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": dict(spec)}


def _cluster(decided: Decided, head_annotations: Mapping[str, str]) -> dict[str, Any]:
    """Render the spec of a RayCluster."""
    args = decided.args
    secret = args.token_secret
    shared_memory = pods.shared_memory_gib(decided) << 30
    spec: dict[str, Any] = {
        "rayVersion": decided.ray_version,
        "authOptions": {"mode": "token", **({} if secret is None else {"secretName": secret})},
        "headGroupSpec": {
            "serviceType": "ClusterIP",
            "enableIngress": False,
            # Nothing of the user's runs there.
            "rayStartParams": {"num-cpus": "0", "num-gpus": "0", "dashboard-host": _dashboard_host(decided)},
            "template": pods.head_template(decided, head_annotations),
        },
        "workerGroupSpecs": [
            {
                "groupName": WORKER_GROUP,
                "minReplicas": decided.least,
                "maxReplicas": decided.most,
                # Where Ray's autoscaler decides, the number is its own.
                **({} if decided.is_autoscaled else {"replicas": decided.least}),
                # More than /dev/shm holds would go to the disk.
                "rayStartParams": {"object-store-memory": str(shared_memory // 2)},
                "template": pods.worker_template(decided),
            }
        ],
        **_autoscaler(decided),
    }
    if (redis := args.fault_tolerance) is not None:
        password = {"name": redis.password.secret, "key": redis.password.key}
        spec["gcsFaultToleranceOptions"] = {
            "redisAddress": redis.redis_address,
            "redisPassword": {"valueFrom": {"secretKeyRef": password}},
        }
    return spec


def _autoscaler(decided: Decided) -> dict[str, Any]:
    if not decided.is_autoscaled:
        return {"enableInTreeAutoscaling": False}
    return {
        "enableInTreeAutoscaling": True,
        "autoscalerOptions": {
            "version": "v2",
            "idleTimeoutSeconds": decided.idle_seconds,
            "resources": dict(AUTOSCALER_RESOURCES),
        },
    }


def _dashboard_host(decided: Decided) -> str:
    """Return where the dashboard listens: on every interface only where somebody is let in.

    KubeRay tells the head of a service by it what to serve.
    """
    args = decided.args
    is_reached = isinstance(args, RayServiceVllmArgs) or (args.network is not None and args.network.drivers)
    return "0.0.0.0" if is_reached else "127.0.0.1"  # noqa: S104 - behind a token and a NetworkPolicy


def _network(decided: Decided) -> dict[str, Manifest]:
    args, dashboard = decided.args, pods.HEAD_PORTS["dashboard"]
    if args.network is None:
        return {}
    if isinstance(args, RayServiceVllmArgs):
        access, driven = args.network, _let_in([args.operator], dashboard)
    else:
        access = NetworkAccess(clients=args.network.clients, monitoring=args.network.monitoring)
        driven = _let_in(args.network.drivers, dashboard, pods.CLIENT[1])
    everything = {labels.DEPLOYMENT: args.name}
    policy = network_policy(
        args.name, args.namespace, everything, access, [pods.SERVE[1]], metrics_ports=[pods.METRICS_PORT]
    )
    policy["spec"]["ingress"] += driven
    return {"network": policy}


def _let_in(clients: Sequence[Client], *ports: int) -> list[dict[str, Any]]:
    # Without anybody a rule would let everybody in.
    rule = {"from": [peer(each) for each in clients], "ports": [{"protocol": "TCP", "port": port} for port in ports]}
    return [rule] if clients else []


def _budgets(decided: Decided) -> dict[str, Manifest]:
    """Render what keeps drains of nodes from taking too much.

    A RayCluster has no scale, so a budget can only count what must stay.
    """
    args = decided.args
    budgets: dict[str, Manifest] = {}
    if decided.least > 1:
        budgets["budget"] = _budget(decided, args.name, WORKER, decided.least - 1)
    if args.fault_tolerance is None:
        # With it go all workers.
        budgets["head-budget"] = _budget(decided, f"{args.name}-head", HEAD, 1)
    return budgets


def _budget(decided: Decided, name: str, role: str, least: int) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": decided.args.namespace},
        "spec": {
            "minAvailable": least,
            "selector": {"matchLabels": decided.selector(role)},
            # A pod that does not serve need not be waited for.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }


def _gateway(args: RayServiceVllmArgs) -> dict[str, Manifest]:
    if args.gateway is None:
        return {}
    query = args.gateway.query or waiting_requests(args)
    return {"gateway-autoscaler": gateway_autoscaler(args.gateway.model_copy(update={"query": query}), ())}
