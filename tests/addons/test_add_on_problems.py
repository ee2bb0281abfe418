"""What keeps add-ons from working is said before they are installed, and nothing else is."""

from typing import Any

import pytest

from pulumi_lws.addons.checks import missing_credentials
from pulumi_lws.facts.versions import PINS
from tests.addons.sites import ALL, B200, P5, SMALL, add_ons, said

PLUGINS: dict[str, Any] = {"nvidiaDevicePlugin": {}, "efaDevicePlugin": {}}
"""What pools on nodes of ours need."""

EXISTS = [{"operator": "Exists"}]


def test_everything_together_has_no_problem() -> None:
    assert said(add_ons(**ALL)) == []


def test_nothing_at_all_has_no_problem_without_pools() -> None:
    assert said(add_ons(), pools={}) == []


@pytest.mark.parametrize("key", PLUGINS)
def test_a_device_plugin_is_refused_on_auto_mode(key: str) -> None:
    (problem,) = said(add_ons(**{key: {}}), mode="auto")
    assert problem.startswith(f"error: {key}: found ")
    assert "allowed: nothing on a cluster of this mode: " in problem
    assert problem.endswith(f"Remove {key}.")
    assert said(add_ons(**{key: {}}), mode=None) == []


def test_on_auto_mode_the_dcgm_exporter_gets_in_the_way_of_the_agent_of_aws() -> None:
    (problem,) = said(add_ons(dcgmExporter={}), mode="auto")
    assert problem.startswith(
        "warning: dcgmExporter: found DCGM exporter; allowed: better nothing on a cluster of this"
    )
    assert problem.endswith("Remove dcgmExporter, or try it on nodes that may go.")
    assert said(add_ons(dcgmExporter={}), mode=None) == []


@pytest.mark.parametrize(
    ("declared", "changes", "problems"),
    [
        (
            {},
            {},
            [
                (
                    "error: nvidiaDevicePlugin: found nothing; allowed: the plugin: without it the nodes of p5 have"
                    " no GPUs for pods. Add nvidiaDevicePlugin: {}."
                ),
                (
                    "error: efaDevicePlugin: found nothing; allowed: the plugin: without it the nodes of p5 have no"
                    " EFA interfaces for pods. Add efaDevicePlugin: {}."
                ),
            ],
        ),
        (PLUGINS, {}, []),
        # The image of Bottlerocket has the plugin for GPUs, not that for EFA.
        ({"efaDevicePlugin": {}}, {"image": "bottlerocket@1.50.0"}, []),
        (
            {"efaDevicePlugin": {}},
            {"image": "bottlerocket@1.50.0", "pools": {"p5": P5.model_copy(update={"image": "al2023@latest"})}},
            [
                (
                    "error: nvidiaDevicePlugin: found nothing; allowed: the plugin: without it the nodes of p5 have"
                    " no GPUs for pods. Add nvidiaDevicePlugin: {}."
                ),
            ],
        ),
        # A pool without EFA.
        ({"nvidiaDevicePlugin": {}}, {"pools": {"small": SMALL}}, []),
        # They may be there already.
        ({}, {"is_new": False}, []),
        ({}, {"mode": "lab"}, []),
    ],
)
def test_pools_on_nodes_of_ours_need_the_plugins_for_their_devices(
    declared: dict[str, Any], changes: dict[str, Any], problems: list[str]
) -> None:
    assert said(add_ons(**declared), **changes) == problems


EXTERNAL = {"rules": {"external": [{"seriesQuery": "up"}]}}


@pytest.mark.parametrize(
    ("adapter", "others", "excluded"),
    [
        ({"values": EXTERNAL}, {"keda": {}}, True),
        ({"values": EXTERNAL}, {}, False),
        ({"values": {"rules": {"external": []}}}, {"keda": {}}, False),
        ({}, {"keda": {}}, False),
    ],
)
def test_a_cluster_has_one_server_of_external_metrics(
    adapter: dict[str, Any], others: dict[str, Any], excluded: bool
) -> None:
    declared = add_ons(**PLUGINS, kubePrometheusStack={}, prometheusAdapter=adapter, **others)
    assert said(declared) == excluded * [
        (
            "error: prometheusAdapter: found Prometheus Adapter with rules.external, and KEDA; allowed: one of the"
            " two, since a cluster has one server of external metrics, and both would be it"
            " (https://github.com/kedacore/keda/issues/470). Remove keda, or set kind to keda in"
            " gatewayAutoscalers, from which they follow."
        ),
    ]


