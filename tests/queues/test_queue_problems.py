"""Queues that Kueue would refuse, or that would never admit anything, are found before they are made."""

from typing import Any

import pytest
from pydantic import ValidationError

from pulumi_lws.planning.validation import problems_of
from pulumi_lws.queues.settings import Queues
from tests.queues.fleets import GROUPS, POOLS, deployments, pools, queue, queues, said

CIRCLE = (
    "found {}; allowed: a line of parents that ends: Kueue admits nothing in a circle. Remove one parent of the circle."
)


def refused(raw: dict[str, Any]) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        Queues.model_validate(raw)
    return [str(problem) for problem in problems_of(caught.value, Queues)]


def test_sound_queues_have_no_problems() -> None:
    declared = queues(
        {
            "search": queue(*POOLS, cohort="research", weight=2),
            "batch": queue("p5", cohort="research", localQueue="night", namespaces=["models", "jobs"]),
        },
        cohorts={"research": {"parent": "all"}, "all": {"weight": 1}},
        topologyAware=["static"],
        manager={"fairSharing": {}},
    )
    assert said(declared, namespaces=("models", "jobs")) == []


def test_a_pool_exists() -> None:
    assert said(queues({"search": queue("p6")})) == [
        (
            "error: queues.clusterQueues.search.pools.p6: found p6; allowed: p5, static, plain, small. Name a pool of"
            " this stack, or declare it under pools."
        )
    ]


def test_a_flavor_takes_eight_tolerations() -> None:
    def with_taints(count: int) -> list[str]:
        made = pools(p5={"taints": [{"key": f"taint-{index}"} for index in range(count)]})
        return said(queues({"search": queue("p5")}), made)

    assert with_taints(7) == []
    assert with_taints(8) == [
        (
            "error: queues.clusterQueues: found pool p5, whose taints need 9 tolerations; allowed: at most 8: a flavor"
            " of Kueue takes no more. Remove taints of pools.p5."
        )
    ]


def test_declared_quotas_are_in_the_pool() -> None:
    def with_gpus(*gpus: int) -> list[str]:
        return said(queues({f"q{i}": queue(pools={"p5": {"gpus": number}}) for i, number in enumerate(gpus)}))

    assert with_gpus(32, 16) == []
    assert with_gpus(32, 17) == [
        (
            "error: queues.clusterQueues.q1.pools.p5.gpus: found 49 GPUs of p5 for q0, q1 together; allowed: at most"
            " the 48 that p5 can have: what is admitted beyond waits for nodes that never come. Lower gpus to 48"
            " together, or enlarge pools.p5."
        )
    ]


def test_a_queue_lends_what_it_has() -> None:
    def lending(gpus: int) -> list[str]:
        made = queue(pools={"p5": {"gpus": 16, "lendingGpus": gpus}}, cohort="all")
        return said(queues({"search": made}, cohorts={"all": {}}))

    assert lending(16) == []
    assert lending(17) == [
        (
            "error: queues.clusterQueues.search.pools.p5.lendingGpus: found 17; allowed: at most the 16 GPUs of p5 that"
            " search has. Lower it to 16, or remove it."
        )
    ]


def test_a_cohort_and_its_parent_exist() -> None:
    fix = "Name a cohort, or declare it under cohorts; an empty mapping will do."
    assert said(queues({"search": queue("p5", cohort="all")})) == [
        f"error: queues.clusterQueues.search.cohort: found all; allowed: none is declared. {fix}"
    ]
    assert said(queues(cohorts={"team": {"parent": "all"}})) == [
        f"error: queues.cohorts.team.parent: found all; allowed: team. {fix}"
    ]


def test_no_cohort_is_its_own_ancestor() -> None:
    cohorts = {"a": {"parent": "b"}, "b": {"parent": "a"}, "under": {"parent": "a"}, "self": {"parent": "self"}}
    assert said(queues(cohorts=cohorts)) == [
        "error: queues.cohorts.a.parent: " + CIRCLE.format("b, whose own parents lead back: a → b → a"),
        "error: queues.cohorts.b.parent: " + CIRCLE.format("a, whose own parents lead back: b → a → b"),
        "error: queues.cohorts.self.parent: " + CIRCLE.format("self, whose own parents lead back: self → self"),
    ]


def test_a_namespace_has_one_local_queue_of_a_name() -> None:
    made = {"a": queue("p5", localQueue="llm"), "b": queue("p5", localQueue="llm", namespaces=["jobs", "models"])}
    assert said(queues(made), namespaces=("models", "jobs")) == [
        (
            "error: queues.clusterQueues.b.namespaces[1]: found a local queue llm in models, which a has too; allowed:"
            " local queues with names of their own in each namespace. Set localQueue of b or a, or remove"
            " models from one of them."
        )
    ]


def test_a_namespace_is_named_once_exists_and_is_not_the_clusters_own() -> None:
    made = queue("p5", namespaces=["models", "models", "kube-system", "jobs"])
    path = "error: queues.clusterQueues.search.namespaces"
    assert said(queues({"search": made})) == [
        f"{path}[1]: found models a second time; allowed: each namespace once. Remove it.",
        (
            f"{path}[2]: found kube-system; allowed: a namespace other than kube-system and kueue-system, which Kueue"
            " does not hold up. Remove it."
        ),
        f"{path}[3]: found jobs; allowed: models. Name one of these, or declare a team with it.",
    ]


