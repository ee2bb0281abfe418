"""Autoscalers: what they look at, how fast they act, and whether the pool holds what they may ask for."""

import os
import re
from pathlib import Path
from typing import Any, Literal

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pulumi_lws.checking.schemas import schemas_for
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.parallelism import GroupShape
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.rule import Target
from pulumi_lws.serving.engines.engine import RoleName
from pulumi_lws.serving.scaling import manifests
from pulumi_lws.serving.scaling.checks import scaling_problems
from pulumi_lws.serving.scaling.manifests import METRICS, MeteredEngine, Reporters, autoscaler
from pulumi_lws.serving.scaling.settings import Autoscaling
from pulumi_lws.workloads import scale_targets

POOL = GpuPool(instance_type="p5.48xlarge", islands=4, nodes_per_island=2)
TWO_NODES = GroupShape(size=2, gpus_per_pod=8, gpus_per_node=8)
GLM = scale_targets.leader_worker_set("glm-5")
LEADERS = Reporters("vllm", manifests.leader_pods("glm-5"))
TARGETS = (GLM, manifests.deployment("glm-5"), scale_targets.role_scaler("glm-5", "decode"))


def render(settings: Autoscaling, target: dict[str, str] = GLM, reporters: Reporters = LEADERS) -> dict[str, Any]:
    return autoscaler("glm-5", "models", target, settings, reporters=reporters, start_budget_minutes=45)


BEHAVIOR = {
    "scaleUp": {
        "stabilizationWindowSeconds": 0,
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 180}],
    },
    "scaleDown": {
        "stabilizationWindowSeconds": 2700,
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 300}],
    },
}


def test_keda_asks_prometheus_for_the_load_of_all_copies() -> None:
    def trigger(query: str, threshold: str) -> dict[str, Any]:
        address = "http://prometheus-operated.monitoring.svc:9090"
        metadata = {"serverAddress": address, "query": query, "threshold": threshold}
        return {"type": "prometheus", "metricType": "AverageValue", "metadata": metadata}

    series = '{namespace="models",pod=~"glm-5-[0-9]+"}'
    assert render(Autoscaling(max_replicas=4)) == {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "glm-5", "namespace": "models"},
        "spec": {
            "scaleTargetRef": {
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "name": "glm-5",
            },
            "pollingInterval": 15,
            "minReplicaCount": 1,
            "maxReplicaCount": 4,
            "advanced": {"horizontalPodAutoscalerConfig": {"behavior": BEHAVIOR}},
            "triggers": [
                trigger(f"sum(vllm:num_requests_waiting{series}) or vector(0)", "5"),
                trigger(f"sum(vllm:kv_cache_usage_perc{series}) or vector(0)", "0.8"),
            ],
        },
    }


def test_an_hpa_reads_the_metrics_of_leaders() -> None:
    def metric(name: str, average: str) -> dict[str, Any]:
        target = {"type": "AverageValue", "averageValue": average}
        return {"type": "Pods", "pods": {"metric": {"name": name}, "target": target}}

    settings = Autoscaling(kind="hpa", min_replicas=2, max_replicas=4, waiting_requests=2.5)
    found = render(settings, scale_targets.role_scaler("glm-5", "serve"))
    assert found == {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "glm-5", "namespace": "models"},
        "spec": {
            "scaleTargetRef": {
                "apiVersion": "disaggregatedset.x-k8s.io/v1",
                "kind": "DisaggregatedSetRoleScaler",
                "name": "glm-5-serve",
            },
            "minReplicas": 2,
            "maxReplicas": 4,
            "metrics": [metric("vllm_num_requests_waiting", "2500m"), metric("vllm_kv_cache_usage_perc", "800m")],
            "behavior": BEHAVIOR,
        },
    }
    schemas = schemas_for((1, 35))
    definition = schemas.definition_of("autoscaling/v2", "HorizontalPodAutoscaler")
    assert definition
    assert schemas.problems(found, definition) == []


SETTINGS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["keda", "hpa"]), "max_replicas": st.integers(3, 99)},
    optional={
        "min_replicas": st.integers(1, 3),
        "waiting_requests": st.floats(0.001, 1e6),
        "kv_cache_usage": st.floats(0.001, 1),
        "scale_up_seconds": st.integers(1, 1800),
        "stabilization_minutes": st.integers(1, 60),
    },
).map(Autoscaling.model_validate)
REPORTERS = st.builds(
    Reporters,
    engine=st.sampled_from(["vllm", "sglang"]),
    pods=st.just("glm-5-[0-9]+"),
    role=st.sampled_from(["serve", "prefill", "decode"]),
    data_ranks=st.integers(1, 16),
    data_ranks_per_pod=st.integers(1, 8),
)


