"""Rule: no probe restarts an engine while it loads its model."""

from collections.abc import Iterable
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import PORT_ACTIONS, commands_of, port_of
from pulumi_lws.rules.engine_starts import starts_of
from pulumi_lws.rules.pods import Pods, about_accelerated_pods, makes_pods
from pulumi_lws.rules.rule import Context, Parameter, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at, whole_number

_FIX = (
    "Give a pod that serves alone a startupProbe whose periodSeconds times failureThreshold is the longest load, and"
    " the leader of several pods the two-phase liveness that MultiNodeVllm renders."
)
_QUESTION: Final = "whether an engine is restarted while it loads"


def _check(pods: Pods, context: Context) -> Iterable[Problem]:
    for path, container in pods.containers(before=False):
        if starts_of(path, container) != []:
            yield from _container(path, container, context.values["minimumSeconds"])


def _container(path: str, container: Any, minimum: int) -> Iterable[Problem]:
    # Until the startup probe has passed, no other is asked.
    name = "startupProbe" if value_at(container, "startupProbe") else "livenessProbe"
    probe = value_at(container, name)
    action = next((one for kind in PORT_ACTIONS if (one := value_at(probe, kind)) is not None), None)
    if action is None:
        # A program may know when an engine loads, and a process is there from the first second.
        return
    commands, port = commands_of(container), port_of(container, action)
    if isinstance(commands, Unknown) or UNKNOWN in (probe, port):
        yield unseen(f"{path}.{name}", _QUESTION)
        return
    fields = (("initialDelaySeconds", 0), ("periodSeconds", 10), ("failureThreshold", 3))
    delay, period, failures = (whole_number(value_at(probe, field), default) for field, default in fields)
    if isinstance(delay, Unknown) or isinstance(period, Unknown) or isinstance(failures, Unknown):
        yield unseen(f"{path}.{name}", _QUESTION)
    elif isinstance(port, int) and commands.gathers_on(port):
        return
    elif (budget := delay + period * failures) < minimum:
        found = f"a restart after {budget} s without an answer ({delay} + {period} x {failures})"
        yield Problem(f"{path}.{name}", found, f"at least {minimum} s for the start of an engine", _FIX)


PROBE_BUDGETS = Rule(
    name="probe-budgets",
    title="Probes of an engine leave it the time that its model takes to load.",
    why=(
        "An engine opens its port once the model is loaded, which takes minutes: a liveness probe that starts earlier,"
        " or a startup probe that gives up earlier, restarts it for ever"
        " (https://github.com/kserve/kserve/issues/5062). The rule judges probes of ports, not programs."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=makes_pods,
    check=about_accelerated_pods(_check),
    house=True,
    parameters={
        "minimumSeconds": Parameter(
            schema={
                "type": "integer",
                "minimum": 1,
                "description": (
                    "What any engine is given to start. 600 is the least that a public recipe gives (KServe); llm-d"
                    " gives 2700 to 3600, and a model over several nodes needs as much."
                ),
            },
            default=600,
        )
    },
)
