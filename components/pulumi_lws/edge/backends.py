"""The deployments behind a gateway, as far as it must know them, and who must be let in to reach them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from pulumi_lws.declarations import Declaration, NamespaceName, ObjectName, PositiveCount
from pulumi_lws.facts import labels
from pulumi_lws.facts.api_paths import ApiName
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.engines.settings import PortNumber
from pulumi_lws.serving.roles import API_PORT, Role
from pulumi_lws.serving.service import service_name
from pulumi_lws.serving.settings import Client, DeploymentArgs, DisaggregatedVllmArgs


class OwnGateway(Declaration):
    """The Gateway that a deployment attaches a route of its own to."""

    name: ObjectName
    """Its name."""
    namespace: NamespaceName
    """Its namespace."""


class Backend(Declaration):
    """Where the requests of a route go."""

    namespace: NamespaceName
    """Namespace of the Service or pool."""
    kind: Literal["Service", "InferencePool"] = "Service"
    """What it is. Default Service."""
    name: ObjectName
    """Its name."""
    port: PortNumber = API_PORT
    """Port of the Service. Default 8000."""
    health_path: Annotated[str, Field(pattern=r"^/[!-~]*$", max_length=1024, examples=["/health"])] | None = None
    """Path that answers 200 while a pod serves, asked of each. Default: pods are not asked, since something else
    chooses among them."""
    context_tokens: PositiveCount | None = None
    """Longest context of the model in tokens. Default: not known."""
    clients: tuple[Client, ...] | None = None
    """Whom its NetworkPolicy lets in. Default: it has none."""
    apis: tuple[ApiName, ...] | None = None
    """What its router opens. Default: all that the engine has."""
    own_gateway: OwnGateway | None = None
    """Gateway of its own route, if it has one."""


def backend_of(args: DeploymentArgs) -> Backend | None:
    """Return a deployment as a gateway sees it; None where its own problems leave open what it is."""
    roles, _ = roles_of(args)
    if not roles:
        return None
    clients = args.network.clients if args.network else None
    common = Backend(namespace=args.namespace, name=args.name, context_tokens=args.max_model_len, clients=clients)
    if isinstance(args, DisaggregatedVllmArgs):
        return _disaggregated(args, common)
    (role,) = roles
    update = {"name": service_name(role.workload), "port": role.behaviour.ports["http"], "health_path": _health(role)}
    return common.model_copy(update=update)


def _disaggregated(args: DisaggregatedVllmArgs, common: Backend) -> Backend:
    router = args.router
    if router is None:
        # Pods that decode compute the prompts of requests that nobody sent to prefill themselves.
        return common.model_copy(update={"name": service_name(f"{args.name}-decode"), "health_path": "/health"})
    if router.kind == "standalone":
        # The router chooses only pods that serve; whether it serves itself is its own readiness.
        return common.model_copy(update={"name": service_name(args.name), "apis": router.apis})
    pool = common.model_copy(update={"kind": "InferencePool"})
    if router.gateway is None:
        return pool
    own = OwnGateway(name=router.gateway, namespace=router.gateway_namespace or args.namespace)
    return pool.model_copy(update={"own_gateway": own})


def _health(role: Role) -> str | None:
    """Return the path of the health of each pod, where it is on the port that requests go to."""
    behaviour = role.behaviour
    return behaviour.health_path if behaviour.health_port == behaviour.ports["http"] else None


def proxy_labels(name: str, namespace: str) -> dict[str, str]:
    """Return the labels that Envoy Gateway puts on the proxies of a Gateway and of no other."""
    return {labels.OWNING_GATEWAY: name, labels.OWNING_GATEWAY_NAMESPACE: namespace}


def gateway_client(name: str, namespace: str, proxy_namespace: str = "envoy-gateway-system") -> Client:
    """Return what ``network.clients`` of a deployment must contain for a gateway to reach it.

    Args:
        name: Name of the Gateway.
        namespace: Namespace of the Gateway.
        proxy_namespace: Namespace of its proxies.
    """
    return Client(namespace=proxy_namespace, pod_labels=proxy_labels(name, namespace))


def admits(backend: Backend, gateway: Client) -> bool:
    """Tell whether the NetworkPolicy of a backend lets the proxies of a gateway in."""
    known: Mapping[str, str] = {**labels.ENVOY_PROXY, **gateway.pod_labels}
    return backend.clients is None or any(
        (client.namespace or backend.namespace) == gateway.namespace and client.pod_labels.items() <= known.items()
        for client in backend.clients
    )
