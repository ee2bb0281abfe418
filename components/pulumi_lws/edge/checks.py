"""Whether a gateway would do what it should, and nothing else: paths start at its declaration."""

import math
from collections.abc import Iterator

from pulumi_lws.edge.backends import Backend, admits, gateway_client
from pulumi_lws.edge.manifests import hostnames_of, slug
from pulumi_lws.edge.settings import Host, InferenceGatewayArgs, LoadBalancer, Route
from pulumi_lws.planning.problems import Problem

_EVERYWHERE = "0.0.0.0/0"


def gateway_problems(args: InferenceGatewayArgs) -> list[Problem]:
    """Return what is wrong with a gateway. Routes of deployments that are not known are judged no further."""
    problems = [*_hosts(args), *_exposure(args), *_rate_limit(args), *_same_matches(args)]
    for key, route in args.routes.items():
        path = f"routes.{key}"
        problems += [problem.below(path) for problem in _hostnames(args, route)]
        backend = args.backends.get(route.deployment)
        if backend is None:
            allowed = ", ".join(args.backends) or "none is declared"
            fix = "Name a deployment of this stack, or declare it."
            problems.append(Problem(f"{path}.deployment", route.deployment, allowed, fix))
        else:
            problems += [problem.below(path) for problem in _backend(args, route, backend)]
    return [*problems, *_timeouts(args)]


def _hosts(args: InferenceGatewayArgs) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for index, host in enumerate(args.hosts):
        name = slug(host.hostname)
        if name in seen:
            allowed = f"each once; {seen[name]} stands before, and objects of both would have one name"
            yield Problem(f"hosts[{index}].hostname", host.hostname, allowed, "Take one of them away.")
        seen.setdefault(name, host.hostname)
        yield from _certificate(args, index, host)


def _certificate(args: InferenceGatewayArgs, index: int, host: Host) -> Iterator[Problem]:
    path = f"hosts[{index}].certificate"
    if args.tls.kind == "certificates" and host.certificate is None:
        allowed = f"a Secret of type kubernetes.io/tls in the namespace {args.namespace}: tls is certificates"
        fix = f"Name the Secret with the certificate of {host.hostname}, or let cert-manager get one: set tls."
        yield Problem(path, "nothing", allowed, fix)
    if args.tls.kind == "none" and host.certificate is not None:
        fix = "Take tls away, so that the certificate is used, or take the certificate away."
        yield Problem(path, host.certificate, "nothing: tls is none", fix)


def _exposure(args: InferenceGatewayArgs) -> Iterator[Problem]:
    exposure = args.exposure
    if not isinstance(exposure, LoadBalancer) or exposure.internal:
        return
    if args.tls.kind == "none":
        allowed = "certificates or cert-manager: the load balancer is reached from the internet"
        fix = "Give it certificates, or set exposure.internal to true."
        yield Problem("tls.kind", "none", allowed, fix)
    if args.authentication.kind == "none" and (not exposure.source_ranges or _EVERYWHERE in exposure.source_ranges):
        allowed = "api-keys or jwt, or sourceRanges that leave most of the internet out"
        fix = "Let clients show who they are, name the networks that may come in, or set exposure.internal to true."
        yield Problem("authentication.kind", "none", allowed, fix)


def _rate_limit(args: InferenceGatewayArgs) -> Iterator[Problem]:
    limit, replicas = args.rate_limit, args.proxies.replicas
    if limit is None:
        return
    if args.authentication.kind == "none":
        allowed = "nothing: authentication is none, so nobody knows one client from another"
        yield Problem("rateLimit", "a limit per client", allowed, "Let clients show who they are, or take it away.")
    if limit.counted == "each-proxy" and limit.requests_per_minute < replicas:
        yield Problem(
            "rateLimit.requestsPerMinute",
            str(limit.requests_per_minute),
            f"at least {replicas}: each of {replicas} proxies takes its share, which is a whole number",
            f"Raise it to {replicas}, lower proxies.replicas to {limit.requests_per_minute}, or count in redis.",
        )


