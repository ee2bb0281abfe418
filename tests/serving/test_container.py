"""What users put into the engine's container: it is merged with ours, and judged where it cannot work."""

from typing import Any

import pytest

from tests.serving.stacks import PACKED, Pod, pods_of, said, stack

TOKEN = {"secret": "keys", "key": "token"}


def only_pod(**changes: Any) -> Pod:
    (pod,) = pods_of(stack("llama-3.3-70b", **changes))
    return pod


def test_variables_from_secrets_are_merged_like_plain_ones() -> None:
    reference = {"secretKeyRef": {"name": "keys", "key": "token"}}
    pod = only_pod(environment={"MINE": "x"}, secretEnvironment={"VLLM_API_KEY": TOKEN, "HF_TOKEN": TOKEN})
    assert (pod.environment["MINE"], pod.environment["VLLM_API_KEY"]) == ("x", reference)
    assert pod.environment["HF_TOKEN"] == reference
    names = [entry["name"] for entry in pod.engine["env"]]
    assert len(names) == len(set(names))


def test_a_variable_has_one_value() -> None:
    both: dict[str, Any] = {"environment": {"MINE": "x"}, "secretEnvironment": {"MINE": TOKEN, "VLLM_HOST_IP": TOKEN}}
    assert said(stack("llama-3.3-70b", **both)) == [
        (
            "error: deployments.llama-70b.secretEnvironment.MINE: found a key of a Secret; allowed: one of both:"
            " environment has a value for it too. Remove environment.MINE or this."
        ),
        (
            "error: deployments.llama-70b.secretEnvironment.VLLM_HOST_IP: found a key of a Secret; allowed: nothing: it"
            " is the address of each pod. Remove it."
        ),
    ]


@pytest.mark.parametrize(
    ("privileges", "context"),
    [("ipc-lock", {"capabilities": {"add": ["IPC_LOCK"]}}), ("privileged", {"privileged": True})],
)
def test_the_engine_may_lock_memory_and_no_more_unless_told_otherwise(privileges: str, context: Any) -> None:
    assert only_pod(privileges=privileges).engine["securityContext"] == context
    assert only_pod().engine["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}


def test_pods_tolerate_the_taints_of_their_pool_and_the_loss_of_a_node_for_a_minute() -> None:
    pods = only_pod(pools={"p5": {"taints": [{"key": "team", "value": "search"}]}})
    lost = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
    assert pods.spec["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"operator": "Equal", "key": "team", "value": "search", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/not-ready", **lost},
        {"key": "node.kubernetes.io/unreachable", **lost},
    ]


def test_whoever_reaches_the_port_may_not_call_methods_of_the_engine() -> None:
    assert said(stack("llama-3.3-70b", environment={"VLLM_SERVER_DEV_MODE": "1"})) == [
        (
            "error: deployments.llama-70b.environment.VLLM_SERVER_DEV_MODE: found 1; allowed: 0: with it whoever"
            " reaches the port can put the engine to sleep, or have it call its methods. Remove it."
        )
    ]
    assert said(stack("llama-3.3-70b", environment={"VLLM_SERVER_DEV_MODE": "0"})) == []


def test_what_the_roles_share_is_said_once_and_where_it_stands() -> None:
    assert said(stack(PACKED, image="docker.io/vllm/vllm-openai:v0.8.5"))[:1] == [
        (
            "error: deployments.gpt-oss.image: found vLLM 0.8.5; allowed: 0.9.0 or newer: older ones run code that"
            " peers and clients send (CVE-2025-32444, CVE-2025-47277). Use a newer image."
        )
    ]
    paths = [line.split(": ")[1] for line in said(stack(PACKED, image="docker.io/vllm/vllm-openai:v0.8.5"))]
    assert set(paths) == {"deployments.gpt-oss.image"}
