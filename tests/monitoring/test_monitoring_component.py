"""The component registers what was rendered."""

import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.monitoring.component import Monitoring, MonitoringArgs
from pulumi_lws.monitoring.dashboards.manifests import dashboard_objects
from pulumi_lws.monitoring.manifests import monitoring_objects
from pulumi_lws.monitoring.settings import Monitoring as Settings
from pulumi_lws.testing.monitor import record


@pytest.mark.parametrize("preview", [True, False])
def test_it_registers_what_is_rendered(preview: bool) -> None:
    def program() -> None:
        Monitoring("watch", MonitoringArgs({"namespace": "team"}))

    component, *objects = record(program, preview=preview)
    assert (component.type, component.name, component.inputs["namespace"]) == ("lws:index:Monitoring", "watch", "team")
    settings = Settings(namespace="team")
    rendered = monitoring_objects(settings) | dashboard_objects(settings)
    assert {each.name: each.inputs for each in objects} == {f"watch-{key}": each for key, each in rendered.items()}


def test_it_says_what_is_wrong_before_anything_is_made() -> None:
    def program() -> None:
        Monitoring("watch", MonitoringArgs({"disabled": {"NoSuchAlert": "why"}}))

    with pytest.raises(DeclarationError, match=r"disabled\.NoSuchAlert: found no such alert"):
        record(program)
