"""Pools that cannot hold what runs on them, whoever makes their nodes."""

from typing import Any

from pulumi_lws.platform.checks import deployments_of, read
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.settings import roles_settings
from tests.serving.stacks import said, stack


def test_spot_islands_are_no_base_on_any_cluster() -> None:
    assert said(stack("glm-5", pools={"p5": {"islands": 2, "capacity": {"kind": "spot"}}}))[:1] == [
        (
            "error: pools.p5.capacity.kind: found 'spot', for all 2 islands; allowed: on-demand with spotOverflow,"
            " reservation, capacity-block. Use spot only for replicas beyond a base: kind on-demand, and spotOverflow"
            " for the islands beyond it."
        )
    ]


def test_a_stack_has_no_more_nodes_than_make_sense() -> None:
    pools: dict[str, Any] = {f"pool-{number}": {"instanceType": "p5.48xlarge", "nodes": 10_000} for number in range(2)}
    lines = said(stack("glm-5", pools={"p5": {"islands": 1}, **pools}))
    assert lines == [
        (
            "error: pools: found 20002 nodes together; allowed: at most 10000 in one stack. Make stacks of them, each"
            " with a"
            " cluster of its own."
        )
    ]


def one_node(name: str, gpus: int, replicas: int, **changes: Any) -> dict[str, Any]:
    settings = stack(
        "llama-3.3-70b",
        name=name,
        model="openai/gpt-oss-120b",
        parallelism={"pipeline": gpus},
        replicas=replicas,
        **changes,
    )
    return dict(settings["deployments"])


def shared(nodes: int, *deployments: dict[str, Any]) -> dict[str, Any]:
    settings = stack("llama-3.3-70b", pools={"p5": {"nodes": nodes}})
    settings["deployments"] = {name: fields for one in deployments for name, fields in one.items()}
    return settings


def surges(settings: dict[str, Any]) -> dict[str, list[int | None]]:
    deployments = deployments_of(PlatformArgs.model_validate(settings))
    return {name: [role.surge for role in roles_settings(args).values()] for name, args in deployments.items()}


def test_scattered_gpus_are_no_room_for_a_copy_on_top() -> None:
    # Pods of five and six GPUs leave three and two of their nodes: five together, and none holds another five.
    settings = shared(2, one_node("five", 5, 1), one_node("six", 6, 1))
    assert surges(settings) == {"five": [0], "six": [None]}
    assert [problem.path for problem in read(settings)[1] if problem.path.endswith("surge")] == []


def test_a_surge_that_was_asked_for_is_refused_and_not_dropped() -> None:
    settings = shared(2, one_node("five", 5, 1, surge=1), one_node("six", 6, 1))
    assert surges(settings)["five"] == [1]
    assert "deployments.five.surge" in {problem.path for problem in read(settings)[1]}
