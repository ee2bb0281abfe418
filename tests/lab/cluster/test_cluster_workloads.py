"""What fake nodes and written statuses do for objects in a real lab."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.lab

Eventually = Callable[[Callable[[], Any], Any], None]
PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
LEADER_WORKER_SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
NODE_POOLS = "/apis/karpenter.sh/v1/nodepools"


def _pod(gpus: int = 0, **spec: Any) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [{"name": "main", "image": "none", "resources": {"limits": limits}}],
        **spec,
    }


def _make(api: httpx.Client, collection: str, name: str, spec: dict[str, Any], **document: Any) -> str:
    answer = api.post(collection, json={"metadata": {"name": name}, "spec": spec, **document})
    assert answer.is_success, answer.text
    return f"{collection}/{name}"


def _conditions(api: httpx.Client, path: str) -> dict[str, str]:
    conditions = api.get(path).json().get("status", {}).get("conditions", [])
    return {condition["type"]: condition["status"] for condition in conditions}


def test_fake_nodes_become_ready_and_stay_under_their_names(api: httpx.Client, eventually: Eventually) -> None:
    def ready() -> dict[str, str]:
        names = [node["metadata"]["name"] for node in api.get("/api/v1/nodes").json()["items"]]
        return {name: _conditions(api, f"/api/v1/nodes/{name}").get("Ready", "") for name in names}

    eventually(ready, {"p5-0-0": "True", "p5-0-1": "True"})
    addresses = api.get("/api/v1/nodes/p5-0-0").json()["status"]["addresses"]
    assert [(address["type"], address["address"]) for address in addresses] == [
        ("Hostname", "p5-0-0"),
        ("InternalIP", "10.128.0.1"),
    ]


def test_a_pod_that_fits_runs_and_one_too_many_stays_pending(api: httpx.Client, eventually: Eventually) -> None:
    island = {"nodeSelector": {"pulumi-lws/island": "p5-0"}}
    paths = [_make(api, PODS, f"whole-{index}", _pod(gpus=8, **island)) for index in range(3)]

    def phases() -> list[str]:
        return sorted(api.get(path).json()["status"]["phase"] for path in paths)

    eventually(phases, ["Pending", "Running", "Running"])
    pods = [api.get(path).json() for path in paths]
    placed = [pod for pod in pods if pod["status"]["phase"] == "Running"]
    assert {pod["spec"]["nodeName"] for pod in placed} == {"p5-0-0", "p5-0-1"}
    assert all(pod["status"]["podIP"] for pod in placed)
    assert all(pod["status"]["containerStatuses"][0]["ready"] for pod in placed)
    for path in paths:
        api.delete(path)
    eventually(lambda: [api.get(path).status_code for path in paths], [404, 404, 404])


def test_a_pod_that_does_not_tolerate_the_taint_of_gpu_nodes_stays_pending(
    api: httpx.Client, eventually: Eventually
) -> None:
    path = _make(api, PODS, "intolerant", _pod(tolerations=[]))
    eventually(lambda: _conditions(api, path), {"PodScheduled": "False"})
    api.delete(path)


def test_a_deployment_becomes_available(api: httpx.Client, eventually: Eventually) -> None:
    template = {"metadata": {"labels": {"app": "one"}}, "spec": _pod(initContainers=[{"name": "a", "image": "none"}])}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "one"}}, "template": template}
    path = _make(api, DEPLOYMENTS, "one", spec)
    eventually(lambda: api.get(path).json()["status"].get("availableReplicas"), 2)


def test_a_job_completes(api: httpx.Client, eventually: Eventually) -> None:
    path = _make(api, JOBS, "one", {"completions": 2, "template": {"spec": _pod(restartPolicy="Never")}})
    eventually(lambda: _conditions(api, path), {"SuccessCriteriaMet": "True", "Complete": "True"})


def test_a_leader_worker_set_is_available_and_follows_its_generation(api: httpx.Client, eventually: Eventually) -> None:
    kind = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}
    path = _make(api, LEADER_WORKER_SETS, "one", {"replicas": 2}, **kind)

    def seen() -> tuple[Any, ...]:
        status = api.get(path).json().get("status", {})
        return tuple(status.get(name) for name in ("observedGeneration", "replicas", "readyReplicas"))

    eventually(seen, (1, 2, 2))
    assert _conditions(api, path) == {"Available": "True", "Progressing": "False", "UpdateInProgress": "False"}
    merge = {"Content-Type": "application/merge-patch+json"}
    api.patch(f"{path}/scale", json={"spec": {"replicas": 5}}, headers=merge).raise_for_status()
    eventually(seen, (2, 5, 5))
    scale = api.get(f"{path}/scale").json()
    assert scale["status"] == {
        "replicas": 5,
        "selector": "leaderworkerset.sigs.k8s.io/name=one,leaderworkerset.sigs.k8s.io/worker-index=0",
    }


def test_a_cluster_wide_kind_gets_its_status_too(api: httpx.Client, eventually: Eventually) -> None:
    path = _make(api, NODE_POOLS, "one", {}, apiVersion="karpenter.sh/v1", kind="NodePool")
    eventually(lambda: _conditions(api, path), {"Ready": "True"})


def test_a_status_that_was_written_once_is_not_written_again(api: httpx.Client, eventually: Eventually) -> None:
    kind = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool"}
    path = _make(api, NODE_POOLS, "quiet", {}, **kind)
    eventually(lambda: _conditions(api, path), {"Ready": "True"})
    version = api.get(path).json()["metadata"]["resourceVersion"]
    # Another object's status proves that the writer has been at work since.
    later = _make(api, NODE_POOLS, "later", {}, **kind)
    eventually(lambda: _conditions(api, later), {"Ready": "True"})
    assert api.get(path).json()["metadata"]["resourceVersion"] == version
