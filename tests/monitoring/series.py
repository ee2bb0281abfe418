"""Series as kube-state-metrics, engines and exporters would send them, for a deployment ``chat`` of groups of two."""

from collections.abc import Mapping

Series = Mapping[str, str]
"""Series → its values as promtool writes them, one for each minute: ``1x60`` is sixty-one times 1."""

MINUTES = 300
"""How long series last where nobody says otherwise."""


def always(value: float, minutes: int = MINUTES) -> str:
    """Return a value that stays."""
    return f"{value:.15g}x{minutes}"


def between(value: float, start: int, end: int) -> str:
    """Return a value that is there from one minute until another."""
    return f"_x{start} {always(value, end - start - 1)} stale"


def named(metric: str, **labels: str) -> str:
    """Write a series."""
    inside = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{metric}{{{inside}}}"


def pod(
    group: int = 0,
    worker: int = 0,
    *,
    node: str = "",
    ready: bool = False,
    created: int | None = None,
    uid: str = "",
    island: str = "p5-0",
    start: int = 0,
    end: int = MINUTES,
    metrics: str = "",
) -> Series:
    """Return what is known of one pod of a group from one minute until another; without a node it waits for one."""
    name = f"chat-{group}-{worker}" if worker else f"chat-{group}"
    own = {"namespace": "team-a", "pod": name, "uid": uid or name}
    labels = {
        "label_pulumi_lws_deployment": "chat",
        "label_pulumi_lws_role": "serve",
        "label_leaderworkerset_sigs_k8s_io_name": "chat",
        "label_leaderworkerset_sigs_k8s_io_group_index": str(group),
        "label_leaderworkerset_sigs_k8s_io_group_key": f"key-{group}",
        "label_leaderworkerset_sigs_k8s_io_worker_index": str(worker),
    } | ({} if worker else {"label_pulumi_lws_serves": "true"})
    labels |= {"label_pulumi_lws_metrics": metrics} if metrics else {}
    selector = {"nodeselector_pulumi_lws_pool": "p5"} | ({"nodeselector_pulumi_lws_island": island} if worker else {})
    known = {
        named("kube_pod_labels", **own, **labels): 1,
        named("kube_pod_info", **own, node=node): 1,
        named("kube_pod_created", **own): start * 60 if created is None else created,
        named("kube_pod_nodeselectors", **own, **selector): 1,
        named("kube_pod_status_ready", **own, condition="true"): int(ready),
        **({} if node else {named("kube_pod_status_unschedulable", **own): 1}),
    }
    return {series: between(value, start, end) for series, value in known.items()}


def group(index: int = 0, *, ready: bool = True) -> Series:
    """Return what is known of a group of two whose pods have nodes."""
    return {
        **pod(index, 0, node=f"node-{index}-0", ready=ready),
        **pod(index, 1, node=f"node-{index}-1", ready=ready),
    }


def leader_worker_set(
    *, replicas: str = always(1), ready: str = always(1), updated: str = always(1), updating: int = 0
) -> Series:
    """Return what is known of the LeaderWorkerSet."""
    own = {"namespace": "team-a", "leader_worker_set": "chat", "deployment": "chat", "role": "serve"}
    return {
        named("kube_leaderworkerset_spec_replicas", **own): replicas,
        named("kube_leaderworkerset_spec_size", **own): always(2, 1500),
        named("kube_leaderworkerset_status_replicas", **own): replicas,
        named("kube_leaderworkerset_status_ready_replicas", **own): ready,
        named("kube_leaderworkerset_status_updated_replicas", **own): updated,
        named("kube_leaderworkerset_status_condition", **own, condition="UpdateInProgress"): always(updating),
    }


def engine(metric: str, values: str, pod: str = "chat-0", **labels: str) -> Series:
    """Return a series of vLLM as our monitor reads it."""
    scraped = {"namespace": "team-a", "pod": pod, "deployment": "chat", "role": "serve", "leader_worker_set": "chat"}
    own = {"group": "0", "model_name": "llama", "engine": "0"}
    return {named(f"vllm:{metric}", **scraped, **own, **labels): values}


def node(
    name: str = "node-0-0",
    *,
    efa: int = 32,
    gpus: int = 8,
    created: int = 0,
    island: str = "p5-0",
    compute_type: str = "",
) -> Series:
    """Return what is known of a node of the pool ``p5``."""
    labels = {"label_pulumi_lws_pool": "p5", "label_pulumi_lws_island": island}
    labels |= {"label_eks_amazonaws_com_compute_type": compute_type} if compute_type else {}
    offers = {"nvidia_com_gpu": gpus, "vpc_amazonaws_com_efa": efa}
    return {
        named("kube_node_labels", node=name, **labels): always(1),
        named("kube_node_created", node=name): always(created),
        **{
            named("kube_node_status_allocatable", node=name, resource=resource, unit="integer"): always(count)
            for resource, count in offers.items()
            if count
        },
    }


def gpu(metric: str, values: str, node: str = "node-0-0", pod: str = "chat-0") -> Series:
    """Return a series of one GPU."""
    return {named(f"DCGM_FI_DEV_{metric}", gpu="3", Hostname=node, namespace="team-a", pod=pod): values}
