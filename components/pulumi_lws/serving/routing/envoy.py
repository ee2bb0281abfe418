"""The Envoy beside a router: it asks the endpoint picker about what clients may ask for and sends it where that says.

Source: the API of Envoy 1.39, and the protocol of the endpoint picker: it names the pod in a header.
"""

from collections.abc import Iterable
from typing import Any

from pulumi_lws.facts.api_paths import Api
from pulumi_lws.facts.versions import PINS
from pulumi_lws.serving.routing.picker import EXTERNAL_PROCESSING_PORT, FOLDER

CONTAINER = "envoy"
"""Name of the container."""

BOOTSTRAP = "envoy.yaml"
"""Name of the configuration's file."""

STATUS_PORT = 19001
"""Port of ``/ready`` and of the metrics (``/stats/prometheus``)."""

_ADMIN_PORT = 19000

_API = "api"
"""Name of the listener of the API, and of its metrics."""

_DESTINATION = "x-gateway-destination-endpoint"
"""Header in which the picker names the pod."""

INTERNAL_HEADERS = (
    _DESTINATION,
    "x-prefiller-host-port",
    "x-encoder-hosts-ports",
    "x-data-parallel-host-port",
    "x-kv-cache-source-host-port",
)
"""Headers between picker, sidecar and engine. A client's would make them send requests to any address."""

_NOT_OPENED = "The router does not open this path with this method; router.apis says what it opens.\n"
"""What clients read with a 404 that is not the engine's."""

_RETRIED_BYTES = 4 * 1024 * 1024
"""Longest body that can be sent again: a prompt of about a million tokens."""

_CONNECTIONS = 10_000

_TYPES = "type.googleapis.com/envoy"


def default_image() -> str:
    """Return the image of the pin table."""
    pin = PINS["envoy"]
    return f"{pin.source}:{pin.version}"


def bootstrap(port: int, apis: Iterable[Api]) -> dict[str, Any]:
    """Return the configuration of Envoy.

    It fails closed: without an answer of the picker nobody knows which pods fit together, and what is not opened is
    answered by nobody.

    Args:
        port: Port of the API.
        apis: What clients may ask for. Everything else is 404.
    """
    return {
        "admin": {"address": _address("127.0.0.1", _ADMIN_PORT)},
        "static_resources": {
            "listeners": [_api(port, apis), _status()],
            "clusters": [_pods(), _picker(), _static("admin", _ADMIN_PORT)],
        },
    }


def requests(namespace: str, pods: str) -> str:
    """Return the PromQL of the requests at the API that came in the last two minutes, or still run.

    Args:
        namespace: Namespace of the routers.
        pods: Regular expression of the names of their pods.
    """
    series = f'{{namespace="{namespace}",pod=~"{pods}",envoy_http_conn_manager_prefix="{_API}"}}'
    return f"sum(increase(envoy_http_downstream_rq_total{series}[2m])) + sum(envoy_http_downstream_rq_active{series})"


def container(image: str, port: int, *, drain_seconds: int) -> dict[str, Any]:
    """Render the container of Envoy."""
    return {
        "name": CONTAINER,
        "image": image,
        "command": ["envoy"],
        # Hot restart would write to shared memory; a thread for each CPU of the node would be 192 of them.
        "args": ["-c", f"{FOLDER}/{BOOTSTRAP}", "--log-level", "warn", "--concurrency", "2", "--disable-hot-restart"],
        "ports": [{"name": "http", "containerPort": port}, {"name": "status", "containerPort": STATUS_PORT}],
        "startupProbe": {**_ready(), "periodSeconds": 1, "failureThreshold": 60},
        "readinessProbe": {**_ready(), "periodSeconds": 5, "timeoutSeconds": 3},
        "livenessProbe": {**_ready(), "periodSeconds": 10, "timeoutSeconds": 5},
        # Upstream measured 1.2 to 2 CPUs and 1.4 GiB below ten long requests a second.
        "resources": {"requests": {"cpu": "2", "memory": "2Gi"}, "limits": {"memory": "2Gi"}},
        # Envoy drops its connections as soon as it is told to stop.
        "lifecycle": {"preStop": {"sleep": {"seconds": drain_seconds}}},
        "volumeMounts": [{"name": "configuration", "mountPath": FOLDER, "readOnly": True}],
    }


def _ready() -> dict[str, Any]:
    return {"httpGet": {"path": "/ready", "port": STATUS_PORT}}


def _route(api: Api) -> dict[str, Any]:
    """Send an API to the pods: the whole path and its method, and nothing below it."""
    return {
        "match": {"path": api.path, "headers": [{"name": ":method", "string_match": {"exact": api.method}}]},
        "route": {
            "cluster": "pods",
            # An answer may take as long as it likes, and a request may wait in a queue without a byte.
            "timeout": "0s",
            "idle_timeout": "3600s",
            # The engine has not seen such a request. It goes to the same pod again, since only the picker may choose
            # another: that bridges a moment, not a pod that loads, which the picker does not choose.
            "retry_policy": {
                "retry_on": "connect-failure,refused-stream,reset-before-request",
                "num_retries": 4,
                "retry_back_off": {"base_interval": "0.25s", "max_interval": "4s"},
            },
        },
    }


