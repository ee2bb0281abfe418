"""How KV caches go from prefill to decode: what the engine is told."""

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.planning.parallelism import Parallelism, group_shape
from pulumi_lws.serving import timeouts, transfer
from pulumi_lws.serving.engines.engine import Launch
from pulumi_lws.serving.settings import Transfer


def configuration(*, has_efa: bool, **changes: Any) -> Any:
    flag, value = transfer.transfer_arguments(Transfer.model_validate(changes), has_efa=has_efa)
    assert flag == "--kv-transfer-config"
    return json.loads(value)


def launch(role: Literal["prefill", "decode"], *, host_network: bool = False) -> Launch:
    split = Parallelism(tensor=4)
    return Launch(
        model="m",
        parallelism=split,
        shape=group_shape(split, 8),
        timeouts=timeouts.derive(60),
        image="vllm:0.26.0",
        role=role,
        host_network=host_network,
    )


def test_on_efa_nixl_is_told_its_backend_since_it_would_take_another() -> None:
    assert configuration(has_efa=True) == {
        "kv_connector": "NixlConnector",
        "kv_role": "kv_both",
        "kv_load_failure_policy": "recompute",
        "kv_connector_extra_config": {"backends": ["LIBFABRIC"], "kv_lease_duration": 300},
    }


def test_without_efa_nixl_keeps_its_own_backend() -> None:
    assert configuration(has_efa=False)["kv_connector_extra_config"] == {"kv_lease_duration": 300}


@pytest.mark.parametrize("policy", ["fail", "recompute"])
def test_what_happens_to_a_request_without_its_cache_is_always_said(policy: str) -> None:
    assert configuration(has_efa=True, onFailure=policy)["kv_load_failure_policy"] == policy


@pytest.mark.parametrize("host_network", [False, True])
def test_the_side_channel_is_at_the_pods_own_address(host_network: bool) -> None:
    # On the node's network the pod's address is the node's internal one.
    assert transfer.environment(Transfer(), launch("decode", host_network=host_network)) == [
        {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": "5600"},
    ]


def test_prefill_keeps_connections_longer_than_the_sidecar_does() -> None:
    (kept,) = (entry for entry in transfer.environment(Transfer(), launch("prefill")) if "KEEP_ALIVE" in entry["name"])
    assert kept == {"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "value": "120"}


@given(st.integers(1, 60_000), st.integers(1, 16), st.integers(1, 64))
def test_each_gpu_that_may_open_a_handshake_has_a_port(first: int, tensor: int, data: int) -> None:
    ports = transfer.side_channel_ports(Transfer(side_channel_port=first), Parallelism(tensor=tensor, data=data))
    assert (ports.start, len(ports)) == (first, tensor * data)
