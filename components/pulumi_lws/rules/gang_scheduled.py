"""Rule: a group of several pods starts as a whole or not at all."""

from collections.abc import Iterable
from typing import Final

from pulumi_lws.facts import labels
from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, Template, about_groups
from pulumi_lws.rules.pods import Pods
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen

_SCHEDULERS: Final = ("volcano", "kai-scheduler")
_FIX = (
    f"Name a queue of Kueue ({labels.KUEUE_QUEUE}), schedule by Volcano or KAI, or give groups islands of their own"
    f" ({labels.LWS_EXCLUSIVE_TOPOLOGY}: {labels.ISLAND})."
)


def _check(groups: Groups, context: Context) -> Iterable[Problem]:
    size = groups.size
    if size in {0, 1} or context.target.gangs or not any(_has_accelerators(one) for one in groups.templates()):
        return
    evidence = [
        groups.label(labels.KUEUE_QUEUE),
        *(template.at("schedulerName") for template in groups.templates()),
        groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY),
    ]
    queue, *schedulers, topology = evidence
    if isinstance(queue, str) or topology == labels.ISLAND or any(one in _SCHEDULERS for one in schedulers):
        return
    where = f"{groups.metadata_path}.labels['{labels.KUEUE_QUEUE}']"
    if UNKNOWN in evidence or isinstance(size, Unknown):
        yield unseen(where, "whether a group starts as a whole")
    else:
        yield Problem(where, "nothing", f"something that starts {counted(size, 'pod')} together", _FIX)


def _has_accelerators(template: Template) -> bool:
    return Pods(template.manifest, template.path).has_accelerators


GANG_SCHEDULED = Rule(
    name="gang-scheduled",
    title="Groups of several pods with accelerators are started as a whole.",
    why=(
        "Without it two groups can each get half of the GPUs that they need, and wait for the other half for ever, all"
        " of them paid for (https://github.com/kubernetes-sigs/lws/issues/167). LeaderReady does not prevent that."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
    house=True,
)
