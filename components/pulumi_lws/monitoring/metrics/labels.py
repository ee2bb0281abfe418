"""Labels of series: which of Kubernetes' labels reach Prometheus, and how they are called there."""

from pulumi_lws.facts import labels

GROUP = ("namespace", "leader_worker_set", "group", "group_key", "deployment", "role")
"""Labels by which recorded series tell a group: ``group`` is its number, ``group_key`` what LWS calls it, alike for all
its pods."""

ENGINE = ("namespace", "pod", "deployment", "role", "leader_worker_set", "group", "model_name", "engine")
"""Labels of recorded series of engines, whichever engine it is; ``engine`` is the data rank of vLLM."""

MODEL = ("namespace", "deployment", "role", "model_name")
"""Labels of recorded series of a role as a whole."""

POD_LABELS: dict[str, str] = {
    labels.DEPLOYMENT: "deployment",
    labels.ROLE: "role",
    labels.SERVES: "serves",
    labels.METRICS: "metrics",
    labels.ROUTER: "router",
    labels.LWS_NAME: "leader_worker_set",
    labels.LWS_GROUP_INDEX: "group",
    labels.LWS_GROUP_KEY: "group_key",
    labels.LWS_WORKER_INDEX: "worker",
}
"""Labels of pods that kube-state-metrics passes on, and what series of ours call them."""

SCRAPED = ("namespace", "pod", "container", "job", "instance", "node", *POD_LABELS.values())
"""Labels that our monitors put on every series of an engine or router, where the pod has what they say."""

COMPUTE_TYPE = "eks.amazonaws.com/compute-type"
"""``auto`` on nodes of EKS Auto Mode."""

NODE_LABELS: dict[str, str] = {
    labels.POOL: "pool",
    labels.ISLAND: "island",
    labels.INSTANCE_TYPE: "instance_type",
    labels.ZONE: "zone",
    labels.NODE_POOL: "nodepool",
    labels.CAPACITY_TYPE: "capacity_type",
    COMPUTE_TYPE: "compute_type",
}
"""The same for nodes."""

DEPLOYMENT_LABELS: dict[str, str] = {labels.DEPLOYMENT: "served_deployment"}
"""The same for Deployments, whose own name stands under ``deployment``."""


def sanitized(key: str) -> str:
    """Write a key of Kubernetes as a name that Prometheus takes, as kube-state-metrics and the operator do."""
    return "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in key)


def state_label(key: str) -> str:
    """Return the label of ``kube_pod_labels``, ``kube_node_labels`` and their kind that carries a Kubernetes label."""
    return f"label_{sanitized(key)}"
