"""Rule: labels that the controller of DisaggregatedSets writes are left to it."""

from collections.abc import Iterable, Mapping

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import Groups, about_groups
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Use another key, such as app.kubernetes.io/name."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    holders = {groups.metadata_path: groups.metadata}
    holders |= {f"{template.path}.metadata": value_at(template.manifest, "metadata") for template in groups.templates()}
    for path, metadata in holders.items():
        declared = value_at(metadata, "labels")
        if declared is UNKNOWN:
            yield unseen(f"{path}.labels", "whether the controller overwrites labels")
        for key in declared if isinstance(declared, Mapping) else ():
            if key == "app" or str(key).startswith(labels.DS_PREFIX):
                yield Problem(f"{path}.labels['{key}']", "a label of your own", "no such label in a role", _FIX)


OVERWRITTEN_LABELS = Rule(
    name="overwritten-labels",
    title="The roles of a DisaggregatedSet leave the labels app and disaggregatedset.x-k8s.io/* to the controller.",
    why=(
        "The controller overwrites them on LeaderWorkerSets and pods (app becomes <name>-<slice>-<role>), so a Service,"
        " a network policy or a dashboard that selects by your value finds nothing."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind(DISAGGREGATED_SET),
    check=about_groups(_check),
)
