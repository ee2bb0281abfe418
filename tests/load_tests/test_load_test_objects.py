"""What a load test consists of, and when it is another one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pulumi_lws.facts import labels
from pulumi_lws.load_tests.manifests import deadline_seconds, load_test_objects
from pulumi_lws.load_tests.record import record_of
from pulumi_lws.load_tests.scenario import scenario
from pulumi_lws.serving.render import render
from pulumi_lws.tenancy.pod_security import violations
from tests.load_tests.tested import glm, gpt_oss, load_test


def job_of(name: str = "chat", deployment: Any = None, **changes: Any) -> dict[str, Any]:
    return load_test_objects(name, load_test(**changes), deployment or glm())["job"]


def container_of(job: dict[str, Any], name: str) -> Any:
    spec = job["spec"]["template"]["spec"]
    (found,) = [each for each in [*spec["initContainers"], *spec["containers"]] if each["name"] == name]
    return found


def environment_of(job: dict[str, Any]) -> dict[str, Any]:
    return {
        entry["name"]: entry.get("value") or entry["valueFrom"]["secretKeyRef"]
        for entry in container_of(job, "load")["env"]
    }


def test_the_record_says_what_a_result_depends_on() -> None:
    deployment = glm(
        kvCacheDtype="fp8",
        replicas=2,
        extraArguments=["--max-num-seqs", "64", "--api-key", "sk-abcdefghijklmnop1234"],
        environment={"NCCL_DEBUG": "WARN"},
    )
    assert record_of(load_test(), deployment) == {
        "deployment": "glm-5",
        "kind": "multi-node-vllm",
        "model": "zai-org/GLM-5-FP8",
        "weights": "float8",
        "engine": "vllm",
        "image": "public.ecr.aws/deep-learning-containers/vllm:0.26.0-gpu-py312-cu130-ubuntu22.04-ec2",
        "maxModelLen": 131072,
        "kvCacheDtype": "fp8",
        "gpus": 32,
        "roles": {
            "serve": {
                "replicas": 2,
                "parallelism": "TP8 PP2",
                "gpusPerReplica": 16,
                "nodesPerReplica": 2,
                "pool": "p5",
                "instanceType": "p5.48xlarge",
                "gpu": "H100",
                "network": {"efa": "dynamic", "efaInterfacesPerPod": 32, "placementGroup": True},
                "gpuMemoryUtilization": 0.9,
                "kvCacheTokens": record_of(load_test(), deployment)["roles"]["serve"]["kvCacheTokens"],
                "extraArguments": ["--max-num-seqs", "64", "--api-key", "text (not shown)"],
                "environment": {"NCCL_DEBUG": "WARN"},
            }
        },
        "lws": "0.10.0",
        "kubernetes": "1.35.4",
        "load": {
            "url": "http://glm-5-api.models.svc:8000/v1",
            "kind": "concurrent",
            "requests": [1, 8, 32],
            "inputTokens": 8000,
            "outputTokens": 1000,
            "seconds": 300,
            "maxErrorRate": 0.01,
            "run": 1,
            "tokenizer": "zai-org/GLM-5-FP8",
            "generator": "ghcr.io/vllm-project/guidellm:v0.8.1",
        },
    }


def test_a_record_counts_the_gpus_of_both_roles_and_no_efa_where_there_is_none() -> None:
    record = record_of(load_test(deployment="gpt-oss"), gpt_oss())
    assert record["gpus"] == 2 * 2 + 4
    assert record["roles"]["decode"]["network"] == {
        "efa": "dynamic",
        "efaInterfacesPerPod": 16,
        "placementGroup": False,
    }
    pools = {"small": {"instanceType": "p5.48xlarge", "nodes": 2, "efa": "none"}}
    without = record_of(load_test(deployment="gpt-oss"), gpt_oss(pools=pools))
    assert without["roles"]["prefill"]["network"] == {"efa": "none", "efaInterfacesPerPod": 0, "placementGroup": False}


def test_the_generator_is_told_exactly_what_was_declared() -> None:
    test = load_test(load={"kind": "arriving", "perSecond": [0.5, 2]}, seconds=600, maxErrorRate=0.02)
    assert scenario("chat", test, glm(servedModelName="glm"), seed=7) == {
        "metadata": {"labels": {"loadTest": "chat", "deployment": "glm-5"}},
        "spec": {
            "backend": {
                "kind": "openai_http",
                "target": "http://glm-5-api.models.svc:8000/v1",
                "model": "glm",
                "request_format": "/v1/completions",
                "api_routes": {"/health": "v1/models"},
                "verify": True,
            },
            "profile": {"kind": "poisson", "rate": [0.5, 2.0], "warmup": {"percent": 0.1}},
            "constraints": [
                {"kind": "max_duration", "seconds": 600},
                {"kind": "max_global_error_rate", "rate": 0.02, "stopping_scope": "all"},
            ],
            "tokenizer": {"kind": "huggingface_auto", "model": "zai-org/GLM-5-FP8"},
            "data": [{"kind": "synthetic_text", "prompt_tokens": 8000, "output_tokens": 1000}],
            "seed": {"kind": "static", "value": 7},
            "outputs": [{"kind": "json"}],
            "metrics": {"kind": "generative", "sample_size": 0},
        },
    }
    concurrent = scenario("chat", load_test(), glm(), seed=7)["spec"]["profile"]
    assert concurrent == {"kind": "concurrent", "streams": [1, 8, 32], "warmup": {"percent": 0.1}}


@pytest.mark.parametrize(
    "changes",
    [{"run": 2}, {"inputTokens": 8001}, {"load": {"kind": "concurrent", "requests": [1, 8]}}, {"cpus": 8}],
    ids=lambda changes: next(iter(changes)),
)
def test_another_test_is_another_job_and_the_same_is_the_same(changes: dict[str, Any]) -> None:
    first, other = job_of(), job_of(**changes)
    assert first == job_of()
    assert first["metadata"]["name"] != other["metadata"]["name"]


def test_another_deployment_is_another_job_but_not_what_no_result_depends_on() -> None:
    first = job_of()
    assert job_of(deployment=glm(labels={"team": "a"})) == first
    assert job_of(deployment=glm(replicas=2))["metadata"]["name"] != first["metadata"]["name"]


def test_prompts_of_another_run_are_others() -> None:
    def seed(run: int) -> int:
        text = load_test_objects("chat", load_test(run=run), glm())["record"]["data"]["scenario.json"]
        value: int = json.loads(text)["spec"]["seed"]["value"]
        return value

    assert seed(1) == seed(1) != seed(2)


@given(st.from_regex(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True))
def test_names_of_pods_of_any_test_are_labels(name: str) -> None:
    longest = f"{job_of(name)['metadata']['name']}-abcde"
    assert len(longest) <= 63
    assert "--" not in longest or "--" in name


def test_a_job_runs_once_and_stays() -> None:
    spec = job_of(seconds=120)["spec"]
    assert spec["backoffLimit"] == 0
    assert "ttlSecondsAfterFinished" not in spec
    assert spec["activeDeadlineSeconds"] == 900 + 3 * (120 + 60) == deadline_seconds(load_test(seconds=120))
    assert spec["podFailurePolicy"] == {
        "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
    }


def test_a_pod_takes_no_gpu_no_node_of_a_pool_and_no_right() -> None:
    template = job_of()["spec"]["template"]
    spec = template["spec"]
    assert violations(spec) == []
    assert spec["automountServiceAccountToken"] is False
    assert "tolerations" not in spec
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms == [{"matchExpressions": [{"key": "pulumi-lws/pool", "operator": "DoesNotExist"}]}]
    resources = {"cpu": "4", "memory": "8Gi"}
    for name in ("load", "summary"):
        assert container_of(job_of(), name)["resources"] == {"requests": resources, "limits": resources}
    assert template["metadata"]["labels"] == {labels.LOAD_TEST: "chat"}


@pytest.mark.parametrize("storage_class", [None, "gp3"])
def test_a_claim_with_a_size_is_made_for_the_results_and_awaited_by_nobody(storage_class: str | None) -> None:
    results = {"sizeGib": 10, **({"storageClass": storage_class} if storage_class else {})}
    objects = load_test_objects("chat", load_test(results=results), glm())
    assert objects["results"] == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "load-test-chat",
            "namespace": "models",
            "labels": {labels.LOAD_TEST: "chat"},
            "annotations": {labels.PULUMI_SKIP_AWAIT: "true"},
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "10Gi"}},
            **({"storageClassName": storage_class} if storage_class else {}),
        },
    }
    volumes = {each["name"]: each for each in objects["job"]["spec"]["template"]["spec"]["volumes"]}
    assert volumes["results"] == {"name": "results", "persistentVolumeClaim": {"claimName": "load-test-chat"}}
    # More room is no other test.
    assert job_of(results={**results, "sizeGib": 20}) == objects["job"]


def test_results_lie_in_a_folder_of_the_job_on_the_claim() -> None:
    job = job_of(results="load-tests")
    volumes = {volume["name"]: volume for volume in job["spec"]["template"]["spec"]["volumes"]}
    assert volumes["results"] == {"name": "results", "persistentVolumeClaim": {"claimName": "load-tests"}}
    folder = f"/results/{job['metadata']['name']}"
    assert environment_of(job)["GUIDELLM__DEFAULT_RESULTS_DIR"] == folder
    assert container_of(job, "summary")["command"][-1] == folder


def test_keys_come_from_the_secrets_of_the_deployment() -> None:
    deployment = glm(
        source={"kind": "hugging-face", "tokenSecret": "hub"},
        secretEnvironment={"VLLM_API_KEY": {"secret": "api", "key": "key"}},
        environment={"HF_ENDPOINT": "https://hub.example.com"},
    )
    job = job_of(deployment=deployment)
    own = {"GUIDELLM__DEFAULT_RESULTS_DIR": f"/results/{job['metadata']['name']}"}
    hub = {"HF_TOKEN": {"name": "hub", "key": "HF_TOKEN"}, "HF_ENDPOINT": "https://hub.example.com"}
    api_key = "GUIDELLM__SPEC__BACKEND__API_KEY"
    assert environment_of(job) == {**own, api_key: {"name": "api", "key": "key"}, **hub}
    other = job_of(deployment=deployment, apiKey={"secret": "mine", "key": "k"})
    assert environment_of(other)[api_key] == {"name": "mine", "key": "k"}


@pytest.mark.parametrize(
    ("source", "changes", "claim", "folder"),
    [
        ({"kind": "volume", "claim": "weights", "path": "/glm/5"}, {}, "weights", "/tokenizer/glm/5"),
        ({"kind": "s3", "uri": "s3://bucket/glm"}, {"tokenizerClaim": "small"}, "small", "/tokenizer"),
        (
            {"kind": "volume", "claim": "weights"},
            {"tokenizerClaim": "small", "tokenizerPath": "glm"},
            "small",
            "/tokenizer/glm",
        ),
    ],
)
def test_a_tokenizer_on_a_volume_is_read_without_the_hub(
    source: dict[str, Any], changes: dict[str, Any], claim: str, folder: str
) -> None:
    deployment = glm(source=source)
    objects = load_test_objects("chat", load_test(**changes), deployment)
    volumes = {volume["name"]: volume for volume in objects["job"]["spec"]["template"]["spec"]["volumes"]}
    assert volumes["tokenizer"]["persistentVolumeClaim"] == {"claimName": claim, "readOnly": True}
    assert environment_of(objects["job"])["HF_HUB_OFFLINE"] == "1"
    assert json.loads(objects["record"]["data"]["scenario.json"])["spec"]["tokenizer"]["model"] == folder
    assert {"ports": [{"protocol": "TCP", "port": 443}]} not in objects["network"]["spec"]["egress"]


def test_a_pod_reaches_names_its_namespace_and_the_hub_alone() -> None:
    network = load_test_objects("chat", load_test(), glm())["network"]["spec"]
    assert network == {
        "podSelector": {"matchLabels": {labels.LOAD_TEST: "chat"}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [],
        "egress": [
            {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]},
            {"to": [{"podSelector": {}}]},
            {"ports": [{"protocol": "TCP", "port": 443}]},
        ],
    }


@pytest.mark.parametrize(
    ("test", "deployment"),
    [
        (load_test(url="https://llm.example.com/v1"), glm()),
        (load_test(), glm(environment={"HF_ENDPOINT": "http://hub.example.com:8080"})),
    ],
    ids=["a gateway", "a hub of its own"],
)
def test_a_pod_reaches_everything_where_addresses_are_not_known(test: Any, deployment: Any) -> None:
    assert load_test_objects("chat", test, deployment)["network"]["spec"]["egress"] == [{}]


@pytest.mark.parametrize("deployment", [glm(), gpt_oss()], ids=lambda deployment: deployment.name)
def test_requests_go_to_the_address_of_the_deployment_unless_another_is_given(deployment: Any) -> None:
    own = scenario("chat", load_test(deployment=deployment.name), deployment, 1)["spec"]["backend"]["target"]
    assert own == render(deployment).url
    url = "https://llm.example.com/v1"
    assert scenario("chat", load_test(url=url), deployment, 1)["spec"]["backend"]["target"] == url


@pytest.mark.parametrize("steps", [[], [1, 1], [8, 1], [*range(1, 22)]])
def test_steps_rise_and_are_not_too_many(steps: list[int]) -> None:
    with pytest.raises(ValidationError) as caught:
        load_test(load={"kind": "concurrent", "requests": steps})
    (error,) = caught.value.errors()
    assert error["loc"] == ("load", "concurrent", "requests")
    assert error["ctx"]["allowed"] == "1 to 20 numbers, each larger than the one before it"
    assert load_test(load={"kind": "concurrent", "requests": [*range(1, 21)]}).steps == (*range(1, 21),)
