"""A model over several nodes: what is rendered, and what cannot run."""

from typing import Any

import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.facts import labels
from pulumi_lws.serving.checks import check
from pulumi_lws.serving.component import MultiNodeVllm
from pulumi_lws.serving.objects import DeploymentObjects
from pulumi_lws.serving.render import render
from pulumi_lws.serving.settings import MultiNodeVllmArgs
from pulumi_lws.testing.monitor import record
from pulumi_lws.workloads.manifests import leader_worker_set


def pools(**changes: Any) -> dict[str, Any]:
    return {"p5": {"instanceType": "p5.48xlarge", "islands": 3, "nodesPerIsland": 2} | changes}


def declaration(**changes: Any) -> dict[str, Any]:
    return {
        "name": "glm-5",
        "namespace": "models",
        "model": "zai-org/GLM-5-FP8",
        "maxModelLen": 65536,
        "parallelism": {"tensor": 8, "pipeline": 2},
        "replicas": 2,
        "source": {"kind": "node", "path": "/models/glm-5"},
        "pool": "p5",
        "pools": pools(),
        **changes,
    }


def args(**changes: Any) -> MultiNodeVllmArgs:
    return MultiNodeVllmArgs.model_validate(declaration(**changes))


def objects(**changes: Any) -> DeploymentObjects:
    return render(args(**changes))


def rendered(**changes: Any) -> dict[str, Any]:
    return leader_worker_set(objects(**changes).groups["groups"])


def pods(**changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    template = rendered(**changes)["spec"]["leaderWorkerTemplate"]
    return template["leaderTemplate"]["spec"], template["workerTemplate"]["spec"]


def engine(pod: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = pod["containers"][0]
    return container


def value_of(command: list[str], flag: str) -> str:
    return command[command.index(flag) + 1]


def variables(pod: dict[str, Any]) -> dict[str, Any]:
    names = [entry["name"] for entry in engine(pod)["env"]]
    assert len(names) == len(set(names))
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in engine(pod)["env"]}


PROBLEMS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a copy that fits one node": (
        {"parallelism": {"tensor": 8}, "model": "meta-llama/Llama-3.3-70B-Instruct"},
        [
            (
                "parallelism: found TP8: 8 GPUs for one copy; allowed: more than the 8 GPUs of one p5.48xlarge."
                " Declare kind single-node-vllm: a copy that fits one node needs no LeaderWorkerSet, a Deployment"
                " serves it."
            )
        ],
    ),
    "a plain pool": (
        {"pools": {"p5": {"instanceType": "p5.48xlarge", "nodes": 4}}},
        [
            (
                "pool: found p5, a plain pool; allowed: a pool with islands."
                " Set pools.p5.islands to 2 and nodesPerIsland to 2, and remove its nodes."
            )
        ],
    ),
    "islands smaller than a group": (
        {"pools": pools(nodesPerIsland=1)},
        [
            (
                "pool: found p5, with 1 node per island; allowed: islands of 2 nodes: one group has 2."
                " Set pools.p5.nodesPerIsland to 2."
            )
        ],
    ),
    "islands larger than a group": (
        {"pools": pools(nodesPerIsland=3)},
        [
            (
                "pool: found p5, with 3 nodes per island; allowed: islands of 2 nodes: one group has 2."
                " Set pools.p5.nodesPerIsland to 2. An island belongs to one group: its other nodes stay idle."
            )
        ],
    ),
    "more groups than islands": (
        {"replicas": 4},
        [
            (
                "replicas: found 4; allowed: at most 3: p5 has 3 islands, each for one group."
                " Lower replicas, or raise pools.p5.islands."
            )
        ],
    ),
    "a surge that no island is left for": (
        {"replicas": 3, "surge": 1},
        [
            (
                "surge: found 1, which needs 64 GPUs of p5 during a rollout; allowed: 0, or a pool of 64 GPUs: it has"
                " 48. Set surge to 0, so that one copy at a time is down, or enlarge pools.p5."
            )
        ],
    ),
    "a pool that is kept for another role": (
        {"pools": pools(role="decode")},
        [
            (
                "pool: found p5, a pool for decode; allowed: a pool for serve, or for any role."
                " Name another pool, or remove pools.p5.role."
            )
        ],
    ),
    "no such pool": (
        {"pool": "p6"},
        ["pool: found p6; allowed: p5. Name a pool of this stack, or declare it under pools."],
    ),
    "a name too long for the groups' labels": (
        {"name": "g" * 51},
        [
            (
                f"metadata.name: found {'g' * 51}, of 51 characters; allowed: at most 50 characters:"
                " labels are made from it, with group indexes up to 2. Shorten the name."
            )
        ],
    ),
    "a sidecar that is called like the engine and takes nobody knows what": (
        {"sidecars": [{"name": "engine", "image": "envoy:1.0"}]},
        [
            "sidecars[0].name: found engine; allowed: a name other than engine, wait-for-leader. Rename it.",
            (
                "sidecars[0].resources: found no limit of cpu, no limit of memory; allowed: limits of cpu and memory,"
                " and no other requests: they are taken from the engine's share of the node. Set limits, and leave"
                " requests out."
            ),
        ],
    ),
    "a NetworkPolicy for pods on the network of their node": (
        {"hostNetwork": "enp71s0"},
        [
            (
                "network: found a NetworkPolicy for pods on their node's interface enp71s0; allowed: null with"
                " hostNetwork: a NetworkPolicy does not hold for the network of a node. Set network to null, and let"
                " the security group of the nodes say who reaches them."
            )
        ],
    ),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_finds(case: str) -> None:
    changes, messages = PROBLEMS[case]
    assert [str(problem) for problem in check(args(**changes))] == messages


