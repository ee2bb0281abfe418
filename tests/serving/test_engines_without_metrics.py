"""Who reads metrics leaves the pods of engines alone that have none."""

from typing import Any

import pytest

from pulumi_lws.facts import labels
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.pods import pod_template
from tests.serving.stacks import every_stack, stack

OWN = every_stack()["an engine of the user"]["deployments"]["glm-5"]["engine"]


@pytest.mark.parametrize(
    ("engine", "said"),
    [({}, None), (OWN, "none"), ({**OWN, "hasMetrics": False}, "none"), ({**OWN, "hasMetrics": True}, None)],
)
def test_an_engine_of_the_user_has_metrics_where_it_is_said(engine: dict[str, Any], said: str | None) -> None:
    own: dict[str, Any] = {"engine": engine, "image": "registry.example.com/own:1.0"} if engine else {}
    (args,) = deployments_of(PlatformArgs.model_validate(stack("glm-5", **own))).values()
    (role,) = roles_of(args)[0]
    found = [pod_template(role, position).metadata.labels.get(labels.METRICS) for position in ("leader", "worker")]
    assert found == [said, None]
