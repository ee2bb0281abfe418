"""What pods take of their node."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.cluster.nodes import allocatable
from pulumi_lws.facts.instances import INSTANCE_TYPES, InstanceType
from pulumi_lws.serving.placement import pod_resources, shared_memory_gib

P5, P5EN = INSTANCE_TYPES["p5.48xlarge"], INSTANCE_TYPES["p5en.48xlarge"]

DAEMON_SETS = (900, 2000)
"""Milli-CPUs and MiB that a GPU node's DaemonSets need: CNI, proxy, device plugins, metrics."""


def container(cpu: Any, memory: Any) -> dict[str, Any]:
    limits = {"cpu": cpu, "memory": memory}
    return {"name": "beside", "resources": {"requests": limits, "limits": limits}}


@pytest.mark.parametrize(
    ("instance", "gpus", "resources"),
    [
        (P5, 8, {"cpu": "180", "memory": "1843Gi", "nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"}),
        (P5, 4, {"cpu": "90", "memory": "921Gi", "nvidia.com/gpu": "4", "vpc.amazonaws.com/efa": "16"}),
        (P5, 2, {"cpu": "45", "memory": "460Gi", "nvidia.com/gpu": "2", "vpc.amazonaws.com/efa": "8"}),
        (P5EN, 1, {"cpu": "22", "memory": "230Gi", "nvidia.com/gpu": "1", "vpc.amazonaws.com/efa": "2"}),
        (
            INSTANCE_TYPES["p4d.24xlarge"],
            4,
            {"cpu": "45", "memory": "518Gi", "nvidia.com/gpu": "4", "vpc.amazonaws.com/efa": "2"},
        ),
        (INSTANCE_TYPES["g6e.12xlarge"], 2, {"cpu": "22", "memory": "172Gi", "nvidia.com/gpu": "2"}),
        (INSTANCE_TYPES["g6e.xlarge"], 1, {"cpu": "2", "memory": "26Gi", "nvidia.com/gpu": "1"}),
    ],
)
def test_a_pod_takes_its_share_of_the_node(instance: InstanceType, gpus: int, resources: dict[str, str]) -> None:
    assert pod_resources(instance, gpus) == resources


def test_what_stands_beside_the_engine_comes_off_its_share() -> None:
    taken = pod_resources(P5, 8, [container("500m", "512Mi"), container(1, "1.5Gi"), {"name": "without"}])
    assert taken == {"cpu": "178", "memory": "1841Gi", "nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"}


def test_what_cannot_be_read_counts_for_nothing() -> None:
    assert pod_resources(P5, 8, [container("many", None)]) == pod_resources(P5, 8)


def test_an_engine_is_never_left_without_anything() -> None:
    assert pod_resources(INSTANCE_TYPES["g6e.xlarge"], 1, [container("64", "1Ti")]) == {
        "cpu": "1",
        "memory": "1Gi",
        "nvidia.com/gpu": "1",
    }


@given(st.sampled_from([*INSTANCE_TYPES.values()]), st.data())
def test_the_pods_of_a_node_ask_for_no_more_than_it_offers(instance: InstanceType, data: st.DataObject) -> None:
    gpus = data.draw(st.integers(1, instance.gpus))
    pods = instance.gpus // gpus
    asked, offered = pod_resources(instance, gpus), allocatable(instance)
    milli_cpus, memory_mib = DAEMON_SETS
    assert pods * int(asked["cpu"]) * 1000 + milli_cpus <= int(offered["cpu"].removesuffix("m"))
    assert pods * int(asked["memory"].removesuffix("Gi")) * 1024 + memory_mib <= int(
        offered["memory"].removesuffix("Mi")
    )
    assert pods * int(asked.get("vpc.amazonaws.com/efa", "0")) <= instance.efa_interfaces


@given(st.sampled_from([*INSTANCE_TYPES.values()]), st.data(), st.integers(1, 1500))
def test_shared_memory_is_a_share_and_leaves_half_of_the_pod(
    instance: InstanceType, data: st.DataObject, whole: int
) -> None:
    gpus = data.draw(st.integers(1, instance.gpus))
    shared = shared_memory_gib(instance, gpus, whole)
    memory = int(pod_resources(instance, gpus)["memory"].removesuffix("Gi"))
    assert 1 <= shared <= max(whole * gpus / instance.gpus, 1)
    assert shared <= memory / 2


def test_shared_memory_of_a_whole_node_is_what_was_declared() -> None:
    assert [shared_memory_gib(P5, gpus, 64) for gpus in (8, 4, 1)] == [64, 32, 8]
