"""Whether a gateway can be scaled, and by what."""

from collections.abc import Iterator, Mapping

from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.routing.manifests import router_name
from pulumi_lws.serving.scaling.gateways.manifests import waiting_series
from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
from pulumi_lws.serving.settings import DeploymentArgs, DisaggregatedVllmArgs, SingleNodeVllmArgs, roles_settings


def roles_behind(settings: GatewayAutoscaling, deployments: Mapping[str, DeploymentArgs]) -> tuple[Role, ...]:
    """Return the roles of the models behind a gateway; names that do not exist are left out."""
    names = settings.models or tuple(deployments)
    return tuple(role for name in names if name in deployments for role in roles_of(deployments[name])[0])


def gateway_problems(settings: GatewayAutoscaling, deployments: Mapping[str, DeploymentArgs]) -> list[Problem]:
    """Return what is wrong with the autoscaling of one gateway; paths start at its settings.

    Args:
        settings: What was declared.
        deployments: All deployments of models of the stack by name.
    """
    return [*_target(settings, deployments), *_load(settings, deployments), *_external(settings, deployments)]


def gateways_problems(
    gateways: Mapping[str, GatewayAutoscaling], deployments: Mapping[str, DeploymentArgs]
) -> list[Problem]:
    """Return what is wrong with the autoscaling of all gateways of a stack; paths start with their names."""
    found = [
        problem.below(name)
        for name, settings in gateways.items()
        for problem in gateway_problems(settings, deployments)
    ]
    return [*found, *_repeated(gateways), *_two_servers(gateways)]


def _repeated(gateways: Mapping[str, GatewayAutoscaling]) -> Iterator[Problem]:
    """Judge Deployments with two autoscalers, which would take each other's changes back."""
    seen: dict[tuple[str, str], str] = {}
    for name, gateway in gateways.items():
        first = seen.setdefault((gateway.namespace, gateway.deployment), name)
        if first != name:
            allowed = f"a Deployment without another autoscaler: {first} has it"
            yield Problem(f"{name}.deployment", gateway.deployment, allowed, "Keep one of them.")


def _two_servers(gateways: Mapping[str, GatewayAutoscaling]) -> Iterator[Problem]:
    by_keda = [name for name, gateway in gateways.items() if gateway.kind == "keda"]
    for name, gateway in gateways.items():
        if gateway.kind == "hpa" and by_keda:
            yield _second_server(f"gateway {by_keda[0]}").below(name)


def _target(settings: GatewayAutoscaling, deployments: Mapping[str, DeploymentArgs]) -> Iterator[Problem]:
    target = (settings.namespace, settings.deployment)
    for name, args in deployments.items():
        if isinstance(args, DisaggregatedVllmArgs) and args.router and target == (args.namespace, router_name(name)):
            yield Problem(
                "deployment",
                f"{settings.deployment}, the llm-d router of {name}",
                "a Deployment whose copies need not know of one another: each router counts only the requests and"
                " caches of its own share, so a second one takes cache hits away",
                f"Give it more CPU, or make a second deployment of the model with a router of its own;"
                f" deployments.{name}.router.replicas is for a few that stay.",
            )
        elif isinstance(args, SingleNodeVllmArgs) and target == (args.namespace, name):
            yield Problem(
                "deployment",
                f"{settings.deployment}, the copies of a model",
                "a Deployment without GPUs",
                f"Set deployments.{name}.autoscaling instead.",
            )


def _load(settings: GatewayAutoscaling, deployments: Mapping[str, DeploymentArgs]) -> Iterator[Problem]:
    if settings.query is not None:
        return
    for index, name in enumerate(settings.models):
        if name not in deployments:
            allowed = ", ".join(deployments) or "none is declared"
            yield Problem(f"models[{index}]", name, allowed, "Name a deployment of this stack.")
    if not waiting_series(roles_behind(settings, deployments)):
        yield Problem(
            "models",
            ", ".join(settings.models or deployments) or "nothing",
            "a deployment on vLLM or SGLang: the metrics of others are not known",
            "Name one, or set query.",
        )


def _external(settings: GatewayAutoscaling, deployments: Mapping[str, DeploymentArgs]) -> Iterator[Problem]:
    by_keda = [
        name
        for name, args in deployments.items()
        if any(role.autoscaling and role.autoscaling.kind == "keda" for role in roles_settings(args).values())
    ]
    if settings.kind == "hpa" and by_keda:
        yield _second_server(by_keda[0])


def _second_server(of_keda: str) -> Problem:
    """Say that KEDA and the adapter cannot both serve external metrics: the last one installed has them all.

    https://github.com/kedacore/keda/issues/470
    """
    allowed = f"keda: the autoscaler of {of_keda} is KEDA's, and a cluster has one server of external metrics"
    return Problem("kind", "'hpa'", allowed, "Give both the same kind.")