def test_as_many_groups_as_islands_fit() -> None:
    assert check(args(replicas=3)) == []


@pytest.mark.parametrize("image", ["vllm/vllm-openai", "vllm/vllm-openai:latest", "registry.local:5000/vllm"])
def test_an_image_that_moves_is_refused(image: str) -> None:
    with pytest.raises(DeclarationError, match="Pin the image"):
        record(lambda: void(MultiNodeVllm("glm-5", declaration(image=image))))


@pytest.mark.parametrize("image", ["registry.local:5000/vllm:0.26.0", "vllm/vllm-openai@sha256:" + "0" * 64])
def test_an_image_pinned_by_tag_or_digest_is_taken(image: str) -> None:
    assert args(image=image).image == image


def test_leader_and_workers_are_told_the_same_split_and_rendezvous() -> None:
    commands = [engine(pod)["command"] for pod in pods()]
    for flag, value in {
        "--distributed-executor-backend": "mp",
        "--tensor-parallel-size": "8",
        "--pipeline-parallel-size": "2",
        "--nnodes": "$(LWS_GROUP_SIZE)",
        "--node-rank": "$(LWS_WORKER_INDEX)",
        "--master-port": "29501",
        "--distributed-timeout-seconds": "3600",
    }.items():
        assert [value_of(command, flag) for command in commands] == [value, value]
    # The leader listens on its own address, whether its name resolves yet or not.
    addresses = [value_of(command, "--master-addr") for command in commands]
    assert addresses == ["$(POD_IP)", "$(LWS_LEADER_ADDRESS)"]


def test_only_the_leader_serves() -> None:
    leader, worker = pods(servedModelName="glm")
    assert "--headless" not in engine(leader)["command"]
    assert value_of(engine(leader)["command"], "--served-model-name") == "glm"
    assert "--headless" in engine(worker)["command"]
    assert "ports" not in engine(worker)
    assert "lifecycle" not in engine(worker)


