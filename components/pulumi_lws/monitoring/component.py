"""Monitoring as a Pulumi component: rules and monitors for the Prometheus operator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.monitoring.checks import monitoring_problems
from pulumi_lws.monitoring.dashboards.manifests import dashboard_objects
from pulumi_lws.monitoring.manifests import monitoring_objects
from pulumi_lws.monitoring.rules import DEFAULT_SITE
from pulumi_lws.monitoring.settings import Monitoring as MonitoringSettings
from pulumi_lws.monitoring.site import MonitoredSite


@dataclass(frozen=True)
class MonitoringArgs:
    """What a :class:`Monitoring` is made from.

    Attributes:
        monitoring: What was declared, as in a stack file; a mapping is validated like the model.
        site: What is watched: pools, who makes nodes, the longest start budget.
    """

    monitoring: MonitoringSettings | Mapping[str, Any]
    site: MonitoredSite = DEFAULT_SITE


class Monitoring(pulumi.ComponentResource):
    """Rules, alerts, monitors and dashboards of models, groups, GPUs and queues.

    Args:
        name: Pulumi name of the component.
        args: What to make.
        opts: Give the Kubernetes provider in ``providers``, and the Prometheus operator in ``depends_on``.

    Raises:
        DeclarationError: The declaration means nothing, such as an alert that does not exist.
    """

    def __init__(self, name: str, args: MonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        subject = "Monitoring"
        settings = declared(MonitoringSettings, args.monitoring, subject)
        raise_problems(monitoring_problems(settings, args.site), subject)
        inputs = settings.model_dump(by_alias=True, exclude_none=True)
        super().__init__("lws:index:Monitoring", name, inputs, opts)
        own = pulumi.ResourceOptions(parent=self)
        manifests = monitoring_objects(settings, args.site) | dashboard_objects(settings)
        self.objects = {key: Manifest(f"{name}-{key}", manifest, own) for key, manifest in manifests.items()}
        self.register_outputs({"namespace": settings.namespace})
