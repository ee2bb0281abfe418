from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pulumi_lws.planning.capacity import (
    headroom,
    headroom_problems,
    placement_problems,
    quota_problems,
    quotas,
)
from pulumi_lws.planning.packing import Demand, place
from pulumi_lws.planning.parallelism import GroupShape
from pulumi_lws.planning.plan import Headroom, Pool, QuotaUse
from pulumi_lws.planning.problems import Problem, Severity

ISLANDS = Pool("p5", "p5.48xlarge", "H100", 8, 32, 192, 6, 3, 2)
PLAIN = Pool("small", "p5.48xlarge", "H100", 8, 32, 192, 2)
PAIR, QUARTER, HALF, WHOLE = GroupShape(2, 8, 8), GroupShape(1, 2, 8), GroupShape(1, 4, 8), GroupShape(1, 8, 8)


def demand(shape: GroupShape, replicas: int = 1, role: str = "serve", **fields: Any) -> Demand:
    name = fields.pop("name", "gpt-oss")
    path = f"deployments.{name}" + ("" if role == "serve" else f".{role}")
    pool = "p5" if shape.size > 1 else "small"
    return Demand(name, role, path, pool, replicas, fields.pop("max_replicas", replicas), shape, **fields)


def test_copies_without_an_island_are_told_with_the_islands_that_would_do() -> None:
    assert placement_problems([ISLANDS], [demand(PAIR, 4, name="glm-5")]) == [
        Problem(
            "deployments.glm-5.replicas",
            "4",
            "at most 3: pool p5 has no further island of 2 nodes",
            "Raise pools.p5.islands to 4, or lower replicas.",
        )
    ]


def test_gpus_that_are_left_on_different_nodes_hold_no_whole_copy() -> None:
    demands = [demand(GroupShape(1, 5, 8), 2, role="prefill"), demand(GroupShape(1, 6, 8), role="decode")]
    assert sum(each.replicas * each.shape.gpus_per_pod for each in demands) == PLAIN.gpus
    assert placement_problems([PLAIN], demands) == [
        Problem(
            "deployments.gpt-oss.prefill.replicas",
            "2",
            "at most 1: pool small has no further node with 5 free GPUs",
            "Raise pools.small.nodes to 3, or lower replicas.",
        )
    ]


def test_an_autoscaler_is_judged_at_its_most_and_only_where_all_that_runs_has_its_place() -> None:
    scaled = demand(HALF, 1, max_replicas=5)
    assert placement_problems([PLAIN], [scaled]) == [
        Problem(
            "deployments.gpt-oss.autoscaling.maxReplicas",
            "5",
            "at most 4: pool small has no further node with 4 free GPUs",
            "Raise pools.small.nodes to 3, or lower autoscaling.maxReplicas.",
        )
    ]
    assert [problem.path for problem in placement_problems([PLAIN], [replace(scaled, replicas=5)])] == [
        "deployments.gpt-oss.replicas"
    ]


@pytest.mark.parametrize(
    ("pool", "fix"),
    [
        (replace(ISLANDS, islands=6, nodes_per_island=1), "Raise pools.p5.nodesPerIsland to 2, or name another pool."),
        (replace(ISLANDS, islands=0, nodes_per_island=1), "Give pools.p5 islands of 2 nodes, or name another pool."),
    ],
)
def test_a_group_that_no_island_holds_is_told_what_islands_it_needs(pool: Pool, fix: str) -> None:
    assert [problem.fix for problem in placement_problems([pool], [demand(PAIR)])] == [fix]


def test_headroom_of_islands_is_counted_in_whole_islands() -> None:
    demands = [demand(PAIR, 2, surge=1)]
    assert headroom([ISLANDS, PLAIN], demands, place([ISLANDS, PLAIN], demands)) == (Headroom("p5", 16, 16),)


