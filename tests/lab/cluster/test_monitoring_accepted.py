"""Upstream takes the rules and monitors that are rendered here."""

from collections.abc import Callable
from typing import Any

import pytest

from pulumi_lws.monitoring.manifests import monitoring_objects
from pulumi_lws.monitoring.settings import Monitoring
from tests.monitoring.test_alerts import SITE

pytestmark = pytest.mark.lab


def test_upstream_takes_rules_and_monitors(taken: Callable[[list[dict[str, Any]]], list[str]]) -> None:
    declared = Monitoring(object_labels={"release": "kube-prometheus-stack"}, labels={"team": "infra"})
    objects = [*monitoring_objects(declared, SITE).values()]
    assert {each["kind"] for each in objects} == {"PrometheusRule", "PodMonitor", "ServiceMonitor"}
    assert taken(objects) == []