def test_topologies_are_for_static_islands() -> None:
    assert said(queues(topologyAware=["static", "p5", "plain", "p6"])) == [
        (
            "error: queues.topologyAware[1]: found p5, a dynamic pool; allowed: a static pool: Kueue counts only nodes"
            " that exist, so nothing is admitted and no node is made. Remove it, or set pools.p5.static to true, and"
            " pay for its nodes at all times."
        ),
        (
            "error: queues.topologyAware[2]: found plain, a plain pool; allowed: a pool with islands: a node is no"
            " topology. Remove it, or give pools.plain islands."
        ),
        "error: queues.topologyAware[3]: found p6; allowed: p5, static, plain, small. Name a pool of this stack.",
    ]


def test_weights_need_fair_sharing() -> None:
    fix = "allowed: nothing: without fair sharing nobody reads it. Remove it, or set manager.fairSharing; an empty"
    made = {"search": queue("p5", cohort="all", weight=2)}
    assert said(queues(made, cohorts={"all": {"weight": 0.5}})) == [
        f"warning: queues.clusterQueues.search.weight: found 2; {fix} mapping will do.",
        f"warning: queues.cohorts.all.weight: found 0.5; {fix} mapping will do.",
    ]


def test_fair_sharing_excludes_preemption_while_borrowing() -> None:
    preemption = {"reclaimWithinCohort": "Any", "borrowWithinCohort": "LowerPriority"}
    made = {"search": queue("p5", cohort="all", preemption=preemption)}
    assert said(queues(made, cohorts={"all": {}})) == []
    assert said(queues(made, cohorts={"all": {}}, manager={"fairSharing": {}})) == [
        (
            "error: queues.clusterQueues.search.preemption.borrowWithinCohort: found LowerPriority; allowed: Never,"
            " with manager.fairSharing, whose strategies decide that. Remove it."
        )
    ]


def test_what_is_borrowed_is_preempted_only_where_what_is_lent_is() -> None:
    made = queue("p5", preemption={"borrowWithinCohort": "LowerPriority"})
    assert refused({"clusterQueues": {"search": made}}) == [
        (
            "clusterQueues.search.preemption.borrowWithinCohort: found 'LowerPriority'; allowed: Never, while"
            " reclaimWithinCohort is Never (Kueue refuses it). Set reclaimWithinCohort, or remove it."
        )
    ]


@pytest.mark.parametrize("field", ["borrowingGpus", "lendingGpus"])
def test_limits_of_lending_need_a_cohort(field: str) -> None:
    assert refused({"clusterQueues": {"search": queue(pools={"p5": {field: 8}})}}) == [
        (
            f"clusterQueues.search.pools.p5.{field}: found 8; allowed: nothing, without cohort. Remove it, or set"
            " cohort: without one p5 is neither lent nor borrowed."
        )
    ]


@pytest.mark.parametrize("made", [{"default": queue("p5")}, {"all": queue("p5", localQueue="default")}])
def test_no_local_queue_takes_what_names_none(made: dict[str, Any]) -> None:
    ((name, _),) = made.items()
    assert refused({"clusterQueues": made}) == [
        (
            f"clusterQueues: found {name}, with a local queue default; allowed: a local queue of another name: Kueue"
            " puts everything in the namespace that names no queue into one called default, routers and jobs, too."
            " Choose another name, or set localQueue."
        )
    ]


def test_kueue_does_not_evict_what_still_loads() -> None:
    def with_minutes(timeout: int, recovery: int) -> list[str]:
        ready = {"timeoutMinutes": timeout, "recoveryTimeoutMinutes": recovery}
        joined = deployments(glm=GROUPS | {"startBudgetMinutes": 90}, small=GROUPS)
        return said(queues(manager={"waitForPodsReady": ready}), joined=joined)

    allowed = (
        "allowed: more than 90, the startBudgetMinutes of glm: Kueue would evict groups while they load, and again when"
        " they are back. Remove it: it follows from the start budgets."
    )
    assert with_minutes(91, 91) == []
    assert with_minutes(90, 5) == [
        f"error: queues.manager.waitForPodsReady.timeoutMinutes: found 90 minutes; {allowed}",
        f"error: queues.manager.waitForPodsReady.recoveryTimeoutMinutes: found 5 minutes; {allowed}",
    ]


def test_one_scheduler_of_gangs_is_enough() -> None:
    assert said(queues(), joined=deployments(glm=GROUPS | {"queue": None}), gang_scheduler="volcano") == [
        (
            "warning: deployments.glm.queue: found nothing, with 16 GPUs of p5; allowed: a queue, where 48 of the 48"
            " GPUs of p5 belong to queues: what they admit finds no node. Name a queue, or set gpus of the cluster"
            " queues on p5 to 32 together."
        )
    ]
    assert said(queues(), joined=deployments(glm=GROUPS), gang_scheduler="volcano") == [
        (
            "error: addOns.lws.gangScheduler: found volcano; allowed: nothing beside queues: Kueue and the other would"
            " each hold back pods that the other let go. Remove it, or remove queue from the deployments."
        )
    ]
