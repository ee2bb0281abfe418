"""What a report says of models on Ray."""

from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.facts import labels
from pulumi_lws.reporting.findings import findings
from pulumi_lws.reporting.reading import read_preview
from pulumi_lws.reporting.report import Report, report
from tests.reporting.events import outcome, pod, resource_event, write

SERVICE, CLUSTER = "kubernetes:ray.io/v1:RayService", "kubernetes:ray.io/v1:RayCluster"


def cluster(image: str, workers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    group = {"groupName": "gpu", "template": pod(image=image), **workers}
    head = {"template": {"metadata": {"annotations": {labels.SERVE_REVISION: image}}, **pod(0)}}
    return {"headGroupSpec": head, "workerGroupSpecs": [group], **spec}


def service(image: str, upgrade: str = "NewCluster", config: str = "") -> dict[str, Any]:
    spec = {"upgradeStrategy": {"type": upgrade}, "rayClusterConfig": cluster(image, {"replicas": 3})}
    return {"metadata": {"name": "llm"}, "spec": {**spec, "serveConfigV2": config}}


def pool(image: str, workers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "llm"}, "spec": cluster(image, workers, **spec)}


def of(folder: Path, *event: Any) -> Report:
    return report(read_preview(write(folder, resource_event(*event))))


def headline(found: Report) -> tuple[str, str]:
    first = findings(found)[0]
    return str(first.level), first.text


FIXED = {"replicas": 3}
LEFT_ALONE = ("fine", "No model restarts; 1 other resource changes")
CHANGES: dict[str, tuple[str, Any, Any, tuple[str, str]]] = {
    "a second cluster": (
        SERVICE,
        service("a"),
        service("b"),
        ("care", "`llm` restarts with 3 workers on top: none is missing"),
    ),
    "one copy after another": (
        SERVICE,
        service("a", "None", "one"),
        service("a", "None", "two"),
        ("care", "`llm` restarts, 1 of 3 workers missing"),
    ),
    "pods that nobody makes anew": (
        SERVICE,
        service("a", "None"),
        service("b", "None"),
        LEFT_ALONE,
    ),
    "a cluster that is made anew": (
        CLUSTER,
        pool("a", FIXED, upgradeStrategy={"type": "Recreate"}),
        pool("b", FIXED, upgradeStrategy={"type": "Recreate"}),
        ("stop", "`llm` restarts and is down until it has started"),
    ),
    "a cluster that is left alone": (CLUSTER, pool("a", FIXED), pool("b", FIXED), LEFT_ALONE),
    "more workers": (
        CLUSTER,
        pool("a", FIXED),
        pool("a", {"replicas": 4}),
        ("fine", "`llm` scales from 3 to 4 workers"),
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_on_ray_does_what_kuberay_does(case: str, tmp_path: Path) -> None:
    kind, old, new, expected = CHANGES[case]
    assert headline(of(tmp_path, "update", kind, "llm", old, new)) == expected


def test_workers_count_at_their_least_and_with_an_autoscaler_at_their_most(tmp_path: Path) -> None:
    bounds = {"minReplicas": 1, "maxReplicas": 4, "replicas": 2}
    found = of(tmp_path, "create", CLUSTER, "llm", None, pool("a", bounds, enableInTreeAutoscaling=True))
    assert headline(found) == ("fine", "`llm` is added: 1 worker, 8 GPUs")
    (change,) = outcome(found).models
    assert (change.workload.replicas, change.workload.most_replicas, outcome(found).after.gpus) == (1, 4, 8)


def test_the_pods_of_one_worker_over_several_hosts_count_together(tmp_path: Path) -> None:
    found = of(tmp_path, "create", CLUSTER, "llm", None, pool("a", {"replicas": 2, "numOfHosts": 4}))
    assert headline(found) == ("fine", "`llm` is added: 2 workers, 64 GPUs")
