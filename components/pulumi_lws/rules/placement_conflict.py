"""Rule: slices and groups are not both placed exclusively."""

from collections.abc import Iterable, Iterator
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import groups_of
from pulumi_lws.rules.roles import BY_WEBHOOK, placement_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_KEYS = (labels.LWS_EXCLUSIVE_TOPOLOGY, labels.LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY)
_FIX = (
    "Remove the annotation, and let placementPolicy place the slices; or remove placementPolicy, and let every group"
    " have a domain for itself."
)


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    policy = placement_of(subject)
    if policy is None:
        return
    for path, metadata in _metadata(subject):
        annotations = value_at(metadata, "annotations")
        if annotations is UNKNOWN:
            yield unseen(f"{path}.annotations", "whether slices are placed as well as groups")
        elif found := [key for key in _KEYS if value_at(annotations, key) is not None]:
            if policy is UNKNOWN:
                yield unseen("spec.placementPolicy.type", "whether slices are placed as well as groups")
                return
            allowed = f"no such annotation, beside a placementPolicy of type {policy}"
            yield Problem(f"{path}.annotations['{found[0]}']", "an exclusive topology", allowed, _FIX, refused=True)


def _metadata(subject: RegisteredObject) -> Iterator[tuple[str, Any]]:
    """Yield the metadata of each role and of its templates, wherever LWS looks for the annotations."""
    for groups in groups_of(subject):
        yield groups.metadata_path, groups.metadata
        for template in ("leaderTemplate", "workerTemplate"):
            yield groups.template_path(template, "metadata"), groups.template_at(template, "metadata")


PLACEMENT_CONFLICT = Rule(
    name="placement-conflict",
    title="A DisaggregatedSet with a placement policy has no exclusive topology in its roles.",
    why=(
        f"{BY_WEBHOOK}, all roles of a slice must be in one domain that each of their groups wants for itself, so no"
        " slice is ever scheduled whole."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(DISAGGREGATED_SET),
    check=_check,
)