def _same_matches(args: InferenceGatewayArgs) -> Iterator[Problem]:
    seen: dict[tuple[str, str, str | None], str] = {}
    for key, route in args.routes.items():
        matches = [(hostname, route.path_prefix, route.model) for hostname in hostnames_of(args, route)]
        taken = {seen[match]: match for match in matches if match in seen}
        for other, (hostname, prefix, model) in taken.items():
            named = f" for the model {model}" if model else ""
            yield Problem(
                f"routes.{key}",
                f"{hostname}{prefix}{named}",
                f"what no other route matches; the route {other} does",
                "Give one of them another host name, pathPrefix or model.",
            )
        for match in matches:
            seen.setdefault(match, key)


def _hostnames(args: InferenceGatewayArgs, route: Route) -> Iterator[Problem]:
    hosts = [host.hostname for host in args.hosts]
    for index, hostname in enumerate(route.hostnames):
        if not any(_covers(host, hostname) for host in hosts):
            fix = "Add it to hosts, with a certificate for it, or choose one of these."
            yield Problem(f"hostnames[{index}]", hostname, ", ".join(hosts), fix)


def _covers(host: str, hostname: str) -> bool:
    """Tell whether a certificate for ``host`` is one for ``hostname``: ``*`` stands for one label."""
    return host == hostname or (host.startswith("*.") and host[2:] == hostname.partition(".")[2])


def _backend(args: InferenceGatewayArgs, route: Route, backend: Backend) -> Iterator[Problem]:
    if backend.kind == "InferencePool" and not args.inference_pools:
        yield Problem(
            "deployment",
            f"{route.deployment}, whose router is behind an InferencePool",
            "a deployment behind a Service: Envoy Gateway alone answers 500 for an InferencePool",
            "Set its router to standalone, or install Envoy AI Gateway and set inferencePools to true.",
        )
    opened = route.apis if backend.apis is None else backend.apis
    if closed := [api for api in dict.fromkeys(route.apis) if api not in opened]:
        yield Problem(
            "apis",
            ", ".join(closed),
            f"{', '.join(opened)}: the router of {route.deployment} answers everything else with 404",
            "Add it to router.apis of the deployment, or leave it out here.",
        )
    own = backend.own_gateway
    if own is not None and (own.name, own.namespace) == (args.name, args.namespace):
        yield Problem(
            "deployment",
            f"{route.deployment}, which has a route of its own here",
            "only this route: time-outs and limits of this gateway do not hold for its own one",
            "Set router.gateway of the deployment to null.",
        )
    client = gateway_client(args.name, args.namespace, args.proxies.namespace)
    if not admits(backend, client):
        labels = ", ".join(f"{key}: {value}" for key, value in client.pod_labels.items())
        entry = f"{{namespace: {client.namespace}, podLabels: {{{labels}}}}}"
        yield Problem(
            "deployment",
            f"{route.deployment}, whose network.clients leave the gateway out",
            f"the proxies in the namespace {client.namespace}",
            f"Add {entry} to its network.clients.",
        )


def _timeouts(args: InferenceGatewayArgs) -> Iterator[Problem]:
    """Judge times by the longest answer of any model: how many tokens it has, at the slowest pace."""
    timeouts = args.timeouts
    known = [args.backends[route.deployment] for route in args.routes.values() if route.deployment in args.backends]
    contexts = [backend.context_tokens or timeouts.answer_tokens for backend in known]
    tokens = min(timeouts.answer_tokens, max(contexts, default=timeouts.answer_tokens))
    least = math.ceil(tokens / timeouts.tokens_per_second)
    limits = [("idleSeconds", timeouts.idle_seconds, "")]
    if timeouts.request_seconds:
        limits.append(("requestSeconds", timeouts.request_seconds, "0 for none, or "))
    for name, seconds, none in limits:
        if seconds < least:
            pace = timeouts.tokens_per_second
            yield Problem(
                f"timeouts.{name}",
                f"{seconds} s",
                f"{none}at least {least} s, the longest answer: {tokens} tokens at {pace} in a second",
                f"Raise it to {least}, or set answerTokens to {seconds * pace} if clients ask for no more.",
            )