def test_what_the_user_adds_is_merged_and_never_lost() -> None:
    sidecar = {
        "name": "log",
        "image": "log:1.0",
        "resources": {kind: {"cpu": "1500m", "memory": "3Gi"} for kind in ("requests", "limits")},
    }
    plain_leader, _ = pods()
    for pod in pods(
        extraArguments=["--max-num-seqs", "64"],
        environment={"NCCL_NVLS_ENABLE": "1", "VLLM_HOST_IP": "10.0.0.1", "MINE": "x"},
        volumes=[{"name": "shared-memory", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "mine", "emptyDir": {}}],
        volumeMounts=[{"name": "mine", "mountPath": "/mine"}],
        sidecars=[sidecar],
        labels={"team": "search"},
        imagePullSecret="registry",
    ):
        container = engine(pod)
        assert container["command"][-2:] == ["--max-num-seqs", "64"]
        assert variables(pod) | {"NCCL_NVLS_ENABLE": "1", "VLLM_HOST_IP": "10.0.0.1", "MINE": "x"} == variables(pod)
        volumes = [volume["name"] for volume in pod["volumes"]]
        assert len(volumes) == len(set(volumes))
        assert {"name": "shared-memory", "emptyDir": {"sizeLimit": "1Gi"}} in pod["volumes"]
        assert {"name": "mine", "mountPath": "/mine"} in container["volumeMounts"]
        assert pod["imagePullSecrets"] == [{"name": "registry"}]
    leader, worker = pods(sidecars=[sidecar])
    assert leader["containers"][1:] == [sidecar]
    assert worker["containers"][1:] == []
    taken = [
        int(engine(pod)["resources"]["limits"][kind].removesuffix("Gi"))
        for kind in ("cpu", "memory")
        for pod in (plain_leader, leader)
    ]
    assert (taken[0] - taken[1], taken[2] - taken[3]) == (2, 3)


def test_the_users_labels_never_take_the_place_of_those_that_selectors_need() -> None:
    template = rendered(labels={labels.DEPLOYMENT: "other", "team": "search"})["spec"]["leaderWorkerTemplate"]
    for part, serves in (("leaderTemplate", {labels.SERVES: "true"}), ("workerTemplate", {})):
        assert template[part]["metadata"]["labels"] == {
            labels.DEPLOYMENT: "glm-5",
            labels.ROLE: "serve",
            "team": "search",
            **serves,
        }


def test_the_token_comes_from_a_secret() -> None:
    for pod in pods(source={"kind": "hugging-face", "tokenSecret": "hf"}):
        assert variables(pod)["HF_TOKEN"] == {"secretKeyRef": {"name": "hf", "key": "HF_TOKEN"}}


def test_pods_are_guaranteed_and_take_a_whole_node() -> None:
    for pod in pods():
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["resources"]["requests"] == container["resources"]["limits"]
        limits = engine(pod)["resources"]["limits"]
        assert (limits[labels.GPU], limits[labels.EFA]) == ("8", "32")


def test_every_timeout_follows_the_start_budget() -> None:
    leader, worker = pods(startBudgetMinutes=90)
    assert value_of(engine(leader)["command"], "--distributed-timeout-seconds") == "5400"
    assert variables(leader)["VLLM_ENGINE_READY_TIMEOUT_S"] == "5400"
    assert value_of(engine(leader)["livenessProbe"]["exec"]["command"], "--budget") == "5400"
    assert value_of(worker["initContainers"][0]["command"], "--budget") == "5400"
    assert objects(startBudgetMinutes=90).groups["groups"].wait_minutes == 99


def test_a_pod_is_dropped_by_its_routes_before_it_drains_and_has_time_for_both() -> None:
    leader, worker = pods(drainSeconds=300)
    assert engine(leader)["lifecycle"] == {"preStop": {"sleep": {"seconds": 10}}}
    assert value_of(engine(leader)["command"], "--shutdown-timeout") == "300"
    assert (leader["terminationGracePeriodSeconds"], worker["terminationGracePeriodSeconds"]) == (340, 30)


def test_leader_ready_comes_with_readiness_that_cannot_deadlock() -> None:
    spec = rendered()["spec"]
    leader, worker = pods()
    assert spec["startupPolicy"] == "LeaderReady"
    assert "leader-ready" in engine(leader)["readinessProbe"]["exec"]["command"]
    assert "worker-ready" in engine(worker)["readinessProbe"]["exec"]["command"]
    assert "startupProbe" not in engine(leader)
    assert "livenessProbe" not in engine(worker)


