"""Gateways follow the requests that wait behind them, and routers with a state of their own do not."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from pulumi_lws.checking.schemas import schemas_for
from pulumi_lws.component import DeclarationError
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.rule import Target
from pulumi_lws.serving.scaling.adapter import adapter_values
from pulumi_lws.serving.scaling.gateways.checks import gateway_problems, gateways_problems, roles_behind
from pulumi_lws.serving.scaling.gateways.component import GatewayAutoscaler, GatewayAutoscalerArgs
from pulumi_lws.serving.scaling.gateways.manifests import envoy_hpa, gateway_autoscaler
from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
from pulumi_lws.serving.scaling.manifests import METRICS, Reporters, autoscaler, deployment
from pulumi_lws.serving.scaling.settings import Autoscaling
from pulumi_lws.serving.settings import DeploymentArgs
from pulumi_lws.testing.monitor import record
from tests.serving.stacks import PACKED, stack

Deployments = Mapping[str, DeploymentArgs]

LLAMA = 'vllm:num_requests_waiting{namespace="models",pod=~"llama-[a-z0-9]+-[a-z0-9]{5}"}'
BEHAVIOR = {
    "scaleDown": {
        "stabilizationWindowSeconds": 600,
        "policies": [{"type": "Percent", "value": 25, "periodSeconds": 60}],
    }
}


def deployments(**stacks: dict[str, Any]) -> Deployments:
    found: dict[str, DeploymentArgs] = {}
    for name, changes in stacks.items():
        example = changes.pop("example", "llama-3.3-70b")
        found |= deployments_of(PlatformArgs.model_validate(stack(example, name=name, **changes)))
    return found


def gateway(**fields: Any) -> GatewayAutoscaling:
    return GatewayAutoscaling(**{"deployment": "envoy", "namespace": "edge", "max_replicas": 8, **fields})


def render(settings: GatewayAutoscaling, behind: Deployments) -> dict[str, Any]:
    return gateway_autoscaler(settings, roles_behind(settings, behind))


def test_keda_adds_up_what_waits_and_takes_a_quarter_away_in_a_minute() -> None:
    assert render(gateway(), deployments(llama={})) == {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "envoy", "namespace": "edge"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "envoy"},
            "pollingInterval": 15,
            "minReplicaCount": 2,
            "maxReplicaCount": 8,
            "advanced": {"horizontalPodAutoscalerConfig": {"behavior": BEHAVIOR}},
            "triggers": [
                {
                    "type": "prometheus",
                    "metricType": "AverageValue",
                    "metadata": {
                        "serverAddress": "http://prometheus-operated.monitoring.svc:9090",
                        "query": f"(sum({LLAMA}) or vector(0))",
                        "threshold": "5",
                    },
                }
            ],
        },
    }


HORIZONTAL = {
    "minReplicas": 2,
    "maxReplicas": 8,
    "metrics": [
        {
            "type": "External",
            "external": {
                "metric": {"name": "waiting-requests.edge.envoy"},
                "target": {"type": "AverageValue", "averageValue": "5"},
            },
        }
    ],
    "behavior": BEHAVIOR,
}


def test_an_hpa_reads_an_external_metric_that_the_adapter_serves_under_that_name() -> None:
    settings, behind = gateway(kind="hpa"), deployments(llama={})
    found = render(settings, behind)
    assert found["spec"] == {"scaleTargetRef": deployment("envoy"), **HORIZONTAL}
    schemas = schemas_for((1, 35))
    definition = schemas.definition_of(found["apiVersion"], found["kind"])
    assert definition
    assert schemas.problems(found, definition) == []
    served = adapter_values([(settings, roles_behind(settings, behind))])["rules"]["external"]
    assert served == [
        {
            "seriesQuery": LLAMA,
            "resources": {"namespaced": False},
            "name": {"matches": "", "as": "waiting-requests.edge.envoy"},
            "metricsQuery": f"(sum({LLAMA}) or vector(0))",
        }
    ]


def test_envoy_gateway_gets_the_same_in_the_place_where_it_looks() -> None:
    assert envoy_hpa(gateway(kind="hpa")) == HORIZONTAL


def test_models_of_several_engines_and_namespaces_are_added_up_and_decode_does_not_count() -> None:
    behind = deployments(
        llama={},
        gemma={},
        glm={"example": "sglang-deepseek-r1"},
        oss={"example": PACKED, "router": {"kind": "standalone"}},
    )
    (trigger,) = render(gateway(), behind)["spec"]["triggers"]
    assert trigger["metadata"]["query"] == (
        '(sum(vllm:num_requests_waiting{namespace="models",pod=~"llama-[a-z0-9]+-[a-z0-9]{5}'
        '|gemma-[a-z0-9]+-[a-z0-9]{5}|oss-prefill-[0-9]+"}) or vector(0))'
        ' + (sum(sglang:num_queue_reqs{namespace="models",pod=~"glm-[0-9]+"}) or vector(0))'
    )
    (trigger,) = render(gateway(models=("glm",)), behind)["spec"]["triggers"]
    assert "vllm" not in trigger["metadata"]["query"]


def test_a_query_of_ones_own_takes_the_place_of_the_models() -> None:
    own = "sum(envoy_http_downstream_rq_active)"
    (trigger,) = render(gateway(query=own, waiting_requests=200), {})["spec"]["triggers"]
    assert (trigger["metadata"]["query"], trigger["metadata"]["threshold"]) == (own, "200")
    assert gateway_problems(gateway(query=own), {}) == []


@pytest.mark.parametrize("kind", ["keda", "hpa"])
def test_no_autoscaler_of_a_gateway_breaks_a_rule(kind: str) -> None:
    subject = registered(render(gateway(kind=kind), deployments(llama={})))
    assert [problem for rule in RULES if not rule.of_programs for problem in rule.problems(subject, Target())] == []


ROUTED = {"example": PACKED, "router": {"kind": "standalone"}}


@pytest.mark.parametrize(
    ("settings", "stacks", "problems"),
    [
        (
            gateway(deployment="oss-router", namespace="models"),
            {"oss": ROUTED},
            [
                Problem(
                    "deployment",
                    "oss-router, the llm-d router of oss",
                    "a Deployment whose copies need not know of one another: each router counts only the requests and"
                    " caches of its own share, so a second one takes cache hits away",
                    "Give it more CPU, or make a second deployment of the model with a router of its own;"
                    " deployments.oss.router.replicas is for a few that stay.",
                )
            ],
        ),
        (gateway(deployment="oss-router", namespace="edge"), {"oss": ROUTED}, []),
        (
            gateway(deployment="llama", namespace="models"),
            {"llama": {}},
            [
                Problem(
                    "deployment",
                    "llama, the copies of a model",
                    "a Deployment without GPUs",
                    "Set deployments.llama.autoscaling instead.",
                )
            ],
        ),
        (
            gateway(models=("llama", "lama")),
            {"llama": {}},
            [Problem("models[1]", "lama", "llama", "Name a deployment of this stack.")],
        ),
        (
            gateway(),
            {},
            [
                Problem(
                    "models",
                    "nothing",
                    "a deployment on vLLM or SGLang: the metrics of others are not known",
                    "Name one, or set query.",
                )
            ],
        ),
        (
            gateway(kind="hpa"),
            {"llama": {"autoscaling": {"maxReplicas": 3}}},
            [
                Problem(
                    "kind",
                    "'hpa'",
                    "keda: the autoscaler of llama is KEDA's, and a cluster has one server of external metrics",
                    "Give both the same kind.",
                )
            ],
        ),
        (gateway(kind="hpa"), {"llama": {"autoscaling": {"kind": "hpa", "maxReplicas": 3}}}, []),
    ],
    ids=["router", "namesake", "model", "misspelt", "nothing behind", "KEDA beside an adapter", "an adapter alone"],
)
def test_what_must_not_or_cannot_be_scaled_is_refused(
    settings: GatewayAutoscaling, stacks: dict[str, dict[str, Any]], problems: list[Problem]
) -> None:
    assert gateway_problems(settings, deployments(**{name: dict(changes) for name, changes in stacks.items()})) == (
        problems
    )


def test_a_gateway_has_one_autoscaler_and_all_have_one_kind() -> None:
    gateways = {"a": gateway(), "b": gateway(kind="hpa"), "c": gateway(deployment="other")}
    assert gateways_problems(gateways, deployments(llama={})) == [
        Problem("b.deployment", "envoy", "a Deployment without another autoscaler: a has it", "Keep one of them."),
        Problem(
            "b.kind",
            "'hpa'",
            "keda: the autoscaler of gateway a is KEDA's, and a cluster has one server of external metrics",
            "Give both the same kind.",
        ),
    ]
    assert gateways_problems({"a": gateway(), "c": gateway(deployment="other")}, deployments(llama={})) == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"minReplicas": 9},
            Problem("maxReplicas", "8", "at least minReplicas, which is 9", "Raise it, or lower minReplicas."),
        ),
        (
            {"kind": "hpa", "query": "up"},
            Problem(
                "query",
                "up",
                "nothing with kind hpa: the adapter's rules know the metrics of models alone",
                "Remove it, or set kind to keda.",
            ),
        ),
        ({"scaleDownPercent": 101}, Problem("scaleDownPercent", "101", "100 or less", "Change scaleDownPercent.")),
    ],
)
def test_bounds_are_held(fields: dict[str, Any], problem: Problem) -> None:
    with pytest.raises(ValidationError) as refused:
        GatewayAutoscaling.model_validate({"deployment": "envoy", "namespace": "edge", "maxReplicas": 8, **fields})
    assert problems_of(refused.value, GatewayAutoscaling) == [problem]


@pytest.mark.parametrize("preview", [True, False])
def test_the_component_registers_what_was_rendered(preview: bool) -> None:
    behind = deployments(llama={})
    raw = {"deployment": "envoy", "namespace": "edge", "maxReplicas": 8}
    found = record(lambda: (GatewayAutoscaler("edge", GatewayAutoscalerArgs(raw, behind)), None)[1], preview=preview)
    assert [(one.type, one.name) for one in found] == [
        ("lws:index:GatewayAutoscaler", "edge"),
        ("kubernetes:keda.sh/v1alpha1:ScaledObject", "edge-autoscaler"),
    ]
    assert found[1].inputs == render(gateway(), behind)


def test_the_component_refuses_a_router() -> None:
    args = GatewayAutoscalerArgs(gateway(deployment="oss-router", namespace="models"), deployments(oss=dict(ROUTED)))
    with pytest.raises(DeclarationError, match="the llm-d router of oss"):
        record(lambda: (GatewayAutoscaler("edge", args), None)[1])


def test_the_adapter_serves_every_metric_that_an_hpa_names_exactly_once() -> None:
    values = adapter_values()
    assert values["prometheus"] == {"url": "http://prometheus-operated.monitoring.svc", "port": 9090, "path": ""}
    assert "external" not in values["rules"]
    served: dict[str, str] = {}
    for metric in (metric for metrics in METRICS.values() for metric in metrics.values()):
        rules = [rule for rule in values["rules"]["custom"] if re.search(rule["name"]["matches"], metric)]
        (rule,) = rules
        assert rule["seriesQuery"] == f'{metric}{{namespace!="",pod!=""}}'
        assert ":" not in rule["name"]["as"]
        served[rule["name"]["as"]] = metric
    settings = Autoscaling(kind="hpa", max_replicas=2)
    for engine in METRICS:
        found = autoscaler(
            "x", "models", deployment("x"), settings, reporters=Reporters(engine, "x"), start_budget_minutes=30
        )
        names = [metric["pods"]["metric"]["name"] for metric in found["spec"]["metrics"]]
        assert [served[name] for name in names] == list(METRICS[engine].values())


def test_an_address_of_prometheus_is_taken_apart_as_the_chart_wants_it() -> None:
    values = adapter_values(prometheus="https://metrics.example.com/prometheus")
    assert values["prometheus"] == {"url": "https://metrics.example.com", "port": 443, "path": "/prometheus"}
