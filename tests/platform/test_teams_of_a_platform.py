"""A team's quota, network and level hold all that a platform runs for it, and nothing of others."""

from typing import Any

import pytest

from pulumi_lws.platform.checks import deployments_of, ray_of, read
from pulumi_lws.platform.component import Platform
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.teams import workloads_of_teams
from pulumi_lws.testing.monitor import Registration, record
from tests.serving.stacks import stack

TEST = {"load": {"kind": "concurrent", "requests": [1, 2]}, "inputTokens": 1000, "outputTokens": 100}
COPIES = {"llama": {"origin": {"kind": "s3", "uri": "s3://weights/llama"}, "sizeGb": 150, "path": "llama"}}


def platform(**team: Any) -> dict[str, Any]:
    raw = stack("llama-3.3-70b", name="chat", surge=0, team="search", pools={"p5": {"nodes": 8, "zone": "us-east-2a"}})
    return raw | {
        "teams": {"search": team, "ads": {}},
        "ray": {"batch": {"kind": "ray-cluster-pool", "pool": "p5", "maxWorkers": 2, "team": "search"}},
        "caches": {"sharedVolumes": {"weights": {"kind": "claim", "copies": COPIES, "team": "search"}}},
        "loadTests": {"smoke": {"deployment": "chat", **TEST}},
    }


def registered(raw: dict[str, Any]) -> list[Registration]:
    def program() -> None:
        Platform("env", raw)

    return record(program)


def test_everything_of_a_team_is_counted_for_it_alone() -> None:
    args = PlatformArgs.model_validate(platform())
    found = workloads_of_teams(args, deployments_of(args), ray_of(args))
    assert {team: [one.path for one in workloads] for team, workloads in found.items()} == {
        "search": ["deployments.chat", "ray.batch", "caches.sharedVolumes.weights", "loadTests.smoke"]
    }
    assert read(platform())[1] == []


def test_a_quota_is_judged_by_everything_of_the_team() -> None:
    assert [(problem.path, problem.allowed) for problem in read(platform(quota={"gpus": 8}))[1]] == [
        ("teams.search.quota.gpus", "at least 24: chat takes 8; ray.batch takes 16")
    ]


@pytest.mark.usefixtures("kubeconfig")
def test_the_objects_of_the_team_are_what_the_checks_went_by() -> None:
    raw = platform()
    raw["cluster"] = {"kind": "existing", "name": "lab", "context": "pulumi-lws-lab"}
    found = {one.name: one.inputs for one in registered(raw)}
    assert found["env-team-search-quota"]["spec"]["hard"]["requests.nvidia.com/gpu"] == "24"
    policies = {name for name, inputs in found.items() if inputs.get("metadata", {}).get("namespace") == "search"}
    assert {f"env-team-search-{name}" for name in ("copies-weights", "copies-credentials", "batch-head-api")} < policies


@pytest.mark.parametrize("section", ["loadTests", "teams"])
def test_a_pool_that_cannot_be_read_hides_nothing_else(section: str) -> None:
    raw = {key: value for key, value in platform().items() if key in {"cluster", "pools", "deployments", section}}
    if section != "teams":
        del raw["deployments"]["chat"]["team"]
    raw["pools"]["p5"]["instanceType"] = "p5.unknown"
    assert [problem.path for problem in read(raw)[1]] == ["pools.p5.instanceType"]
