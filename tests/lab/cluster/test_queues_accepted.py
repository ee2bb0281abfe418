"""Kueue's and LWS's own schemas take every object that queues and their deployments become."""

from collections.abc import Callable
from typing import Any

import pytest

from pulumi_lws.queues.manifests import queue_objects
from pulumi_lws.serving.render import render
from tests.queues.fleets import GROUPS, POOLS, ROLES, SINGLE, deployments, pools, queue, queues

pytestmark = pytest.mark.lab

Taken = Callable[[list[dict[str, Any]]], list[str]]

EVERYTHING = queues(
    {
        "search": queue(
            "p5",
            "plain",
            cohort="research",
            namespaces=["default", "kube-public"],
            preemption={
                "withinClusterQueue": "LowerOrNewerEqualPriority",
                "reclaimWithinCohort": "Any",
                "borrowWithinCohort": "LowerPriority",
            },
            weight=0.5,
        ),
        "batch": queue(
            cohort="research",
            namespaces=["default"],
            strategy="StrictFIFO",
            stop="HoldAndDrain",
            localQueue="night",
            pools={"p5": {"gpus": 16, "borrowingGpus": 8, "lendingGpus": 0}, "static": {}, "small": {}},
        ),
    },
    cohorts={"research": {"parent": "all", "weight": 0.001}, "all": {}},
    priorities={"urgent": {"value": 1000, "description": "What users wait for."}, "night": {"value": -5}},
    topologyAware=["static"],
)


def test_kueue_takes_every_queue(taken: Taken) -> None:
    made = pools(p5={"role": "serve", "taints": [{"key": f"taint-{index}"} for index in range(6)]})
    assert taken(list(queue_objects(EVERYTHING, made).values())) == []


@pytest.mark.parametrize("name", POOLS)
def test_kueue_takes_a_queue_on_any_pool(taken: Taken, name: str) -> None:
    declared = queues({"search": queue(name, namespaces=["default"])})
    assert taken(list(queue_objects(declared, pools()).values())) == []


@pytest.mark.parametrize(
    "shape",
    [
        GROUPS,
        GROUPS | {"pool": "static", "placement": "topology-aware"},
        SINGLE,
        ROLES,
        ROLES | {"backend": "disaggregated-set"},
    ],
)
def test_lws_takes_deployments_in_a_queue(taken: Taken, shape: dict[str, Any]) -> None:
    (args,) = deployments(llm=shape | {"priority": "urgent", "namespace": "default"}).values()
    workloads = {"LeaderWorkerSet", "DisaggregatedSet", "Deployment"}
    assert taken([found for found in render(args).manifests.values() if found["kind"] in workloads]) == []
