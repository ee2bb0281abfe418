"""Rule: a drain of nodes takes the groups of a model one after another."""

from collections.abc import Iterable

from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.disruption_budget import budgets_of, key_of
from pulumi_lws.rules.groups import HAS_GROUPS, groups_of
from pulumi_lws.rules.reach import reachable
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import Unknown, unseen

_FIX = "Add a PodDisruptionBudget that selects all pods of the groups and lets one of them go at a time."


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    budgets, made = context.others.once(budgets_of), list(reachable(subject))
    covered = {pods.groups for pods in made if key_of(pods) in budgets}
    loaded = {pods.groups for pods in made if pods.pods.has_accelerators}
    for groups in groups_of(subject):
        replicas, path = groups.replicas, groups.path_to("replicas")
        if groups.path in covered or groups.path not in loaded:
            continue
        if isinstance(replicas, Unknown):
            yield unseen(path, "whether a drain may take several groups at once")
        elif replicas > 1:
            yield Problem(path, f"{counted(replicas, 'group')}, and no budget", "a PodDisruptionBudget for them", _FIX)


GROUPS_BUDGETED = Rule(
    name="groups-budgeted",
    title="Several groups with accelerators have a PodDisruptionBudget in the same program.",
    why=(
        "An upgrade of nodes evicts pods as fast as it may. Evicting one pod of a group recreates all of it, so without"
        " a budget every copy of a model can be loading at the same time, and nobody serves."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=_check,
    house=True,
    looks_around=True,
)
