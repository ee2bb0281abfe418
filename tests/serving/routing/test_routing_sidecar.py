"""The sidecar of pods that decode, and what else routing adds to pods."""

from typing import Any

import pytest

from pulumi_lws.serving.pods import pod_template
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.routing import attached, sidecar
from pulumi_lws.workloads.settings import PodTemplate
from tests.serving.disaggregations import GLM_5, args, role, roles

GATEWAY: dict[str, Any] = {"router": {"kind": "gateway", "gateway": "edge"}}

RESTRICTED: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "runAsUser": 65532,
    "runAsGroup": 65532,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def template(of: Role, position: Any = "leader") -> PodTemplate:
    return pod_template(of, position)


def init_containers(of: Role, position: Any = "leader") -> list[str]:
    return [container["name"] for container in template(of, position).spec.get("initContainers", [])]


def test_the_sidecar_runs_before_the_engine_and_until_it_has_ended() -> None:
    health = {"httpGet": {"path": "/health", "port": 8000}}
    assert sidecar.container(image="sidecar:v1", port=8000, engine_port=8200) == {
        "name": "routing-sidecar",
        "image": "sidecar:v1",
        "args": [
            "--port=8000",
            "--model-server-port=8200",
            "--kv-connector=nixlv2",
            "--secure-proxy=false",
            "--prefill-max-retries=2",
        ],
        "restartPolicy": "Always",
        "ports": [{"name": "routed", "containerPort": 8000}],
        "resources": {kind: {"cpu": "1", "memory": "1Gi"} for kind in ("requests", "limits")},
        "securityContext": RESTRICTED,
        "startupProbe": {**health, "periodSeconds": 1, "failureThreshold": 60},
        "readinessProbe": {**health, "periodSeconds": 5, "timeoutSeconds": 3},
    }


def test_behind_a_gateway_only_pods_of_the_pool_may_compute_prompts() -> None:
    _, decode = roles(**GATEWAY)
    spec = template(decode).spec
    (added,) = spec["initContainers"]
    assert added["args"][-2:] == ["--enable-ssrf-protection=true", "--inference-pool=models/gpt-oss"]
    assert added["volumeMounts"] == [
        {"name": "kubernetes-api", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True}
    ]
    assert (spec["serviceAccountName"], spec["automountServiceAccountToken"]) == ("gpt-oss-decode", False)
    assert sidecar.credentials() in spec["volumes"]
    assert "kubernetes-api" not in str(spec["containers"])


def test_a_service_account_that_reads_the_weights_is_kept() -> None:
    source = {"kind": "s3", "uri": "s3://example-models/gpt-oss", "serviceAccount": "model-reader"}
    prefill, decode = roles(source=source, **GATEWAY)
    assert [template(of).spec["serviceAccountName"] for of in (prefill, decode)] == ["model-reader", "model-reader"]


def test_only_decode_has_a_sidecar() -> None:
    prefill, decode = roles()
    assert [init_containers(of) for of in (prefill, decode)] == [[], ["routing-sidecar"]]


def test_every_pod_that_serves_has_a_sidecar_and_the_labels_that_the_router_reads() -> None:
    _, decode = roles(**GLM_5)
    assert init_containers(decode) == ["routing-sidecar"]
    assert init_containers(decode, "worker") == ["routing-sidecar", "wait-for-leader"]
    expected = {
        "pulumi-lws/deployment": "glm-5",
        "pulumi-lws/role": "decode",
        "pulumi-lws/serves": "true",
        "llm-d.ai/role": "decode",
        "pulumi-lws/revision": attached.revision(decode),
    }
    assert [template(decode, position).metadata.labels for position in ("leader", "worker")] == [expected, expected]


def test_a_pod_that_answers_nobody_is_not_routed_to() -> None:
    _, decode = roles(**GLM_5 | {"decode": role("islands", 1, tensor=16)})
    assert init_containers(decode, "worker") == ["wait-for-leader"]
    assert template(decode, "worker").metadata.labels == {"pulumi-lws/deployment": "glm-5", "pulumi-lws/role": "decode"}


def test_what_the_sidecar_takes_comes_off_the_engines_share() -> None:
    prefill, decode = roles(prefill=role(tensor=4))
    of_prefill, of_decode = (template(of).spec["containers"][0]["resources"]["limits"] for of in (prefill, decode))
    assert int(of_prefill["cpu"]) - int(of_decode["cpu"]) == 1
    assert int(of_prefill["memory"][:-2]) - int(of_decode["memory"][:-2]) == 1


def test_pods_of_both_roles_stay_in_one_zone_since_efa_does() -> None:
    term = {
        "topologyKey": "topology.kubernetes.io/zone",
        "labelSelector": {"matchLabels": {"pulumi-lws/deployment": "gpt-oss", "pulumi-lws/serves": "true"}},
    }
    expected = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    assert [template(of).spec["affinity"] for of in roles()] == [expected, expected]


def test_without_efa_zones_do_not_matter() -> None:
    without_efa = {"prefill": role("without", tensor=1), "decode": role("without", tensor=1)}
    assert ["affinity" in template(of).spec for of in roles(**without_efa)] == [False, False]


def test_groups_keep_an_island_of_their_own() -> None:
    _, decode = roles(**GLM_5)
    assert set(template(decode).spec["affinity"]) == {"podAntiAffinity", "podAffinity"}


ROLLS_BOTH: dict[str, dict[str, Any]] = {
    "another image": {"image": "example.com/vllm:0.26.1"},
    "other weights": {"source": {"kind": "node", "path": "/models/other"}},
    "another cache type": {"kvCacheDtype": "fp8"},
    "other transfers": {"transfer": {"onFailure": "fail"}},
    "an argument of one role": {"decode": {**role(tensor=4), "extraArguments": ["--block-size", "64"]}},
    "a variable of one role": {"prefill": {**role(replicas=4), "environment": {"VLLM_ATTENTION_BACKEND": "x"}}},
}

LEAVES_THE_OTHER_ALONE: dict[str, dict[str, Any]] = {
    "copies": {"decode": role(replicas=1, tensor=4)},
    "another split": {"decode": role(tensor=8)},
    "another share of memory": {"decode": {**role(tensor=4), "gpuMemoryUtilization": 0.85}},
    "more time to start": {"startBudgetMinutes": 90},
    "another router": GATEWAY,
}


@pytest.mark.parametrize("name", ROLLS_BOTH)
def test_what_both_roles_must_have_alike_rolls_both(name: str) -> None:
    before, after = roles(), roles(**ROLLS_BOTH[name])
    assert {attached.revision(of) for of in before}.isdisjoint({attached.revision(of) for of in after})


@pytest.mark.parametrize("name", LEAVES_THE_OTHER_ALONE)
def test_what_may_differ_leaves_the_revision_as_it_is(name: str) -> None:
    assert {attached.revision(of) for of in (*roles(), *roles(**LEAVES_THE_OTHER_ALONE[name]))} == {
        attached.revision(roles()[0])
    }


def test_both_roles_have_one_revision() -> None:
    prefill, decode = roles()
    assert attached.revision(prefill) == attached.revision(decode)


def test_a_sidecar_image_of_ones_own_is_taken() -> None:
    _, decode = roles(sidecarImage="example.com/sidecar:v0.11.0")
    (added,) = template(decode).spec["initContainers"]
    assert added["image"] == "example.com/sidecar:v0.11.0"
    assert args().sidecar_image is None
