"""How many groups a drain takes at a time. What the API server makes of it is tried in the lab."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.checking.schemas import schemas_for
from pulumi_lws.serving.disruption import disruption_budget

SELECTOR = {"leaderworkerset.sigs.k8s.io/name": "glm-5"}


def test_a_budget_counts_all_pods_of_a_role_and_lets_loading_ones_go() -> None:
    budget = disruption_budget("glm-5", "models", SELECTOR, pods_per_group=2, groups=3)
    assert budget == {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "glm-5", "namespace": "models"},
        "spec": {
            "minAvailable": 5,
            "selector": {"matchLabels": SELECTOR},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
    schemas = schemas_for((1, 35))
    definition = schemas.definition_of("policy/v1", "PodDisruptionBudget")
    assert definition
    assert schemas.problems(budget, definition) == []


@pytest.mark.parametrize(
    ("size", "groups", "bound"),
    [
        (1, 3, {"maxUnavailable": 1}),
        (2, None, {"maxUnavailable": 1}),
        (2, 1, {"minAvailable": 1}),
        (4, 2, {"minAvailable": 7}),
        (2, 0, {"minAvailable": 0}),
    ],
)
def test_what_stays_is_counted_where_the_number_of_groups_is_fixed(
    size: int, groups: int | None, bound: dict[str, int]
) -> None:
    spec = disruption_budget("glm-5", "models", SELECTOR, pods_per_group=size, groups=groups)["spec"]
    assert {name: spec[name] for name in spec if name.endswith("vailable")} == bound


@given(size=st.integers(2, 8), groups=st.integers(1, 20), out=st.integers(0, 8))
def test_one_eviction_is_allowed_while_all_serve_and_none_while_a_group_is_made_again(
    size: int, groups: int, out: int
) -> None:
    spec: dict[str, Any] = disruption_budget("glm-5", "models", SELECTOR, pods_per_group=size, groups=groups)["spec"]

    def allowed(healthy: int) -> int:
        return max(healthy - int(spec["minAvailable"]), 0)

    everything = size * groups
    assert allowed(everything) == 1
    # Its leader is ready for some seconds before there are workers; until all serve, pods are missing.
    assert allowed(everything - max(min(out, size), 1)) == 0
