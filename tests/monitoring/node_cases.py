"""Cases of the alerts of nodes, of their GPUs, and of what nobody reports."""

from tests.monitoring.case import Case, Firing, Silent
from tests.monitoring.group_cases import GROUP
from tests.monitoring.series import Series, always, gpu, group, leader_worker_set, named, node, pod

_GPU = {"gpu": "3", "Hostname": "node-0-0", "namespace": "team-a", "pod": "chat-0"}
_DAY = 86_400


def _claim(registered: str) -> Series:
    own = {"nodeclaim": "p5-0-x", "nodepool": "p5-0"}
    return {
        named("kube_nodeclaim_created", **own): always(0),
        named("kube_nodeclaim_status_condition", **own, condition="Registered"): registered,
    }


def _pool(nodes: float) -> Series:
    own = {"pool": "p5", "resource": "nodes"}
    return {
        named("kube_nodepool_status_resources", nodepool="p5-0", **own): always(nodes),
        named("kube_nodepool_spec_limits", nodepool="p5-0", **own): always(2),
        named("kube_nodepool_status_resources", nodepool="p5-1", **own): always(2),
        named("kube_nodepool_spec_limits", nodepool="p5-1", **own): always(2),
    }


def _read(values: str) -> Series:
    return {named("up", namespace="team-a", pod="chat-0", deployment="chat"): values}


_NODE = {"node": "node-0-0", "pool": "p5", "island": "p5-0"}

