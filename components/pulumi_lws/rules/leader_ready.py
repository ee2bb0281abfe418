"""Rule: workers start after their leader."""

from collections.abc import Iterable
from typing import Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import READINESS, commands_of, port_probes
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen

_EVERY_POD_SERVES: Final = ("--data-parallel-hybrid-lb", "-dph", "--data-parallel-external-lb", "-dpe")
"""Options of vLLM with which each pod has an API server of its own, and opens its port once all ranks have joined."""

_FIX = (
    "Set startupPolicy to LeaderReady, with a readiness of the leader that does not need its workers"
    " (MultiNodeVllm renders both)."
)


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    # The server's own defaults: a missing field breaks the rule as much as a wrong one.
    size, policy = groups.size, groups.at("startupPolicy", default="LeaderCreated (the server's default)")
    if policy == "LeaderReady":
        return
    if isinstance(size, Unknown):
        yield unseen(groups.template_path("size"), "whether the group has workers")
    elif size > 1 and policy is UNKNOWN:
        yield unseen(groups.path_to("startupPolicy"), "whether workers wait for their leader")
    elif size > 1 and not _needs_workers(groups):
        yield Problem(groups.path_to("startupPolicy"), str(policy), f"LeaderReady, for a group of {size} pods", _FIX)


def _needs_workers(groups: Groups) -> bool:
    """Tell whether every pod serves, and is ready once the whole group is: then all of them have to start at once."""
    for probe in port_probes(groups.templates()[0], READINESS):
        commands = commands_of(probe.container)
        if not isinstance(commands, Unknown) and any(map(commands.has, _EVERY_POD_SERVES)):
            return True
    return False


LEADER_READY = Rule(
    name="leader-ready",
    title="Groups of more than one pod start their workers once the leader is ready.",
    why=(
        "With LeaderCreated, workers start while the leader's image is still pulled, find nobody at the leader's"
        " address, and crash in a loop; with a recreate policy they take the leader down each time. Not judged is a"
        " group in which every pod serves (--data-parallel-hybrid-lb, --data-parallel-external-lb) and a probe asks the"
        " leader's port: it opens only with the workers, so LeaderReady would never make them."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
    house=True,
)
