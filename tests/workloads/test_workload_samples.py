"""Objects of the shapes that the upstream documentation shows, read by the models and rendered again."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_lws.rules.judging import judge
from pulumi_lws.workloads.disaggregated_set import DisaggregatedSetArgs
from pulumi_lws.workloads.manifests import disaggregated_set, leader_worker_set
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.yaml"))

DEFAULTS: dict[str, Any] = {
    "spec.slices": 1,
    "spec.replicas": 1,
    "spec.startupPolicy": "LeaderCreated",
    "spec.rolloutStrategy": {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0, "partition": 0},
    },
    "spec.rolloutStrategy.rollingUpdateConfiguration.partition": 0,
    "spec.leaderWorkerTemplate.size": 1,
    "spec.leaderWorkerTemplate.restartPolicy": "RecreateGroupOnPodRestart",
}
"""What the server fills in where a field is missing."""

DEFAULTS_OF_A_ROLE: dict[str, Any] = DEFAULTS | {
    "spec.rolloutStrategy": {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"maxUnavailable": 0, "maxSurge": 1, "partition": 0},
    },
    "spec.rolloutStrategy.rollingUpdateConfiguration": {"maxUnavailable": 0, "maxSurge": 1, "partition": 0},
}
"""The same for a role, where the controller goes by bounds of its own."""


def rendered(sample: Mapping[str, Any]) -> tuple[dict[str, Any], LeaderWorkerSetArgs | DisaggregatedSetArgs]:
    """Read a sample with its model, and render it again."""
    declared = {**sample["metadata"], "namespace": "default", "spec": sample["spec"]}
    if sample["kind"] == "DisaggregatedSet":
        roles = DisaggregatedSetArgs.model_validate(declared)
        return disaggregated_set(roles), roles
    groups = LeaderWorkerSetArgs.model_validate(declared | {"wait": "none"})
    return leader_worker_set(groups), groups


def added(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what ``after`` has beyond ``before``, with its path; anything that differs fails."""
    if isinstance(before, dict):
        assert set(before) <= set(after), path
        for key, value in after.items():
            where = f"{path}.{key}" if path else key
            if key in before:
                yield from added(before[key], value, where)
            else:
                yield where, value
    elif isinstance(before, list):
        assert len(before) == len(after), path
        for index, value in enumerate(after):
            yield from added(before[index], value, f"{path}[{index}]")
    else:
        assert before == after, path


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_rendered_as_it_stands_with_the_defaults_of_the_server(path: Path) -> None:
    sample = yaml.safe_load(path.read_text())
    sample["metadata"]["namespace"] = "default"
    manifest, _ = rendered(sample)
    for where, value in added(sample, manifest):
        role, _, field = where.rpartition("].")
        assert (DEFAULTS_OF_A_ROLE if role else DEFAULTS)[field] == value, where


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_rendered_sample_is_rendered_unchanged(path: Path) -> None:
    manifest, _ = rendered(yaml.safe_load(path.read_text()))
    assert rendered(manifest)[0] == manifest


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_no_sample_is_refused(path: Path) -> None:
    manifest, args = rendered(yaml.safe_load(path.read_text()))
    assert [str(problem) for problem in judge(manifest, args.target) if problem.refused] == []
