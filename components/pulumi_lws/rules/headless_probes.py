"""Rule: nothing probes a port that a headless worker never opens."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import EVERY_PROBE, commands_of, port_probes
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import Unknown, unseen

_FIX = "Give the leader a template of its own with the probe, and the workers none or one of their process."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for template in groups.templates():
        for probe in port_probes(template, EVERY_PROBE) if template.works else ():
            commands = commands_of(probe.container)
            if isinstance(commands, Unknown):
                yield unseen(probe.path, "whether workers open the port")
            elif not commands.has("--headless") or probe.port is None or commands.serves_beside(probe.port):
                continue
            elif not probe.is_known:
                yield unseen(probe.path, "whether a worker that opens no port is probed on one")
            else:
                found = "a port of a container with --headless in its command"
                yield Problem(probe.path, found, "no probe of a port for workers that open none", _FIX)


HEADLESS_PROBES = Rule(
    name="headless-probes",
    title="Workers that open no port are not probed on one.",
    why=(
        "A headless vLLM serves nothing: its pod would never be ready, so no group would ever be available and no"
        " rollout end; a liveness probe would restart it for ever. One template for leader and workers gives both the"
        " same probes."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
