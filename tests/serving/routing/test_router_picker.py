"""What the endpoint picker is told: which pods it may pair."""

from typing import Any

from pulumi_lws.serving.routing import picker
from pulumi_lws.serving.routing.pool import RoutedPool

POOL = RoutedPool("glm-5", "models", {"pulumi-lws/deployment": "glm-5", "pulumi-lws/serves": "true"}, 8000, 120)


def plugins() -> dict[str, Any]:
    return {plugin.get("name", plugin["type"]): plugin for plugin in picker.configuration(POOL)["plugins"]}


def profiles() -> dict[str, list[str]]:
    return {
        profile["name"]: [plugin["pluginRef"] for plugin in profile["plugins"]]
        for profile in picker.configuration(POOL)["schedulingProfiles"]
    }


def test_pods_of_two_revisions_never_share_a_request() -> None:
    assert plugins()["disaggregatedset-rollout-screener"]["parameters"] == {
        "scope": {"labelSelector": "pulumi-lws/deployment=glm-5,pulumi-lws/serves=true"},
        "revisionGating": {
            "mode": "sum",
            # With prefill in it, a revision without a prefill pod would get no request at all.
            "requireRoles": {"values": ["decode"]},
            "revisionLabelKey": "pulumi-lws/revision",
            "roleLabelKey": "llm-d.ai/role",
        },
    }


def test_a_pod_is_chosen_only_once_its_engine_has_told_its_metrics() -> None:
    (engine,) = plugins()["core-metrics-extractor"]["parameters"]["engineConfigs"]
    (told,) = engine["customMetrics"]
    assert plugins()["serving-filter"] == {
        "type": "endpoint-attribute-filter",
        "name": "serving-filter",
        "parameters": {
            "attribute": told["attributeKey"],
            "onMissing": "Fail",
            "algorithm": {"type": "threshold", "threshold": {"operator": "GreaterThanOrEqual", "value": 0}},
        },
    }


def test_each_role_is_chosen_among_its_own_pods_that_serve() -> None:
    assert {name: chosen[:2] for name, chosen in profiles().items()} == {
        "prefill": ["prefill-filter", "serving-filter"],
        "decode": ["decode-filter", "serving-filter"],
    }


def test_a_profile_refers_to_plugins_that_are_declared() -> None:
    assert {name for chosen in profiles().values() for name in chosen} <= set(plugins())


def test_a_standalone_picker_finds_the_pods_itself() -> None:
    arguments = picker.arguments(POOL, has_inference_pool=False, beside_proxy=True)
    assert arguments == [
        "--endpoint-selector=pulumi-lws/deployment=glm-5,pulumi-lws/serves=true",
        "--endpoint-target-ports=8000",
        "--config-file=/etc/router/endpoint-picker.yaml",
        "--allow-experimental-plugins=true",
        "--secure-serving=false",
        "--grpc-health-port=9003",
        "--drain-timeout=5s",
        "--metrics-endpoint-auth=false",
        "--enable-pprof=false",
        "--tracing=false",
        "--zap-encoder=json",
    ]


def test_behind_a_gateway_the_pool_says_which_pods_and_the_connection_is_encrypted() -> None:
    alone = picker.arguments(POOL, has_inference_pool=False, beside_proxy=True)
    behind = picker.arguments(POOL, has_inference_pool=True, beside_proxy=False)
    assert [argument for argument in behind if argument not in alone] == [
        "--pool-name=glm-5",
        "--pool-namespace=models",
        "--secure-serving=true",
    ]
