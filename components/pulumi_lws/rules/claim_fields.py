"""Rule: a volume claim template says only what reaches the claims."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups, items
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_DROPPED = {
    "metadata": ("labels", "annotations"),
    "spec": ("selector", "dataSource", "dataSourceRef", "volumeName", "volumeAttributesClassName"),
}
_KEPT = "metadata.name, and in the spec accessModes, storageClassName, volumeMode and resources"
_FIX = "Put it into the StorageClass, or mount a claim that exists already."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for path, claim in items(groups.template_at("volumeClaimTemplates"), groups.template_path("volumeClaimTemplates")):
        if claim is UNKNOWN:
            yield unseen(path, "whether all of it reaches the claims")
            continue
        for part, fields in _DROPPED.items():
            if value_at(claim, part) is UNKNOWN:
                yield unseen(f"{path}.{part}", "whether all of it reaches the claims")
                continue
            for field in fields:
                if value_at(claim, part, field):
                    yield Problem(f"{path}.{part}.{field}", "a field that LWS drops", _KEPT, _FIX)


CLAIM_FIELDS = Rule(
    name="claim-fields",
    title="A volume claim template has only fields that LWS copies.",
    why="LWS copies some fields into its StatefulSets and silently drops the rest: a volume meant as a copy is empty.",
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
