"""What a Prometheus adapter must serve, as values of the chart ``prometheus-adapter``.

Each engine's gauges become metrics of pods under ``served_name``; the load of each gateway of kind ``hpa`` becomes an
external metric. Source: ``docs/config.md`` and ``docs/externalmetrics.md`` of prometheus-adapter 0.12. Its maintainers
want to retire it in favour of KEDA: https://github.com/kubernetes-sigs/prometheus-adapter/issues/701
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.scaling.gateways.manifests import external_metric, waiting_query, waiting_series
from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
from pulumi_lws.serving.scaling.manifests import METRICS, served_name
from pulumi_lws.serving.scaling.settings import PROMETHEUS

_PORTS: Mapping[str, int] = {"http": 80, "https": 443}


def adapter_values(
    gateways: Iterable[tuple[GatewayAutoscaling, Sequence[Role]]] = (), *, prometheus: str = PROMETHEUS
) -> dict[str, Any]:
    """Return the values of the chart.

    Args:
        gateways: Autoscalers of gateways with the roles of the models behind them; those of kind ``keda`` need nothing.
        prometheus: Address of Prometheus.
    """
    address = urlsplit(prometheus)
    external = [_external(gateway, roles) for gateway, roles in gateways if gateway.kind == "hpa"]
    return {
        "prometheus": {
            "url": f"{address.scheme}://{address.hostname}",
            "port": address.port or _PORTS[address.scheme],
            "path": address.path,
        },
        "rules": {
            # The chart's own rules serve every series that there is, and list all of them every minute.
            "default": False,
            "custom": [_of_pods(metric) for metrics in METRICS.values() for metric in metrics.values()],
            **({"external": external} if external else {}),
        },
    }


def _of_pods(metric: str) -> dict[str, Any]:
    """Return the rule that serves a gauge of pods, as the sum of what the ranks of each report."""
    return {
        "seriesQuery": f'{metric}{{namespace!="",pod!=""}}',
        "resources": {"overrides": {label: {"resource": label} for label in ("namespace", "pod")}},
        "name": {"matches": f"^{metric}$", "as": served_name(metric)},
        "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
    }


def _external(gateway: GatewayAutoscaling, roles: Sequence[Role]) -> dict[str, Any]:
    """Return the rule that serves the load of a gateway.

    The adapter offers a metric while a series of the rule exists, so the rule names one; what it answers is the whole
    query, whose namespaces are those of the models and not the gateway's.
    """
    first, *_ = waiting_series(roles)
    return {
        "seriesQuery": first,
        "resources": {"namespaced": False},
        "name": {"matches": "", "as": external_metric(gateway)},
        "metricsQuery": waiting_query(roles),
    }
