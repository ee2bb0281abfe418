"""Deployments join queues that exist, admit their namespace and hold what they need."""

from typing import Any

import pytest

from tests.queues.fleets import GROUPS, ROLES, SINGLE, deployments, pools, queue, queues, said

Raw = dict[str, Any]


def answers(cluster_queue: Raw, *, made: Raw | None = None, more: Raw | None = None, **joined: Raw) -> list[str]:
    """Return what is said where one cluster queue ``search`` stands before the pools."""
    found = pools(**(made or {}))
    return said(queues({"search": cluster_queue}, **(more or {})), found, deployments(found, **joined))


def with_gpus(gpus: int, pool: str = "p5", **changes: Any) -> Raw:
    return queue(pools={pool: {"gpus": gpus}}, **changes)


def test_a_deployment_joins_a_queue_with_room_for_it() -> None:
    joined = {
        "groups": GROUPS | {"replicas": 2},
        "single": SINGLE | {"surge": 0},
        "roles": ROLES | {"prefill": {**ROLES["prefill"], "replicas": 1}},
    }
    assert answers(queue("p5", "plain"), **joined) == []


def test_the_queue_is_one_of_the_namespace() -> None:
    made = {"search": queue("p5"), "jobs": queue("p5", namespaces=["batch"], localQueue="night")}

    def join(name: str, namespace: str = "models") -> list[str]:
        joined = deployments(glm=GROUPS | {"queue": name, "namespace": namespace, "surge": 0})
        return said(queues(made), joined=joined, namespaces=("models", "batch"))

    path = "error: deployments.glm.queue: found"
    models = "allowed: a queue of the namespace models: search. Name one of these"
    assert join("search") == join("night", "batch") == []
    assert join("serch") == [f"{path} serch; {models}."]
    assert join("night") == [f"{path} night; {models}, or add models to queues.clusterQueues.jobs.namespaces."]
    assert join("search", "other") == [
        (
            f"{path} search; allowed: a queue of the namespace other: it has none. Add other to"
            " queues.clusterQueues.search.namespaces."
        )
    ]


def test_the_priority_is_declared() -> None:
    urgent = GROUPS | {"priority": "urgent"}
    assert answers(queue("p5"), more={"priorities": {"urgent": {"value": 1}}}, glm=urgent) == []
    assert answers(queue("p5"), glm=urgent) == [
        (
            "error: deployments.glm.priority: found urgent; allowed: none is declared. Name a priority, or declare it"
            " under queues.priorities."
        )
    ]


def test_the_queue_has_quota_on_the_pool() -> None:
    made = {"search": queue("plain"), "islands": queue("p5", "small")}
    assert said(queues(made), joined=deployments(glm=GROUPS)) == [
        (
            "error: deployments.glm.queue: found search, without p5; allowed: a queue with quota on p5, on which glm"
            " runs. Add p5 to queues.clusterQueues.search.pools, or name the local queue of islands."
        )
    ]


def test_a_copy_fits_as_a_whole() -> None:
    assert answers(with_gpus(16), glm=GROUPS | {"surge": 0}) == []
    assert answers(with_gpus(15), glm=GROUPS | {"surge": 0}) == [
        (
            "error: deployments.glm.queue: found search, which gets at most 15 nvidia.com/gpu of p5; allowed: at least"
            " 16 nvidia.com/gpu: one copy of glm takes that at once. Set queues.clusterQueues.search.pools.p5.gpus to"
            " 16."
        )
    ]


def test_a_copy_fits_with_what_others_lend() -> None:
    def search(borrowing: int) -> Raw:
        own = with_gpus(8, cohort="all")
        own["pools"]["p5"]["borrowingGpus"] = borrowing
        return {"search": own, "other": with_gpus(8, cohort="all")}

    joined = deployments(glm=GROUPS | {"surge": 0})
    assert said(queues(search(8), cohorts={"all": {}}), joined=joined) == []
    assert [line.partition(":")[0] for line in said(queues(search(7), cohorts={"all": {}}), joined=joined)] == ["error"]


def test_a_resource_that_no_queue_counts_keeps_everything_out() -> None:
    limits = {"cpu": "1", "memory": "1Gi", "example.com/fpga": "1"}
    sidecar = {"name": "proxy", "image": "example.com/proxy:1", "resources": {"limits": limits}}
    counted = "nvidia.com/gpu, vpc.amazonaws.com/efa, cpu, memory, ephemeral-storage, hugepages-2Mi"
    assert answers(queue("p5"), glm=GROUPS | {"sidecars": [sidecar]}) == [
        (
            f"error: deployments.glm.queue: found search, where example.com/fpga is not counted; allowed: pods that"
            f" request {counted} alone: Kueue admits nothing that requests more than it counts. Remove example.com/fpga"
            " from the resources of the sidecars, or leave glm without a queue."
        )
    ]


def test_disk_of_sidecars_is_counted() -> None:
    limits = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "100Gi"}
    sidecar = {"name": "proxy", "image": "example.com/proxy:1", "resources": {"limits": limits}}
    assert answers(queue("p5"), glm=GROUPS | {"sidecars": [sidecar]}) == []


