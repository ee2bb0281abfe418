"""Rule: the names that a DisaggregatedSet gives to its LeaderWorkerSets leave room for what Kueue makes of them."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem
from pulumi_lws.rules.child_name import CHILD_NAME, judge_children
from pulumi_lws.rules.name_fits_kueue import NAME_FITS_KUEUE, longest_queued_name
from pulumi_lws.rules.roles import roles_of, slices_of
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    name = value_at(subject.properties, "metadata", "name")
    if context.values["workloadIdentifierAnnotations"]:
        return
    for role in roles_of(subject):
        if role.groups.label(labels.KUEUE_QUEUE) is None:
            continue
        if name is UNKNOWN:
            yield unseen("metadata.name", "whether the names of its LeaderWorkerSets fit")
        elif isinstance(name, str):
            yield from judge_children(name, role, slices_of(subject), context.target.lws, longest_queued_name)


CHILD_NAME_KUEUE = Rule(
    name="child-name-kueue",
    title="The LeaderWorkerSets of a DisaggregatedSet in a Kueue queue have names short enough for Kueue.",
    why=NAME_FITS_KUEUE.why,
    fix=CHILD_NAME.fix,
    severity=CHILD_NAME.severity,
    applies_to=CHILD_NAME.applies_to,
    check=_check,
    parameters=NAME_FITS_KUEUE.parameters,
)
