"""Quotas never promise more than pools have, and a group that has its GPUs has everything else that it requests."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.queues.demand import copy_requests
from pulumi_lws.queues.quota import Quotas, amounts, covered, divided, gpus_for, piece, quantity, unit
from pulumi_lws.queues.settings import PoolQuota, Queues
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.placement import amount, huge_pages, pod_resources
from pulumi_lws.serving.pod_amounts import pod_amounts
from tests.queues.fleets import GROUPS, ROLES, SINGLE, deployments, pools, queue, queues

P5 = pools()["p5"]

a_pool = st.builds(
    lambda instance, islands, nodes, hugepages: GpuPool.model_validate(
        {
            "instanceType": instance,
            **({"islands": islands, "nodesPerIsland": nodes} if islands else {"nodes": nodes}),
            "hugepages": hugepages,
        }
    ),
    st.sampled_from(sorted(INSTANCE_TYPES)),
    st.integers(0, 5),
    st.integers(1, 4),
    st.booleans(),
)


@given(a_pool, st.lists(st.tuples(st.integers(0, 40) | st.none(), st.integers(1, 5)), min_size=1, max_size=5))
def test_quotas_never_add_up_to_more_than_a_pool_has(pool: GpuPool, shares: list[tuple[int | None, int]]) -> None:
    left, declared = pool.gpus, {}
    for index, (gpus, share) in enumerate(shares):
        stated = None if gpus is None else min(gpus, left)
        left -= stated or 0
        declared[f"queue-{index}"] = PoolQuota(gpus=stated, share=share)
    made = Queues.model_validate(
        {
            "clusterQueues": {
                name: {"pools": {"pool": quota.model_dump()}, "namespaces": ["models"]}
                for name, quota in declared.items()
            }
        }
    )
    quotas = Quotas(made, {"pool": pool})
    for resource, most in amounts(pool, pool.gpus).items():
        assert sum(quotas.nominal(name, "pool")[resource] for name in declared) <= most


@given(a_pool, st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_islands_are_divided_whole_and_none_is_left_over(pool: GpuPool, shares: list[int]) -> None:
    found = divided(pool, {f"queue-{index}": PoolQuota(share=share) for index, share in enumerate(shares)})
    assert sum(found.values()) == pool.gpus
    if pool.islands:
        assert all(gpus % piece(pool) == 0 for gpus in found.values())


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({"a": {}}, {"a": 48}),
        ({"a": {}, "b": {}}, {"a": 32, "b": 16}),
        ({"a": {"share": 2}, "b": {}}, {"a": 32, "b": 16}),
        ({"a": {"gpus": 16}, "b": {}, "c": {}}, {"a": 16, "b": 16, "c": 16}),
        ({"a": {"gpus": 20}, "b": {}}, {"a": 20, "b": 16}),
        ({"a": {}, "b": {}, "c": {}, "d": {}}, {"a": 16, "b": 16, "c": 16, "d": 0}),
    ],
)
def test_a_pool_of_three_islands_of_sixteen_gpus_is_divided(
    shares: dict[str, dict[str, int]], expected: dict[str, int]
) -> None:
    assert divided(P5, {name: PoolQuota.model_validate(share) for name, share in shares.items()}) == expected


def test_nodes_of_a_plain_pool_are_divided_only_where_there_are_too_few_of_them() -> None:
    plain = pools()["plain"]
    assert divided(plain, dict.fromkeys("ab", PoolQuota())) == {"a": 8, "b": 8}
    assert divided(plain, dict.fromkeys("abc", PoolQuota())) == {"a": 6, "b": 5, "c": 5}


def test_a_queue_reaches_what_its_cohort_lends_it_and_no_further_than_it_may_borrow() -> None:
    def reach(**changes: dict[str, int]) -> int:
        made = {
            name: queue(cohort="all", pools={"p5": {"gpus": 16, **changes.get(name, {})}}) for name in ("a", "b", "c")
        }
        declared = queues({**made, "alone": queue(pools={"p5": {"gpus": 0}})}, cohorts={"all": {}})
        return Quotas(declared, pools()).reach("a", "p5")[labels.GPU]

    assert reach() == 48
    assert reach(b={"lendingGpus": 8}) == 40
    assert reach(a={"borrowingGpus": 8}) == 24
    assert reach(a={"borrowingGpus": 24}, b={"lendingGpus": 0}, c={"lendingGpus": 0}) == 16


def test_queues_borrow_across_the_cohorts_of_one_tree_alone() -> None:
    made = {name: queue("p5", cohort=cohort) for name, cohort in (("a", "team"), ("b", "other"), ("c", "far"))}
    cohorts = {"all": {}, "team": {"parent": "all"}, "other": {"parent": "all"}, "far": {}}
    assert Quotas(queues(made, cohorts=cohorts), pools()).reach("a", "p5")[labels.GPU] == 32


def test_a_queue_counts_what_any_of_its_pools_has() -> None:
    made = pools()
    assert covered({"small": made["small"]}) == [labels.GPU, "cpu", "memory", "ephemeral-storage"]
    assert covered({"p5": made["p5"]}) == [labels.GPU, labels.EFA, "cpu", "memory", "ephemeral-storage"]
    assert covered(made)[-1] == "hugepages-2Mi"


@pytest.mark.parametrize("shape", [GROUPS, SINGLE, ROLES, ROLES | {"backend": "disaggregated-set"}])
def test_as_many_copies_as_have_gpus_have_all_that_they_request(shape: dict[str, object]) -> None:
    (args,) = deployments(llm=shape).values()
    for role in roles_of(args)[0]:
        copy = copy_requests(role)
        assert gpus_for(role.pool, copy) == copy[labels.GPU]
        has = amounts(role.pool, int(copy[labels.GPU]))
        assert {name for name, amount in copy.items() if amount > has[name] * unit(name)} == set()


@given(a_pool, st.integers(1, 8))
def test_the_share_of_any_pod_is_in_the_quota_of_its_gpus(pool: GpuPool, gpus: int) -> None:
    gpus = min(gpus, pool.instance.gpus)
    has = amounts(pool, gpus)
    wanted = pod_resources(pool.instance, gpus) | huge_pages(pool, gpus)
    assert all((amount(value) or 0) <= has[name] * unit(name) for name, value in wanted.items())


def test_a_pod_needs_what_the_most_of_its_moments_does() -> None:
    def container(cpu: str, **fields: object) -> dict[str, object]:
        return {"resources": {"limits": {"cpu": cpu}}, **fields}

    sidecar = container("2", restartPolicy="Always")
    both = {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "9"}}}
    pods: list[tuple[dict[str, Any], dict[str, object]]] = [
        ({"containers": [container("1"), both]}, {"cpu": Fraction(3, 2), "memory": 2**30}),
        ({"initContainers": [container("4")], "containers": [container("1")]}, {"cpu": 4}),
        ({"initContainers": [sidecar, container("4")], "containers": [container("1")]}, {"cpu": 6}),
        ({"initContainers": [container("4"), sidecar], "containers": [container("3")]}, {"cpu": 5}),
    ]
    assert [pod_amounts(spec, "requests") for spec, _ in pods] == [taken for _, taken in pods]
    assert pod_amounts({"containers": [both]}, "limits") == {"cpu": 9}


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        (labels.GPU, 48, "48"),
        ("cpu", 180_480, "180480m"),
        ("cpu", 180_000, "180"),
        ("cpu", 0, "0"),
        ("memory", 1_536, "1536Mi"),
        ("memory", 5_120, "5Gi"),
        ("memory", 3 * 2**20, "3Ti"),
        ("hugepages-2Mi", 10_240, "10Gi"),
    ],
)
def test_amounts_are_written_as_kubernetes_keeps_them(resource: str, amount: int, text: str) -> None:
    assert quantity(resource, amount) == text
