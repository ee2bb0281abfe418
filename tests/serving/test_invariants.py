"""What must hold before anything is applied, by the number of the invariant.

``broken/invariants.yaml`` has the declarations that break one, with all that is said of them. Where our own rendering
decides, every pod of every example, of its variants and of further declarations is looked at.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.examples import CHANGES
from pulumi_lws.component import DeclarationError
from pulumi_lws.facts import labels
from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.facts.models import MODELS
from pulumi_lws.planning.parallelism import Parallelism, group_shape
from pulumi_lws.planning.problems import errors_of
from pulumi_lws.planning.split import split_problems
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.component import SingleNodeVllm
from pulumi_lws.serving.placement import pod_resources, shared_memory_gib
from pulumi_lws.testing.monitor import record
from tests.serving.stacks import (
    PACKED,
    Pod,
    all_pods,
    broken,
    every_pod,
    every_stack,
    manifests_of,
    over_efa,
    pods_of,
    runs_vllm,
    said,
    spans_pods,
    stack,
    transfers,
)

BROKEN = broken("invariants")
EXPERTS = {"tensor": 8, "data": 2, "expert": True}

INSTANCES = st.sampled_from(list(INSTANCE_TYPES.values()))
SPLITS = st.builds(
    Parallelism, tensor=st.integers(1, 32), pipeline=st.integers(1, 6), data=st.integers(1, 20), expert=st.booleans()
)


@pytest.mark.parametrize("invariant", BROKEN)
def test_a_declaration_that_breaks_an_invariant_is_answered_with_what_would_hold(invariant: str) -> None:
    assert BROKEN[invariant].answers() == BROKEN[invariant].said


@pytest.mark.parametrize("invariant", BROKEN)
def test_a_declaration_that_holds_to_an_invariant_passes(invariant: str) -> None:
    assert BROKEN[invariant].answers_once_mended() == []


@given(SPLITS, INSTANCES)
def test_1_a_split_without_error_fills_its_pods(split: Parallelism, instance: Any) -> None:
    shape = group_shape(split, instance.gpus)
    assert errors_of(split_problems(None, split, instance)) or shape.size * shape.gpus_per_pod == split.gpus
    # 2
    assert shape.gpus_per_pod <= instance.gpus


def test_1_pods_have_the_gpus_of_the_split_that_their_engine_is_told() -> None:
    assert all_pods(lambda pod: pod.gpus * pod.size == pod.role.settings.parallelism.gpus)
    told = {"--tensor-parallel-size": "tensor", "--pipeline-parallel-size": "pipeline", "--data-parallel-size": "data"}

    def is_told(pod: Pod) -> bool:
        split = pod.role.settings.parallelism
        return all(pod.option(flag, "1") == str(getattr(split, field)) for flag, field in told.items())

    # Workers of Ray are told by their head.
    assert all_pods(is_told, lambda pod: runs_vllm(pod) and "serve" in pod.command)


def test_2_a_pod_never_asks_for_more_gpus_than_its_instance_has() -> None:
    assert all_pods(lambda pod: pod.gpus <= pod.role.pool.instance.gpus)


def test_3_the_data_ranks_of_all_pods_are_the_declared_ones() -> None:
    def several(pod: Pod) -> bool:
        local = int(pod.option("--data-parallel-size-local"))
        starts = "--data-parallel-start-rank 0" if pod.position == "leader" else f"LWS_WORKER_INDEX * {local}"
        return local * pod.size == int(pod.option("--data-parallel-size")) and starts in " ".join(pod.command)

    assert all_pods(several, lambda pod: "--data-parallel-size-local" in pod.command)

    def one(pod: Pod) -> bool:
        return pod.option("--data-parallel-rank") == "$(LWS_WORKER_INDEX)" and pod.option(
            "--data-parallel-size"
        ) == str(pod.size)

    assert all_pods(one, lambda pod: "--data-parallel-rank" in pod.command)


@given(st.sampled_from(list(MODELS.values())), st.integers(1, 8))
def test_4_tensor_ranks_divide_heads_and_share_those_of_the_cache_evenly(model: Any, tensor: int) -> None:
    whole = model.attention_heads % tensor == 0 and 8 % tensor == 0
    shared = model.has_latent_attention or model.kv_heads % tensor == 0 or tensor % model.kv_heads == 0
    found = split_problems(model, Parallelism(tensor=tensor, expert=True), INSTANCE_TYPES["p5.48xlarge"])
    wrong = {problem.path for problem in found} & {"parallelism.tensor"}
    # 5
    block, width = model.quantization_block, model.dense_intermediate_size
    cut = bool(block and width and (width % tensor or width // tensor % block))
    assert bool(wrong) == (not whole or not shared or cut)


def test_8_with_a_latent_decode_may_have_fewer_tensor_ranks_than_prefill() -> None:
    decode = {"parallelism": {"tensor": 4, "data": 4, "expert": True}}
    assert said(stack("glm-5-disaggregated", decode=decode, maxModelLen=32768)) == []


def test_9_both_roles_are_told_the_same_model_image_and_cache() -> None:
    for settings in every_stack().values():
        pods = [pod for pod in pods_of(settings) if transfers(pod)]
        alike = {
            (pod.engine["image"], pod.command[2], pod.option("--kv-cache-dtype"), pod.option("--kv-transfer-config"))
            for pod in pods
        }
        assert len(alike) <= 1


@given(INSTANCES, st.data())
def test_11_a_pod_has_the_efa_interfaces_of_its_gpus(instance: Any, data: st.DataObject) -> None:
    gpus = data.draw(st.sampled_from([count for count in range(1, instance.gpus + 1) if instance.gpus % count == 0]))
    efa = int(pod_resources(instance, gpus).get(labels.EFA, 0))
    assert efa == instance.efa_interfaces * gpus // instance.gpus
    assert gpus < instance.gpus or efa == instance.efa_interfaces


@pytest.mark.parametrize(
    ("instance", "efa"),
    [("p4d.24xlarge", 4), ("p5.48xlarge", 32), ("p5e.48xlarge", 32), ("p5en.48xlarge", 16), ("p6-b200.48xlarge", 8)],
)
def test_11_pods_of_whole_nodes_take_every_efa_interface(instance: str, efa: int) -> None:
    assert [pod.efa for pod in pods_of(stack("glm-5", pools={"p5": {"instanceType": instance}}))] == [efa, efa]


def test_11_pods_ask_for_no_interface_that_their_pool_leaves_out() -> None:
    assert [pod.efa for pod in pods_of(stack("glm-5", pools={"p5": {"efa": "none"}}))] == [0, 0]


def test_12_caches_go_by_libfabric_wherever_there_is_efa() -> None:
    def backends(pod: Pod) -> Any:
        return json.loads(pod.option("--kv-transfer-config"))["kv_connector_extra_config"].get("backends")

    assert all_pods(lambda pod: backends(pod) == ["LIBFABRIC"], lambda pod: transfers(pod) and over_efa(pod))


def test_13_a_pod_tells_others_the_address_that_kubernetes_gives_it() -> None:
    address = {"fieldRef": {"fieldPath": "status.podIP"}}
    assert all_pods(lambda pod: pod.environment["VLLM_NIXL_SIDE_CHANNEL_HOST"] == address, transfers)
    assert all_pods(lambda pod: pod.environment["VLLM_HOST_IP"] == address)


def test_14_a_pool_of_a_gateway_has_one_port_however_many_data_ranks_a_pod_has() -> None:
    pools = [
        pool for stack in every_stack().values() for pool in manifests_of(stack) if pool["kind"] == "InferencePool"
    ]
    assert {json.dumps(pool["spec"]["targetPorts"]) for pool in pools} == {'[{"number": 8000}]'}


def test_15_every_wait_of_an_engine_is_the_start_budget() -> None:
    def waits(pod: Pod) -> bool:
        budget = str(pod.role.deployment.start_budget_minutes * 60)
        return (
            pod.environment["VLLM_ENGINE_READY_TIMEOUT_S"] == budget
            and pod.option("--distributed-timeout-seconds", budget) == budget
        )

    assert all_pods(waits, runs_vllm)


def test_16_groups_start_leader_first_and_only_with_readiness_that_cannot_deadlock() -> None:
    assert all_pods(
        lambda pod: (
            pod.workload["startupPolicy"] == "LeaderReady"
            and "leader-ready" in pod.engine["readinessProbe"]["exec"]["command"]
            and "startupProbe" not in pod.engine
        ),
        lambda pod: spans_pods(pod) and pod.position == "leader",
    )


@given(INSTANCES, st.data(), st.integers(1, 4096))
def test_17_shared_memory_is_a_part_of_the_memory_of_its_pod(instance: Any, data: st.DataObject, declared: int) -> None:
    gpus = data.draw(st.integers(1, instance.gpus))
    memory = int(pod_resources(instance, gpus)["memory"].removesuffix("Gi"))
    assert 1 <= shared_memory_gib(instance, gpus, declared) <= memory


def test_17_pods_have_shared_memory_and_the_huge_pages_that_they_use() -> None:
    def shares(pod: Pod) -> bool:
        volumes = {volume["name"]: volume.get("emptyDir", {}) for volume in pod.spec["volumes"]}
        (name,) = [mount["name"] for mount in pod.engine["volumeMounts"] if mount["mountPath"] == "/dev/shm"]
        return volumes[name]["medium"] == "Memory" and "sizeLimit" in volumes[name]

    assert all_pods(shares)
    uses = {"environment": {"FI_EFA_USE_HUGE_PAGE": "1"}}
    pods = pods_of(stack(PACKED, prefill=uses, pools={"p5": {"hugepages": True}}))
    pages = [pod.engine["resources"]["limits"].get("hugepages-2Mi") for pod in pods]
    assert pages == ["1280Mi", None]


def test_18_no_pod_gets_variables_of_services() -> None:
    assert all_pods(lambda pod: pod.spec["enableServiceLinks"] is False)


def test_19_requests_go_to_the_pods_that_serve_and_to_no_others() -> None:
    chosen = 0
    for settings in every_stack().values():
        pods = pods_of(settings)
        for selector in selectors_of(settings):
            selected = [pod for pod in pods if selector.items() <= pod.labels.items()]
            assert all(pod.serves for pod in selected)
            chosen += len(selected)
    assert chosen > len(every_stack())


def selectors_of(settings: dict[str, Any]) -> list[dict[str, str]]:
    kinds = {"Service", "InferencePool"}
    found = [manifest["spec"]["selector"] for manifest in manifests_of(settings) if manifest["kind"] in kinds]
    return [dict(selector.get("matchLabels", selector)) for selector in found]


def test_20_ranks_on_other_nodes_are_started_by_vllm_itself_or_by_ray_and_never_by_both() -> None:
    assert all_pods(
        lambda pod: pod.option("--distributed-executor-backend") == "mp",
        lambda pod: "--nnodes" in pod.command and runs_vllm(pod),
    )
    assert all_pods(
        lambda pod: "--nnodes" not in pod.command, lambda pod: pod.option("--distributed-executor-backend") == "ray"
    )


def test_21_a_pod_that_balances_over_data_ranks_serves() -> None:
    assert all_pods(lambda pod: "--headless" not in pod.command, lambda pod: "--data-parallel-hybrid-lb" in pod.command)
    assert all_pods(
        lambda pod: pod.role.launch.is_mixture_of_experts is True, lambda pod: "--data-parallel-rank" in pod.command
    )


def test_23_what_an_autoscaler_owns_is_not_written_down() -> None:
    scaled = [pod for pod in every_pod() if pod.role.settings.autoscaling is not None]
    assert scaled
    assert all("replicas" not in pod.workload for pod in scaled)
    # Such a role starts with one copy, which is what the API server fills in.
    scaled_role = {"replicas": 1, "autoscaling": {"maxReplicas": 3}}
    roles = {pod.role.name: pod for pod in pods_of(stack(PACKED, backend="disaggregated-set", decode=scaled_role))}
    assert (roles["decode"].workload["replicas"], roles["prefill"].workload["replicas"]) == (1, 4)
    # Slices are not offered: with a role that is scaled there may be only one.
    assert said(stack(PACKED, slices=2))[0].startswith("error: deployments.gpt-oss.slices: found an unknown field")


def test_24_the_sidecar_of_decode_speaks_plainly_with_pods_that_have_no_certificate() -> None:
    def sidecars(pod: Pod) -> list[Any]:
        return [each for each in pod.spec.get("initContainers", ()) if each["name"] == "routing-sidecar"]

    decode = [pod for pod in every_pod() if pod.role.name == "decode" and pod.serves]
    assert all("--secure-proxy=false" in container["args"] for pod in decode for container in sidecars(pod))
    assert all(len(sidecars(pod)) == 1 for pod in decode)
    assert all_pods(lambda pod: sidecars(pod) == [], lambda pod: pod.role.name != "decode")


def test_25_a_token_comes_from_a_secret() -> None:
    key = {"secret": "keys", "key": "vllm"}
    (pod,) = pods_of(stack("llama-3.3-70b", secretEnvironment={"VLLM_API_KEY": key}))
    assert pod.environment["VLLM_API_KEY"] == {"secretKeyRef": {"name": "keys", "key": "vllm"}}
    assert pod.environment["HF_TOKEN"] == {"secretKeyRef": {"name": "hugging-face", "key": "HF_TOKEN"}}


def test_25_a_token_in_plain_text_stops_a_component_and_is_not_shown() -> None:
    platform = PlatformArgs.model_validate(stack("llama-3.3-70b", environment={"HF_TOKEN": "hf_value"}))
    (args,) = deployments_of(platform).values()
    with pytest.raises(DeclarationError) as stopped:
        record(lambda: void(SingleNodeVllm("llama-70b", args)))
    assert "environment.HF_TOKEN: found a value in plain text" in str(stopped.value)
    assert "hf_value" not in str(stopped.value)


def void(_: object) -> None:
    """Drop a value: a program returns nothing."""


def test_27_nothing_asks_a_worker_that_serves_nobody() -> None:
    def asked(pod: Pod) -> bool:
        probes = [probe for name, probe in pod.engine.items() if name.endswith("Probe")]
        return any(set(probe) & {"httpGet", "tcpSocket", "grpc"} for probe in probes)

    assert all_pods(lambda pod: not asked(pod), lambda pod: spans_pods(pod) and not pod.serves)


def test_28_the_pods_of_both_roles_ask_for_one_zone() -> None:
    def zones(pod: Pod) -> list[str]:
        terms = pod.spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        return [term["topologyKey"] for term in terms]

    leads = [pod for pod in every_pod() if transfers(pod) and pod.position == "leader"]
    assert all(zones(pod) == [labels.ZONE] for pod in leads)


def test_every_invariant_is_looked_after() -> None:
    tested = [int(key.split()[0]) for key in BROKEN]
    tested += [
        int(name.split("_")[1]) for name in globals() if name.startswith("test_") and name.split("_")[1].isdigit()
    ]
    assert set(tested) == set(range(1, 29))


def test_every_kind_of_pod_is_looked_at() -> None:
    assert {pod.role.engine_kind for pod in every_pod()} == {"vllm", "sglang", "custom"}
    assert {pod.role.name for pod in every_pod()} == {"serve", "prefill", "decode"}
    assert len(every_stack()) > sum(map(len, CHANGES.values()))
