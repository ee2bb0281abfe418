"""Deployments that failed in public: none of them can be declared, or rendered, any more.

``broken/known_failures.yaml`` has what a declaration could do wrong, by the report. What our own rendering decides is
looked at in every pod, and manifests of others are judged by a rule.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pulumi_lws.facts import labels
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.rule import Target
from tests.serving.stacks import (
    Pod,
    all_pods,
    broken,
    every_stack,
    in_words,
    manifests_of,
    over_efa,
    pods_of,
    runs_vllm,
    said,
    spans_pods,
    stack,
    transfers,
)

BROKEN = broken("known_failures")
RULE = {rule.name: rule for rule in RULES}
POD_IP = {"fieldRef": {"fieldPath": "status.podIP"}}
RECREATES = {"RecreateGroupAfterStart", "RecreateGroupOnPodRestart"}


@pytest.mark.parametrize("report", BROKEN)
def test_what_failed_is_refused_with_what_to_do(report: str) -> None:
    assert BROKEN[report].answers() == BROKEN[report].said


@pytest.mark.parametrize("report", BROKEN)
def test_what_mends_it_passes(report: str) -> None:
    assert BROKEN[report].answers_once_mended() == []


def on_ray(pod: Pod) -> bool:
    return runs_vllm(pod) and pod.role.launch.shape.size > 1 and "ray-" in " ".join(pod.command)


def is_worker(pod: Pod) -> bool:
    return pod.position == "worker"


def serves_alone(pod: Pod) -> bool:
    """Whether a pod neither waits for others nor has any wait for it."""
    return pod.serves and not (spans_pods(pod) and pod.position == "leader")


def budget(pod: Pod) -> int:
    return pod.role.deployment.start_budget_minutes * 60


def has(**variables: Any) -> Callable[[Pod], bool]:
    return lambda pod: variables.items() <= pod.environment.items()


def waits_in_time(pod: Pod) -> bool:
    """Whether a worker waits for the name of its leader as long as the start may take, and no longer."""
    waits = [each["command"] for each in pod.spec["initContainers"] if each["name"] == "wait-for-leader"]
    return [command[-2:] for command in waits] == [["--budget", str(budget(pod))]]


def has_time_to_load(pod: Pod) -> bool:
    probe = pod.engine["startupProbe"]
    period, failures = int(probe["periodSeconds"]), int(probe["failureThreshold"])
    return budget(pod) - period < period * failures <= budget(pod)


def is_killed_only_after_its_budget(pod: Pod) -> bool:
    command = pod.engine["livenessProbe"]["exec"]["command"]
    return bool("leader-alive" in command and command[-2:] == ["--budget", str(budget(pod))])


def leaves_a_lost_node(pod: Pod) -> bool:
    waits = {each["key"]: each.get("tolerationSeconds") for each in pod.spec["tolerations"]}
    return [waits[f"node.kubernetes.io/{taint}"] for taint in ("not-ready", "unreachable")] == [60, 60]


def recreates_its_group(pod: Pod) -> bool:
    return pod.workload["leaderWorkerTemplate"]["restartPolicy"] in RECREATES


def configuration(pod: Pod) -> Any:
    return json.loads(pod.option("--kv-transfer-config"))


def has_shared_memory(pod: Pod) -> bool:
    mounts = {mount["mountPath"]: mount["name"] for mount in pod.engine["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod.spec["volumes"]}
    return bool(volumes[mounts["/dev/shm"]]["emptyDir"]["medium"] == "Memory")


def starts_by_name(pod: Pod) -> bool:
    """Whether the engine is started as ``vllm serve``, which knows ``--headless``; the module ignored it."""
    return "vllm.entrypoints" not in " ".join(pod.command) and "vllm serve" in " ".join(pod.command)


OVER_EFA = has(NCCL_NVLS_ENABLE="0", FI_PROVIDER="efa", FI_EFA_USE_DEVICE_RDMA="1")

RENDERED: Mapping[str, tuple[Callable[[Pod], bool], Callable[[Pod], bool]]] = {
    "vllm-34199": (lambda pod: pod.spec["enableServiceLinks"] is False, lambda _: True),
    "vllm-29173": (
        lambda pod: "--distributed-executor-backend ray" in " ".join(pod.command),
        lambda pod: on_ray(pod) and pod.serves,
    ),
    "dynamo-14108": (
        lambda pod: "ray start --block" in " ".join(pod.command) and pod.command[-1] == str(budget(pod)),
        lambda pod: on_ray(pod) and is_worker(pod),
    ),
    "vllm-7815": (lambda pod: '--node-ip-address="$VLLM_HOST_IP"' in " ".join(pod.command), on_ray),
    "vllm-2857": (has(VLLM_HOST_IP=POD_IP), lambda _: True),
    "vllm-27083": (has(VLLM_NIXL_SIDE_CHANNEL_HOST=POD_IP), transfers),
    "ray-60817": (has(VLLM_HOST_IP=POD_IP), lambda pod: bool(pod.spec.get("hostNetwork"))),
    "vllm-41814": (
        lambda pod: configuration(pod)["kv_connector_extra_config"]["backends"] == ["LIBFABRIC"],
        lambda pod: transfers(pod) and over_efa(pod),
    ),
    "vllm-22430": (lambda pod: pod.option("--pipeline-parallel-size", "1") == "1", transfers),
    "kserve-5062": (has_time_to_load, serves_alone),
    "kserve-5062 groups": (is_killed_only_after_its_budget, lambda pod: spans_pods(pod) and not is_worker(pod)),
    "kserve-5062 workers": (
        lambda pod: "livenessProbe" not in pod.engine,
        lambda pod: is_worker(pod) and not pod.serves,
    ),
    "production-stack-276": (has_shared_memory, lambda _: True),
    "vllm-36875": (starts_by_name, lambda pod: runs_vllm(pod) and not (on_ray(pod) and is_worker(pod))),
    "vllm-32136": (recreates_its_group, spans_pods),
    "kuberay-1141": (recreates_its_group, on_ray),
    "lws-508": (leaves_a_lost_node, lambda _: True),
    "aws-do-eks-62": (waits_in_time, is_worker),
    "aws-do-eks-53": (OVER_EFA, lambda pod: over_efa(pod) and spans_pods(pod)),
    "vllm-11139": (lambda pod: {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"} <= pod.environment.keys(), spans_pods),
    "vllm-44548": (has(USER="vllm"), runs_vllm),
    "vllm-49238": (lambda pod: configuration(pod)["kv_load_failure_policy"] == "recompute", transfers),
    "vllm-55906": (lambda pod: pod.efa == pod.gpus * 4, transfers),
    "llm-d-keep-alive": (has(VLLM_HTTP_TIMEOUT_KEEP_ALIVE="120"), lambda pod: pod.role.name == "prefill"),
}
"""What holds of pods, and of which: all those of the examples, their variants and further declarations."""


@pytest.mark.parametrize("report", RENDERED)
def test_what_failed_is_never_rendered(report: str) -> None:
    holds, of = RENDERED[report]
    assert all_pods(holds, of)


def test_a_deployment_may_be_called_vllm() -> None:
    """vllm-34199."""
    settings = stack("glm-5", name="vllm")
    assert said(settings) == []
    assert [pod.spec["enableServiceLinks"] for pod in pods_of(settings)] == [False, False]


def test_no_autoscaler_asks_the_router_for_requests_in_flight() -> None:
    """llm-d-router-2529: the gauge kept the requests of pods that were gone."""
    kinds = {"ScaledObject", "HorizontalPodAutoscaler"}
    found = [each for settings in every_stack().values() for each in manifests_of(settings) if each["kind"] in kinds]
    assert found
    assert "llm_d_epp" not in json.dumps(found)


def test_a_change_of_what_both_roles_share_rolls_both() -> None:
    """vllm-49238: a decode pod that knows a prefill pod of before must go with it."""
    revisions = [
        {pod.labels[labels.REVISION] for pod in pods_of(stack("glm-5-disaggregated", **change)) if pod.serves}
        for change in ({}, {"image": "example/vllm:0.26.0"}, {"decode": {"environment": {"A": "b"}}})
    ]
    assert [len(each) for each in revisions] == [1, 1, 1]
    assert len(set.union(*revisions)) == 3


def foreign(pod: Mapping[str, Any], **container: Any) -> dict[str, Any]:
    """A LeaderWorkerSet of somebody else."""
    engine = {"name": "engine", "image": "vllm/vllm-openai:v0.26.0", **container}
    template = {"spec": {"containers": [engine], **pod}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "llm", "namespace": "models"},
        "spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template}},
    }


NIXL = ["vllm", "serve", "m", "--kv-transfer-config", '{"kv_connector":"NixlConnector","kv_role":"kv_both"}']
SIXTEEN = ["sh", "-c", "ray start --head; vllm serve m --tensor-parallel-size 8 --pipeline-parallel-size 2"]
EIGHT = {"limits": {"nvidia.com/gpu": 8}}
CONTAINER = "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0]"

FOREIGN: Mapping[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "vllm-29173": (
        "executor-backend",
        foreign({}, command=SIXTEEN, resources=EIGHT),
        (
            f"warning: {CONTAINER}.command: found vLLM with 16 GPUs for tensor and pipeline parallelism, 8 in the pod;"
            " allowed: a backend that spans pods: vLLM chooses none by itself. Add --distributed-executor-backend ray"
            " where Ray starts the ranks, else --nnodes and --node-rank."
        ),
        foreign({}, command=[*SIXTEEN[:2], f"{SIXTEEN[2]} --distributed-executor-backend ray"], resources=EIGHT),
    ),
    "vllm-27083": (
        "side-channel-host",
        foreign({}, command=NIXL),
        (
            f"error: {CONTAINER}.env: found no VLLM_NIXL_SIDE_CHANNEL_HOST, which is localhost then; allowed: the pod's"
            " own address. Set VLLM_NIXL_SIDE_CHANNEL_HOST by valueFrom.fieldRef from status.podIP."
        ),
        foreign({}, command=NIXL, env=[{"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": POD_IP}]),
    ),
    "kthena-503": (
        "side-channel-host",
        foreign({}, command=NIXL, env=[{"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "value": "0.0.0.0"}]),  # noqa: S104
        (
            f"error: {CONTAINER}.env[0].value: found 0.0.0.0; allowed: the pod's own address. Set"
            " VLLM_NIXL_SIDE_CHANNEL_HOST by valueFrom.fieldRef from status.podIP."
        ),
        foreign({}, command=NIXL, env=[{"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": POD_IP}]),
    ),
}


@pytest.mark.parametrize("report", FOREIGN)
def test_manifests_of_others_are_judged_by_a_rule(report: str) -> None:
    rule, wrong, expected, right = FOREIGN[report]
    assert [in_words(problem) for problem in RULE[rule].problems(registered(wrong), Target())] == [expected]
    assert RULE[rule].problems(registered(right), Target()) == []


def test_a_service_of_others_called_vllm_is_judged_by_the_pods_around_it() -> None:
    """vllm-34199."""
    service = registered({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "vllm", "namespace": "models"}})

    def found(pod: Mapping[str, Any]) -> list[str]:
        others = [service, registered(foreign(pod))]
        return [in_words(problem) for problem in RULE["service-links"].problems(service, Target(), others=others)]

    assert found({}) == [
        (
            "error: metadata.name: found vllm, which sets VLLM_PORT in the pods of llm; allowed: a name that sets no"
            " variable of vLLM. Set enableServiceLinks to false in all pods of the namespace, or give the Service"
            " another name."
        )
    ]
    assert found({"enableServiceLinks": False}) == []


def test_every_report_is_looked_after() -> None:
    tested = {name.split()[0] for names in (BROKEN, RENDERED, FOREIGN) for name in names}
    assert tested == {
        "vllm-34199",
        "vllm-29173",
        "dynamo-14108",
        "vllm-7815",
        "vllm-2857",
        "vllm-27083",
        "kthena-503",
        "ray-60817",
        "vllm-41814",
        "vllm-27055",
        "vllm-27633",
        "vllm-27898",
        "vllm-22430",
        "vllm-43523",
        "kserve-5062",
        "production-stack-276",
        "vllm-36875",
        "vllm-32136",
        "lws-508",
        "aws-do-eks-62",
        "aws-do-eks-53",
        "vllm-11139",
        "vllm-44548",
        "vllm-49238",
        "vllm-55906",
        "llm-d-router-2529",
        "kuberay-1141",
        "llm-d-keep-alive",
    }
