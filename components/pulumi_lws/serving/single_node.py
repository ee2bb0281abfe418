"""A model that fits one node, as a Deployment."""

from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.serving.pods import pod_template
from pulumi_lws.serving.queueing import queue_labels
from pulumi_lws.serving.roles import Role


def deployment(role: Role) -> dict[str, Any]:
    """Render the Deployment. Where an autoscaler owns ``replicas`` the field is left out."""
    template = pod_template(role, "leader")
    scaled = role.settings.autoscaling is not None
    # What waits for quota may wait for long.
    wait = role.deployment.wait or ("none" if role.deployment.queue else "serving")
    waits = wait == "serving" and (scaled or role.settings.replicas > 0)
    annotations = {} if waits else {"annotations": {labels.PULUMI_SKIP_AWAIT: "true"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": role.workload,
            "namespace": role.namespace,
            "labels": {labels.DEPLOYMENT: role.deployment_name, **queue_labels(role)},
            **annotations,
        },
        "spec": {
            **({} if scaled else {"replicas": role.settings.replicas}),
            "selector": {"matchLabels": dict(role.selector)},
            # A pod that loads for an hour is no failed rollout.
            "progressDeadlineSeconds": role.launch.timeouts.start + 60,
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 1 - role.surge, "maxSurge": role.surge},
            },
            "template": {
                "metadata": {
                    "labels": dict(template.metadata.labels),
                    "annotations": dict(template.metadata.annotations),
                },
                "spec": dict(template.spec),
            },
        },
    }