CASES: dict[str, Case] = {
    "LwsGpuError": (
        Firing(
            gpu("XID_ERRORS", "0x10 79x200"),
            at=12,
            labels=_GPU,
            summary="GPU 3 of node-0-0 has had XID 79.",
            description="It is an error of the GPU, its memory, NVLink or the driver. It stands until the exporter or"
            " the node is started again.",
        ),
        Silent("there was none", gpu("XID_ERRORS", always(0)), at=60),
        Silent("the program's fault", gpu("XID_ERRORS", always(31)), at=60),
    ),
    "LwsGpuMemoryFailing": (
        Firing(
            gpu("ROW_REMAP_FAILURE", always(1)),
            at=1,
            labels=_GPU,
            summary="Memory of GPU 3 of node-0-0 fails.",
            description="Rows with errors could not be replaced.",
        ),
        Silent("it does not", gpu("ROW_REMAP_FAILURE", always(0)), at=60),
    ),
    "LwsEfaMissing": (
        Firing(
            node(efa=31),
            at=16,
            labels=_NODE,
            summary="node-0-0 lacks EFA interfaces.",
            description="A node of the pool p5 should offer 32.",
        ),
        Firing(
            node(efa=0),
            at=16,
            labels=_NODE,
            summary="node-0-0 lacks EFA interfaces.",
            description="A node of the pool p5 should offer 32.",
        ),
        Silent("it has all", node(), at=60),
        Silent("the plugin starts", node(efa=0), at=14),
        Silent(
            "its pool has none",
            {name.replace('"p5"', '"tcp"'): values for name, values in node(efa=0).items()},
            at=60,
        ),
    ),
    "LwsGpuIdle": (
        Firing(
            {**group(), **gpu("GPU_UTIL", always(0))},
            at=241,
            labels=GROUP,
            summary="The GPUs of team-a/chat group 0 do nothing.",
            description="None of them has run a kernel for 240 minutes.",
        ),
        Silent(
            "another GPU of the group works",
            {
                **group(),
                **gpu("GPU_UTIL", always(0)),
                **gpu("GPU_UTIL", always(30), node="node-0-1", pod="chat-0-1"),
            },
            at=290,
        ),
        Silent("it worked in between", {**group(), **gpu("GPU_UTIL", "0x100 5 0x190")}, at=250),
        Silent("nobody holds the GPU", gpu("GPU_UTIL", always(0), pod="dcgm-exporter-x"), at=290),
    ),
    "LwsInstanceNotJoining": (
        Firing(
            _claim(always(0)),
            at=11,
            labels={"nodeclaim": "p5-0-x", "nodepool": "p5-0"},
            summary="The instance of p5-0-x does not join the cluster.",
            description="It has had 10 minutes. After 15 Karpenter gives it up and tries again.",
        ),
        Silent("it boots", _claim(always(0)), at=10),
        Silent("it has joined", _claim(always(1)), at=60),
    ),
    "LwsNodeEnds": (
        Firing(
            node(created=-17 * _DAY),
            at=1,
            labels=_NODE,
            summary="node-0-0 of the island p5-0 must go within days.",
            description="It is 17d 0h 1m 0s old. Within 3 days it is drained, with its group.",
        ),
        Silent("it has more than three days", node(created=-17 * _DAY + 3600), at=1),
    ),
    "LwsPoolAtLimit": (
        Firing(
            {**pod(), **pod(worker=1, node="node-0-1"), **_pool(2)},
            at=16,
            labels={"pool": "p5"},
            summary="The pool p5 is full, and pods wait for it.",
            description="1 pods find no node, and its NodePools have as many as they may.",
        ),
        Silent("one node may still come", {**pod(), **_pool(1)}, at=60),
        Silent("nobody waits", {**group(), **_pool(2)}, at=60),
    ),
    "LwsServingUnseen": (
        Firing(
            {**group(), **_read(always(0))},
            at=16,
            labels=GROUP | {"pod": "chat-0", "uid": "chat-0", "node": "node-0-0", "worker": "0", "serves": "true"},
            summary="Prometheus does not see team-a/chat-0, which serves.",
            description="The pod has been ready for 15 minutes, and its metrics cannot be read.",
        ),
        Firing(
            group(),
            at=16,
            labels=GROUP | {"pod": "chat-0", "uid": "chat-0", "node": "node-0-0", "worker": "0", "serves": "true"},
            summary="Prometheus does not see team-a/chat-0, which serves.",
            description="The pod has been ready for 15 minutes, and its metrics cannot be read.",
        ),
        Silent("it is read", {**group(), **_read(always(1))}, at=60),
        Silent("the model loads", {**group(ready=False), **_read(always(0))}, at=60),
        Silent("its engine has no metrics", pod(node="node-0-0", ready=True, metrics="none"), at=60),
    ),
    "LwsStateMetricsMissing": (
        Firing(
            leader_worker_set(),
            at=16,
            labels={},
            summary="kube-state-metrics does not report groups.",
            description="Pods or LeaderWorkerSets are missing: no alert of groups can fire.",
        ),
        Firing(
            group(),
            at=16,
            labels={},
            summary="kube-state-metrics does not report groups.",
            description="Pods or LeaderWorkerSets are missing: no alert of groups can fire.",
        ),
        Firing(
            {named("kube_pod_info", namespace="team-a", pod="other", uid="other"): always(1), **leader_worker_set()},
            at=16,
            labels={},
            summary="kube-state-metrics does not report groups.",
            description="Pods or LeaderWorkerSets are missing: no alert of groups can fire.",
        ),
        Silent("both are there", {**group(), **leader_worker_set()}, at=60),
        Silent(
            "there is no group at all",
            {named("kube_pod_info", namespace="team-a", pod="other", uid="other"): always(1)},
            at=60,
        ),
    ),
    "LwsGpuMetricsMissing": (
        Firing(
            node(),
            at=16,
            labels={"node": "node-0-0", "resource": "nvidia_com_gpu", "unit": "integer"},
            summary="Nobody reports the GPUs of node-0-0.",
            description="The node offers 8 GPUs, and the DCGM exporter says nothing of them.",
        ),
        Silent("the exporter does", {**node(), **gpu("GPU_UTIL", always(0))}, at=60),
        Silent("the node has none yet", node(gpus=0), at=60),
        Silent("it is one of Auto Mode", node(compute_type="auto"), at=60),
    ),
}
