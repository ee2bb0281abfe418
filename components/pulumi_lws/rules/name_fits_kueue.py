"""Rule: the name leaves room for what Kueue makes from it."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.facts.versions import PINS
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import Groups, about_groups
from pulumi_lws.rules.name_fits import judge_name
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, Parameter, Rule, is_kind, major_and_minor

_FIX = "Shorten the name, or turn Kueue's feature gate WorkloadIdentifierAnnotations on."

_ANNOTATIONS_SINCE = (0, 18)
"""First Kueue that has the feature gate on by default.
https://github.com/kubernetes-sigs/kueue/blob/main/CHANGELOG/CHANGELOG-0.18.md"""


def longest_queued_name(highest_index: int, _size: int) -> int:
    """Return the longest name with which Kueue can label the pods of every group.

    Its workload is called ``leaderworkerset-<name>-<group>-<5 characters>``, which is a label of the pods.
    """
    return 63 - len("leaderworkerset-") - len("-") - len(str(highest_index)) - len("-12345")


def _check(groups: Groups, context: Context) -> Iterable[Problem]:
    if groups.label(labels.KUEUE_QUEUE) is not None and not context.values["workloadIdentifierAnnotations"]:
        yield from judge_name(groups, longest_queued_name)


NAME_FITS_KUEUE = Rule(
    name="name-fits-kueue",
    title="The name of a LeaderWorkerSet in a Kueue queue is short enough for the label with its workload.",
    why=(
        "Kueue writes the name of the workload into a label of at most 63 characters; pods of a longer name are never"
        " made, unless its feature gate WorkloadIdentifierAnnotations is on, as it is since 0.18"
        " (https://github.com/kubernetes-sigs/kueue/issues/10032)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(LEADER_WORKER_SET),
    check=about_groups(_check),
    parameters={
        "workloadIdentifierAnnotations": Parameter(
            schema={
                "type": "boolean",
                "description": (
                    "Whether Kueue runs with its feature gate WorkloadIdentifierAnnotations, as 0.18 and later do by"
                    " default."
                ),
            },
            default=major_and_minor(PINS["kueue-chart"].version) >= _ANNOTATIONS_SINCE,
        )
    },
)
