"""A quota holds what the deployments of a team take at once, counted as the API server counts it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.facts import labels
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.tenancy.demand import QUOTA_KEYS, amounts_of_pod, demand, needed
from pulumi_lws.tenancy.manifests import GIB, hard_limits, limits_of
from pulumi_lws.tenancy.settings import TeamQuota
from pulumi_lws.tenancy.workloads import Pods, TeamWorkload, of_deployment
from tests.serving.stacks import PACKED, every_stack, stack
from tests.tenancy.residents import copies, pool, service, smoke

GPU, EFA = f"requests.{labels.GPU}", f"requests.{labels.EFA}"


def deployments(example: str, **changes: Any) -> tuple[TeamWorkload, ...]:
    return tuple(map(of_deployment, deployments_of(PlatformArgs.model_validate(stack(example, **changes))).values()))


def test_groups_count_with_their_workers_their_autoscaler_and_their_rollout() -> None:
    pools = {"p5": {"islands": 4}}
    (args,) = deployments("glm-5", autoscaling={"maxReplicas": 3}, replicas=1, pools=pools)
    leader, worker = args.pods
    assert (leader.serving, leader.rolling, worker.serving, worker.rolling) == (3, 1, 3, 1)
    assert (demand(args)[GPU], demand(args)[EFA]) == (4 * 2 * 8, 4 * 2 * 32)
    assert demand(args, rolling=False)[GPU] == 3 * 2 * 8


def test_a_router_counts_twice_while_it_rolls() -> None:
    own = {"prefill": {"surge": 0}, "decode": {"surge": 0}}
    (routed,) = deployments(PACKED, router={"kind": "standalone"}, **own)
    (alone,) = deployments(PACKED, router=None, **own)
    assert demand(routed) - demand(alone) == Counter(
        {"requests.cpu": 2 * 6000, "requests.memory": 20 * GIB, "limits.memory": 20 * GIB}
    )


GPUS_OF_A_WORKER, EFA_OF_A_WORKER = 8, 32


@pytest.mark.parametrize(
    ("workload", "workers", "heads"),
    [
        (service(upgrade={"kind": "none"}), (4, 0), (1, 0)),
        (service(), (4, 2), (1, 1)),
        (service(upgrade={"kind": "incremental", "gatewayClass": "envoy", "surgePercent": 75}), (4, 3), (1, 1)),
        (pool(), (4, 0), (1, 0)),
    ],
)
def test_ray_counts_with_all_of_its_workers_and_the_second_cluster_of_an_upgrade(
    workload: TeamWorkload, workers: tuple[int, int], heads: tuple[int, int]
) -> None:
    head, worker = workload.pods
    assert [(pods.serving, pods.rolling) for pods in (head, worker)] == [heads, workers]
    found = demand(workload)
    assert found[GPU] == sum(workers) * GPUS_OF_A_WORKER
    assert found[EFA] == sum(workers) * EFA_OF_A_WORKER


def test_the_head_counts_with_the_autoscaler_that_kuberay_adds() -> None:
    scaled, fixed = pool().pods[0].spec, pool(minWorkers=4).pods[0].spec
    assert amounts_of_pod(scaled) - amounts_of_pod(fixed) == Counter(
        {"requests.cpu": 1000, "requests.memory": 2 * GIB, "limits.memory": 2 * GIB}
    )


def test_copies_count_side_by_side_and_load_tests_one_after_the_other() -> None:
    one = Counter({"requests.cpu": 2000, "requests.memory": 8 * GIB, "limits.memory": 8 * GIB})
    assert +demand(copies()) == one
    assert +needed([copies(), copies("more", bucket=True)]) == one + one + one
    small, large = smoke(cpus=2, memoryGib=32), smoke("soak", cpus=8, memoryGib=16)
    assert +needed([small, large, copies()]) == one + Counter(
        {"requests.cpu": 8000, "requests.memory": 32 * GIB, "limits.memory": 32 * GIB}
    )


def test_init_containers_count_where_they_need_more_than_what_runs_later() -> None:
    def container(cpu: str, memory: str, **fields: Any) -> dict[str, Any]:
        return {"name": "x", "resources": {"limits": {"cpu": cpu, "memory": memory}}, **fields}

    spec = {
        "initContainers": [
            container("1", "1Gi"),
            container("500m", "2Gi", restartPolicy="Always"),
            container("4", "1Gi"),
        ],
        "containers": [container("1", "8Gi"), container("1", "1Gi")],
    }
    # While the last of them runs the sidecar does, too: 4.5 CPUs; later it is 2.5 CPUs and 11 GiB.
    assert amounts_of_pod(spec) == Counter(
        {"requests.cpu": 4500, "requests.memory": 11 * GIB, "limits.memory": 11 * GIB, GPU: 0, EFA: 0}
    )


def test_every_container_of_ours_says_what_a_quota_asks_for() -> None:
    silent: list[str] = []
    for name, settings in every_stack().items():
        for args in deployments_of(PlatformArgs.model_validate(settings)).values():
            for pods in of_deployment(args).pods:
                silent += _silent(name, pods)
    for workload in (service(), pool(), copies(bucket=True), smoke()):
        for pods in workload.pods:
            silent += _silent(workload.path, pods)
    assert silent == []


def _silent(name: str, pods: Pods) -> Iterator[str]:
    """Yield the containers of which a quota would not know what they take."""
    for container in [*pods.spec.get("initContainers", ()), *pods.spec["containers"]]:
        resources = container.get("resources", {})
        said = {*resources.get("limits", {}), *(f"requests.{key}" for key in resources.get("requests", {}))}
        if not {"memory", "requests.cpu", "requests.memory"} <= said:
            yield f"{name}: {container['name']}"


def test_what_is_not_declared_is_what_is_needed() -> None:
    own = deployments("llama-3.3-70b", surge=1, pools={"p5": {"nodes": 2}})
    (args,) = own
    taken = demand(args)
    assert hard_limits(TeamQuota(), own) == {
        GPU: "12",
        EFA: "48",
        "requests.cpu": str(taken["requests.cpu"] // 1000),
        "requests.memory": f"{taken['requests.memory'] // GIB}Gi",
        "limits.memory": f"{taken['requests.memory'] // GIB}Gi",
        "services.loadbalancers": "0",
        "services.nodeports": "0",
    }


def test_what_is_declared_counts_and_is_written_as_the_api_server_writes_it() -> None:
    quota = TeamQuota(gpus=64, efa_interfaces=0, cpus=2000, memory_gib=2048, load_balancers=1, node_ports=2)
    assert hard_limits(quota, ()) == {
        GPU: "64",
        EFA: "0",
        "requests.cpu": "2000",
        "requests.memory": "2Ti",
        "limits.memory": "2Ti",
        "services.loadbalancers": "1",
        "services.nodeports": "2",
    }
    assert set(hard_limits(TeamQuota(), ()).values()) == {"0"}


@given(st.builds(TeamQuota, gpus=st.none() | st.integers(0, 99)), st.integers(0, 99))
def test_a_quota_that_is_not_declared_never_refuses_what_is_needed(quota: TeamQuota, gpus: int) -> None:
    needs = Counter({GPU: gpus, "requests.memory": 5 * GIB + 1})
    limits = limits_of(quota, needs)
    assert limits[GPU] == (gpus if quota.gpus is None else quota.gpus)
    assert limits["requests.memory"] == 5 * GIB + 1
    assert set(limits) == set(QUOTA_KEYS.values())


@pytest.mark.parametrize("milli", [1, 1500, 2000])
def test_parts_of_a_cpu_are_kept(milli: int) -> None:
    assert amounts_of_pod({"containers": [{"resources": {"requests": {"cpu": f"{milli}m"}}}]})["requests.cpu"] == milli
