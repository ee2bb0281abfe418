"""Rule: workers start after their leader."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import LEADER_WORKER_SET, Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at, whole_number

_PATH = "spec.startupPolicy"
_FIX = (
    "Set spec.startupPolicy to LeaderReady, with a readiness of the leader that does not need its workers"
    " (MultiNodeVllm renders both)."
)


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    # The server's own defaults: a missing field breaks the rule as much as a wrong one.
    size = whole_number(value_at(subject.properties, "spec", "leaderWorkerTemplate", "size"), default=1)
    policy = value_at(subject.properties, "spec", "startupPolicy", default="LeaderCreated (the server's default)")
    if size == 1 or policy == "LeaderReady":
        return
    if size is UNKNOWN:
        yield unseen("spec.leaderWorkerTemplate.size", "whether the group has workers")
    elif policy is UNKNOWN:
        yield unseen(_PATH, "whether workers wait for their leader")
    else:
        yield Problem(_PATH, str(policy), f"LeaderReady, for a group of {size} pods", _FIX)


LEADER_READY = Rule(
    name="leader-ready",
    title="Groups of more than one pod start their workers once the leader is ready.",
    why=(
        "With LeaderCreated, workers start while the leader's image is still pulled, find nobody at the leader's"
        " address, and crash in a loop; with a recreate policy they take the leader down each time."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=is_kind(LEADER_WORKER_SET),
    check=_check,
    house=True,
)
