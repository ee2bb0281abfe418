"""The component registers each chart as it was decided, after what comes first."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pytest

from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.component import ClusterAddOns
from pulumi_lws.component import DeclarationError
from pulumi_lws.facts import labels
from pulumi_lws.testing.monitor import Registration, record
from tests.addons.sites import ALL, add_ons, decided, site

CHART = "kubernetes:helm.sh/v4:Chart"
FILE = "kubernetes:yaml/v2:ConfigFile"
ENTRY = {"usernameVariable": "CHARTS_USER", "passwordVariable": "CHARTS_TOKEN"}
MARK = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
"""What Pulumi marks a secret by."""


def made(*, preview: bool = False, **declared: Any) -> list[Registration]:
    """What add-ons register, in order."""
    known = add_ons(**declared)

    def program() -> None:
        ClusterAddOns("on", known.model_dump(by_alias=True, exclude_unset=True), site(known, mode="lab"))

    return record(program, preview=preview)


def inputs(found: list[Registration], kind: str) -> dict[str, Mapping[str, Any]]:
    return {each.name: each.inputs for each in found if each.type == kind}


@pytest.mark.parametrize("preview", [True, False])
def test_every_chart_is_registered_as_it_was_decided(preview: bool) -> None:
    found = made(preview=preview, **ALL)
    expected = {}
    for name, facts in ADD_ONS.items():
        one = decided(name, mode="lab")
        if one.manifests is None:
            repository = {"repositoryOpts": {"repo": one.repository}} if one.repository else {}
            expected[f"on-{facts.release}"] = repository | {
                "name": facts.release,
                "chart": one.chart,
                "version": one.version,
                "namespace": one.namespace,
                "values": one.values,
                "resourcePrefix": f"on-{facts.release}",
            }
    assert inputs(found, CHART) == expected
    (file,) = inputs(found, FILE).values()
    assert file == {"file": decided("inference_pools").manifests, "resourcePrefix": "on-inference-pools"}


@pytest.mark.parametrize("preview", [True, False])
def test_the_state_keeps_how_each_was_installed(preview: bool) -> None:
    assert inputs(made(preview=preview, **ALL), "lws:index:ClusterAddOn") == {
        f"on-{facts.release}": decided(name, mode="lab").inputs for name, facts in ADD_ONS.items()
    }


def test_a_chart_is_registered_after_those_that_come_first() -> None:
    order = [each.name for each in made(**ALL) if each.type in (CHART, FILE)]
    for facts in ADD_ONS.values():
        for earlier in (*facts.after, *facts.needs):
            assert order.index(f"on-{ADD_ONS[earlier].release}") < order.index(f"on-{facts.release}")


def test_each_namespace_is_made_once_and_those_of_kubernetes_are_not() -> None:
    found = made(kubePrometheusStack={}, dcgmExporter={}, nvidiaDevicePlugin={}, inferencePools={})
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "monitoring"}}
    assert inputs(found, "kubernetes:core/v1:Namespace") == {"on-monitoring": namespace}


def test_what_hooks_would_do_is_done_before_the_chart_in_order() -> None:
    found = made(envoyGateway={"namespace": "doors"})
    before = ADD_ONS["envoy_gateway"].before("v1.9.0", "doors", decided("envoy_gateway").values)
    registered = [dict(each.inputs) for each in found if each.name.startswith("on-eg-envoy-gateway-certgen")]
    assert registered == before
    assert [each.type for each in found][-1] == CHART


def test_the_password_of_grafana_is_made_up_and_kept_secret() -> None:
    found, again = (
        inputs(made(kubePrometheusStack={}), "kubernetes:core/v1:Secret")["on-kube-prometheus-stack-grafana-admin"]
        for _ in range(2)
    )
    assert found["metadata"] == {
        "name": "grafana-admin",
        "namespace": "monitoring",
        "annotations": {
            labels.PULUMI_PATCH_FORCE: "true",
            labels.PATCH_FORCE_REASON: "an update that was killed may have made it, with a password nobody knows",
        },
    }
    password = found["stringData"]["value"]["admin-password"]
    assert found["stringData"] == {**MARK, "value": {"admin-user": "admin", "admin-password": password}}
    assert len(password) == 32
    assert password != again["stringData"]["value"]["admin-password"]


def test_one_file_of_manifests_brings_namespace_and_all_else_itself() -> None:
    found = made(envoyGateway={"manifests": "./gateway.yaml"})
    assert [(each.type, each.name) for each in found] == [
        ("lws:index:ClusterAddOns", "on"),
        ("lws:index:ClusterAddOn", "on-eg"),
        (FILE, "on-eg"),
    ]
    assert found[-1].inputs == {"file": "./gateway.yaml", "resourcePrefix": "on-eg"}


def test_credentials_come_from_the_environment_and_are_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARTS_USER", "me")
    monkeypatch.setenv("CHARTS_TOKEN", "s3cr3t")
    found = made(charts="oci://mine.example/charts", credentials=ENTRY, keda={}, lws={"charts": "oci://other.example"})
    charts = inputs(found, CHART)
    assert charts["on-keda"]["chart"] == "oci://mine.example/charts/keda"
    assert charts["on-keda"]["repositoryOpts"] == {**MARK, "value": {"username": "me", "password": "s3cr3t"}}
    assert "repositoryOpts" not in charts["on-lws"]
    assert "s3cr3t" not in str([each.inputs for each in found if each.type != CHART])


def test_credentials_that_are_not_there_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHARTS_USER", raising=False)
    monkeypatch.setenv("CHARTS_TOKEN", "s3cr3t")
    with pytest.raises(DeclarationError, match=r"credentials\.usernameVariable: found CHARTS_USER, which is not set"):
        made(charts="oci://mine.example/charts", credentials=ENTRY, keda={})


def test_problems_are_said_before_anything_is_made() -> None:
    def program() -> None:
        ClusterAddOns("on", {"nvidiaDevicePlugin": {}}, site(add_ons(nvidiaDevicePlugin={}), mode="auto"))

    with pytest.raises(DeclarationError, match="nvidiaDevicePlugin: found NVIDIA device plugin"):
        record(program)


@pytest.mark.parametrize(
    ("keep", "kept"),
    [({}, [True, None]), ({"keepCrds": True}, [True, None]), ({"keepCrds": False}, [None, None])],
)
def test_crds_outlive_their_chart_unless_they_must_not(
    keep: dict[str, Any], kept: list[bool | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider makes what is in a chart; what it is told of each object is asked of the transform itself."""
    seen: list[pulumi.ResourceOptions] = []
    monkeypatch.setattr("pulumi_lws.addons.component.Chart", lambda *_, opts, **__: seen.append(opts))
    made(keda={}, **keep)
    (own,) = seen
    assert [
        _retained(own, kind) for kind in ("apiextensions.k8s.io/v1:CustomResourceDefinition", "core/v1:Secret")
    ] == kept


def _retained(opts: pulumi.ResourceOptions, kind: str) -> bool | None:
    child = pulumi.ResourceTransformArgs(
        custom=True, type_=f"kubernetes:{kind}", name="child", props={}, opts=pulumi.ResourceOptions()
    )
    transformed = [transform(child) for transform in opts.transforms or ()]
    return next((result.opts.retain_on_delete for result in transformed if result is not None), None)  # type: ignore[union-attr]  # ours awaits nothing
