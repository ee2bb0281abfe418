"""Rule: no work lands on the head of a Ray cluster whose workers have accelerators."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import gpus_of
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.pods import RAY_CLUSTERS
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_FIX = "Give the head rayStartParams num-cpus '0': Ray then places actors and tasks on workers alone."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    path = RAY_CLUSTERS[subject.kind]
    workers = [
        gpus_of(container)
        for _, group in items(value_at(subject.properties, *path, "workerGroupSpecs"), "")
        for _, container in items(value_at(group, "template", "spec", "containers"), "")
    ]
    has_accelerators = any(isinstance(gpus, int) and gpus > 0 for gpus in workers)
    cpus = value_at(subject.properties, *path, "headGroupSpec", "rayStartParams", "num-cpus", default="nothing")
    where = ".".join((*path, "headGroupSpec", "rayStartParams", "num-cpus"))
    if str(cpus) == "0" or not (has_accelerators or any(isinstance(gpus, Unknown) for gpus in workers)):
        return
    if cpus is UNKNOWN or not has_accelerators:
        yield unseen(where, "whether work lands on the head")
    else:
        yield Problem(where, str(cpus), "'0': actors on the head take it down", _FIX)


RAY_HEAD_IDLE = Rule(
    name="ray-head-idle",
    title="The head of a Ray cluster whose workers have accelerators takes no work.",
    why=(
        "The head keeps the state of the cluster: an actor that runs out of memory there ends the engines of all"
        " workers. Without num-cpus Ray places actors and tasks by the head's CPUs"
        " (https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/config.html)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind(*RAY_CLUSTERS),
    check=_check,
    house=True,
)
