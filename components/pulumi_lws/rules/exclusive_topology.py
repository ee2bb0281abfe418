"""Rule: a group has its topology domain for itself."""

from collections.abc import Iterable, Mapping
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, Parameter, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at, whole_number

_PATH = f"metadata.annotations['{labels.LWS_EXCLUSIVE_TOPOLOGY}']"
_FIX = (
    f"Annotate the LeaderWorkerSet with {labels.LWS_EXCLUSIVE_TOPOLOGY}: {labels.ISLAND}"
    " (or another node label that one group may have for itself)."
)
_TOPOLOGY_AWARE = (labels.KUEUE_REQUIRED_TOPOLOGY, labels.KUEUE_PREFERRED_TOPOLOGY)


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    manifest = subject.properties
    size = whole_number(value_at(manifest, "spec", "leaderWorkerTemplate", "size"), default=1)
    key = value_at(manifest, "metadata", "annotations", labels.LWS_EXCLUSIVE_TOPOLOGY)
    allowed_keys = context.values["allowedKeys"]
    if size == 1 or (key is None and _is_topology_aware(manifest)):
        return
    if size is UNKNOWN and key is None:
        yield unseen("spec.leaderWorkerTemplate.size", "whether the group spans nodes")
    elif key is UNKNOWN:
        yield unseen(_PATH, "whether the group has a topology domain for itself")
    elif key is None or not str(key):
        yield Problem(_PATH, "nothing", "the key of a node label", _FIX)
    elif allowed_keys and key not in allowed_keys:
        yield Problem(_PATH, str(key), ", ".join(allowed_keys), _FIX)


def _is_topology_aware(manifest: Mapping[str, Any]) -> bool:
    """Tell whether Kueue places the group by topology instead; the two must not be combined."""
    template = value_at(manifest, "spec", "leaderWorkerTemplate", "workerTemplate")
    annotations = value_at(template, "metadata", "annotations", default={})
    return isinstance(annotations, Mapping) and any(key in annotations for key in _TOPOLOGY_AWARE)


EXCLUSIVE_TOPOLOGY = Rule(
    name="exclusive-topology",
    title="Groups of more than one pod have a topology domain for themselves, or are placed by topology.",
    why=(
        "A group spread over racks or placement groups runs slower than one node would, and two groups that share a"
        " domain can each hold half of it and wait for the other half for ever."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(LEADER_WORKER_SET),
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
