"""Rule: Volcano does not wait for workers that LWS makes only once the leader has a node."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Set spec.startupPolicy to LeaderReady, or remove the annotation or the scheduler."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    key = groups.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY)
    policy = groups.at("startupPolicy", default="LeaderCreated")
    leader = groups.templates()[0]
    scheduler = leader.at("schedulerName")
    if (
        groups.size == 1
        or key is None
        or scheduler not in ("volcano", UNKNOWN)
        or policy not in ("LeaderCreated", UNKNOWN)
    ):
        return
    path = groups.annotation_path(labels.LWS_EXCLUSIVE_TOPOLOGY)
    if UNKNOWN in (groups.size, key, scheduler, policy):
        yield unseen(path, "whether Volcano waits for workers that do not exist yet")
    else:
        found = f"{key}, with schedulerName volcano and startupPolicy LeaderCreated"
        yield Problem(path, found, "at most two of the three", _FIX)


VOLCANO_TOPOLOGY = Rule(
    name="volcano-topology",
    title="Exclusive topology, Volcano and LeaderCreated do not stand together.",
    why=(
        "LWS asks Volcano to start the whole group at once, but with an exclusive topology it makes the workers only"
        " once the leader has a node: Volcano waits for them for ever. With LeaderReady it asks for the leader alone."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
