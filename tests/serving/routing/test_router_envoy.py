"""The Envoy beside a standalone router."""

from collections.abc import Iterator
from typing import Any

import pytest

from pulumi_lws.serving.routing import envoy, picker

BOOTSTRAP = envoy.bootstrap(8000)
API, STATUS = BOOTSTRAP["static_resources"]["listeners"]


def manager(listener: dict[str, Any]) -> dict[str, Any]:
    typed: dict[str, Any] = listener["filter_chains"][0]["filters"][0]["typed_config"]
    return typed


def filters() -> dict[str, Any]:
    return {one["name"].rpartition(".")[2]: one["typed_config"] for one in manager(API)["http_filters"]}


def route() -> dict[str, Any]:
    (only,) = manager(API)["route_config"]["virtual_hosts"][0]["routes"]
    found: dict[str, Any] = only["route"]
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
