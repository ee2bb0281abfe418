"""What a user declares of a gateway: where it is reached, who may come in, what goes where, and how much of it."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from pulumi_lws.cluster.network.settings import Cidr
from pulumi_lws.declarations import Count, Declaration, DnsLabel, NamespaceName, ObjectName, PositiveCount
from pulumi_lws.edge.backends import Backend
from pulumi_lws.facts.api_paths import DEFAULT_APIS
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.serving.names import ModelName
from pulumi_lws.serving.routing.settings import HostName, OpenApis

Reason = Annotated[str, Field(min_length=10, max_length=500, examples=["Only the batch jobs of one namespace come."])]
"""Why something that is safe by default is given up: a sentence for whoever reviews it."""

HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$", max_length=100, examples=["x-model"])]
"""Name of an HTTP header."""

HttpsAddress = Annotated[
    str, Field(pattern=r"^https://[^\s]+$", max_length=253, examples=["https://login.example.com/jwks"])
]
"""An address with TLS."""

StreamSeconds = Annotated[PositiveCount, Field(le=86_400)]
"""A time in seconds, at most a day."""


class Host(Declaration):
    """A host name that the gateway answers to."""

    # Its certificate is called after it.
    hostname: Annotated[HostName, Field(max_length=240)]
    """Host name, or ``*.`` and a domain. At most 240 characters."""
    certificate: ObjectName | None = None
    """Secret of type ``kubernetes.io/tls`` in the gateway's namespace. With ``cert-manager`` the one that it fills;
    default then: the host name with ``-tls``."""


class Certificates(Declaration):
    """TLS with certificates of your own: each host names its Secret."""

    kind: Literal["certificates"] = "certificates"
    """``certificates``."""


class CertManager(Declaration):
    """TLS with certificates that cert-manager gets and renews. Its support of the Gateway API must be on."""

    kind: Literal["cert-manager"] = "cert-manager"
    """``cert-manager``."""
    issuer: ObjectName
    """Name of the issuer. Host names with ``*`` need one that proves them by DNS."""
    issuer_kind: Literal["ClusterIssuer", "Issuer"] = "ClusterIssuer"
    """Its kind. Default ClusterIssuer."""


class PlainHttp(Declaration):
    """No TLS: keys and prompts pass the network as they are."""

    kind: Literal["none"] = "none"
    """``none``."""
    reason: Reason
    """Why, in a sentence of 10 to 500 characters."""


class LoadBalancer(Declaration):
    """A network load balancer of AWS in front of the gateway, inside its network unless told otherwise."""

    kind: Literal["load-balancer"] = "load-balancer"
    """``load-balancer``."""
    internal: bool = True
    """Whether only the VPC and what is connected with it reaches it. Default true."""
    source_ranges: tuple[Cidr, ...] = ()
    """Networks that may open connections. Default: all that reach it."""


class ClusterIp(Declaration):
    """An address inside the cluster alone."""

    kind: Literal["cluster-ip"] = "cluster-ip"
    """``cluster-ip``."""


class ApiKeys(Declaration):
    """Clients are known by a key, sent as ``Authorization: Bearer <key>``; the engine never sees it."""

    kind: Literal["api-keys"] = "api-keys"
    """``api-keys``."""
    secrets: Annotated[tuple[ObjectName, ...], Field(min_length=1, max_length=64)]
    """Secrets in the gateway's namespace: each key of their data is the name of a client, its value the client's key
    without ``Bearer``."""
    headers: Annotated[tuple[HeaderName, ...], Field(min_length=1, max_length=4)] = ("Authorization",)
    """Headers that may hold the key; the first that is there counts. Default ``Authorization``; libraries of Anthropic
    send ``x-api-key``."""


class Jwt(Declaration):
    """Clients are known by a token of an OpenID provider, sent as ``Authorization: Bearer <token>``."""

    kind: Literal["jwt"] = "jwt"
    """``jwt``."""
    issuer: HttpsAddress
    """Issuer, as the tokens name it (``iss``)."""
    audiences: Annotated[tuple[str, ...], Field(min_length=1, max_length=8)]
    """Audiences, one of which a token must have (``aud``), 1 to 8."""
    jwks: HttpsAddress
    """Address of the issuer's public keys; the proxies must reach it."""
    client_claim: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$", max_length=100, examples=["sub"])] = "sub"
    """Claim that names the client; tokens without it share one rate limit. Default ``sub``."""


class NoAuthentication(Declaration):
    """Everybody who reaches the gateway may use the GPUs behind it."""

    kind: Literal["none"] = "none"
    """``none``."""
    reason: Reason
    """Why, in a sentence of 10 to 500 characters."""


class RateLimit(Declaration):
    """How much one client may ask of one route."""

    requests_per_minute: Annotated[PositiveCount, Field(le=1_000_000)]
    """Requests of one client in a minute, at most a million."""
    counted: Literal["each-proxy", "redis"] = "each-proxy"
    """``each-proxy``: each proxy counts for itself and takes its share of the limit, for each path. ``redis``: all
    count together over all paths; needs Envoy Gateway with ``rateLimit.backend``, a Redis. Default each-proxy."""


