"""Rule: a placement names its topology."""

from collections.abc import Iterable

from pulumi_lws.declarations import is_label_key
from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.roles import BY_WEBHOOK, placement_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_PATH = "spec.placementPolicy.topology"
_FIX = f"Name the node label whose values are the domains, such as {labels.ISLAND}; or set the type to None."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    policy, topology = placement_of(subject), value_at(subject.properties, "spec", "placementPolicy", "topology")
    if policy is None or is_label_key(topology):
        return
    if policy is UNKNOWN or topology is UNKNOWN:
        yield unseen(
            _PATH if topology is UNKNOWN else "spec.placementPolicy.type", "whether a placement has a topology"
        )
    else:
        found = str(topology) if topology else "nothing"
        yield Problem(_PATH, found, f"the key of a node label, for the type {policy}", _FIX, refused=not topology)


PLACEMENT_TOPOLOGY = Rule(
    name="placement-topology",
    title="A placement policy other than None names the node label of its topology domains.",
    why=(
        f"{BY_WEBHOOK}, a missing key places nothing. A key that no node can have is taken, and then every pod is"
        " refused."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(DISAGGREGATED_SET),
    check=_check,
)
