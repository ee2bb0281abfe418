"""A model behind Ray Serve: what KubeRay and Ray are told."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.ray.serve import INGRESS_CPUS, INGRESSES_PER_COPY
from pulumi_lws.ray.settings import RayServiceVllmArgs, ray_pool_use, worker_bounds
from pulumi_lws.serving import placement
from tests.ray.ray_declarations import (
    cluster_spec,
    environment,
    head_spec,
    objects,
    pools,
    service_args,
    small_args,
    worker_spec,
    workers,
)


def application(args: RayServiceVllmArgs) -> dict[str, Any]:
    (found,) = yaml.safe_load(objects(args).cluster["spec"]["serveConfigV2"])["applications"]
    return dict(found)


def model(args: RayServiceVllmArgs) -> dict[str, Any]:
    (found,) = application(args)["args"]["llm_configs"]
    return dict(found)


def test_ray_serve_is_told_the_model_its_split_and_its_bounds() -> None:
    deployment = {
        "autoscaling_config": {
            "min_replicas": 1,
            "max_replicas": 2,
            "target_ongoing_requests": 64,
            "downscale_delay_s": 3600,
        },
        "graceful_shutdown_timeout_s": 120,
    }
    assert application(service_args(engineArguments={"max_num_seqs": 128})) == {
        "name": "llama",
        "import_path": "ray.serve.llm:build_openai_app",
        "route_prefix": "/",
        "args": {
            "llm_configs": [
                {
                    "model_loading_config": {
                        "model_id": "meta-llama/Llama-3.1-405B-Instruct",
                        "model_source": "/models",
                    },
                    "engine_kwargs": {
                        "tensor_parallel_size": 8,
                        "pipeline_parallel_size": 2,
                        "gpu_memory_utilization": 0.9,
                        "max_model_len": 16384,
                        "distributed_timeout_seconds": 3600,
                        "cpu_distributed_timeout_seconds": 3600,
                        "max_num_seqs": 128,
                    },
                    "placement_group_config": {"bundle_per_worker": {"GPU": 1}, "strategy": "PACK"},
                    "deployment_config": deployment,
                }
            ],
            "ingress_deployment_config": {
                "autoscaling_config": {
                    "min_replicas": 2,
                    "max_replicas": 4,
                    "target_ongoing_requests": 32,
                    "downscale_delay_s": 3600,
                },
                "graceful_shutdown_timeout_s": 120,
                "ray_actor_options": {"num_cpus": 0.5},
            },
        },
    }


def test_copies_that_stay_have_no_autoscaler_at_any_level() -> None:
    args = service_args(maxCopies=None, minCopies=2)
    assert model(args)["deployment_config"] == {"num_replicas": 2, "graceful_shutdown_timeout_s": 120}
    spec = cluster_spec(args)
    assert (spec["enableInTreeAutoscaling"], "autoscalerOptions" in spec) == (False, False)
    assert workers(args)["replicas"] == 4


def test_a_copy_on_a_part_of_a_node_is_never_torn_apart() -> None:
    args = small_args()
    assert model(args)["placement_group_config"]["strategy"] == "STRICT_PACK"
    assert "distributed_timeout_seconds" not in model(args)["engine_kwargs"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (
            {"kind": "hugging-face", "revision": "main"},
            {"model_source": "meta-llama/Llama-3.1-405B-Instruct", "revision": "main"},
        ),
        (
            {"kind": "volume", "claim": "models", "path": "llama", "stream": True},
            {
                "model_source": "/models/llama",
                "load_format": "runai_streamer",
                "model_loader_extra_config": {"concurrency": 16},
            },
        ),
    ],
)
def test_weights_come_from_where_the_source_says(source: dict[str, Any], found: dict[str, Any]) -> None:
    told = model(service_args(source=source))
    merged = {**told["engine_kwargs"], **told["model_loading_config"]}
    assert {name: merged[name] for name in found} == found


def test_a_token_of_the_hub_comes_from_a_secret() -> None:
    found = environment(worker_spec(service_args(source={"kind": "hugging-face", "tokenSecret": "hub"})))
    assert found["HF_TOKEN"] == {"secretKeyRef": {"name": "hub", "key": "HF_TOKEN"}}


def test_a_worker_is_a_whole_node_that_nobody_disturbs() -> None:
    template, spec = workers(service_args())["template"], worker_spec(service_args())
    (container,) = spec["containers"]
    assert container["resources"]["limits"] == {
        "cpu": "180",
        "memory": "1843Gi",
        "nvidia.com/gpu": "8",
        "vpc.amazonaws.com/efa": "32",
    }
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert template["metadata"] == {
        "labels": {labels.DEPLOYMENT: "llama", labels.ROLE: "worker"},
        "annotations": {labels.DO_NOT_DISRUPT: "true"},
    }
    assert spec["nodeSelector"] == {labels.POOL: "p5"}
    assert spec["tolerations"][0] == {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert (spec["enableServiceLinks"], spec["automountServiceAccountToken"]) == (False, False)
    assert {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}} in spec["volumes"]
    assert workers(service_args())["rayStartParams"] == {"object-store-memory": str(32 << 30)}


def test_workers_know_their_address_and_how_to_reach_one_another() -> None:
    found = environment(worker_spec(service_args()))
    assert found["VLLM_HOST_IP"] == {"fieldRef": {"fieldPath": "status.podIP"}}
    assert (found["NCCL_SOCKET_IFNAME"], found["FI_PROVIDER"]) == ("eth0", "efa")
    assert "FI_PROVIDER" not in environment(worker_spec(small_args()))


def test_what_the_user_says_of_the_environment_wins() -> None:
    secret = {"secret": "keys", "key": "token"}
    args = service_args(environment={"NCCL_NVLS_ENABLE": "1"}, secretEnvironment={"MY_TOKEN": secret})
    found = environment(worker_spec(args))
    assert found["NCCL_NVLS_ENABLE"] == "1"
    assert found["MY_TOKEN"] == {"secretKeyRef": {"name": "keys", "key": "token"}}


def test_a_pool_without_efa_is_asked_for_none() -> None:
    args = service_args(pools=pools(efa="none"))
    assert "vpc.amazonaws.com/efa" not in worker_spec(args)["containers"][0]["resources"]["limits"]
    assert "FI_PROVIDER" not in environment(worker_spec(args))


def test_the_head_has_no_gpu_runs_nothing_and_stays_off_gpu_nodes() -> None:
    args = service_args(head={"cpus": 8, "memoryGib": 32, "nodeSelector": {"team": "ml"}})
    group, spec = cluster_spec(args)["headGroupSpec"], head_spec(args)
    assert {key: group["rayStartParams"][key] for key in ("num-cpus", "num-gpus")} == {"num-cpus": "0", "num-gpus": "0"}
    assert spec["containers"][0]["resources"] == {
        "requests": {"cpu": "8", "memory": "32Gi"},
        "limits": {"cpu": "8", "memory": "32Gi"},
    }
    assert spec["affinity"] == {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": labels.POOL, "operator": "DoesNotExist"}]}]
            }
        }
    }
    assert (spec["nodeSelector"], "tolerations" in spec) == ({"team": "ml"}, False)


def test_every_container_of_the_head_is_guaranteed() -> None:
    resources = cluster_spec(service_args())["autoscalerOptions"]["resources"]
    assert resources == {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"cpu": "1", "memory": "2Gi"}}


def test_only_a_head_with_an_autoscaler_may_ask_the_api_server() -> None:
    assert head_spec(service_args())["automountServiceAccountToken"] is True
    assert head_spec(service_args(maxCopies=1))["automountServiceAccountToken"] is False


def test_every_cluster_asks_for_a_token() -> None:
    assert cluster_spec(service_args())["authOptions"] == {"mode": "token"}
    own = cluster_spec(service_args(tokenSecret="ray"))["authOptions"]
    assert own == {"mode": "token", "secretName": "ray"}


def test_the_state_of_the_head_can_outlive_it() -> None:
    redis = {"redisAddress": "redis.models.svc:6379", "password": {"secret": "redis", "key": "password"}}
    args = service_args(faultTolerance=redis)
    assert cluster_spec(args)["gcsFaultToleranceOptions"] == {
        "redisAddress": "redis.models.svc:6379",
        "redisPassword": {"valueFrom": {"secretKeyRef": {"name": "redis", "key": "password"}}},
    }
    assert "head-budget" in objects(service_args()).beside
    assert "head-budget" not in objects(args).beside


def test_time_outs_follow_from_the_start_budget_and_the_drain() -> None:
    args = service_args(startBudgetMinutes=90, drainSeconds=300)
    found, spec = environment(worker_spec(args)), worker_spec(args)
    deployment = model(args)["deployment_config"]
    assert {
        "idle": cluster_spec(args)["autoscalerOptions"]["idleTimeoutSeconds"],
        "engine start": int(found["RAYLLM_ENGINE_START_TIMEOUT_S"]),
        "engine ready": int(found["VLLM_ENGINE_READY_TIMEOUT_S"]),
        "ranks": model(args)["engine_kwargs"]["distributed_timeout_seconds"],
        "fewer copies": deployment["autoscaling_config"]["downscale_delay_s"],
        "replica drain": deployment["graceful_shutdown_timeout_s"],
        "old cluster": objects(args).cluster["spec"]["rayClusterDeletionDelaySeconds"],
        "grace": spec["terminationGracePeriodSeconds"],
        "update minutes": objects(args).update_minutes,
    } == {
        "idle": 5400,
        "engine start": 5400,
        "engine ready": 5400,
        "ranks": 5400,
        "fewer copies": 5400,
        "replica drain": 300,
        "old cluster": 310,
        "grace": 340,
        "update minutes": 99,
    }


def test_a_worker_that_is_told_to_stop_is_drained_before_its_grace_ends() -> None:
    spec = worker_spec(service_args(drainSeconds=300))
    shell, option, script = spec["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    assert (shell, option) == ("sh", "-c")
    assert script == (
        "ray drain-node --reason=DRAIN_NODE_REASON_PREEMPTION --reason-message='the pod was told to stop'"
        " --deadline-remaining-seconds=310 & sleep 310"
    )


def test_a_worker_is_ready_once_it_takes_requests() -> None:
    (container,) = worker_spec(service_args())["containers"]
    *interpreter, program = container["readinessProbe"]["exec"]["command"]
    assert interpreter == ["python3", "-IS", "-c"]
    compile(program, "probe", "exec")
    assert re.findall(r"http://[^']+", program) == [
        "http://localhost:52365/api/local_raylet_healthz",
        "http://localhost:8000/-/healthz",
    ]


@pytest.mark.parametrize("spec_of", [worker_spec, head_spec])
def test_pods_live_as_long_as_workers_look_for_a_new_head(spec_of: Any) -> None:
    liveness = spec_of(service_args())["containers"][0]["livenessProbe"]
    assert liveness["httpGet"] == {"path": "/api/healthz", "port": 52365}
    assert liveness["periodSeconds"] * liveness["failureThreshold"] == 600


def test_nobody_reaches_more_than_they_need() -> None:
    ingress = objects(service_args()).before["network"]["spec"]["ingress"]
    own = {"podSelector": {"matchLabels": {labels.DEPLOYMENT: "llama"}}}
    assert ingress == [
        {"from": [own]},
        {"from": [{"podSelector": {}}], "ports": [{"protocol": "TCP", "port": 8000}]},
        {
            "from": [{"namespaceSelector": {"matchLabels": {labels.NAMESPACE_NAME: "monitoring"}}}],
            "ports": [{"protocol": "TCP", "port": 8080}],
        },
        {
            "from": [{"namespaceSelector": {"matchLabels": {labels.NAMESPACE_NAME: "kuberay-system"}}}],
            "ports": [{"protocol": "TCP", "port": 8265}],
        },
    ]
    assert objects(service_args(network=None)).before == {}


def test_services_of_the_head_stay_inside_the_cluster_and_list_no_port_of_clients() -> None:
    group = cluster_spec(service_args())["headGroupSpec"]
    ports = {port["name"]: port["containerPort"] for port in head_spec(service_args())["containers"][0]["ports"]}
    assert (group["serviceType"], group["enableIngress"]) == ("ClusterIP", False)
    assert ports == {"gcs-server": 6379, "dashboard": 8265, "metrics": 8080, "serve": 8000}
    assert objects(service_args()).cluster["spec"]["excludeHeadPodFromServeSvc"] is True


def test_a_drain_of_nodes_takes_one_worker_of_the_fewest_at_a_time() -> None:
    def budget(**changes: Any) -> Any:
        return objects(service_args(**changes)).beside.get("budget", {}).get("spec")

    assert budget() == {
        "minAvailable": 1,
        "selector": {"matchLabels": {labels.DEPLOYMENT: "llama", labels.ROLE: "worker"}},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    assert budget(minCopies=2)["minAvailable"] == 3
    assert objects(small_args(maxCopies=2)).beside.keys() == {"head-budget"}


@pytest.mark.parametrize(
    ("upgrade", "found"),
    [
        ({"kind": "new-cluster"}, {"type": "NewCluster"}),
        ({"kind": "none"}, {"type": "None"}),
        (
            {"kind": "incremental", "gatewayClass": "envoy", "stepPercent": 5, "intervalSeconds": 30},
            {
                "type": "NewClusterWithIncrementalUpgrade",
                "clusterUpgradeOptions": {
                    "gatewayClassName": "envoy",
                    "stepSizePercent": 5,
                    "intervalSeconds": 30,
                    "maxSurgePercent": 100,
                },
            },
        ),
    ],
)
def test_an_upgrade_is_what_kuberay_calls_it(upgrade: dict[str, Any], found: dict[str, Any]) -> None:
    args = service_args(upgrade=upgrade)
    assert objects(args).cluster["spec"]["upgradeStrategy"] == found
    url = None if upgrade["kind"] == "incremental" else "http://llama-serve-svc.models.svc:8000/v1"
    assert objects(args).url == url


def test_whatever_changes_the_model_or_the_bounds_makes_a_new_cluster() -> None:
    def revision(**changes: Any) -> str:
        template = cluster_spec(service_args(**changes))["headGroupSpec"]["template"]
        return str(template["metadata"]["annotations"][labels.SERVE_REVISION])

    changed = [revision(**each) for each in ({"maxModelLen": 8192}, {"maxCopies": 3}, {"requestsPerCopy": 8}, {})]
    assert len(set(changed)) == len(changed)
    assert revision(labels={"team": "ml"}) == revision()


def test_an_update_waits_until_the_service_serves_and_no_upgrade_runs() -> None:
    annotations = objects(service_args()).cluster["metadata"]["annotations"]
    assert json.loads(annotations[labels.PULUMI_WAIT_FOR]) == ["condition=Ready", "condition=UpgradeInProgress=False"]
    assert objects(service_args(wait="none")).cluster["metadata"]["annotations"] == {labels.PULUMI_SKIP_AWAIT: "true"}


def test_a_queue_admits_the_whole_service() -> None:
    args = service_args(queue="ml", maxCopies=1)
    assert objects(args).cluster["metadata"]["labels"] == {labels.KUEUE_QUEUE: "ml"}


def test_a_gateway_follows_what_waits_in_ray() -> None:
    gateway = {"deployment": "edge", "namespace": "gateways", "maxReplicas": 4}
    found = objects(service_args(gateway=gateway, servedModelName="llama")).beside["gateway-autoscaler"]
    assert found["spec"]["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "edge"}
    (trigger,) = found["spec"]["triggers"]
    assert trigger["metricType"] == "AverageValue"
    assert trigger["metadata"]["query"] == (
        'sum(ray_vllm_num_requests_waiting{namespace="models",model_name="llama"}) or vector(0)'
    )
    own = objects(service_args(gateway={**gateway, "query": "vector(1)"})).beside["gateway-autoscaler"]
    assert own["spec"]["triggers"][0]["metadata"]["query"] == "vector(1)"


def test_copies_that_share_a_node_share_a_worker() -> None:
    args = small_args(minCopies=2, maxCopies=5)
    assert (workers(args)["minReplicas"], workers(args)["maxReplicas"]) == (1, 3)
    assert ray_pool_use(args, args.pools) == {"p5": 24}


@given(
    tensor=st.sampled_from([1, 2, 4, 8]),
    pipeline=st.integers(1, 4),
    copies=st.lists(st.integers(1, 50), min_size=2, max_size=2),
)
def test_the_workers_hold_all_copies_and_no_whole_worker_more(tensor: int, pipeline: int, copies: list[int]) -> None:
    pipeline = pipeline if tensor == 8 else 1
    node = GpuPool.model_validate({"instanceType": "p5.48xlarge", "nodes": 999})
    split = Parallelism(tensor=tensor, pipeline=pipeline)
    args = small_args().model_copy(update={"parallelism": split, "min_copies": min(copies), "max_copies": max(copies)})
    for workers_, copies_ in zip(worker_bounds(args, node), sorted(copies), strict=True):
        gpus = copies_ * split.gpus
        assert gpus <= workers_ * 8 < gpus + 8


@pytest.mark.parametrize("name", INSTANCE_TYPES)
def test_every_worker_has_cpus_for_its_copies_and_what_takes_their_requests(name: str) -> None:
    instance = INSTANCE_TYPES[name]
    cpus = int(placement.pod_resources(instance, instance.gpus)["cpu"])
    assert instance.gpus * (1 + INGRESSES_PER_COPY * INGRESS_CPUS) <= cpus
