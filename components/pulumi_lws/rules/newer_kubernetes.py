"""Rule: Kubernetes can number the pods of a StatefulSet from 1."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import Unknown, unseen

_FIX = "Upgrade Kubernetes to 1.27 or later."


def _check(groups: Groups, context: Context) -> Iterable[Problem]:
    if context.target.kubernetes >= (1, 27) or groups.size == 1:
        return
    path, (major, minor) = groups.template_path("size"), context.target.kubernetes
    if isinstance(groups.size, Unknown):
        yield unseen(path, "whether there are workers to number")
    else:
        yield Problem(path, f"{groups.size}, on Kubernetes {major}.{minor}", "1, before Kubernetes 1.27", _FIX)


NEEDS_NEWER_KUBERNETES = Rule(
    name="needs-newer-kubernetes",
    title="Groups with workers run on Kubernetes 1.27 or later.",
    why=(
        "LWS numbers workers from 1. An older Kubernetes numbers them from 0, takes the first worker for a leader, and"
        " makes nested StatefulSets without end (https://github.com/kubernetes-sigs/lws/issues/391)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