def test_roles_of_one_deployment_roll_together_and_deployments_one_after_another() -> None:
    roles = [demand(HALF, role="prefill", surge=1), demand(QUARTER, role="decode", surge=1)]
    other = demand(WHOLE, name="other", surge=1)
    demands = [*roles, other]
    # 4 + 2 GPUs for the one, 8 for the other.
    assert headroom([PLAIN], demands, place([PLAIN], demands)) == (Headroom("small", 8, 2),)
    assert headroom([PLAIN], roles, place([PLAIN], roles)) == (Headroom("small", 6, 10),)


def test_a_rollout_of_two_roles_with_room_for_only_one_would_wait_for_ever() -> None:
    demands = [demand(HALF, 2, role="prefill", surge=1), demand(HALF, role="decode", surge=1)]
    assert headroom_problems([PLAIN], demands) == [
        Problem(
            "deployments.gpt-oss.decode.surge",
            "1",
            "0: a rollout of gpt-oss adds copies before it takes old ones away, and pool small has 4 GPUs left: "
            "too few to hold them all; this role needs one node with 4 free GPUs more",
            "Add 1 to pools.small.nodes, or set surge to 0: then one copy at a time is down.",
        )
    ]


def test_a_rollout_that_waits_only_while_an_autoscaler_is_at_its_most_is_a_warning() -> None:
    problems = headroom_problems([PLAIN], [demand(WHOLE, 1, max_replicas=2, surge=1)])
    assert [(problem.path, problem.severity) for problem in problems] == [
        ("deployments.gpt-oss.surge", Severity.WARNING)
    ]


def test_without_surge_nothing_needs_headroom() -> None:
    demands = [demand(WHOLE, 2)]
    assert headroom_problems([PLAIN], demands) == []
    assert headroom([PLAIN], demands, place([PLAIN], demands)) == (Headroom("small", 0, 0),)


def test_quotas_count_the_vcpus_of_nodes_with_and_without_spare_ones() -> None:
    lesser = Pool("g6e", "g6e.12xlarge", "L40S", 4, 0, 48, 2)
    demands = [demand(PAIR, 2), demand(HALF, 1, max_replicas=3)]
    assert quotas([ISLANDS, PLAIN, lesser], demands, {"p": 1152}) == (
        QuotaUse("g", "Running On-Demand G and VT instances", "L-DB2E81BA", 0, 96),
        QuotaUse("p", "Running On-Demand P instances", "L-417A185B", 1152, 1536, 1152),
    )


def test_spot_nodes_and_blocks_are_no_instances_on_demand() -> None:
    demands = [demand(PAIR, 3)]
    (use,) = quotas([replace(ISLANDS, on_demand_nodes=2)], demands, {})
    assert (use.used_vcpus, use.most_vcpus) == (2 * 192, 2 * 192)


@pytest.mark.parametrize(
    ("limit", "severity"),
    [(None, None), (1536, None), (1535, Severity.WARNING), (1152, Severity.WARNING), (1151, Severity.ERROR)],
)
def test_a_quota_too_small_for_what_runs_is_an_error_and_for_spare_nodes_a_warning(
    limit: int | None, severity: Severity | None
) -> None:
    use = QuotaUse("p", "Running On-Demand P instances", "L-417A185B", 1152, 1536, limit)
    assert [problem.severity for problem in quota_problems([use])] == ([severity] if severity else [])


@given(st.lists(st.tuples(st.sampled_from([1, 2, 3, 4, 8]), st.integers(1, 5)), min_size=1, max_size=3))
def test_the_number_of_nodes_in_a_fix_is_the_least_that_works(wanted: list[tuple[int, int]]) -> None:
    demands = [demand(GroupShape(1, gpus, 8), n, name=f"d{k}") for k, (gpus, n) in enumerate(wanted)]
    problems = placement_problems([replace(PLAIN, nodes=1)], demands)
    assume(problems)
    nodes = int(problems[0].fix.split(" to ")[1].split(",")[0])
    assert placement_problems([replace(PLAIN, nodes=nodes)], demands) == []
    assert placement_problems([replace(PLAIN, nodes=nodes - 1)], demands) != []
