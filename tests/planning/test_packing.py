from collections import defaultdict
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.planning.packing import EMPTY, Demand, Placement, place
from pulumi_lws.planning.parallelism import GroupShape
from pulumi_lws.planning.plan import Group, Pod, Pool


def pool(name: str = "p5", nodes: int = 2, islands: int = 0) -> Pool:
    per_island = nodes // islands if islands else 1
    return Pool(name, "p5.48xlarge", "H100", 8, 32, 192, nodes, islands, per_island)


def demand(path: str, gpus: int = 8, size: int = 1, replicas: int = 1, pool_name: str = "p5") -> Demand:
    return Demand(path, "serve", path, pool_name, replicas, replicas, GroupShape(size, gpus, 8))


POOLS = st.one_of(
    st.builds(pool, nodes=st.integers(0, 5)),
    st.builds(
        lambda islands, per_island: pool(nodes=islands * per_island, islands=islands),
        st.integers(1, 4),
        st.integers(1, 3),
    ),
)
DEMANDS = st.lists(
    st.tuples(st.integers(1, 8), st.integers(1, 3), st.integers(0, 6)).map(
        # A group of several pods has whole nodes.
        lambda drawn: (8 if drawn[1] > 1 else drawn[0], drawn[1], drawn[2])
    ),
    max_size=5,
).map(lambda drawn: [demand(f"d{n}", *each) for n, each in enumerate(drawn)])


def pods_of(placement: Placement) -> list[Pod]:
    return [pod for groups in placement.groups.values() for group in groups for pod in group.pods]


def test_two_pods_of_four_gpus_share_a_node_and_its_efa() -> None:
    assert place([pool()], [demand("prefill", gpus=4, replicas=3)]).groups == {
        "prefill": (
            Group(0, (Pod(0, 0, 4, 16),)),
            Group(1, (Pod(0, 4, 4, 16),)),
            Group(2, (Pod(1, 0, 4, 16),)),
        )
    }


def test_a_group_of_two_nodes_takes_an_island_of_its_own_with_all_efa() -> None:
    placement = place([pool(nodes=6, islands=3)], [demand("glm-5", size=2, replicas=2)])
    assert placement.groups == {
        "glm-5": (Group(0, (Pod(0, 0, 8, 32), Pod(1, 0, 8, 32))), Group(1, (Pod(2, 0, 8, 32), Pod(3, 0, 8, 32))))
    }
    assert placement.taken == {"p5": (8, 8, 8, 8, 0, 0)}


def test_a_group_keeps_the_nodes_of_its_island_that_it_does_not_need() -> None:
    placement = place([pool(nodes=3, islands=1)], [demand("glm-5", size=2), demand("small", gpus=1)])
    assert placement.left_out == {"small": 1}


def test_large_pods_are_placed_before_small_ones_whatever_their_order() -> None:
    small, large = demand("small", gpus=2, replicas=4), demand("large")
    for demands in ([small, large], [large, small]):
        assert place([pool()], demands).left_out == {}


def test_groups_of_several_pods_have_no_place_on_a_plain_pool_and_none_on_islands_that_are_too_small() -> None:
    assert place([pool(nodes=4)], [demand("glm-5", size=2)]).left_out == {"glm-5": 1}
    assert place([pool(nodes=4, islands=4)], [demand("glm-5", size=2)]).left_out == {"glm-5": 1}


def test_a_demand_on_an_unknown_pool_is_left_out() -> None:
    assert place([], [demand("a", replicas=2)]).left_out == {"a": 2}


def test_what_is_there_already_stays_and_takes_its_gpus() -> None:
    first = place([pool()], [demand("a", gpus=4, replicas=3)])
    assert place([pool()], [demand("b", gpus=4, replicas=2)], onto=first) == Placement(
        groups={"b": (Group(0, (Pod(1, 4, 4, 16),)),)}, left_out={"b": 1}, taken={"p5": (8, 8)}
    )


@given(POOLS, DEMANDS)
def test_no_gpu_has_two_pods_and_no_pod_leaves_its_node(pool: Pool, demands: list[Demand]) -> None:
    gpus = [(pod.node, gpu) for pod in pods_of(place([pool], demands)) for gpu in pod.gpu_numbers]
    assert len(gpus) == len(set(gpus))
    assert all(node in range(pool.nodes) and gpu in range(pool.gpus_per_node) for node, gpu in gpus)


@given(POOLS, DEMANDS)
def test_the_pods_of_a_node_never_have_more_efa_than_it(pool: Pool, demands: list[Demand]) -> None:
    efa: defaultdict[int, int] = defaultdict(int)
    for pod in pods_of(place([pool], demands)):
        efa[pod.node] += pod.efa
    assert all(taken <= pool.efa_per_node for taken in efa.values())


@given(POOLS, DEMANDS)
def test_a_group_of_several_pods_is_alone_on_one_island(pool: Pool, demands: list[Demand]) -> None:
    groups = [group for groups in place([pool], demands).groups.values() for group in groups]
    islands = [[pool.island_of(pod.node) for pod in group.pods] for group in groups]
    assert all(len(set(island)) == 1 for island in islands)
    alone = [island[0] for group, island in zip(groups, islands, strict=True) if len(group.pods) > 1]
    others = {island[0] for group, island in zip(groups, islands, strict=True) if len(group.pods) == 1}
    assert len(alone) == len(set(alone))
    assert not set(alone) & others


@given(POOLS, DEMANDS)
def test_every_copy_has_a_place_or_is_left_out(pool: Pool, demands: list[Demand]) -> None:
    placement = place([pool], demands)
    for each in demands:
        groups = placement.groups[each.path]
        assert [group.index for group in groups] == list(range(len(groups)))
        assert all(len(group.pods) == each.shape.size for group in groups)
        assert len(groups) + placement.left_out.get(each.path, 0) == each.replicas


@given(POOLS, DEMANDS, st.randoms())
def test_the_order_of_demands_of_different_sizes_changes_nothing(
    pool: Pool, demands: list[Demand], random: object
) -> None:
    by_size = {(each.shape.size, each.shape.gpus_per_pod): each for each in demands}
    distinct = list(by_size.values())
    shuffled = list(distinct)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    first, second = place([pool], distinct), place([pool], shuffled)
    assert (dict(first.groups), first.taken) == (dict(second.groups), second.taken)


@given(
    st.integers(0, 4),
    st.lists(st.tuples(st.sampled_from([1, 2, 4, 8]), st.integers(0, 6)), max_size=4),
)
def test_sizes_that_divide_one_another_fill_every_gpu_before_anything_is_left_out(
    nodes: int, wanted: list[tuple[int, int]]
) -> None:
    demands = [demand(f"d{n}", gpus=gpus, replicas=replicas) for n, (gpus, replicas) in enumerate(wanted)]
    fits = sum(gpus * replicas for gpus, replicas in wanted) <= nodes * 8
    assert (place([pool(nodes=nodes)], demands).left_out == {}) == fits


@given(POOLS, DEMANDS)
def test_a_larger_pool_leaves_nothing_out_that_a_smaller_one_holds(pool: Pool, demands: list[Demand]) -> None:
    larger = replace(pool, nodes=pool.nodes + pool.nodes_per_island, islands=pool.islands + 1 if pool.islands else 0)
    before, after = place([pool], demands, EMPTY).left_out, place([larger], demands, EMPTY).left_out
    assert sum(after.values()) <= sum(before.values())
