"""Which add-ons deployments need, and whether they are there, where deployments look for them."""

from collections.abc import Iterator, Mapping

from pulumi_lws.addons.addon import Site
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.settings import AddOnName, AddOns
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
from pulumi_lws.serving.scaling.settings import PROMETHEUS, Autoscaling
from pulumi_lws.serving.settings import DeploymentArgs, DisaggregatedVllmArgs, SingleNodeVllmArgs, roles_settings

Needs = dict[AddOnName, list[str]]
"""Paths of what needs an add-on, by add-on."""

AUTOSCALERS: Mapping[str, AddOnName] = {"keda": "keda", "hpa": "prometheus_adapter"}
"""The add-on behind each kind of autoscaling."""

_MOST_SHOWN = 3
"""Paths that a problem names; the others are counted."""


def deployment_needs(deployments: Mapping[str, DeploymentArgs]) -> Needs:
    """Return the add-ons that deployments need, and where they say so: paths from the platform.

    Args:
        deployments: The arguments of deployments by name.
    """
    needs: Needs = {}
    for name, args in deployments.items():
        for add_on, path in _needed(args):
            needs.setdefault(add_on, []).append(f"deployments.{name}.{path}")
    return needs


def missing_add_ons(needs: Needs, add_ons: AddOns, site: Site) -> list[Problem]:
    """Return the add-ons that something needs and that are not installed, on a cluster that is made here.

    Args:
        needs: Paths of what needs an add-on.
        add_ons: What is installed.
        site: Where. On a cluster that exists, it may be there already.
    """
    if not site.is_new:
        return []
    return [
        Problem(
            f"addOns.{ADD_ONS[name].key}",
            "nothing",
            f"{ADD_ONS[name].title}, without which these do not work: {_listed(paths)}",
            f"Add {ADD_ONS[name].key}: {{}} to addOns.",
        )
        for name, paths in needs.items()
        if paths and getattr(add_ons, name) is None
    ]


def autoscaling_by_path(deployments: Mapping[str, DeploymentArgs]) -> dict[str, Autoscaling]:
    """Return the autoscaling of every role that has one, by its path from the platform."""
    return {
        f"deployments.{name}.{path}": autoscaling
        for name, args in deployments.items()
        for path, autoscaling in _autoscaling(args)
    }


def misplaced_prometheus(add_ons: AddOns, autoscaling: Mapping[str, Autoscaling | GatewayAutoscaling]) -> list[Problem]:
    """Return a Prometheus that is installed elsewhere than where autoscalers ask for it.

    Args:
        add_ons: What is installed.
        autoscaling: Everything that scales by its path.
    """
    stack, adapter = add_ons.kube_prometheus_stack, add_ons.prometheus_adapter
    usual = ADD_ONS["kube_prometheus_stack"].namespace
    if stack is None or stack.namespace in (None, usual):
        return []
    asking = [path for path, one in autoscaling.items() if one.kind == "keda" and one.prometheus == PROMETHEUS]
    if adapter is not None and "prometheus" not in adapter.values:
        asking.append("addOns.prometheusAdapter.values")
    if not asking:
        return []
    return [
        Problem(
            "addOns.kubePrometheusStack.namespace",
            f"{stack.namespace}",
            f"{usual}, where these look for Prometheus ({PROMETHEUS}): {_listed(asking)}",
            "Remove it, or set prometheus of these.",
            Severity.WARNING,
        )
    ]


def _listed(paths: list[str]) -> str:
    others = len(paths) - _MOST_SHOWN
    return ", ".join(paths[:_MOST_SHOWN]) + (f" and {others} more" if others > 0 else "")


def _needed(args: DeploymentArgs) -> Iterator[tuple[AddOnName, str]]:
    if not isinstance(args, SingleNodeVllmArgs):
        yield "lws", "kind"
    if args.queue is not None:
        yield "kueue", "queue"
    for path, autoscaling in _autoscaling(args):
        yield AUTOSCALERS[autoscaling.kind], path
    if isinstance(args, DisaggregatedVllmArgs) and args.router is not None and args.router.kind == "gateway":
        yield "inference_pools", "router"
        if args.router.gateway is not None:
            yield "envoy_gateway", "router.gateway"


def _autoscaling(args: DeploymentArgs) -> Iterator[tuple[str, Autoscaling]]:
    for role, settings in roles_settings(args).items():
        if settings.autoscaling is not None:
            yield "autoscaling" if role == "serve" else f"{role}.autoscaling", settings.autoscaling