def test_what_other_parts_ask_for_excludes_too() -> None:
    declared = add_ons(**PLUGINS, kubePrometheusStack={}, prometheusAdapter={}, keda={})
    (problem,) = said(declared, manager_values={"prometheus_adapter": EXTERNAL})
    assert problem.startswith("error: prometheusAdapter: found Prometheus Adapter with rules.external, and KEDA")


@pytest.mark.parametrize(
    ("adapter", "changes", "missing"),
    [
        ({}, {}, True),
        ({"values": {"prometheus": {"url": "http://prometheus.mine.svc"}}}, {}, False),
        ({}, {"is_new": False}, False),
    ],
)
def test_what_an_add_on_needs_is_missed_on_a_new_cluster(
    adapter: dict[str, Any], changes: dict[str, Any], missing: bool
) -> None:
    assert said(add_ons(**PLUGINS, prometheusAdapter=adapter), **changes) == missing * [
        (
            "error: prometheusAdapter: found no kube-prometheus-stack; allowed: kube-prometheus-stack, which it"
            " needs. Add kubePrometheusStack: {}, or set values.prometheus.url."
        ),
    ]


@pytest.mark.parametrize(
    ("key", "old", "first", "pin"),
    [("kueue", "0.17.8", "0.18.0", "kueue-chart"), ("certManager", "v1.14.9", "v1.15.0", "cert-manager-chart")],
)
def test_a_version_that_is_too_old_for_what_is_made_is_refused(key: str, old: str, first: str, pin: str) -> None:
    (problem,) = said(add_ons(**PLUGINS, **{key: {"version": old}}))
    allowed = first.removeprefix("v").removesuffix(".0")
    assert problem.startswith(f"error: {key}.version: found {old}; allowed: {allowed} or later, since which ")
    # Not the first that would do: it may break what runs.
    assert problem.endswith(f"Set it to {PINS[pin].version}, or remove it: that is the default.")
    assert said(add_ons(**PLUGINS, **{key: {"version": first}})) == []


@pytest.mark.parametrize(
    ("version", "pool", "problems"),
    [
        (
            "v0.5.17",
            B200,
            [
                (
                    "error: efaDevicePlugin.version: found v0.5.17; allowed: v0.5.18 or later for p6-b200.48xlarge:"
                    " older ones count NVLink devices as EFA interfaces. Set it to v0.5.18, or remove it."
                ),
            ],
        ),
        ("v0.5.18", B200, []),
        ("v0.5.17", P5, []),
    ],
)
def test_an_efa_plugin_that_miscounts_is_refused_on_the_nodes_that_it_miscounts(
    version: str, pool: Any, problems: list[str]
) -> None:
    declared = add_ons(nvidiaDevicePlugin={}, efaDevicePlugin={"version": version})
    assert said(declared, pools={"pool": pool}) == problems


@pytest.mark.parametrize(
    ("lws", "others", "problems"),
    [
        (
            {"certificates": "cert-manager", "version": "0.9.0"},
            {"certManager": {}},
            [
                (
                    "error: lws.certificates: found cert-manager with LWS 0.9.0; allowed: internal before 0.10, whose"
                    " charts do not tell the API server of the certificate"
                    " (https://github.com/kubernetes-sigs/lws/issues/902). Set it to internal, or version to 0.10.0 or"
                    " later."
                ),
            ],
        ),
        ({"certificates": "cert-manager", "version": "0.10.0"}, {"certManager": {}}, []),
        ({"certificates": "cert-manager"}, {"certManager": {}}, []),
        ({"version": "0.9.0"}, {}, []),
        (
            {"certificates": "cert-manager"},
            {},
            [
                (
                    "warning: lws.certificates: found cert-manager, which is not among the add-ons; allowed:"
                    " internal, or cert-manager where it runs already. Add certManager: {}, or set it to internal."
                ),
            ],
        ),
    ],
)
def test_lws_gets_its_certificates_from_what_there_is(
    lws: dict[str, Any], others: dict[str, Any], problems: list[str]
) -> None:
    assert said(add_ons(**PLUGINS, lws=lws, **others)) == problems