@given(SETTINGS, st.sampled_from(TARGETS), REPORTERS)
def test_no_autoscaler_of_ours_breaks_a_rule(
    settings: Autoscaling, target: dict[str, str], reporters: Reporters
) -> None:
    subject = registered(render(settings, target, reporters))
    found = [problem for rule in RULES if not rule.of_programs for problem in rule.problems(subject, Target())]
    assert found == []


@given(SETTINGS, REPORTERS)
def test_a_total_is_never_multiplied_by_the_copies_that_are_ready(settings: Autoscaling, reporters: Reporters) -> None:
    spec = render(settings, GLM, reporters)["spec"]
    triggers, metrics = spec.get("triggers", ()), spec.get("metrics", ())
    kinds = [one["metricType"] for one in triggers] + [one["pods"]["target"]["type"] for one in metrics]
    assert set(kinds) == {"AverageValue"}
    assert "Value" not in Autoscaling.model_json_schema(by_alias=True)["properties"]


def closed(schema: Any) -> Any:
    """Refuse unknown fields, as the API server does when it is asked to be strict."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {"additionalProperties": False} if "properties" in schema and "additionalProperties" not in schema else {}
    return {name: closed(value) for name, value in schema.items()} | shut


@pytest.fixture(scope="module")
def scaled_object() -> Any:
    folder = os.environ.get("LWS_LAB_CRDS")
    if not folder or not (found := sorted(Path(folder).glob("keda-*/keda.sh_scaledobjects.yaml"))):
        pytest.skip("LWS_LAB_CRDS names no folder with KEDA's CRDs")
    (version,) = yaml.safe_load(found[-1].read_text(encoding="utf-8"))["spec"]["versions"]
    schema = closed(version["schema"]["openAPIV3Schema"]["properties"]["spec"])
    return jsonschema_rs.validator_for(schema, ignore_unknown_formats=True)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target["kind"])
def test_upstream_keda_takes_a_scaled_object_of_ours(scaled_object: Any, target: dict[str, str]) -> None:
    spec = render(Autoscaling(max_replicas=4), target)["spec"]
    assert [error.message for error in scaled_object.iter_errors(spec)] == []
    wrong = [error.message for error in scaled_object.iter_errors(spec | {"maxReplicas": 4})]
    assert wrong == ["Additional properties are not allowed ('maxReplicas' was unexpected)"]


@pytest.mark.parametrize("engine", METRICS)
@pytest.mark.parametrize(
    ("role", "loads"),
    [
        ("serve", ("waiting_requests", "kv_cache_usage")),
        ("prefill", ("waiting_requests",)),
        ("decode", ("kv_cache_usage",)),
    ],
)
def test_prefill_scales_by_its_queue_and_decode_by_its_cache(
    engine: MeteredEngine, role: RoleName, loads: tuple[manifests.Load, ...]
) -> None:
    triggers = render(Autoscaling(max_replicas=4), GLM, Reporters(engine, "x", role))["spec"]["triggers"]
    asked = [re.findall(r"[a-z]+:[a-z_]+", trigger["metadata"]["query"]) for trigger in triggers]
    assert asked == [[METRICS[engine][load]] for load in loads]


def test_sglang_has_names_of_its_own() -> None:
    assert METRICS["sglang"] == {"waiting_requests": "sglang:num_queue_reqs", "kv_cache_usage": "sglang:token_usage"}


def test_the_caches_of_data_ranks_count_as_one_copy() -> None:
    ranks = Reporters("vllm", "x", data_ranks=16, data_ranks_per_pod=8)
    waiting, usage = render(Autoscaling(max_replicas=4), GLM, ranks)["spec"]["triggers"]
    series = '{namespace="models",pod=~"x"}'
    assert waiting["metadata"]["query"] == f"sum(vllm:num_requests_waiting{series}) or vector(0)"
    assert usage["metadata"]["query"] == f"sum(vllm:kv_cache_usage_perc{series}) / 16 or vector(0)"
    metrics = render(Autoscaling(kind="hpa", max_replicas=4), GLM, ranks)["spec"]["metrics"]
    assert [one["pods"]["target"]["averageValue"] for one in metrics] == ["5", "6400m"]


@pytest.mark.parametrize(
    ("pattern", "own", "foreign"),
    [
        (manifests.leader_pods("glm"), ["glm-0", "glm-12"], ["glm-0-1", "my-glm-0", "glm-api-0"]),
        (manifests.group_pods("glm"), ["glm-0", "glm-12-3"], ["glm-0-1-2", "glm-api-0"]),
        (manifests.deployment_pods("glm"), ["glm-7d9c5b6f4-x2k9q"], ["glm-0", "glm-7d9c5b6f4-x2k9qq"]),
        (
            manifests.role_pods("glm", "decode", leaders=True),
            ["glm-0-1a2b3c4d-decode-0"],
            ["glm-0-1a2b3c4d-prefill-0", "glm-0-1a2b3c4d-decode-0-1"],
        ),
        (
            manifests.role_pods("glm", "decode", leaders=False),
            ["glm-0-1a2b3c4d-decode-0", "glm-0-1a2b3c4d-decode-0-1"],
            ["glm-0-1a2b3c4d-prefill-0"],
        ),
    ],
)
def test_a_pattern_matches_the_pods_of_one_owner(pattern: str, own: list[str], foreign: list[str]) -> None:
    # Prometheus holds a pattern to the whole of a value.
    assert [name for name in own + foreign if re.fullmatch(pattern, name)] == own


@pytest.mark.parametrize(("minutes", "budget", "seconds"), [(None, 45, 2700), (None, 90, 3600), (10, 45, 600)])
def test_a_copy_stays_as_long_as_it_takes_to_come_back(minutes: int | None, budget: int, seconds: int) -> None:
    settings = Autoscaling(kind="hpa", max_replicas=4, stabilization_minutes=minutes)
    found = autoscaler("glm-5", "models", GLM, settings, reporters=LEADERS, start_budget_minutes=budget)
    assert found["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"] == seconds


@given(st.floats(0.001, 1e6))
def test_a_quantity_is_never_nothing_and_off_by_half_a_thousandth_at_most(number: float) -> None:
    text = manifests.quantity(number)
    value = int(text[:-1]) / 1000 if text.endswith("m") else int(text)
    assert value > 0
    assert abs(value - number) <= 0.000501


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"minReplicas": 0}, Problem("minReplicas", "0", "1 or more", "Change minReplicas.")),
        ({"scaleUpSeconds": 1801}, Problem("scaleUpSeconds", "1801", "1800 or less", "Change scaleUpSeconds.")),
        (
            {"stabilizationMinutes": 61},
            Problem("stabilizationMinutes", "61", "60 or less", "Change stabilizationMinutes."),
        ),
        ({"waitingRequests": 0}, Problem("waitingRequests", "0", "0.001 or more", "Change waitingRequests.")),
        ({"kvCacheUsage": 80}, Problem("kvCacheUsage", "80", "1.0 or less", "Change kvCacheUsage.")),
        (
            {"minReplicas": 5},
            Problem("maxReplicas", "4", "at least minReplicas, which is 5", "Raise it, or lower minReplicas."),
        ),
    ],
)
def test_bounds_that_kubernetes_or_sense_forbids_are_refused(fields: dict[str, Any], problem: Problem) -> None:
    with pytest.raises(ValidationError) as refused:
        Autoscaling.model_validate({"maxReplicas": 4, **fields})
    assert problems_of(refused.value, Autoscaling) == [problem]


def problems(
    settings: Autoscaling,
    *,
    engine: Literal["vllm", "sglang", "custom"] = "vllm",
    role: RoleName = "serve",
    capacity: int = 4,
    replicas: int = 1,
) -> list[Problem]:
    return scaling_problems(
        settings, engine=engine, role=role, capacity=capacity, shape=TWO_NODES, pool=POOL, replicas=replicas
    )


def test_whole_groups_fit_the_pool() -> None:
    assert problems(Autoscaling(max_replicas=4)) == []
    assert problems(Autoscaling(max_replicas=5)) == [
        Problem(
            "autoscaling.maxReplicas",
            "5 copies of 16 GPUs each (80 GPUs)",
            "4 or less: the pool has 8 nodes of 8 GPUs",
            "Lower maxReplicas to 4, or enlarge the pool.",
        )
    ]
    full = problems(Autoscaling(max_replicas=1), capacity=0)
    assert [problem.fix for problem in full] == ["Enlarge the pool, or name another."]


@pytest.mark.parametrize(("replicas", "nearest"), [(0, 2), (9, 4)])
def test_copies_start_within_the_bounds(replicas: int, nearest: int) -> None:
    bounds = "2 to 4, the bounds of the autoscaler"
    assert problems(Autoscaling(min_replicas=2, max_replicas=4), replicas=replicas) == [
        Problem("replicas", str(replicas), bounds, f"Set replicas to {nearest}.")
    ]


def test_an_engine_whose_metrics_nobody_knows_has_no_autoscaler_of_ours() -> None:
    assert problems(Autoscaling(max_replicas=4), engine="custom") == [
        Problem(
            "autoscaling",
            "an autoscaler for a custom engine",
            "null: the metrics of the engine are not known",
            "Set autoscaling to null, and make an autoscaler of your own with targets of the type AverageValue.",
        )
    ]


def test_a_role_without_its_own_trigger_is_refused() -> None:
    assert problems(Autoscaling(max_replicas=4, kv_cache_usage=None), role="prefill") == []
    assert problems(Autoscaling(max_replicas=4, kv_cache_usage=None), role="decode") == [
        Problem(
            "autoscaling.kvCacheUsage",
            "nothing",
            "a threshold: it alone tells the load of decode",
            "Set kvCacheUsage.",
        )
    ]
