"""When a group is on half an island."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pulumi_lws.facts import labels
from pulumi_lws.nodes.half_island import HalfIsland, half_islands

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)


def pod(index: int, age: int, node: str = "", group: str = "chat-0", **metadata: Any) -> dict[str, Any]:
    """A pod of a group on the island p5-0, some minutes old."""
    selector = {labels.POOL: "p5"} | ({labels.ISLAND: "p5-0"} if index else {})
    return {
        "metadata": {
            "namespace": "team-a",
            "name": f"{group}-{index}" if index else group,
            "creationTimestamp": (NOW - timedelta(minutes=age)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "labels": {labels.LWS_GROUP_KEY: f"key-of-{group}", labels.LWS_WORKER_INDEX: str(index)},
            **metadata,
        },
        "spec": {"nodeSelector": selector} | ({"nodeName": node} if node else {}),
    }


def test_it_is_a_leader_with_a_node_and_a_worker_that_waits_for_one_too_long() -> None:
    pods = [
        *(pod(0, 20, "a"), pod(2, 15), pod(1, 16), pod(3, 14), pod(4, 16, "b")),
        *(pod(0, 20, "c", group="code-0"), pod(1, 14, group="code-0")),
    ]
    assert half_islands(pods, NOW) == [HalfIsland("team-a", "chat-0", "p5-0", ("chat-0-1", "chat-0-2"))]


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param([pod(0, 60)], id="a leader without a node, which waits for a whole island"),
        pytest.param([pod(0, 60, "a"), pod(1, 60, "b")], id="a whole group"),
        pytest.param([pod(0, 60), pod(1, 60)], id="a leader that was made again and has no node yet"),
        pytest.param([pod(0, 60, "a"), pod(1, 60, deletionTimestamp="now")], id="a worker on its way out"),
        pytest.param([pod(0, 60, "a", deletionTimestamp="now"), pod(1, 60)], id="a leader on its way out"),
        pytest.param([pod(0, 60, "a"), pod(1, 60, labels={})], id="a pod of nobody's group"),
        pytest.param([pod(0, 60, "a"), pod(1, 60) | {"spec": {}}], id="a worker that is bound to no island"),
    ],
)
def test_it_is_not(pods: list[dict[str, Any]]) -> None:
    assert half_islands(pods, NOW) == []
