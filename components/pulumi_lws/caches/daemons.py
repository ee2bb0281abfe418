"""What every DaemonSet on the nodes of a pool has in common."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.nodes.taints import tolerations_of


def daemon_set(
    name: str,
    namespace: str,
    selector: Mapping[str, str],
    *,
    pool_name: str,
    pool: GpuPool,
    spec: Mapping[str, Any],
) -> dict[str, Any]:
    """Render a DaemonSet whose pods run on every node of a pool.

    Nothing waits for it: a node may come at any time, and copying takes as long as it takes.

    Args:
        name: Its name.
        namespace: Its namespace.
        selector: Labels of its pods, and of no others.
        pool_name: Name of the pool.
        pool: The pool.
        spec: The rest of the pod spec.
    """
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": dict(selector),
            "annotations": {labels.PULUMI_SKIP_AWAIT: "true"},
        },
        "spec": {
            "selector": {"matchLabels": dict(selector)},
            # Nobody is served by these pods: all may be replaced at once.
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
            "template": {
                "metadata": {"labels": dict(selector)},
                "spec": {
                    "enableServiceLinks": False,
                    "automountServiceAccountToken": False,
                    "nodeSelector": {labels.POOL: pool_name},
                    "tolerations": tolerations_of(pool),
                    **spec,
                },
            },
        },
    }
