"""How KV caches go from prefill to decode: vLLM's NixlConnector.

Decode pulls: it asks prefill's side channel where the cache is, then reads it over NIXL. The two sides shake hands only
where vLLM, model, types and attention backend are alike, which ``pairing.py`` looks after.
Source: ``docs/features/nixl_connector_usage.md`` of vLLM 0.26.
"""

import json
from collections.abc import Mapping
from typing import Any

from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.serving.engines.engine import Launch
from pulumi_lws.serving.settings import Transfer

LEASE_SECONDS = 300
"""How long prefill keeps a cache that decode has not read, unless decode asks for more. vLLM's own 30 s were too short
for large models: prefill freed blocks that decode then read, and the answers were wrong without any error.
https://github.com/aws-samples/aws-do-eks/pull/84 (older than vLLM 0.22, which ignores it, keeps it for 480 s)."""

KEEP_ALIVE_SECONDS = 120
"""How long prefill keeps an idle connection: longer than the routing sidecar, which holds it for 90 s and would
otherwise send requests into connections that vLLM closed after 5 s."""


def transfer_arguments(transfer: Transfer, *, has_efa: bool) -> tuple[str, ...]:
    """Return the arguments of the engine, the same for both roles: the router says who does what.

    Args:
        transfer: What was declared.
        has_efa: Whether the pods have EFA interfaces. NIXL would take UCX by itself, which on EFA falls back to TCP
            without a word; the environment variable for it is ignored.
            https://github.com/vllm-project/vllm/issues/41814
    """
    backends = {"backends": ["LIBFABRIC"]} if has_efa else {}
    configuration = {
        "kv_connector": "NixlConnector",
        "kv_role": "kv_both",
        # Its default changed between releases.
        "kv_load_failure_policy": transfer.on_failure,
        "kv_connector_extra_config": {**backends, "kv_lease_duration": LEASE_SECONDS},
    }
    return ("--kv-transfer-config", json.dumps(configuration, separators=(",", ":")))


def environment(transfer: Transfer, launch: Launch) -> list[Mapping[str, Any]]:
    """Return the variables of the engine's container, as Kubernetes has them."""
    variables: list[Mapping[str, Any]] = [
        # Bound to and told to decode, so it must be the pod's own address: with localhost decode finds no cache, with
        # 0.0.0.0 it asks itself and crashes. https://github.com/vllm-project/vllm/issues/27083
        {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": str(transfer.side_channel_port)},
    ]
    if launch.role == "prefill":
        variables.append({"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "value": str(KEEP_ALIVE_SECONDS)})
    return variables


def side_channel_ports(transfer: Transfer, parallelism: Parallelism) -> range:
    """Return the ports of the handshakes: one for each data rank, in older releases one for each GPU."""
    return range(transfer.side_channel_port, transfer.side_channel_port + parallelism.data * parallelism.tensor)
