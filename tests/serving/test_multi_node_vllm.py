"""A model over several nodes: what is rendered, and what cannot run."""

from typing import Any

import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.facts import labels
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving import readiness
from pulumi_lws.serving.checks import check
from pulumi_lws.serving.component import MultiNodeVllm
from pulumi_lws.serving.manifests import multi_node_vllm
from pulumi_lws.serving.settings import MultiNodeVllmArgs, args_of
from pulumi_lws.testing.monitor import record
from pulumi_lws.workloads.manifests import leader_worker_set


def declaration(**changes: Any) -> dict[str, Any]:
    return {
        "name": "glm-5",
        "namespace": "models",
        "model": "zai-org/GLM-5-FP8",
        "parallelism": {"tensor": 8, "pipeline": 2},
        "poolName": "p5",
        "pool": {"instanceType": "p5.48xlarge", "islands": 2, "nodesPerIsland": 2},
        **changes,
    }


def args(**changes: Any) -> MultiNodeVllmArgs:
    return MultiNodeVllmArgs.model_validate(declaration(**changes))


def rendered(**changes: Any) -> dict[str, Any]:
    return leader_worker_set(multi_node_vllm(args(**changes)).leader_worker_set)


def pods(**changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    template = rendered(**changes)["spec"]["leaderWorkerTemplate"]
    return template["leaderTemplate"]["spec"], template["workerTemplate"]["spec"]


def engine(pod: dict[str, Any]) -> dict[str, Any]:
    [container] = pod["containers"]
    return container  # type: ignore[no-any-return]  # manifests are JSON


PROBLEMS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "tensor parallelism that does not divide a node": (
        {"parallelism": {"tensor": 6, "pipeline": 2}},
        [
            (
                "parallelism.tensor: found 6; allowed: 1, 2, 4, 8 (p5.48xlarge has 8 GPUs)."
                " Keep tensor parallelism inside a node, and span nodes with parallelism.pipeline."
            )
        ],
    ),
    "a copy that fits one node": (
        {"parallelism": {"tensor": 8}},
        [
            (
                "parallelism.pipeline: found 1: 8 GPUs for one copy; allowed: more than 1, for more than the 8"
                " GPUs of one"
                " p5.48xlarge. Raise it; a model that fits one node needs no LeaderWorkerSet, a Deployment serves it."
            )
        ],
    ),
    "a copy of one node and a half": (
        {"parallelism": {"tensor": 4, "pipeline": 3}},
        [
            (
                "parallelism.pipeline: found 3: 12 GPUs for one copy; allowed: a multiple of 2, for whole"
                " nodes of 8 GPUs."
                " Write 4."
            )
        ],
    ),
    "a copy of two nodes and a half": (
        {"parallelism": {"tensor": 4, "pipeline": 5}},
        [
            (
                "parallelism.pipeline: found 5: 20 GPUs for one copy; allowed: a multiple of 2, for whole"
                " nodes of 8 GPUs."
                " Write 4 or 6."
            )
        ],
    ),
    "a plain pool": (
        {"pool": {"instanceType": "p5.48xlarge"}, "replicas": 3},
        [
            (
                "pool: found p5, a plain pool; allowed: a pool with islands."
                " Set pools.p5.islands to 3 and nodesPerIsland to 2."
            )
        ],
    ),
    "islands smaller than a group": (
        {"parallelism": {"tensor": 8, "pipeline": 3}},
        [
            (
                "pool: found p5, with 2 nodes per island; allowed: islands of 3 nodes: one group has 3."
                " Set pools.p5.nodesPerIsland to 3."
            )
        ],
    ),
    "islands larger than a group": (
        {"pool": {"instanceType": "p5.48xlarge", "islands": 1, "nodesPerIsland": 3}},
        [
            (
                "pool: found p5, with 3 nodes per island; allowed: islands of 2 nodes: one group has 2."
                " Set pools.p5.nodesPerIsland to 2. An island belongs to one group: its other nodes stay idle."
            )
        ],
    ),
    "more groups than islands": (
        {"replicas": 3},
        [
            (
                "replicas: found 3; allowed: at most 2: p5 has 2 islands and each holds one group."
                " Lower replicas, or raise pools.p5.islands."
            )
        ],
    ),
    "a name too long for the groups' labels": (
        {"name": "g" * 51},
        [
            (
                f"metadata.name: found {'g' * 51}, of 51 characters; allowed: at most 50 characters:"
                " labels are made from it, with group indexes up to 1. Shorten the name."
            )
        ],
    ),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_finds(case: str) -> None:
    changes, messages = PROBLEMS[case]
    assert [str(problem) for problem in check(args(**changes))] == messages


def test_as_many_groups_as_islands_fit() -> None:
    assert check(args(replicas=2)) == []


@pytest.mark.parametrize("image", ["vllm/vllm-openai", "vllm/vllm-openai:latest", "registry.local:5000/vllm"])
def test_an_image_that_moves_is_refused(image: str) -> None:
    with pytest.raises(DeclarationError, match="Pin the image"):
        record(lambda: void(MultiNodeVllm("glm-5", declaration(image=image))))


@pytest.mark.parametrize("image", ["registry.local:5000/vllm:0.26.0", "vllm/vllm-openai@sha256:" + "0" * 64])
def test_an_image_pinned_by_tag_or_digest_is_taken(image: str) -> None:
    assert args(image=image).image == image


def test_leader_and_workers_are_told_the_same_split_and_rendezvous() -> None:
    leader, worker = (engine(pod)["command"] for pod in pods())
    rank = worker[: worker.index("--headless")]
    assert leader[: len(rank)] == rank
    assert rank[:3] == ["vllm", "serve", "zai-org/GLM-5-FP8"]
    assert dict(zip(rank[3::2], rank[4::2], strict=True)) == {
        "--distributed-executor-backend": "mp",
        "--tensor-parallel-size": "8",
        "--pipeline-parallel-size": "2",
        "--nnodes": "$(LWS_GROUP_SIZE)",
        "--node-rank": "$(LWS_WORKER_INDEX)",
        "--master-addr": "$(LWS_LEADER_ADDRESS)",
        "--master-port": "29501",
        "--distributed-timeout-seconds": "3600",
    }


def test_only_the_leader_serves() -> None:
    leader, worker = pods(servedModelName="glm")
    assert "--headless" not in engine(leader)["command"]
    assert engine(leader)["command"][-2:] == ["--served-model-name", "glm"]
    assert engine(worker)["command"][-1] == "--headless"
    assert "ports" not in engine(worker)


def test_extra_arguments_reach_every_rank_last() -> None:
    for pod in pods(extraArguments=["--max-model-len", "65536"]):
        assert engine(pod)["command"][-2:] == ["--max-model-len", "65536"]


def test_environment_of_the_user_wins_and_stands_once() -> None:
    for pod in pods(environment={"NCCL_NVLS_ENABLE": "1", "VLLM_HOST_IP": "10.0.0.1", "MINE": "x"}):
        entries = engine(pod)["env"]
        names = [entry["name"] for entry in entries]
        assert len(names) == len(set(names))
        values = {entry["name"]: entry.get("value") for entry in entries}
        assert (values["NCCL_NVLS_ENABLE"], values["VLLM_HOST_IP"], values["MINE"]) == ("1", "10.0.0.1", "x")


def test_the_token_comes_from_a_secret() -> None:
    for pod in pods(huggingFaceSecret="hf"):
        assert {
            "name": "HF_TOKEN",
            "valueFrom": {"secretKeyRef": {"name": "hf", "key": "HF_TOKEN"}},
        } in engine(pod)["env"]


def test_pods_are_guaranteed_and_take_a_whole_node() -> None:
    for pod in pods():
        resources = engine(pod)["resources"]
        assert resources["requests"] == resources["limits"]
        assert resources["limits"] == {
            "cpu": "180",
            "memory": "1843Gi",
            labels.GPU: "8",
            labels.EFA: "32",
        }
        for container in pod.get("initContainers", []):
            assert container["resources"]["requests"] == container["resources"]["limits"]


def test_every_timeout_follows_the_start_budget() -> None:
    lws = multi_node_vllm(args(startBudgetMinutes=90)).leader_worker_set
    leader, worker = pods(startBudgetMinutes=90)
    command = engine(leader)["command"]
    assert command[command.index("--distributed-timeout-seconds") + 1] == "5400"
    assert {"name": "VLLM_ENGINE_READY_TIMEOUT_S", "value": "5400"} in engine(leader)["env"]
    assert engine(leader)["livenessProbe"]["exec"]["command"][-2:] == ["--start-budget", "5400"]
    assert worker["initContainers"][0]["command"][-2:] == ["--start-budget", "5400"]
    assert lws.wait_minutes == 99


def test_leader_ready_comes_with_readiness_that_cannot_deadlock() -> None:
    spec = rendered()["spec"]
    leader, worker = pods()
    assert spec["startupPolicy"] == "LeaderReady"
    assert engine(leader)["readinessProbe"]["exec"]["command"][2] == "leader-ready"
    assert engine(worker)["readinessProbe"]["exec"]["command"][2] == "worker-ready"
    assert "startupProbe" not in engine(leader)
    assert "livenessProbe" not in engine(worker)


def test_the_rollout_uses_a_spare_island_where_there_is_one() -> None:
    def strategy(replicas: int) -> dict[str, Any]:
        return rendered(replicas=replicas)["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]  # type: ignore[no-any-return]  # manifests are JSON

    assert strategy(1) == {"maxUnavailable": 0, "maxSurge": 1, "partition": 0}
    assert strategy(2) == {"maxUnavailable": 1, "maxSurge": 0, "partition": 0}


def test_the_service_is_never_called_like_the_groups() -> None:
    objects = multi_node_vllm(args())
    assert objects.service["metadata"]["name"] == "glm-5-leader"
    assert objects.service["spec"]["selector"] == {labels.LWS_NAME: "glm-5", labels.LWS_WORKER_INDEX: "0"}


def test_a_new_probe_program_gets_a_new_name(monkeypatch: pytest.MonkeyPatch) -> None:
    before = readiness.config_map_name("glm-5")
    monkeypatch.setattr(readiness, "program", lambda: "print()")
    assert readiness.config_map_name("glm-5") != before


def test_an_instance_without_efa_is_asked_for_none() -> None:
    pool = {"instanceType": "g6e.12xlarge", "islands": 1, "nodesPerIsland": 2}
    for pod in pods(pool=pool, parallelism={"tensor": 4, "pipeline": 2}):
        assert labels.EFA not in engine(pod)["resources"]["limits"]


@pytest.mark.parametrize("preview", [True, False])
def test_the_component_registers_what_is_rendered(preview: bool) -> None:
    registrations = record(lambda: void(MultiNodeVllm("glm-5", declaration())), preview=preview)
    objects = multi_node_vllm(args())
    assert sorted((r.type, r.name) for r in registrations) == [
        ("kubernetes:core/v1:ConfigMap", "glm-5-probe"),
        ("kubernetes:core/v1:Service", "glm-5-leader"),
        ("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet", "glm-5-groups"),
        ("lws:index:LeaderWorkerSet", "glm-5-groups"),
        ("lws:index:MultiNodeVllm", "glm-5"),
    ]
    by_type = {r.type.rpartition(":")[2]: r.inputs for r in registrations if r.type.startswith("kubernetes:")}
    assert by_type == {
        "ConfigMap": objects.config_map,
        "Service": objects.service,
        "LeaderWorkerSet": leader_worker_set(objects.leader_worker_set),
    }


def test_the_objects_of_the_local_stack_are_as_reviewed(local_platform: dict[str, Any], golden: Any) -> None:
    platform = PlatformArgs.model_validate(local_platform)
    for name, deployment in platform.deployments.items():
        pool = platform.pools[deployment.pool]
        objects = multi_node_vllm(args_of(name, platform.namespace, deployment, pool))
        # The program is reviewed as the file that it is.
        config_map = objects.config_map | {"data": dict.fromkeys(objects.config_map["data"], "...")}
        golden.compare("local", [config_map, leader_worker_set(objects.leader_worker_set), objects.service])


def void(_: object) -> None:
    """Drop a value: a program returns nothing."""
