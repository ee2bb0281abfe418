"""Rule: the head of a Ray cluster takes no GPU, and nobody reaches its dashboard from outside."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import gpus_of
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.pods import RAY_CLUSTERS
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_FIX = "Give the head no GPU and the service type ClusterIP; workers have the GPUs."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    path = RAY_CLUSTERS[subject.kind]
    head = value_at(subject.properties, *path, "headGroupSpec")
    where = ".".join((*path, "headGroupSpec"))
    workers = [one for _, one in items(value_at(subject.properties, *path, "workerGroupSpecs"), "")]
    if not workers or head is None:
        # A cluster of one pod is for trying things out.
        return
    for at, container in items(value_at(head, "template", "spec", "containers"), f"{where}.template.spec.containers"):
        gpus = gpus_of(container)
        if isinstance(gpus, Unknown):
            yield unseen(f"{at}.resources", "whether the head takes a GPU")
        elif gpus:
            yield Problem(f"{at}.resources.limits", f"{gpus} GPUs", "no GPU on the head", _FIX)
    service = value_at(head, "serviceType")
    if service is UNKNOWN:
        yield unseen(f"{where}.serviceType", "whether the dashboard is reached from outside")
    elif service in ("LoadBalancer", "NodePort"):
        allowed = "ClusterIP: the dashboard runs what anybody sends it"
        yield Problem(f"{where}.serviceType", str(service), allowed, _FIX)


RAY_HEAD = Rule(
    name="ray-head",
    title="The head of a Ray cluster has no GPU and is not exposed.",
    why=(
        "The head keeps the state of the cluster and computes nothing, so a GPU there idles. The jobs API of its"
        " dashboard runs code without authentication (CVE-2023-48022)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(*RAY_CLUSTERS),
    check=_check,
    house=True,
)
