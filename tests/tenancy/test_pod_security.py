"""The level of a team follows from what its pods do."""

from typing import Any

import pytest

from pulumi_lws.facts import labels
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.routing.sidecar import restricted
from pulumi_lws.tenancy.manifests import team_objects
from pulumi_lws.tenancy.needs import level_of, reason
from pulumi_lws.tenancy.pod_security import strictest, violations
from pulumi_lws.tenancy.settings import Level, Team
from pulumi_lws.tenancy.workloads import TeamWorkload, of_deployment
from tests.serving.stacks import stack
from tests.tenancy.pod_samples import SAMPLES
from tests.tenancy.residents import copies, service, smoke


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_pod_keeps_the_strictest_level_that_allows_all_that_it_does(sample: str) -> None:
    level, spec = SAMPLES[sample]
    assert strictest(violations(spec)) == level


def deployments(example: str = "llama-3.3-70b", **changes: Any) -> tuple[TeamWorkload, ...]:
    return tuple(map(of_deployment, deployments_of(PlatformArgs.model_validate(stack(example, **changes))).values()))


SIDECAR = {"name": "beside", "image": "example.com/beside:1", "resources": {"limits": {"cpu": 1, "memory": "1Gi"}}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "source.path (is a folder of the node), compileCache.path (is a folder of the node), privileges (adds"),
        ({"source": {"kind": "hugging-face", "path": None}, "compileCache": {"kind": "none"}}, "privileges (adds"),
    ],
)
def test_a_namespace_says_which_settings_need_its_level(changes: dict[str, Any], said: str) -> None:
    assert reason(deployments(**changes)) == f"privileged, because of llama-70b: {said} IPC_LOCK)"


def test_what_users_add_is_named_by_its_place() -> None:
    found = reason(
        deployments(
            source={"kind": "hugging-face", "path": None},
            compileCache={"kind": "none"},
            hostNetwork="enp71s0",
            network=None,
            volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "hostPath": {"path": "/b"}}],
            sidecars=[{**SIDECAR, "securityContext": restricted() | {"procMount": "Unmasked"}}],
        )
    )
    assert found == (
        "privileged, because of llama-70b: hostNetwork (has hostNetwork), volumes[1] (is a folder of the node),"
        " privileges (adds IPC_LOCK), sidecars[0] (sees all of /proc)"
    )


@pytest.mark.parametrize(
    ("workload", "said"),
    [
        (smoke(), ""),
        (copies(), "baseline, because of caches.sharedVolumes.weights: copy (may run as root)"),
        (
            service(source={"kind": "hugging-face", "path": None}, compileCache={"kind": "none"}),
            "privileged, because of ray.llama: privileges (adds IPC_LOCK)",
        ),
    ],
)
def test_what_runs_beside_deployments_counts_too(workload: TeamWorkload, said: str) -> None:
    assert reason([workload]) == said


def test_a_team_without_models_keeps_the_strictest_level() -> None:
    assert (level_of(()), reason(())) == ("restricted", "")


@pytest.mark.parametrize(("declared", "level"), [(None, "privileged"), ("privileged", "privileged")])
def test_a_namespace_has_one_level_and_its_reason(declared: Level | None, level: Level) -> None:
    own = deployments()
    metadata = team_objects("search", Team(pod_security=declared), own)["namespace"]["metadata"]
    modes = {f"pod-security.kubernetes.io/{mode}": level for mode in ("enforce", "audit", "warn")}
    assert metadata == {
        "name": "search",
        "labels": {labels.TEAM: "search", **modes},
        "annotations": {labels.POD_SECURITY_REASON: reason(own)},
    }
