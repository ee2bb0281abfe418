"""The alert "half island" agrees with what the library calls half an island."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from pulumi_lws.facts import labels
from pulumi_lws.monitoring.manifests import rule_groups
from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.nodes.half_island import half_islands
from tests.monitoring.series import always, named

NOW = datetime.fromtimestamp(60, UTC)
"""The time of the only look: promtool's clock starts with 1970."""

Pod = dict[str, Any]


def _pod(index: int, *, age: int = 60, node: str = "", island: str = "p5-0", key: str = "k", ends: bool = False) -> Pod:
    grouped = {labels.LWS_GROUP_KEY: key, labels.LWS_WORKER_INDEX: str(index)} if key else {}
    return {
        "metadata": {
            "namespace": "team-a",
            "name": f"chat-0-{index}" if index else "chat-0",
            "creationTimestamp": (NOW - timedelta(minutes=age)).isoformat(),
            "labels": {labels.DEPLOYMENT: "chat", **grouped},
            **({"deletionTimestamp": NOW.isoformat()} if ends else {}),
        },
        "spec": {
            "nodeSelector": {labels.ISLAND: island} if index and island else {},
            **({"nodeName": node} if node else {}),
        },
    }


LEADERS: tuple[tuple[Pod, ...], ...] = (
    (),
    (_pod(0),),
    (_pod(0, node="a"),),
    (_pod(0, node="a", ends=True),),
    (_pod(0, node="a", key="another"),),
)


def _workers(index: int) -> Iterator[Pod]:
    yield _pod(index, node="b")
    yield from (_pod(index, age=minutes) for minutes in (14, 15, 16))
    yield _pod(index, island="")
    yield _pod(index, ends=True)
    yield _pod(index, key="")


def _scenarios() -> Iterator[list[Pod]]:
    pairs = combinations_with_replacement(range(len([*_workers(1)])), 2)
    for leader, (first, second) in product(LEADERS, pairs):
        yield [*leader, [*_workers(1)][first], [*_workers(2)][second]]


@pytest.mark.lab
def test_it_counts_the_workers_of_half_islands(evaluated: Callable[..., None]) -> None:
    scenarios = [*_scenarios()]
    assert {len(half_islands(pods, NOW)) for pods in scenarios} == {0, 1}
    evaluated(rule_groups(Monitoring())[:1], [_test(pods) for pods in scenarios])


def _test(pods: list[Pod]) -> dict[str, Any]:
    record = "lws:group:half_island:count"
    expected = [
        {
            "labels": named(record, namespace="team-a", deployment="chat", group_key="k", island=found.island),
            "value": len(found.waiting),
        }
        for found in half_islands(pods, NOW)
    ]
    return {
        "interval": "1m",
        "input_series": [
            {"series": series, "values": always(value, 1)} for pod in pods for series, value in _series(pod).items()
        ],
        "promql_expr_test": [{"expr": record, "eval_time": "1m", "exp_samples": expected}],
    }


def _series(pod: Pod) -> dict[str, float]:
    """Say of a pod what kube-state-metrics would."""
    metadata, spec = pod["metadata"], pod["spec"]
    own = {"namespace": metadata["namespace"], "pod": metadata["name"], "uid": metadata["name"]}

    def flat(prefix: str, mapping: dict[str, str]) -> dict[str, str]:
        clean = str.maketrans("./-", "___")
        return {f"{prefix}_{key.translate(clean)}": value for key, value in mapping.items()}

    ends = {named("kube_pod_deletion_timestamp", **own): 60.0} if "deletionTimestamp" in metadata else {}
    return {
        named("kube_pod_labels", **own, **flat("label", metadata["labels"])): 1,
        named("kube_pod_info", **own, node=spec.get("nodeName", "")): 1,
        named("kube_pod_created", **own): datetime.fromisoformat(metadata["creationTimestamp"]).timestamp(),
        named("kube_pod_nodeselectors", **own, **flat("nodeselector", spec["nodeSelector"])): 1,
        **ends,
    }
