"""What Prometheus reads, and what the charts of others are told for it."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_lws.facts import labels
from pulumi_lws.monitoring import monitors
from pulumi_lws.monitoring.manifests import monitoring_objects
from pulumi_lws.monitoring.settings import Monitoring
from pulumi_lws.monitoring.state_metrics import (
    CUSTOM_RESOURCES,
    CustomResource,
    add_on_values,
    kube_prometheus_stack_values,
)
from pulumi_lws.serving.routing import envoy, picker
from tests.serving.stacks import every_stack, manifests_of


def test_engines_are_read_by_pod_with_what_kubernetes_says_of_them() -> None:
    declared = Monitoring(namespace="watch", scrape_seconds=30, object_labels={"team": "infra"})
    monitor = monitors.engines(declared)
    assert monitor["metadata"] == {
        "name": "pulumi-lws-engines",
        "namespace": "watch",
        "labels": {"team": "infra"},
    }
    spec = monitor["spec"]
    assert (spec["selector"], spec["namespaceSelector"]) == (
        {
            "matchLabels": {"pulumi-lws/serves": "true"},
            "matchExpressions": [{"key": "pulumi-lws/metrics", "operator": "NotIn", "values": ["none"]}],
        },
        {"any": True},
    )
    [endpoint] = spec["podMetricsEndpoints"]
    assert (endpoint["port"], endpoint["interval"]) == ("http", "30s")
    assert {each["targetLabel"]: each["sourceLabels"] for each in endpoint["relabelings"]} == {
        "deployment": ["__meta_kubernetes_pod_label_pulumi_lws_deployment"],
        "role": ["__meta_kubernetes_pod_label_pulumi_lws_role"],
        "serves": ["__meta_kubernetes_pod_label_pulumi_lws_serves"],
        "metrics": ["__meta_kubernetes_pod_label_pulumi_lws_metrics"],
        "router": ["__meta_kubernetes_pod_label_pulumi_lws_router"],
        "leader_worker_set": ["__meta_kubernetes_pod_label_leaderworkerset_sigs_k8s_io_name"],
        "group": ["__meta_kubernetes_pod_label_leaderworkerset_sigs_k8s_io_group_index"],
        "group_key": ["__meta_kubernetes_pod_label_leaderworkerset_sigs_k8s_io_group_key"],
        "worker": ["__meta_kubernetes_pod_label_leaderworkerset_sigs_k8s_io_worker_index"],
        "node": ["__meta_kubernetes_pod_node_name"],
    }


def test_every_pod_that_serves_has_the_port_that_the_monitor_reads() -> None:
    [endpoint] = monitors.engines(Monitoring())["spec"]["podMetricsEndpoints"]
    ports = [
        {port["name"] for container in template["spec"]["containers"] for port in container.get("ports", ())}
        for stack in every_stack().values()
        for manifest in manifests_of(stack)
        for template in _templates(manifest)
        if template["metadata"].get("labels", {}).get(labels.SERVES) == "true"
    ]
    assert ports
    assert [names for names in ports if endpoint["port"] not in names] == []


def test_both_containers_of_a_router_have_the_ports_that_the_monitor_reads() -> None:
    endpoints = monitors.routers(Monitoring())["spec"]["podMetricsEndpoints"]
    containers = [picker.container("image", (), drain_seconds=1), envoy.container("image", 8000, drain_seconds=1)]
    ports = {port["name"] for container in containers for port in container["ports"]}
    assert {endpoint["port"] for endpoint in endpoints} - ports == set()


def test_one_rule_object_and_a_monitor_for_each_thing_that_has_none() -> None:
    assert list(monitoring_objects(Monitoring())) == [
        "prometheusrule-pulumi-lws",
        "podmonitor-pulumi-lws-engines",
        "podmonitor-pulumi-lws-routers",
        "podmonitor-pulumi-lws-gateways",
        "podmonitor-pulumi-lws-ray",
        "servicemonitor-pulumi-lws-karpenter",
    ]


def test_alerts_are_labelled_linked_and_left_out_as_declared() -> None:
    declared = Monitoring.model_validate(
        {
            "labels": {"team": "infra"},
            "runbookBase": "https://wiki.example.com/runbooks",
            "severities": {"LwsGpuIdle": "warning"},
            "disabled": {"LwsQueuedLong": "queues are long by design"},
            "thresholds": {"idleMinutes": 30},
        }
    )
    groups = monitoring_objects(declared)["prometheusrule-pulumi-lws"]["spec"]["groups"]
    rules = {rule["alert"]: rule for group in groups for rule in group["rules"] if "alert" in rule}
    assert "LwsQueuedLong" not in rules
    assert rules["LwsGpuIdle"] == {
        "alert": "LwsGpuIdle",
        "expr": "lws:group:gpu_utilization:max == 0",
        "for": "30m",
        "labels": {"team": "infra", "severity": "warning"},
        "annotations": {
            "summary": "The GPUs of {{ $labels.namespace }}/{{ $labels.deployment }}"
            "{{ with $labels.group }} group {{ . }}{{ end }} do nothing.",
            "description": "None of them has run a kernel for 30 minutes.",
            "runbook_url": "https://wiki.example.com/runbooks#lwsgpuidle",
        },
    }


def test_prometheus_reads_monitors_and_rules_of_everybody() -> None:
    assert kube_prometheus_stack_values()["prometheus"] == {
        "prometheusSpec": {
            "serviceMonitorSelectorNilUsesHelmValues": False,
            "podMonitorSelectorNilUsesHelmValues": False,
            "ruleSelectorNilUsesHelmValues": False,
            "probeSelectorNilUsesHelmValues": False,
        }
    }


def test_kube_state_metrics_may_read_what_it_is_told_to() -> None:
    values = kube_prometheus_stack_values()["kube-state-metrics"]
    kinds = [each["groupVersionKind"] for each in values["customResourceState"]["config"]["spec"]["resources"]]
    assert [f"{kind['kind'].lower()}s" for kind in kinds] == [
        resource for rule in values["rbac"]["extraRules"] for resource in rule["resources"]
    ]
    assert [kind["group"] for kind in kinds] == [
        group for rule in values["rbac"]["extraRules"] for group in rule["apiGroups"]
    ]


def test_add_ons_are_told_to_show_their_metrics() -> None:
    others = {name: values for name, values in add_on_values().items() if name != "kube_prometheus_stack"}
    assert others == {
        "dcgm_exporter": {"serviceMonitor": {"enabled": True, "honorLabels": True}},
        "kuberay": {"metrics": {"serviceMonitor": {"enabled": True}}},
        "kueue": {"enablePrometheus": True},
        "lws": {"enablePrometheus": True},
    }


@pytest.mark.parametrize("resource", CUSTOM_RESOURCES, ids=lambda resource: resource.kind)
def test_fields_that_become_metrics_exist_upstream(resource: CustomResource) -> None:
    folder = os.environ.get("LWS_LAB_CRDS")
    if not folder:
        pytest.skip("LWS_LAB_CRDS names no folder with upstream CRDs")
    conditions = [("status", "conditions")] if resource.has_conditions else []
    wanted = [*resource.numbers.values(), *resource.maps.values(), *conditions]
    schemas = [
        version["schema"]["openAPIV3Schema"]
        for file in Path(folder).glob(f"*/{resource.group}_{resource.plural}.yaml")
        for version in yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]["versions"]
        if version["name"] == resource.version
    ]
    assert schemas
    missing = [path for schema in schemas for path in wanted if path[0] != "metadata" and not _has(schema, path)]
    assert missing == []


def _has(schema: dict[str, Any], path: tuple[str, ...]) -> bool:
    for name in path:
        schema = schema.get("properties", {}).get(name, {})
    return bool(schema)


def _templates(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pod templates of a manifest, wherever they stand."""
    match manifest:
        case {"metadata": {"labels": _}, "spec": {"containers": _}}:
            return [manifest]
        case dict():
            return [template for value in manifest.values() for template in _templates(value)]
        case list():
            return [template for value in manifest for template in _templates(value)]
    return []