def test_copies_beyond_the_quota_wait() -> None:
    more = "Set queues.clusterQueues.search.pools.p5.gpus to 48."
    assert answers(with_gpus(32), glm=GROUPS | {"replicas": 2, "surge": 0}) == []
    assert answers(with_gpus(32), glm=GROUPS | {"replicas": 3, "surge": 0}) == [
        (
            "warning: deployments.glm.replicas: found 3; allowed: at most 2: search gets 32 nvidia.com/gpu of p5, and"
            f" the others wait. {more}"
        )
    ]
    scaled = GROUPS | {"surge": 0, "autoscaling": {"maxReplicas": 3}}
    assert answers(with_gpus(32), glm=scaled) == [
        (
            "warning: deployments.glm.autoscaling.maxReplicas: found 3; allowed: at most 2: search gets 32"
            f" nvidia.com/gpu of p5, and the others wait. {more}"
        )
    ]


@pytest.mark.parametrize(
    ("others", "fix"),
    [
        ({"batch": 16}, "Set queues.clusterQueues.search.pools.p5.gpus to 32."),
        (
            {"batch": 32},
            (
                "Lower gpus of batch, which leave 16 of the 48 GPUs of p5, to 16, or enlarge pools.p5 to 64 GPUs, and"
                " set queues.clusterQueues.search.pools.p5.gpus to 32."
            ),
        ),
        (
            {"batch": 16, "night": 16},
            (
                "Lower gpus of batch, night, which leave 16 of the 48 GPUs of p5, to 16 together, or enlarge pools.p5"
                " to 64 GPUs, and set queues.clusterQueues.search.pools.p5.gpus to 32."
            ),
        ),
    ],
)
def test_the_fix_of_a_quota_heeds_what_other_queues_have(others: dict[str, int], fix: str) -> None:
    declared = {"search": with_gpus(16)} | {name: with_gpus(gpus) for name, gpus in others.items()}
    (problem,) = said(queues(declared), joined=deployments(glm=GROUPS | {"replicas": 2, "surge": 0}))
    assert problem.endswith(f"and the others wait. {fix}")


def test_deployments_of_one_queue_wait_for_one_another() -> None:
    joined = {name: GROUPS | {"surge": 0} for name in ("glm", "llama", "gpt")}
    assert answers(with_gpus(48), **joined) == []
    assert answers(with_gpus(32), **joined) == [
        (
            "warning: queues.clusterQueues.search.pools.p5: found 32 nvidia.com/gpu at most, of 48 nvidia.com/gpu for"
            " all copies of glm, llama, gpt; allowed: quota for all of them: some wait until others are scaled down."
            " Set queues.clusterQueues.search.pools.p5.gpus to 48."
        )
    ]


@pytest.mark.parametrize("surge", [{}, {"surge": 1}])
def test_a_copy_on_top_gets_its_quota_or_there_is_none(surge: Raw) -> None:
    groups = GROUPS | surge
    assert answers(with_gpus(32), glm=groups) == []
    assert answers(with_gpus(16), glm=groups | {"surge": 0}) == []
    assert answers(with_gpus(16), glm=groups) == [
        (
            "error: deployments.glm.surge: found 1, which needs 32 nvidia.com/gpu of p5 during a rollout; allowed: 0:"
            " search gets at most 16 nvidia.com/gpu, so the copy on top would wait for ever. Set surge to 0, so that"
            " one copy at a time is down, or set queues.clusterQueues.search.pools.p5.gpus to 32."
        )
    ]


def test_roles_that_roll_together_need_quota_together() -> None:
    roles = ROLES | {name: ROLES[name] | {"replicas": 1} for name in ("prefill", "decode")}
    assert answers(with_gpus(12, "plain"), llm=roles) == []
    assert [line.partition(";")[0] for line in answers(with_gpus(11, "plain"), llm=roles)] == [
        f"error: deployments.llm.{role}.surge: found 1, which needs 12 nvidia.com/gpu of plain during a rollout"
        for role in ("prefill", "decode")
    ]


def test_what_queues_promise_is_not_taken_by_others() -> None:
    free = GROUPS | {"queue": None}
    assert answers(with_gpus(32), glm=free) == []
    assert answers(with_gpus(33), glm=free) == [
        (
            "warning: deployments.glm.queue: found nothing, with 16 GPUs of p5; allowed: a queue, where 33 of the 48"
            " GPUs of p5 belong to queues: what they admit finds no node. Name a queue, or set gpus of the cluster"
            " queues on p5 to 32 together."
        )
    ]


def test_lws_and_kueue_agree_on_who_places_groups() -> None:
    on_static = GROUPS | {"pool": "static", "surge": 0}
    aware, by_topology = on_static | {"placement": "topology-aware"}, {"topologyAware": ["static"]}
    assert answers(queue("static"), glm=on_static) == answers(queue("static"), more=by_topology, glm=aware) == []
    assert answers(queue("static"), more=by_topology, glm=on_static) == [
        (
            "error: deployments.glm.placement: found exclusive, on static, where Kueue places what it admits by"
            " topology; allowed: topology-aware: where both place a group, its pods are admitted and never scheduled."
            " Set it to topology-aware, or remove static from queues.topologyAware."
        )
    ]
    assert answers(queue("static"), glm=aware) == [
        (
            "error: deployments.glm.placement: found topology-aware; allowed: exclusive, on static: its flavor has no"
            " topology, so Kueue never admits the groups. Add static to queues.topologyAware, or remove placement."
        )
    ]


def test_more_quota_than_the_pool_has_is_more_pool() -> None:
    (line,) = answers(with_gpus(48), glm=GROUPS | {"replicas": 3, "surge": 0}, other=GROUPS | {"surge": 0})
    assert line.endswith("Enlarge pools.p5 to 64 GPUs, and set queues.clusterQueues.search.pools.p5.gpus to 64.")
