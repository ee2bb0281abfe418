"""Upstream takes the autoscalers that are rendered here."""

from collections.abc import Callable
from typing import Any

import pytest

from pulumi_lws.serving.scaling.gateways.manifests import envoy_hpa, gateway_autoscaler
from pulumi_lws.serving.scaling.gateways.settings import GatewayAutoscaling
from tests.serving.stacks import PACKED, manifests_of, stack

pytestmark = pytest.mark.lab

GATEWAY = GatewayAutoscaling(deployment="envoy", namespace="edge", max_replicas=8, query="sum(up)")
HORIZONTAL = GatewayAutoscaling(deployment="envoy", namespace="edge", max_replicas=8, kind="hpa")


def test_upstream_takes_autoscalers_of_copies_that_all_go_and_of_gateways(
    taken: Callable[[list[dict[str, Any]]], list[str]],
) -> None:
    scaled = {"autoscaling": {"maxReplicas": 4, "scaleToZero": {"acceptColdStartMinutes": 60}}}
    one_by_one = {"autoscaling": {"kind": "hpa", "maxReplicas": 4}}
    stacks = [
        stack(PACKED, router={"kind": "standalone"}, prefill=scaled, decode=scaled),
        stack(PACKED, prefill=one_by_one, decode=one_by_one),
    ]
    autoscalers = [
        manifest
        for settings in stacks
        for manifest in manifests_of(settings)
        if manifest["kind"] in {"ScaledObject", "HorizontalPodAutoscaler"}
    ]
    assert len(autoscalers) == 4
    kubernetes = {"type": "Kubernetes", "kubernetes": {"envoyHpa": envoy_hpa(HORIZONTAL)}}
    proxy = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "EnvoyProxy",
        "metadata": {"name": "edge", "namespace": "edge"},
        "spec": {"provider": kubernetes},
    }
    gateways = [gateway_autoscaler(one, ()) for one in (GATEWAY, HORIZONTAL)]
    assert taken([*autoscalers, *gateways, proxy]) == []
