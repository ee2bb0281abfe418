"""Deployments whose objects, or those that controllers make for them, would have one name."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.platform.checks import read
from pulumi_lws.serving.taken_names import TakenNames, clashes
from tests.serving.stacks import PACKED, said, stack

ROUTER_OF_THE_USER = {"router": None}


def both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return a stack file with the deployments and pools of two, the pools of the second under names of their own."""
    pools = {f"own-{name}": pool for name, pool in second["pools"].items()}
    deployments = {}
    for name, deployment in second["deployments"].items():
        moved = dict(deployment)
        for role in ("prefill", "decode"):
            if role in moved:
                moved[role] = {**moved[role], "pool": f"own-{moved[role]['pool']}"}
        if "pool" in moved:
            moved["pool"] = f"own-{moved['pool']}"
        deployments[name] = moved
    return {
        **first,
        "pools": {**first["pools"], **pools},
        "deployments": {**first["deployments"], **deployments},
    }


def groups(name: str, replicas: int = 1, **changes: Any) -> dict[str, Any]:
    pools = {"p5": {"islands": max(replicas, 1)}}
    return stack("glm-5", name=name, replicas=replicas, pools=pools, surge=0, **changes)


def clash(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    return said(both(first, second))


def same(deployment: str, other: str, kind: str, name: str) -> list[str]:
    return [
        (
            f"error: deployments.{deployment}: found a {kind} {name}; allowed: objects of its own: {other} has {kind}"
            f" {name},"
            f" too. Rename {deployment} or {other}."
        )
    ]


def test_no_deployment_is_called_like_the_workers_of_another() -> None:
    assert clash(groups("glm", replicas=6), groups("glm-5")) == same("glm-5", "glm", "StatefulSet", "glm-5")
    assert clash(groups("glm-5"), groups("glm", replicas=6)) == same("glm-5", "glm", "StatefulSet", "glm-5")
    assert clash(groups("glm", replicas=5), groups("glm-5")) == []
    assert clash(groups("glm", replicas=6), groups("glm-05")) == []


def test_the_copies_of_a_rollout_and_of_an_autoscaler_have_names_too() -> None:
    surging = stack("glm-5", name="glm", replicas=5, surge=1, pools={"p5": {"islands": 6}})
    assert clash(surging, groups("glm-5")) == same("glm-5", "glm", "StatefulSet", "glm-5")
    scaled = stack("glm-5", name="glm", autoscaling={"maxReplicas": 6}, surge=0, pools={"p5": {"islands": 6}})
    assert clash(scaled, groups("glm-5")) == same("glm-5", "glm", "StatefulSet", "glm-5")


def test_workers_of_a_role_have_names_too() -> None:
    disaggregated = stack("glm-5-disaggregated", name="glm", backend="leader-worker-sets")
    assert clash(disaggregated, groups("glm-prefill-0")) == same("glm-prefill-0", "glm", "StatefulSet", "glm-prefill-0")


def test_groups_of_one_pod_have_no_workers() -> None:
    assert clash(stack(PACKED, name="glm"), groups("glm-decode-0")) == []


def test_no_deployment_is_called_like_a_service_of_another() -> None:
    assert clash(groups("glm"), groups("glm-api")) == same("glm-api", "glm", "Service", "glm-api")
    one_node = stack("llama-3.3-70b", name="glm-api")
    # A Deployment has no headless Service of its own name.
    assert clash(groups("glm"), one_node) == []


def test_no_deployment_is_called_like_the_router_of_another() -> None:
    one_node = stack("llama-3.3-70b", name="glm-router")
    (line,) = clash(stack(PACKED, name="glm"), one_node)
    assert line.startswith("error: deployments.glm-router: found a ")
    assert clash(stack(PACKED, name="glm", **ROUTER_OF_THE_USER), one_node) == []


def test_no_autoscaler_is_called_like_what_keda_makes() -> None:
    scaled: dict[str, Any] = {"pools": {"p5": {"nodes": 2}}, "surge": 0}
    by_keda = stack("llama-3.3-70b", name="llama", autoscaling={"maxReplicas": 2}, **scaled)
    by_itself = stack("llama-3.3-70b", name="keda-hpa-llama", autoscaling={"kind": "hpa", "maxReplicas": 2}, **scaled)
    name = "keda-hpa-llama"
    assert clash(by_keda, by_itself) == same(name, "llama", "HorizontalPodAutoscaler", name)


def test_no_group_is_called_like_a_revision_of_a_set() -> None:
    as_set = stack(PACKED, name="glm", backend="disaggregated-set")
    name = "glm-0-deadbeef"
    assert clash(as_set, stack(PACKED, name=name)) == same(name, "glm", "LeaderWorkerSet", f"{name}-decode")
    assert clash(as_set, stack(PACKED, name="glm-0-deadbee")) == []


def test_a_clash_is_found_beside_other_mistakes() -> None:
    settings = both(groups("glm", replicas=6), groups("glm-5"))
    settings["deployments"]["other"] = {**settings["deployments"]["glm"], "pool": "none"}
    paths = {problem.path for problem in read(settings)[1]}
    assert paths == {"deployments.other.pool", "deployments.glm-5"}


@pytest.mark.parametrize("name", ["glm", "glm-5-0", "5"])
def test_a_deployment_never_clashes_with_itself(name: str) -> None:
    own = TakenNames(frozenset({("StatefulSet", name), ("StatefulSet", f"{name}-0")}), {name: 10}, frozenset({name}))
    assert list(clashes({name: own})) == []


NAMES = st.lists(st.sampled_from(["a", "a-0", "a-1", "a-12", "a-1-0", "b", "b-0", "a-01"]), unique=True)


@given(NAMES, st.data())
def test_clashes_are_those_that_comparing_every_two_finds(names: list[str], data: st.DataObject) -> None:
    counts = {name: data.draw(st.integers(0, 13)) for name in names}
    taken = {name: TakenNames(frozenset({("StatefulSet", name)}), {name: counts[name]}, frozenset()) for name in names}
    expected = {
        frozenset({worker, leader})
        for worker in names
        for leader in names
        if leader in {f"{worker}-{number}" for number in range(counts[worker])}
    }
    assert {frozenset({one, other}) for one, other, _ in clashes(taken)} == expected