class Limits(Declaration):
    """How much the gateway takes at once."""

    body_mib: Annotated[PositiveCount, Field(le=256)] = 16
    """Longest request in MiB, at most 256; longer ones get 413. Each is held in memory until it is there. Default 16:
    a prompt of millions of tokens, or some pictures."""
    connections: Annotated[PositiveCount, Field(le=1_000_000)] = 10_000
    """Connections of clients to each listener of a proxy. Default 10000."""
    parallel_requests: Annotated[PositiveCount, Field(le=1_000_000)] = 1_000
    """Requests of a route that each proxy has running, and as many that wait for a connection; more get 503. Default
    1000."""


class Timeouts(Declaration):
    """How long requests may take. An answer takes minutes, and one that is not streamed is silent until its end."""

    request_seconds: Annotated[Count, Field(le=86_400)] = 0
    """Longest time for a whole answer, at most 86400. Default 0: none, only ``idleSeconds`` counts."""
    idle_seconds: StreamSeconds = 3_600
    """Longest silence in a request, at most 86400: it waits in the engine's queue, or its answer is not streamed.
    Default 3600."""
    answer_tokens: PositiveCount = 16_384
    """Longest answer that clients ask for, in tokens; a model with a shorter context has no longer ones. Default
    16384."""
    tokens_per_second: PositiveCount = 10
    """Slowest pace at which an answer is written under load. Default 10."""


class Proxies(Declaration):
    """The Envoys that the gateway consists of."""

    replicas: Annotated[PositiveCount, Field(le=100)] = 2
    """How many, at most 100. Default 2: one may go with its node."""
    drain_seconds: StreamSeconds = 600
    """How long running answers may go on after a proxy was told to stop, at most 86400. Default 600."""
    namespace: NamespaceName = "envoy-gateway-system"
    """Namespace in which Envoy Gateway runs them. Default its own; in its gateway namespace mode, the gateway's."""


class Route(Declaration):
    """Which requests go to a deployment."""

    deployment: DnsLabel
    """Name of the deployment."""
    hostnames: Annotated[tuple[HostName, ...], Field(max_length=16)] = ()
    """Host names, at most 16. Default: all of the gateway."""
    path_prefix: Annotated[str, Field(pattern=r"^((/[a-z0-9][a-z0-9-]*)+)?$", max_length=200, examples=["/glm-5"])] = ""
    """What stands before the paths of the API; the engine does not see it. Default nothing."""
    model: ModelName | None = None
    """Model that clients must name in the gateway's ``modelHeader``. Default: the header does not matter."""
    apis: OpenApis = DEFAULT_APIS
    """What clients may ask for; nothing else of the engine can be reached. Default: chat, completions, responses,
    messages, count-tokens and models."""


class InferenceGatewaySettings(Declaration):
    """The door to deployments of models: Envoy Gateway with TLS, authentication and limits, open for inference only."""

    namespace: NamespaceName
    """Namespace of the Gateway, of its certificates and of the keys of clients: not one in which teams deploy."""
    namespace_exists: bool = False
    """Whether the namespace is there already, and stays when the stack is destroyed. Default false: a stack file makes
    it, unless another part of the stack does. A program of your own makes it either way."""
    hosts: Annotated[tuple[Host, ...], Field(min_length=1, max_length=64)]
    """Host names that it answers to, 1 to 64."""
    tls: Annotated[Certificates | CertManager | PlainHttp, Field(discriminator="kind")] = Certificates()
    """Where certificates come from. Default ``certificates``: Secrets that the hosts name."""
    exposure: Annotated[LoadBalancer | ClusterIp, Field(discriminator="kind")] = LoadBalancer()
    """From where it is reached. Default: a load balancer inside the network."""
    authentication: Annotated[ApiKeys | Jwt | NoAuthentication, Field(discriminator="kind")]
    """How clients are known. There is no default: ``none`` needs a reason."""
    routes: Annotated[Mapping[DnsLabel, Route], Field(min_length=1, max_length=500)]
    """Routes by name."""
    rate_limit: RateLimit | None = None
    """Requests of one client. Default no limit."""
    limits: Limits = Limits()
    """How much it takes at once."""
    timeouts: Timeouts = Timeouts()
    """How long requests may take."""
    proxies: Proxies = Proxies()
    """The proxies themselves."""
    model_header: HeaderName = "x-model"
    """Header in which clients name the model, for routes with ``model``: the name in the body is not looked at.
    Default ``x-model``."""
    inference_pools: bool = False
    """Whether Envoy AI Gateway extends Envoy Gateway, which alone does not know an InferencePool. Default false."""


class InferenceGatewayArgs(InferenceGatewaySettings):
    """Arguments of the component ``InferenceGateway``."""

    name: DnsLabel
    """Name of the Gateway; the names of its objects start with it."""
    backends: Mapping[DnsLabel, Backend]
    """The deployments that routes may name."""
    mode: Mode | None = None
    """Who makes the cluster's nodes, which says whose load balancers it has. Default: the cluster's own default."""
