"""A gateway rendered to its objects: first who may come in and how, then the door, then what lies behind it."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.edge import policies, proxy
from pulumi_lws.edge.backends import Backend
from pulumi_lws.edge.proxy import GATEWAY_GROUP, Manifest
from pulumi_lws.edge.settings import CertManager, Host, InferenceGatewayArgs, Jwt, Route
from pulumi_lws.facts import labels
from pulumi_lws.facts.api_paths import APIS, Api
from pulumi_lws.serving.routing.manifests import INFERENCE_GROUP, api_match


def edge_objects(args: InferenceGatewayArgs) -> dict[str, Manifest]:
    """Render a gateway without problems, by the suffix of each object's Pulumi name, in the order of making them."""
    routed = {key: args.backends[route.deployment] for key, route in args.routes.items()}
    security = policies.security_policy(args)
    return {
        "proxy": proxy.envoy_proxy(args),
        "class": proxy.gateway_class(args),
        **({"security": security} if security else {}),
        "clients": policies.client_traffic_policy(args),
        "gateway": _gateway(args, {backend.namespace for backend in routed.values()}),
        **{
            f"{key}-traffic": policies.backend_traffic_policy(args, route_name(args, key), backend)
            for key, backend in routed.items()
        },
        **{f"{key}-route": _route(args, key, backend) for key, backend in routed.items()},
    }


def route_name(args: InferenceGatewayArgs, route: str) -> str:
    """Return the name of the HTTPRoute of a route."""
    return f"{args.name}-{route}"


def slug(hostname: str) -> str:
    """Return what objects of a host name are called after."""
    return hostname.replace("*", "wildcard")


def hostnames_of(args: InferenceGatewayArgs, route: Route) -> tuple[str, ...]:
    """Return the host names of a route: its own, or all of the gateway."""
    return route.hostnames or tuple(host.hostname for host in args.hosts)


def urls(args: InferenceGatewayArgs) -> dict[str, list[str]]:
    """Return the addresses of the OpenAI API of each route."""
    scheme = "http" if args.tls.kind == "none" else "https"
    return {
        key: [f"{scheme}://{hostname}{route.path_prefix}/v1" for hostname in hostnames_of(args, route)]
        for key, route in args.routes.items()
    }


def _gateway(args: InferenceGatewayArgs, namespaces: set[str]) -> Manifest:
    annotations = {labels.PULUMI_WAIT_FOR: "condition=Programmed"}
    if isinstance(args.tls, CertManager):
        annotations[labels.CERT_MANAGER_ISSUERS[args.tls.issuer_kind]] = args.tls.issuer
    # Only where a route of ours lies may routes lie: each opens what it names.
    selector = {"matchExpressions": [{"key": labels.NAMESPACE_NAME, "operator": "In", "values": sorted(namespaces)}]}
    allowed = {
        "kinds": [{"group": GATEWAY_GROUP, "kind": "HTTPRoute"}],
        "namespaces": {"from": "Selector", "selector": selector},
    }
    parameters = {"group": proxy.ENVOY_GROUP, "kind": "EnvoyProxy", "name": args.name}
    return {
        "apiVersion": f"{GATEWAY_GROUP}/v1",
        "kind": "Gateway",
        "metadata": {"name": args.name, "namespace": args.namespace, "annotations": annotations},
        "spec": {
            "gatewayClassName": proxy.class_name(args),
            "infrastructure": {"parametersRef": parameters},
            "listeners": [{**_listener(args, host), "allowedRoutes": allowed} for host in args.hosts],
        },
    }


def _listener(args: InferenceGatewayArgs, host: Host) -> Manifest:
    listener: Manifest = {"name": slug(host.hostname), "hostname": host.hostname, "port": proxy.port(args)}
    if args.tls.kind == "none":
        return {**listener, "protocol": "HTTP"}
    certificate = {"kind": "Secret", "name": host.certificate or f"{slug(host.hostname)}-tls"}
    return {**listener, "protocol": "HTTPS", "tls": {"mode": "Terminate", "certificateRefs": [certificate]}}


def _route(args: InferenceGatewayArgs, key: str, backend: Backend) -> Manifest:
    route = args.routes[key]
    parent = {"group": GATEWAY_GROUP, "kind": "Gateway", "name": args.name, "namespace": args.namespace}
    return {
        "apiVersion": f"{GATEWAY_GROUP}/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": route_name(args, key), "namespace": backend.namespace},
        "spec": {
            "parentRefs": [parent],
            **({"hostnames": list(route.hostnames)} if route.hostnames else {}),
            "rules": _rules(args, route, backend),
        },
    }


def _rules(args: InferenceGatewayArgs, route: Route, backend: Backend) -> list[Manifest]:
    """Render the rules: one for all paths, or one for each where a prefix must be taken away from it."""
    apis = [APIS[name] for name in dict.fromkeys(route.apis)]
    # Each rule has connections, health checks and counts of its own, so as few as can be.
    shares = [[api] for api in apis] if route.path_prefix else [apis]
    return [
        {
            "matches": [_match(args, route, api) for api in share],
            **_filters(args, route, share),
            "backendRefs": [_reference(backend)],
        }
        for share in shares
    ]


def _match(args: InferenceGatewayArgs, route: Route, api: Api) -> Manifest:
    match = api_match(api, route.path_prefix)
    if route.model is not None:
        match["headers"] = [{"type": "Exact", "name": args.model_header, "value": route.model}]
    return match


def _filters(args: InferenceGatewayArgs, route: Route, apis: list[Api]) -> Mapping[str, Any]:
    filters: list[Manifest] = []
    if isinstance(args.authentication, Jwt):
        # Keys are taken away where they are read; tokens are passed on otherwise, and engines may log them.
        headers = {"remove": ["Authorization"]}
        filters.append({"type": "RequestHeaderModifier", "requestHeaderModifier": headers})
    if route.path_prefix:
        (api,) = apis
        rewrite = {"path": {"type": "ReplaceFullPath", "replaceFullPath": api.path}}
        filters.append({"type": "URLRewrite", "urlRewrite": rewrite})
    return {"filters": filters} if filters else {}


def _reference(backend: Backend) -> Manifest:
    if backend.kind == "InferencePool":
        return {"group": INFERENCE_GROUP, "kind": backend.kind, "name": backend.name}
    return {"kind": backend.kind, "name": backend.name, "port": backend.port}