@pytest.mark.parametrize("key", [*PLUGINS, "dcgmExporter"])
@pytest.mark.parametrize(
    ("tolerations", "missed"),
    [
        ([], "nvidia.com/gpu, mine"),
        (None, "nvidia.com/gpu, mine"),
        # https://github.com/NVIDIA/k8s-device-plugin/issues/1934
        ([{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}], "nvidia.com/gpu, mine"),
        ([{"key": "nvidia.com/gpu", "operator": "Exists"}], "mine"),
        (
            [{"key": "mine", "operator": "Exists", "effect": "NoExecute"}, {"key": "nvidia.com/gpu", "value": "true"}],
            "mine",
        ),
        ([{"key": "nvidia.com/gpu", "value": "true"}, {"key": "mine"}], ""),
        (EXISTS, ""),
    ],
)
def test_tolerations_that_leave_a_pool_without_devices_are_said(key: str, tolerations: Any, missed: str) -> None:
    declared = add_ons(**PLUGINS | {key: {"values": {"tolerations": tolerations}}})
    assert said(declared, pools={"b200": B200}) == bool(missed) * [
        (
            f"warning: {key}.values.tolerations: found none for {missed}; allowed: tolerations of every taint of the"
            " pools, or it does not run on their nodes. Remove it: by default every taint is tolerated."
        ),
    ]


def test_nobody_knows_the_taints_of_pools_that_are_not_declared() -> None:
    declared = add_ons(nvidiaDevicePlugin={"values": {"tolerations": []}})
    assert said(declared, mode=None, is_new=False, pools={}) == []


@pytest.mark.parametrize(
    ("lws", "problems"),
    [
        (
            {"manifests": "./lws.yaml", "values": {"replicaCount": 1}, "namespace": "sets", "gangScheduler": "volcano"},
            [
                (
                    "error: lws.gangScheduler: found 'volcano'; allowed: nothing: ./lws.yaml is applied as it is."
                    " Remove it, or install the chart."
                ),
                (
                    "error: lws.namespace: found 'sets'; allowed: nothing: ./lws.yaml is applied as it is. Remove it,"
                    " or install the chart."
                ),
                (
                    "error: lws.values: found a mapping with replicaCount; allowed: nothing: ./lws.yaml is applied as"
                    " it is. Remove it, or install the chart."
                ),
            ],
        ),
        ({"manifests": "./lws.yaml", "certificates": "internal", "version": "0.10.0"}, []),
        ({"values": {"replicaCount": 1}, "namespace": "sets", "gangScheduler": "volcano"}, []),
    ],
)
def test_what_one_file_of_manifests_does_not_take_is_refused(lws: dict[str, Any], problems: list[str]) -> None:
    assert said(add_ons(**PLUGINS, lws=lws)) == problems


def test_what_has_no_chart_takes_no_values() -> None:
    assert said(add_ons(**PLUGINS, inferencePools={"values": {"a": 1}}, charts="charts")) == [
        (
            "error: inferencePools.values: found a mapping with a; allowed: nothing: charts/inference-pools.yaml is"
            " applied as it is. Remove it: there is no chart."
        ),
    ]


ENTRY = {"usernameVariable": "CHARTS_USER", "passwordVariable": "CHARTS_TOKEN"}


@pytest.mark.parametrize(
    ("declared", "problems"),
    [
        (
            {},
            [
                (
                    "warning: credentials: found credentials for public registries of upstream; allowed: credentials"
                    " of a registry of yours, which charts names. Set charts to it, or remove credentials."
                ),
            ],
        ),
        (
            {"charts": "./charts"},
            [
                (
                    "warning: credentials: found credentials for a folder; allowed: credentials of a registry of"
                    " yours, which charts names. Set charts to it, or remove credentials."
                ),
            ],
        ),
        ({"charts": "oci://mine.example/charts"}, []),
    ],
)
def test_credentials_are_for_a_registry_of_ones_own(declared: dict[str, Any], problems: list[str]) -> None:
    assert said(add_ons(**PLUGINS, credentials=ENTRY, **declared)) == problems


@pytest.mark.parametrize(
    ("environment", "missing"),
    [
        ({"CHARTS_USER": "me", "CHARTS_TOKEN": "s3cr3t"}, []),
        ({"CHARTS_USER": "me", "CHARTS_TOKEN": ""}, ["credentials.passwordVariable"]),
        ({}, ["credentials.usernameVariable", "credentials.passwordVariable"]),
    ],
)
def test_credentials_that_are_not_there_are_missed_and_not_shown(
    environment: dict[str, str], missing: list[str]
) -> None:
    declared = add_ons(charts="oci://mine.example/charts", credentials=ENTRY)
    problems = missing_credentials(declared, environment)
    assert [problem.path for problem in problems] == missing
    assert "s3cr3t" not in "".join(map(str, problems))


def test_without_credentials_none_are_missed() -> None:
    assert missing_credentials(add_ons(), {}) == []