def _nothing_else() -> dict[str, Any]:
    """Answer everything else with 404, without asking the picker."""
    unasked = {"@type": f"{_TYPES}.extensions.filters.http.ext_proc.v3.ExtProcPerRoute", "disabled": True}
    return {
        "match": {"prefix": "/"},
        "direct_response": {"status": 404, "body": {"inline_string": _NOT_OPENED}},
        "typed_per_filter_config": {"envoy.filters.http.ext_proc": unasked},
    }


def _api(port: int, apis: Iterable[Api]) -> dict[str, Any]:
    mutations = [{"remove": header} for header in INTERNAL_HEADERS]
    filters = [
        _filter("header_mutation", "HeaderMutation", {"mutations": {"request_mutations": mutations}}),
        _filter(
            "ext_proc",
            "ExternalProcessor",
            {
                "grpc_service": {"envoy_grpc": {"cluster_name": "picker"}},
                "processing_mode": {
                    **{f"{side}_header_mode": "SEND" for side in ("request", "response")},
                    **{f"{side}_body_mode": "FULL_DUPLEX_STREAMED" for side in ("request", "response")},
                    **{f"{side}_trailer_mode": "SEND" for side in ("request", "response")},
                },
                # It answers once it has read the whole prompt, which a slow client may send slowly.
                "message_timeout": "300s",
            },
        ),
    ]
    return {
        "name": _API,
        "address": _address("0.0.0.0", port),  # noqa: S104 - clients reach the pod by its address
        "per_connection_buffer_limit_bytes": _RETRIED_BYTES,
        "filter_chains": [_http(_API, [*map(_route, apis), _nothing_else()], filters)],
    }


def _status() -> dict[str, Any]:
    health = {"pass_through_mode": False, "headers": [{"name": ":path", "string_match": {"exact": "/ready"}}]}
    route = {"match": {"prefix": "/stats/prometheus"}, "route": {"cluster": "admin"}}
    return {
        "name": "status",
        "address": _address("0.0.0.0", STATUS_PORT),  # noqa: S104 - the kubelet and Prometheus reach it
        "filter_chains": [_http("status", [route], [_filter("health_check", "HealthCheck", health)])],
    }


def _http(name: str, routes: list[dict[str, Any]], filters: list[dict[str, Any]]) -> dict[str, Any]:
    manager = {
        "@type": f"{_TYPES}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": name,
        "use_remote_address": True,
        "normalize_path": True,
        "merge_slashes": True,
        "path_with_escaped_slashes_action": "UNESCAPE_AND_REDIRECT",
        "common_http_protocol_options": {"headers_with_underscores_action": "REJECT_REQUEST"},
        "stream_idle_timeout": "3600s",
        "http_filters": [*filters, _filter("router", "Router", {"suppress_envoy_headers": True})],
        "route_config": {"name": name, "virtual_hosts": [{"name": name, "domains": ["*"], "routes": routes}]},
    }
    return {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}


def _filter(name: str, message: str, settings: dict[str, Any]) -> dict[str, Any]:
    typed = {"@type": f"{_TYPES}.extensions.filters.http.{name}.v3.{message}", **settings}
    return {"name": f"envoy.filters.http.{name}", "typed_config": typed}


def _pods() -> dict[str, Any]:
    return {
        "name": "pods",
        "type": "ORIGINAL_DST",
        "lb_policy": "CLUSTER_PROVIDED",
        "original_dst_lb_config": {"use_http_header": True, "http_header_name": _DESTINATION},
        "connect_timeout": "5s",
        "circuit_breakers": _unlimited(),
    }


def _picker() -> dict[str, Any]:
    options = f"{_TYPES}.extensions.upstreams.http.v3.HttpProtocolOptions"
    return {
        **_static("picker", EXTERNAL_PROCESSING_PORT),
        "circuit_breakers": _unlimited(),
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": options,
                "explicit_http_config": {"http2_protocol_options": {}},
            }
        },
    }


def _static(name: str, port: int) -> dict[str, Any]:
    endpoint = {"endpoint": {"address": _address("127.0.0.1", port)}}
    return {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "1s",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]},
    }


def _unlimited() -> dict[str, Any]:
    """Lift the limit of 1,024 at a time, which would turn requests away that engines could queue."""
    limits = ("max_connections", "max_pending_requests", "max_requests")
    return {"thresholds": [dict.fromkeys(limits, _CONNECTIONS)]}


def _address(address: str, port: int) -> dict[str, Any]:
    return {"socket_address": {"address": address, "port_value": port}}
