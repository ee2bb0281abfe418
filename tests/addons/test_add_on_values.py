"""The values that each chart is given."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.installation import merged
from pulumi_lws.addons.settings import AddOnName
from pulumi_lws.monitoring.state_metrics import add_on_values
from pulumi_lws.serving.scaling.adapter import adapter_values
from tests.addons.sites import B200, P5, SMALL, add_ons, alone, decided

EVERY_TAINT = [{"operator": "Exists"}]
ON_POOLS = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "pulumi-lws/pool", "operator": "Exists"}]}]
        }
    }
}

TRUSTED = {"pulumi.com/waitFor": "jsonpath={.webhooks[0].clientConfig.caBundle}"}
CERTIFICATES = {
    "crds": {"enabled": True, "keep": False},
    "startupapicheck": {"enabled": False},
    "webhook": {
        "mutatingWebhookConfigurationAnnotations": TRUSTED,
        "validatingWebhookConfigurationAnnotations": TRUSTED,
    },
}
METRICS = {"honorLabels": True}
CONTROLLERS = {
    "replicas": 2,
    "manager": {"priorityClassName": "system-cluster-critical"},
    "podDisruptionBudget": {"enabled": True},
}

TOGETHER: dict[AddOnName, dict[str, Any]] = {
    "envoy_gateway": {
        "topologyInjector": {"enabled": False},
        "deployment": {"replicas": 2},
        "crds": {"gatewayAPI": {"safeUpgradePolicy": {"enabled": False}}},
    },
    "cert_manager": {
        **CERTIFICATES,
        "config": {
            "apiVersion": "controller.config.cert-manager.io/v1alpha1",
            "kind": "ControllerConfiguration",
            "enableGatewayAPI": True,
        },
    },
    "kube_prometheus_stack": {
        "prometheus": {
            "prometheusSpec": {
                "podMonitorSelectorNilUsesHelmValues": False,
                "serviceMonitorSelectorNilUsesHelmValues": False,
                "ruleSelectorNilUsesHelmValues": False,
                "probeSelectorNilUsesHelmValues": False,
            }
        },
        "prometheusOperator": {"admissionWebhooks": {"enabled": False}, "tls": {"enabled": False}},
        "grafana": {
            "admin": {"existingSecret": "grafana-admin", "userKey": "admin-user", "passwordKey": "admin-password"}
        },
        "prometheus-node-exporter": {"tolerations": EVERY_TAINT},
        "kubeControllerManager": {"enabled": False},
        "kubeEtcd": {"enabled": False},
        "kubeScheduler": {"enabled": False},
        "kubeProxy": {"enabled": False},
    },
    "nvidia_device_plugin": {"mofedEnabled": False, "tolerations": EVERY_TAINT, "affinity": ON_POOLS},
    "efa_device_plugin": {
        "tolerations": EVERY_TAINT,
        "supportedInstanceLabels": {"values": ["p5.48xlarge"]},
    },
    "dcgm_exporter": {"tolerations": EVERY_TAINT, "affinity": ON_POOLS, "serviceMonitor": METRICS | {"enabled": True}},
    "lws": {
        "replicaCount": 2,
        "priorityClassName": "system-cluster-critical",
        "enableDisaggregatedSet": True,
        "enableCertManager": False,
        "enablePrometheus": True,
        "podAnnotations": {"pulumi-lws/configuration": "none"},
    },
    "kuberay": {"metrics": {"serviceMonitor": {"enabled": True}}},
    "kueue": {"controllerManager": CONTROLLERS, "enablePrometheus": True},
    "prometheus_adapter": {**adapter_values(), "replicas": 2},
    "keda": {},
    "inference_pools": {},
}
"""Values where everything is installed."""

ALONE: dict[AddOnName, dict[str, Any]] = {
    "cert_manager": CERTIFICATES,
    "dcgm_exporter": {"tolerations": EVERY_TAINT, "affinity": ON_POOLS, "serviceMonitor": METRICS | {"enabled": False}},
    "lws": {**TOGETHER["lws"], "enablePrometheus": False},
    "kuberay": {"metrics": {"serviceMonitor": {"enabled": False}}},
    "kueue": {"controllerManager": CONTROLLERS, "enablePrometheus": False},
}
"""Values of those that ask what else there is, where nothing is."""


@pytest.mark.parametrize("name", ADD_ONS)
def test_a_chart_is_given_what_it_needs_among_all_others(name: AddOnName) -> None:
    assert decided(name).values == TOGETHER[name]


@pytest.mark.parametrize("name", ADD_ONS)
def test_a_chart_counts_on_nothing_that_is_not_installed(name: AddOnName) -> None:
    assert decided(name, alone(name)).values == ALONE.get(name, TOGETHER[name])


@pytest.mark.parametrize(
    ("pools", "types"),
    [
        ({"p5": P5, "b200": B200, "small": SMALL, "more": P5}, ["p5.48xlarge", "p6-b200.48xlarge"]),
        ({"small": SMALL}, None),
        ({}, None),
    ],
)
def test_the_efa_plugin_runs_on_the_instance_types_with_efa(pools: dict[str, Any], types: list[str] | None) -> None:
    listed = decided("efa_device_plugin", pools=pools).values.get("supportedInstanceLabels")
    assert listed == (types and {"values": types})


def test_the_gpu_plugin_keeps_off_nodes_that_have_it_built_in() -> None:
    pools = {"p5": P5, "own": SMALL.model_copy(update={"image": "bottlerocket@1.50.0"})}
    (term,) = decided("nvidia_device_plugin", pools=pools).values["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": "pulumi-lws/pool", "operator": "Exists"},
        {"key": "pulumi-lws/pool", "operator": "NotIn", "values": ["own"]},
    ]


def test_lws_makes_what_was_declared() -> None:
    declared = add_ons(
        lws={"gangScheduler": "volcano", "certificates": "cert-manager", "disaggregatedSets": False}, certManager={}
    )
    assert decided("lws", declared).values == {
        "replicaCount": 2,
        "priorityClassName": "system-cluster-critical",
        "enableDisaggregatedSet": False,
        "enableCertManager": True,
        "enablePrometheus": False,
        "gangSchedulingManagement": {"schedulerProvider": "volcano"},
        "podAnnotations": {"pulumi-lws/configuration": "volcano"},
    }


def test_what_other_parts_ask_for_goes_over_ours_and_what_the_user_asks_for_over_both() -> None:
    asked = {"kueue": {"managerConfig": {"controllerManagerConfigYaml": "theirs"}, "enablePrometheus": False}}
    declared = add_ons(kueue={"values": {"managerConfig": {"controllerManagerConfigYaml": "mine"}}})
    assert decided("kueue", declared, manager_values=asked).values == {
        "controllerManager": CONTROLLERS,
        "enablePrometheus": False,
        "managerConfig": {"controllerManagerConfigYaml": "mine"},
    }


class TestTheCertificatesOfEnvoyGateway:
    """The Job that its chart leaves to a hook."""

    @staticmethod
    def made(values: dict[str, Any]) -> list[dict[str, Any]]:
        return ADD_ONS["envoy_gateway"].before("v1.9.0", "doors", values)

    def test_it_has_an_account_that_may_write_secrets_of_its_namespace(self) -> None:
        inside = {"name": "envoy-gateway-certgen", "namespace": "doors"}
        assert self.made({})[:3] == [
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": inside},
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "Role",
                "metadata": inside,
                "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "create", "update"]}],
            },
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": inside,
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "Role",
                    "name": "envoy-gateway-certgen",
                },
                "subjects": [{"kind": "ServiceAccount", **inside}],
            },
        ]

    def test_it_is_another_one_for_another_version(self) -> None:
        job = self.made({})[3]
        assert job["metadata"] == {"name": "envoy-gateway-certgen-v1-9-0", "namespace": "doors"}
        (container,) = job["spec"]["template"]["spec"]["containers"]
        assert container["image"] == "docker.io/envoyproxy/gateway:v1.9.0"
        assert container["command"] == ["envoy-gateway", "certgen", "--disable-topology-injector"]

    @pytest.mark.parametrize(
        ("images", "image"),
        [
            ({"imageRegistry": "mine.example"}, "mine.example/envoyproxy/gateway:v1.9.0"),
            ({"images": {"envoyGateway": {"image": "mine.example/eg:v2"}}}, "mine.example/eg:v2"),
            (
                {"imageRegistry": "mine.example", "images": {"envoyGateway": {"image": "other.example/eg:v2"}}},
                "mine.example/eg:v2",
            ),
        ],
    )
    def test_its_image_comes_from_where_the_chart_takes_it(self, images: dict[str, Any], image: str) -> None:
        pod = self.made({"global": {**images, "imagePullSecrets": [{"name": "pull"}]}})[3]["spec"]["template"]["spec"]
        assert (pod["containers"][0]["image"], pod["imagePullSecrets"]) == (image, [{"name": "pull"}])


def test_monitoring_asks_charts_for_nothing_that_they_are_not_given_anyway() -> None:
    asked = add_on_values()
    for name in ADD_ONS.keys() & asked.keys() - {"kube_prometheus_stack"}:
        values = decided(name).values
        assert merged(values, asked[name]) == values


def test_no_value_of_ours_is_a_secret() -> None:
    """A chart is told the names of Secrets, never what is in them."""
    names = {"existingSecret": "grafana-admin", "passwordKey": "admin-password"}
    found = {
        key: value
        for name in ADD_ONS
        for key, value in _leaves(decided(name).values)
        if re.search("secret|password|token|credential", key, re.IGNORECASE)
    }
    assert found == names


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield key, value
