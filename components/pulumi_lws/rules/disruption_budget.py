"""Rule: a budget for the pods of models lets drains go on, one group after another."""

from collections.abc import Iterable, Mapping
from typing import Final

from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.around import grouped
from pulumi_lws.rules.groups import HAS_GROUPS, scaled
from pulumi_lws.rules.reach import Reachable, described, namespace_of, reachable, reached
from pulumi_lws.rules.rule import Context, Program, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

IS_BUDGET: Final = is_kind("policy/PodDisruptionBudget")
"""Whether an object is a PodDisruptionBudget."""

_FIX = (
    "Select leaders and workers of one deployment in one budget, with minAvailable one pod less than there are, or"
    " maxUnavailable 1 where an autoscaler decides how many there are."
)
_SELECTOR = "spec.selector"


_Key = tuple[int, str, bool]

Budgets = Mapping[_Key, list[tuple[RegisteredObject, bool | None]]]
"""The budgets that select pods, each with whether that is sure; by ``key_of`` the pods."""


def key_of(pods: Reachable) -> _Key:
    """Tell the pods of a program apart, by who makes them and from which template."""
    return id(pods.owner), pods.pods.path, pods.leads


def budgets_of(program: Program) -> Budgets:
    """Return the budgets that pods of a program have."""
    return grouped(
        (key_of(pods), (budget, met))
        for budget in filter(IS_BUDGET, program)
        for pods, met in _budgeted(budget, program)
    )


def _budgeted(budget: RegisteredObject, program: Program) -> list[tuple[Reachable, bool | None]]:
    """Return the pods that a budget selects, each with whether that is sure."""
    selector = value_at(budget.properties, "spec", "selector")
    return [] if selector is None else list(reached(selector, namespace_of(budget), program))


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    found = _budgeted(subject, context.others)
    if not any(pods.pods.has_accelerators for pods, _ in found):
        return
    if value_at(subject.properties, "spec", "selector") is UNKNOWN:
        yield unseen(_SELECTOR, "whether a drain of nodes ever ends")
        return
    sure = [pods for pods, met in found if met]
    if len(sure) == len(found):
        yield from _bounds(subject, sure)
        yield from _halves(sure)
    yield from _second(subject, sure, context)


def _bounds(subject: RegisteredObject, selected: list[Reachable]) -> Iterable[Problem]:
    """Find a budget that nothing may ever leave."""
    counts = [pods.count for pods in selected]
    total = None if None in counts else sum(count for count in counts if count)
    kept, out = (value_at(subject.properties, "spec", field) for field in ("minAvailable", "maxUnavailable"))
    for field, value in (("minAvailable", kept), ("maxUnavailable", out)):
        if value is UNKNOWN:
            yield unseen(f"spec.{field}", "whether a drain of nodes ever ends")
    # Percentages of pods are rounded up, both of them.
    least = scaled(kept, total or 0, up=True)
    if kept == "100%" or (total and isinstance(least, int) and least >= total):
        pods = "all pods" if total is None else f"all of {counted(total, 'pod')}"
        yield Problem("spec.minAvailable", f"{kept}, {pods}", "less than there are: no drain ever ends", _FIX)
    if out is not None and scaled(out, 1, up=True) == 0:
        yield Problem("spec.maxUnavailable", str(out), "1 or more: no drain ever ends", _FIX)


def _halves(selected: list[Reachable]) -> Iterable[Problem]:
    """Find groups of which a budget has the leaders alone, or the workers alone."""
    for owner in {id(pods.owner): pods.owner for pods in selected if HAS_GROUPS(pods.owner)}.values():
        own = [pods for pods in selected if pods.owner is owner]
        paths = {(pods.groups, pods.leads) for pods in own}
        for pods in reachable(owner):
            if (pods.groups, not pods.leads) in paths and (pods.groups, pods.leads) not in paths:
                found = f"the {'workers' if pods.leads else 'leaders'} of {pods.whose} alone"
                yield Problem(_SELECTOR, found, "leaders and workers: a group serves with all of its pods", _FIX)


def _second(subject: RegisteredObject, selected: list[Reachable], context: Context) -> Iterable[Problem]:
    """Find pods that another budget selects, too."""
    budgets = context.others.once(budgets_of)
    for pods in selected:
        for other, met in budgets.get(key_of(pods), ()):
            if met and other is not subject:
                found = f"pods of {pods.whose}, which {described(other)} selects, too"
                yield Problem(_SELECTOR, found, "one budget for a pod: with two it cannot be evicted at all", _FIX)
                return


DISRUPTION_BUDGET = Rule(
    name="disruption-budget",
    title="A PodDisruptionBudget for pods with accelerators covers whole groups, and lets drains go on.",
    why=(
        "Evicting one pod takes its whole group down, so a budget for leaders alone lets a drain end every group by its"
        " workers. One that nothing may leave blocks drains and node upgrades until somebody deletes it, and so do two"
        " budgets for one pod (https://kubernetes.io/docs/tasks/run-application/configure-pdb/)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=IS_BUDGET,
    check=_check,
    looks_around=True,
)
