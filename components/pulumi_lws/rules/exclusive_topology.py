"""Rule: a group has its topology domain for itself."""

from collections.abc import Iterable, Sequence

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, groups_of, texts
from pulumi_lws.rules.roles import placement_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, Parameter, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_FIX = (
    f"Annotate the LeaderWorkerSet with {labels.LWS_EXCLUSIVE_TOPOLOGY}: {labels.ISLAND}"
    " (or another node label that one group may have for itself)."
)
_ROLE_FIX = (
    f"Annotate the role with {labels.LWS_EXCLUSIVE_TOPOLOGY}: {labels.ISLAND} (or another node label that one group may"
    " have for itself), or give the set a placementPolicy."
)
_TOPOLOGY_AWARE = (labels.KUEUE_REQUIRED_TOPOLOGY, labels.KUEUE_PREFERRED_TOPOLOGY)


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    of_roles = subject.kind == DISAGGREGATED_SET
    # A placement policy keeps slices apart by terms of its own, and excludes the annotation.
    if of_roles and placement_of(subject) is not None:
        return
    for groups in groups_of(subject):
        yield from _judge(groups, context.values["allowedKeys"], _ROLE_FIX if of_roles else _FIX)


def _judge(groups: Groups, allowed_keys: Sequence[str], fix: str) -> Iterable[Problem]:
    size, key = groups.size, groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY)
    path = groups.annotation_path(labels.LWS_EXCLUSIVE_TOPOLOGY)
    if (isinstance(size, int) and size <= 1) or (key is None and _is_topology_aware(groups)):
        return
    if isinstance(size, Unknown) and key is None:
        yield unseen(groups.template_path("size"), "whether the group spans nodes")
    elif key is UNKNOWN:
        yield unseen(path, "whether the group has a topology domain for itself")
    elif key is None or not str(key):
        yield Problem(path, "nothing", "the key of a node label", fix)
    elif allowed_keys and key not in allowed_keys:
        yield Problem(path, str(key), ", ".join(allowed_keys), fix)


def _is_topology_aware(groups: Groups) -> bool:
    """Tell whether Kueue places the group by topology instead; the two must not be combined."""
    annotations = texts(value_at(groups.template_at("workerTemplate"), "metadata", "annotations"))
    return any(key in annotations for key in _TOPOLOGY_AWARE)


EXCLUSIVE_TOPOLOGY = Rule(
    name="exclusive-topology",
    title="Groups of more than one pod have a topology domain for themselves, or are placed by topology.",
    why=(
        "A group spread over racks or placement groups runs slower than one node would, and two groups that share a"
        " domain can each hold half of it and wait for the other half for ever."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=_check,
    house=True,
    parameters={
        "allowedKeys": Parameter(
            schema={
                "type": "array",
                "items": {"type": "string"},
                "description": "Node labels that may serve as topology. Empty: any.",
            },
            default=[],
        )
    },
)
