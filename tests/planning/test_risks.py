from dataclasses import replace
from datetime import date

import pytest

from pulumi_lws.planning.packing import Demand, place
from pulumi_lws.planning.parallelism import GroupShape
from pulumi_lws.planning.plan import Pool, Risk
from pulumi_lws.planning.risks import risks

TODAY = date(2026, 11, 30)
ISLANDS = Pool("p5", "p5.48xlarge", "H100", 8, 32, 192, 6, 3, 2)
PLAIN = Pool("small", "p5.48xlarge", "H100", 8, 32, 192, 2)
GROUPS = Demand("glm-5", "serve", "deployments.glm-5", "p5", 2, 2, GroupShape(2, 8, 8), 1)
SMALL = Demand("tiny", "serve", "deployments.tiny", "small", 2, 2, GroupShape(1, 2, 8), 1)
ONE = replace(SMALL, replicas=1, max_replicas=1)


def found(pool: Pool, *demands: Demand) -> tuple[Risk, ...]:
    return risks([pool], demands, place([pool], demands), TODAY)


def test_a_dynamic_island_may_come_by_halves_and_the_spare_ones_are_counted() -> None:
    (risk,) = found(ISLANDS, GROUPS)
    assert risk.subject == "pools.p5"
    assert risk.remedy.startswith("It then takes the spare island: cordon")
    assert found(ISLANDS, replace(GROUPS, replicas=1))[0].remedy.startswith("It then takes one of 2 spare islands")
    assert found(ISLANDS, replace(GROUPS, replicas=3))[0].remedy.startswith("There is no spare island")


def test_static_islands_and_pods_of_one_node_have_no_such_risk() -> None:
    assert found(replace(ISLANDS, is_static=True), GROUPS) == ()
    assert found(PLAIN, SMALL) == ()


def test_nodes_with_a_lifetime_are_told_with_the_day() -> None:
    (risk,) = found(replace(PLAIN, node_lifetime_hours=504), SMALL)
    assert "nodes live 21 days: one that boots today is taken away by 2026-12-21" in risk.what


def test_capacity_that_ends_is_told_with_its_end() -> None:
    (risk,) = found(replace(PLAIN, ends="2026-12-31T11:30:00Z"), SMALL)
    assert risk.what.startswith("its capacity ends at 2026-12-31T11:30:00Z")


def test_pods_of_different_sizes_on_one_plain_pool_may_leave_no_whole_node() -> None:
    large = replace(SMALL, name="large", path="deployments.large", shape=GroupShape(1, 8, 8))
    (risk,) = found(PLAIN, SMALL, large)
    assert risk.what.startswith("pods of 2 and 8 GPUs share nodes")


@pytest.mark.parametrize(
    ("demand", "pool", "what", "remedy"),
    [
        (ONE, PLAIN, "one copy: {drain}.", "Declare a second copy."),
        (replace(ONE, surge=0), PLAIN, "one copy: {drain}, and so is each update.", "Declare a second copy."),
        (
            replace(ONE, surge=0),
            replace(PLAIN, gpus_per_node=2, nodes=1),
            "one copy, and no room for a second: {drain}, and so is each update.",
            "Make room for one more copy.",
        ),
        (
            replace(ONE, surge=0, max_replicas=4),
            PLAIN,
            "one copy while the load is low: {drain}.",
            "Set autoscaling.minReplicas to 2.",
        ),
    ],
)
def test_an_only_copy_is_down_during_drains_and_is_told_what_would_make_a_second(
    demand: Demand, pool: Pool, what: str, remedy: str
) -> None:
    drain = "a drain of its node is an outage as long as a start"
    assert found(pool, demand) == (Risk("deployments.tiny", what.format(drain=drain), remedy),)


def test_a_pool_that_nothing_uses_has_no_risk() -> None:
    assert found(replace(ISLANDS, node_lifetime_hours=504)) == ()
