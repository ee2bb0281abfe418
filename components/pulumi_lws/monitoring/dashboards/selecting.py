"""Pieces of the queries that dashboards have in common."""

from pulumi_lws.monitoring.dashboards.dashboard import Variable
from pulumi_lws.monitoring.promql import by, left, on
from pulumi_lws.monitoring.recordings import POD

ROLE = ("namespace", "deployment", "role")
"""Labels of a role of a deployment."""

OF_ROLE = "{{deployment}} {{role}}"
"""Legend of a role."""

_CHOSEN = 'namespace=~"$namespace", deployment=~"$deployment", role=~"$role"'

IN_NAMESPACE = '{namespace=~"$namespace"}'
IN_POOL = '{pool=~"$pool"}'
EVERY = "[$__rate_interval]"

DEPLOYMENTS = (
    Variable("namespace", "Namespace", "label_values(lws:pod:info, namespace)"),
    Variable("deployment", "Deployment", 'label_values(lws:pod:info{namespace=~"$namespace"}, deployment)'),
    Variable("role", "Role", f"label_values(lws:pod:info{{{_CHOSEN.rpartition(', ')[0]}}}, role)"),
)
"""Choices of deployments."""

POOLS = (Variable("pool", "Pool", "label_values(lws:node:info, pool)"),)
"""Choice of pools."""

GPUS = "nvidia_com_gpu"
EFA = "vpc_amazonaws_com_efa"


def of(series: str, *more: str) -> str:
    """Select the series of the chosen roles."""
    return f"{series}{{{', '.join((_CHOSEN, *more))}}}"


def quantile(share: float, buckets: str) -> str:
    """Return the value that a share of the observations of each role stays below."""
    return f"histogram_quantile({share}, sum {by((*ROLE, 'le'))} ({buckets}))"


def on_pods(series: str) -> str:
    """Return series of pods, of which only name and namespace are known, with the role of each."""
    roles = f"max {by((*ROLE, 'pod'))} ({of('lws:pod:info')})"
    return f"{series} * {on(('namespace', 'pod'))} {left(('deployment', 'role'))} {roles}"


def on_nodes(series: str) -> str:
    """Return series of the nodes of the chosen pools, with the pool of each."""
    return f"{series} * {on(('node',))} {left(('pool',))} lws:node:info{IN_POOL}"


def requested(resource: str) -> str:
    """Return what pods that have not ended request."""
    alive = 'kube_pod_status_phase{phase=~"Pending|Running"} == 1'
    return f'(kube_pod_container_resource_requests{{resource="{resource}"}} and {on(POD)} ({alive}))'
