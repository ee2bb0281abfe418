"""The Envoy beside a standalone router."""

from collections.abc import Iterator
from typing import Any

import pytest

from pulumi_lws.facts.api_paths import APIS
from pulumi_lws.serving.routing import envoy, picker

OPENED = (APIS["chat"], APIS["models"])
BOOTSTRAP = envoy.bootstrap(8000, OPENED)
API, STATUS = BOOTSTRAP["static_resources"]["listeners"]


def manager(listener: dict[str, Any]) -> dict[str, Any]:
    typed: dict[str, Any] = listener["filter_chains"][0]["filters"][0]["typed_config"]
    return typed


def filters() -> dict[str, Any]:
    return {one["name"].rpartition(".")[2]: one["typed_config"] for one in manager(API)["http_filters"]}


def routes() -> list[dict[str, Any]]:
    """The routes, of which Envoy takes the first that matches."""
    found: list[dict[str, Any]] = manager(API)["route_config"]["virtual_hosts"][0]["routes"]
    return found


def route() -> dict[str, Any]:
    """What is done with a request of each API that is opened."""
    *opened, _ = routes()
    found: dict[str, Any] = opened[0]["route"]
    assert [one["route"] for one in opened] == [found] * len(opened)
    return found


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for child in value.values():
            yield from nodes(child)
    elif isinstance(value, list):
        for child in value:
            yield from nodes(child)


@pytest.mark.parametrize(
    "header",
    [
        "x-gateway-destination-endpoint",
        "x-prefiller-host-port",
        "x-encoder-hosts-ports",
        "x-data-parallel-host-port",
        "x-kv-cache-source-host-port",
    ],
)
def test_a_client_cannot_choose_where_its_request_goes(header: str) -> None:
    assert {"remove": header} in filters()["header_mutation"]["mutations"]["request_mutations"]


def test_only_what_is_opened_goes_to_a_pod_whole_path_and_method() -> None:
    *opened, _ = routes()
    assert [one["match"] for one in opened] == [
        {"path": api.path, "headers": [{"name": ":method", "string_match": {"exact": api.method}}]} for api in OPENED
    ]


def test_everything_else_is_answered_404_and_nobody_is_asked() -> None:
    nothing_else = routes()[-1]
    assert nothing_else.pop("direct_response")["status"] == 404
    name = next(one["name"] for one in manager(API)["http_filters"] if one["name"].endswith("ext_proc"))
    assert nothing_else == {
        "match": {"prefix": "/"},
        "typed_per_filter_config": {
            name: {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute",
                "disabled": True,
            }
        },
    }


def test_headers_of_clients_go_before_the_picker_sets_them() -> None:
    assert list(filters()) == ["header_mutation", "ext_proc", "router"]


def test_without_an_answer_of_the_picker_nothing_is_sent_anywhere() -> None:
    assert "failure_mode_allow" not in filters()["ext_proc"]


def test_requests_go_to_the_pod_that_the_picker_names() -> None:
    (pods,) = (
        cluster for cluster in BOOTSTRAP["static_resources"]["clusters"] if cluster["name"] == route()["cluster"]
    )
    assert pods["type"] == "ORIGINAL_DST"
    assert pods["original_dst_lb_config"] == {
        "use_http_header": True,
        "http_header_name": "x-gateway-destination-endpoint",
    }


def test_only_what_the_engine_has_not_seen_is_sent_again() -> None:
    assert route()["retry_policy"]["retry_on"] == "connect-failure,refused-stream,reset-before-request"
    # Envoy gives up on retries of a body that does not fit.
    assert API["per_connection_buffer_limit_bytes"] == 4 * 1024 * 1024


def test_an_answer_may_take_as_long_as_it_likes() -> None:
    assert (route()["timeout"], route()["idle_timeout"]) == ("0s", "3600s")


def test_every_cluster_that_is_named_is_declared() -> None:
    named = {node[key] for node in nodes(BOOTSTRAP) for key in ("cluster", "cluster_name") if key in node}
    assert named == {"pods", "picker", "admin"}
    assert {cluster["name"] for cluster in BOOTSTRAP["static_resources"]["clusters"]} == named


def test_the_admin_port_is_only_reached_from_inside() -> None:
    assert BOOTSTRAP["admin"]["address"]["socket_address"]["address"] == "127.0.0.1"
    (exposed,) = manager(STATUS)["route_config"]["virtual_hosts"][0]["routes"]
    assert exposed == {"match": {"prefix": "/stats/prometheus"}, "route": {"cluster": "admin"}}


def test_ports_do_not_overlap() -> None:
    ports = [
        node["port_value"]
        for listener in (API, STATUS, BOOTSTRAP["admin"])
        for node in nodes(listener["address"])
        if "port_value" in node
    ]
    taken = [*ports, picker.EXTERNAL_PROCESSING_PORT, picker.HEALTH_PORT, picker.METRICS_PORT]
    assert len(taken) == len(set(taken)) == 6
