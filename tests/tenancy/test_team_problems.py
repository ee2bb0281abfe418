"""What would not run in a team's namespace is said before it is made."""

from typing import Any

import pytest
from pydantic import ValidationError

from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.tenancy.checks import team_problems
from pulumi_lws.tenancy.settings import Team
from pulumi_lws.tenancy.workloads import TeamWorkload, of_deployment
from tests.serving.stacks import PACKED, stack
from tests.tenancy.residents import copies, service, smoke

LLAMA = "llama-3.3-70b"


def deployments(example: str = LLAMA, **changes: Any) -> list[TeamWorkload]:
    return [
        of_deployment(args) for args in deployments_of(PlatformArgs.model_validate(stack(example, **changes))).values()
    ]


def problems(team: dict[str, Any], *own: TeamWorkload) -> list[Problem]:
    return team_problems({"search": Team.model_validate(team)}, {"search": own})


QUOTA = {"gpus": 12, "efaInterfaces": 48, "cpus": 270, "memoryGib": 2763}


def test_a_quota_as_large_as_what_is_needed_is_no_problem() -> None:
    assert problems({"quota": QUOTA}, *deployments(name="llama", surge=1)) == []


@pytest.mark.parametrize(
    ("field", "thing", "serving"),
    [
        ("gpus", "GPUs", 8),
        ("efaInterfaces", "EFA interfaces", 32),
        ("cpus", "CPUs", 180),
        ("memoryGib", "GiB of memory", 1842),
    ],
)
def test_a_quota_must_hold_a_rollout(field: str, thing: str, serving: int) -> None:
    needed = QUOTA[field]
    found = problems({"quota": QUOTA | {field: needed - 1}}, *deployments(name="llama", surge=1))
    assert found == [
        Problem(
            f"teams.search.quota.{field}",
            f"{needed - 1} {thing}",
            f"at least {needed}: llama takes {serving}, and {needed} during a rollout",
            f"Set it to {needed}, or lower the copies, the autoscaler's most or the surge of one of them.",
        )
    ]


def test_a_quota_names_every_deployment_that_takes_of_it() -> None:
    own = [*deployments(name="llama", surge=0), *deployments(name="other", surge=0)]
    (found,) = problems({"quota": {"gpus": 0}}, *own)
    assert found.allowed == "at least 16: llama takes 8; other takes 8"


def test_a_quota_names_what_runs_beside_deployments() -> None:
    own = [service(name="chat"), smoke(cpus=4), copies("weights")]
    gpus, cpus = problems({"quota": {"gpus": 47, "cpus": 0}}, *own)
    assert (gpus.path, gpus.allowed) == (
        "teams.search.quota.gpus",
        "at least 48: ray.chat takes 32, and 48 during a rollout",
    )
    assert cpus.allowed.endswith("; loadTests.smoke takes 4; caches.sharedVolumes.weights takes 2")


def test_in_a_closed_namespace_something_on_ray_says_who_reaches_it_too() -> None:
    assert [problem.path for problem in problems({}, service(name="chat", network=None))] == ["ray.chat.network"]
    assert problems({"network": None}, service(name="chat", network=None)) == []


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_a_level_that_pods_do_not_keep_is_refused_with_the_settings_that_break_it(level: str) -> None:
    own = deployments(name="llama", source={"kind": "hugging-face", "path": None}, compileCache={"kind": "none"})
    assert problems({"podSecurity": level}, *own) == [
        Problem(
            "teams.search.podSecurity",
            level,
            "privileged, because of llama: privileges (adds IPC_LOCK)",
            "Set podSecurity to privileged, or leave it out.",
        )
    ]
    assert problems({"podSecurity": "privileged"}, *own) == []
    assert problems({"podSecurity": level}) == []


def test_in_a_closed_namespace_a_deployment_says_who_reaches_it() -> None:
    bare = deployments(name="llama", network=None)
    assert problems({}, *bare) == [
        Problem(
            "deployments.llama.network",
            "null",
            "who may reach it: the namespace of search is closed, also between its own pods",
            "Remove it, or set teams.search.network to null.",
        )
    ]
    assert problems({"network": None}, *bare) == []
    # The network of a node passes no policy.
    assert problems({}, *deployments(name="llama", network=None, hostNetwork="enp71s0")) == []


@pytest.mark.parametrize("namespace", ["default", "kube-system", "kube-anything"])
def test_namespaces_of_kubernetes_are_nobodys(namespace: str) -> None:
    assert problems({"namespace": namespace}) == [
        Problem(
            "teams.search.namespace",
            namespace,
            "a namespace other than default and those that start with kube-",
            "Choose a name of your own.",
        )
    ]


def test_a_namespace_has_one_owner() -> None:
    teams = {"search": Team(), "ads": Team(namespace="search"), "platform": Team()}
    fix = "Choose another name."
    assert team_problems(teams, {}, ["platform"]) == [
        Problem("teams.ads.namespace", "search", "a namespace of its own: search has it", fix),
        Problem(
            "teams.platform.namespace",
            "platform",
            "a namespace of its own: something else of the stack makes it",
            fix,
        ),
    ]
    assert team_problems({"search": Team(), "ads": Team()}, {}, ["platform"]) == []


def test_accounts_are_made_once() -> None:
    own = deployments(PACKED, name="oss", router={"kind": "standalone"})
    assert problems({"serviceAccounts": ["reader", "default", "reader", "oss-router"]}, *own) == [
        Problem(
            f"teams.search.serviceAccounts[{index}]",
            account,
            "names of accounts other than default, each once: every namespace has that one",
            "Remove it.",
        )
        for index, account in ((1, "default"), (2, "reader"))
    ] + [
        Problem(
            "teams.search.serviceAccounts[3]",
            "a ServiceAccount oss-router",
            "objects of its own: deployments.oss makes one of that name",
            "Remove it.",
        )
    ]
    assert problems({"serviceAccounts": ["reader"]}, *own) == []


def test_a_deployment_called_like_an_object_of_the_team_is_renamed() -> None:
    assert problems({}, *deployments(name="team-closed")) == [
        Problem(
            "teams.search",
            "a NetworkPolicy team-closed",
            "objects of its own: deployments.team-closed makes one of that name",
            "Rename deployments.team-closed.",
        )
    ]


@pytest.mark.parametrize(
    ("team", "problem"),
    [
        (
            {"editors": ["system:authenticated"]},
            Problem(
                "editors[0]",
                "'system:authenticated'",
                "a group of your own, whose name does not start with system: or eks: or aws: or amazon: or iam:",
                "Name the group that your access entry or identity provider gives to the people of the team.",
            ),
        ),
        (
            {"network": {"destinations": [{"ports": [443]}]}},
            Problem("network.destinations[0]", "neither", "a cidr or a namespace, not both", "Name one of them."),
        ),
        (
            {"network": {"destinations": [{"cidr": "10.0.0.0/8", "namespace": "a"}]}},
            Problem("network.destinations[0]", "both", "a cidr or a namespace, not both", "Name one of them."),
        ),
    ],
)
def test_a_team_of_the_wrong_shape_is_refused(team: dict[str, Any], problem: Problem) -> None:
    with pytest.raises(ValidationError) as refused:
        Team.model_validate(team)
    assert problems_of(refused.value, Team) == [problem]
