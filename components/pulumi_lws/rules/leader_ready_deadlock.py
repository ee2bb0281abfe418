"""Rule: no leader waits for workers that wait for it."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import READINESS, commands_of, gpus_of, port_probes
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen

_FIX = (
    "Probe what the leader has before its workers come (MultiNodeVllm renders such a probe), or set spec.startupPolicy"
    " to LeaderCreated."
)


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    policy = groups.at("startupPolicy", default="LeaderCreated")
    if groups.size == 1 or policy not in ("LeaderReady", UNKNOWN):
        return
    leader = groups.templates()[0]
    for probe in port_probes(leader, READINESS):
        commands = commands_of(probe.container)
        if isinstance(commands, Unknown) or probe.port is UNKNOWN:
            yield unseen(probe.path, "whether the leader waits for workers that wait for it")
            continue
        why = commands.spans_pods(gpus_of(probe.container))
        if why is None or probe.port is None or commands.gathers_on(probe.port):
            continue
        if policy is UNKNOWN or groups.size is UNKNOWN:
            yield unseen(groups.path_to("startupPolicy"), "whether the leader waits for workers that wait for it")
        else:
            found = f"{probe.port}, which opens once the workers are there ({why})"
            allowed = "with LeaderReady, a port that the leader opens before any worker exists"
            yield Problem(probe.path, found, allowed, _FIX)


LEADER_READY_DEADLOCK = Rule(
    name="leader-ready-deadlock",
    title="With LeaderReady, the leader is ready without its workers.",
    why=(
        "LWS makes the workers once the leader is ready. An engine that spans the pods of a group opens its API port"
        " once they have joined, so a probe of that port is answered by nobody, for ever. The rule judges probes of"
        " ports, where the command says that the engine spans pods: nodes, ranks or data parallelism of more than one."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
