"""Rule: no template carries a label or annotation by which LWS tells groups apart."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, Template, about_groups, texts
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_OF_LEADERS: Final[Mapping[str, str]] = {
    labels.LWS_LEADER_NAME: "the controller takes the leader for a worker and makes no workers",
    labels.LWS_GROUP_INDEX: "all groups count as the same one",
    labels.LWS_GROUP_KEY: "all groups count as the same one",
    labels.LWS_SUBDOMAIN_POLICY: "the leader gets a name in a domain that does not exist",
    labels.LWS_EXCLUSIVE_TOPOLOGY: "leaders keep to a domain that workers do not follow them to",
}
_OF_PODS: Final[Mapping[str, str]] = {
    labels.LWS_SUBGROUP_INDEX: "all pods count as one subgroup",
    labels.LWS_SUBGROUP_KEY: "all pods count as one subgroup",
    labels.LWS_SUBGROUP_SIZE: "only some of the pods are divided into subgroups",
    labels.LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY: "only some of the pods keep to a domain",
}
_FIX = "Remove it; annotate the LeaderWorkerSet itself where a topology is meant."


def reserved(template: Template) -> Iterator[tuple[str, Any, str | None]]:
    """Yield what stands under the prefix of LWS: path, key (``UNKNOWN`` where all is), and what goes wrong by it."""
    effects = {**_OF_PODS, **(_OF_LEADERS if template.leads else {})}
    for field in ("labels", "annotations"):
        values, path = value_at(template.manifest, "metadata", field), f"{template.path}.metadata.{field}"
        if values is UNKNOWN:
            yield path, UNKNOWN, None
        for key in texts(values):
            if str(key).startswith(labels.LWS_PREFIX):
                yield f"{path}['{key}']", key, effects.get(key)


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for template in groups.templates():
        for path, key, effect in reserved(template):
            if key is UNKNOWN:
                yield unseen(path, "whether it misleads the controller")
            elif effect is not None:
                yield Problem(path, f"a key with which {effect}", "no key by which LWS tells groups apart", _FIX)


MISLEADING_KEYS = Rule(
    name="misleading-keys",
    title="Templates carry no label or annotation by which LWS tells groups apart.",
    why=(
        "LWS writes these keys on each pod unless they are there already. A value from the template is the same for"
        " all: no workers are made, or groups and subgroups are taken for one another."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