def strategy(**changes: Any) -> dict[str, Any]:
    update: dict[str, Any] = rendered(**changes)["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    return update


def test_the_rollout_uses_a_spare_island_only_where_nothing_else_takes_it() -> None:
    over = {"maxUnavailable": 0, "maxSurge": 1, "partition": 0}
    in_place = {"maxUnavailable": 1, "maxSurge": 0, "partition": 0}
    assert strategy(replicas=2) == over
    assert strategy(replicas=3) == in_place
    assert strategy(replicas=2, takenGpus={"p5": 16}) == in_place
    assert strategy(replicas=1, takenGpus={"p5": 16}) == over
    assert strategy(replicas=1, autoscaling={"maxReplicas": 3}) == in_place
    assert strategy(replicas=1, surge=0) == in_place


@pytest.mark.parametrize(
    ("version", "policy"), [("0.8.0", "RecreateGroupOnPodRestart"), ("0.9.0", "RecreateGroupAfterStart")]
)
def test_a_restart_recreates_the_group_as_far_as_the_lws_of_the_cluster_can(version: str, policy: str) -> None:
    assert rendered(lwsVersion=version)["spec"]["leaderWorkerTemplate"]["restartPolicy"] == policy


def test_an_autoscaler_owns_the_replicas() -> None:
    scaled = objects(autoscaling={"maxReplicas": 3})
    assert "replicas" not in leader_worker_set(scaled.groups["groups"])["spec"]
    assert scaled.beside["autoscaler"]["spec"]["scaleTargetRef"] == {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "name": "glm-5",
    }


def test_the_service_selects_leaders_and_is_never_called_like_the_groups() -> None:
    service = objects().beside["api"]
    assert service["metadata"]["name"] == "glm-5-api"
    assert service["spec"]["selector"] == {labels.DEPLOYMENT: "glm-5", labels.SERVES: "true"}


def test_an_instance_without_efa_is_asked_for_none() -> None:
    plain = pools(instanceType="g6e.4xlarge")
    for pod in pods(pools=plain, parallelism={"tensor": 1, "pipeline": 2}):
        assert labels.EFA not in engine(pod)["resources"]["limits"]
        assert "FI_PROVIDER" not in variables(pod)


def test_pods_on_the_network_of_their_node_find_each_other_and_name_its_interface() -> None:
    for pod in pods(hostNetwork="enp71s0", network=None):
        assert (pod["hostNetwork"], pod["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
        assert variables(pod)["GLOO_SOCKET_IFNAME"] == "enp71s0"
        assert variables(pod)["NCCL_SOCKET_IFNAME"].startswith("^")
    leader, _ = pods(hostNetwork="enp71s0", network=None)
    assert "--own-sockets" in engine(leader)["readinessProbe"]["exec"]["command"]


@pytest.mark.parametrize("preview", [True, False])
def test_the_component_registers_what_is_rendered(preview: bool) -> None:
    registrations = record(lambda: void(MultiNodeVllm("glm-5", declaration())), preview=preview)
    expected = objects()
    assert sorted((r.type, r.name) for r in registrations) == [
        ("kubernetes:core/v1:ConfigMap", "glm-5-probe"),
        ("kubernetes:core/v1:Service", "glm-5-api"),
        ("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet", "glm-5-groups"),
        ("kubernetes:networking.k8s.io/v1:NetworkPolicy", "glm-5-network"),
        ("kubernetes:policy/v1:PodDisruptionBudget", "glm-5-budget"),
        ("lws:index:LeaderWorkerSet", "glm-5-groups"),
        ("lws:index:MultiNodeVllm", "glm-5"),
    ]
    manifests = {**expected.before, **expected.beside, "groups": leader_worker_set(expected.groups["groups"])}
    assert {r.name: r.inputs for r in registrations if r.type.startswith("kubernetes:")} == {
        f"glm-5-{key}": manifest for key, manifest in manifests.items()
    }


def void(_: object) -> None:
    """Drop a value: a program returns nothing."""
