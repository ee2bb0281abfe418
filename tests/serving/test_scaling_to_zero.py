"""All copies go only where something else tells that somebody asks, and where the cold start was accepted."""

from typing import Any

import pytest
from pydantic import ValidationError

from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.platform.checks import deployments_of, roles_by_path
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.sizing import start_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.scaling.settings import Autoscaling
from pulumi_lws.serving.scaling.zero import cold_start_problems
from tests.serving.stacks import PACKED, manifests_of, said, stack

ENVOY = 'sum(increase(envoy_http_downstream_rq_total{job="gateway"}[2m]))'
LLAMA = "llama-3.3-70b"


def scaled(minutes: int = 1440, **fields: Any) -> dict[str, Any]:
    return {"maxReplicas": 2, "scaleToZero": {"acceptColdStartMinutes": minutes, **fields}}


def specs(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one["spec"] for one in manifests_of(settings) if one["kind"] == "ScaledObject"}


def test_all_copies_go_after_a_start_budget_without_requests_and_the_fewest_come_back() -> None:
    settings = stack(LLAMA, replicas=1, autoscaling=scaled(requests=ENVOY), startBudgetMinutes=60)
    (spec,) = specs(settings).values()
    stays = stack(LLAMA, replicas=1, autoscaling={"maxReplicas": 2}, startBudgetMinutes=60)
    (plain,) = specs(stays).values()
    address = "http://prometheus-operated.monitoring.svc:9090"
    asked = {"serverAddress": address, "query": ENVOY, "threshold": "1000000000", "ignoreNullValues": "false"}
    assert spec == {
        **plain,
        "idleReplicaCount": 0,
        "cooldownPeriod": 3600,
        "initialCooldownPeriod": 3600,
        "triggers": [*plain["triggers"], {"type": "prometheus", "metricType": "AverageValue", "metadata": asked}],
    }
    assert said(settings) == []


def test_a_standalone_router_tells_of_the_requests_of_both_roles() -> None:
    both = {"prefill": {"autoscaling": scaled()}, "decode": {"autoscaling": scaled()}}
    settings = stack(PACKED, name="oss", router={"kind": "standalone"}, **both)
    series = '{namespace="models",pod=~"oss-router-[a-z0-9]+-[a-z0-9]{5}",envoy_http_conn_manager_prefix="api"}'
    asked = {spec["triggers"][-1]["metadata"]["query"] for spec in specs(settings).values()}
    assert asked == {
        f"sum(increase(envoy_http_downstream_rq_total{series}[2m])) + sum(envoy_http_downstream_rq_active{series})"
    }


NO_SOURCE = (
    "requests: found nothing; allowed: a query that is above 0 while somebody asks, also where no copy runs: nothing of"
    " this deployment does. Set requests to the count of what stands before it, such as"
    " sum(increase(envoy_http_downstream_rq_total[2m])) of a gateway, or scaleToZero to null."
)


@pytest.mark.parametrize(
    ("settings", "answers"),
    [
        (
            stack(LLAMA, replicas=1, autoscaling=scaled()),
            [f"error: deployments.llama-70b.autoscaling.scaleToZero.{NO_SOURCE}"],
        ),
        (
            stack(LLAMA, replicas=1, autoscaling=scaled(requests="sum(vllm:num_requests_waiting)")),
            [
                (
                    "error: deployments.llama-70b.autoscaling.scaleToZero.requests: found a query of"
                    " vllm:num_requests_waiting; allowed: metrics of what stands before the engines: where none runs,"
                    " none reports. Ask for the requests at your gateway."
                )
            ],
        ),
        (
            stack(
                PACKED,
                name="oss",
                router={"kind": "gateway", "gateway": "public"},
                prefill={"autoscaling": {"maxReplicas": 4}},
                decode={"autoscaling": scaled()},
            ),
            [
                f"error: deployments.oss.decode.autoscaling.scaleToZero.{NO_SOURCE}",
                (
                    "error: deployments.oss.decode.autoscaling.scaleToZero: found a role that goes to 0 while prefill"
                    " stays; allowed: both roles or neither: one without the other holds GPUs and serves nobody well."
                    " Set scaleToZero of prefill, too, or remove this one."
                ),
            ],
        ),
        (
            stack(LLAMA, replicas=1, autoscaling=scaled(requests=ENVOY), pools={"p5": {"static": True}}),
            [
                (
                    "warning: deployments.llama-70b.autoscaling.scaleToZero: found copies that go, on p5, whose nodes"
                    " stay; allowed: a pool whose nodes go with them: those of a static one are paid for all the same."
                    " Set scaleToZero to null, or name a pool whose nodes go."
                )
            ],
        ),
    ],
    ids=["nothing counts", "engines count", "one role alone", "nodes stay"],
)
def test_what_would_never_come_back_is_refused(settings: dict[str, Any], answers: list[str]) -> None:
    assert said(settings) == answers


def test_a_horizontal_pod_autoscaler_never_goes_to_zero() -> None:
    raw = {"kind": "hpa", "maxReplicas": 2, "scaleToZero": {"acceptColdStartMinutes": 20, "requests": ENVOY}}
    with pytest.raises(ValidationError) as refused:
        Autoscaling.model_validate(raw)
    assert problems_of(refused.value, Autoscaling) == [
        Problem(
            "kind",
            "'hpa'",
            "keda with scaleToZero: a HorizontalPodAutoscaler keeps one copy at least",
            "Set kind to keda, or scaleToZero to null.",
        )
    ]


def role(minutes: int) -> Role:
    settings = stack(LLAMA, replicas=1, autoscaling=scaled(minutes, requests=ENVOY), startBudgetMinutes=50)
    (found,) = roles_by_path(PlatformArgs.model_validate(settings)).values()
    return found


def test_a_cold_start_is_accepted_with_the_minutes_of_the_plan() -> None:
    start = start_of(role(1), pre_pulled=False)
    (problem,) = cold_start_problems(role(1), start)
    needed = int(problem.fix.split()[3])
    assert problem == Problem(
        "autoscaling.scaleToZero.acceptColdStartMinutes",
        "1",
        f"at least {needed}: the estimate of a first start, as the plan shows it",
        f"Set it to {needed} if clients bear that, or scaleToZero to null.",
    )
    assert cold_start_problems(role(needed), start) == []
    assert cold_start_problems(role(needed - 1), start) != []


def test_without_an_estimate_the_start_budget_is_accepted() -> None:
    assert cold_start_problems(role(50), None) == []
    (problem,) = cold_start_problems(role(49), None)
    assert problem.allowed == "at least 50: the start budget, without an estimate"


def test_copies_that_stay_have_no_cold_start() -> None:
    settings = stack(LLAMA, replicas=1, autoscaling={"maxReplicas": 2})
    platform = PlatformArgs.model_validate(settings)
    assert [cold_start_problems(one, None) for one in roles_by_path(platform).values()] == [[]]
    assert set(deployments_of(platform)) == {"llama-70b"}
