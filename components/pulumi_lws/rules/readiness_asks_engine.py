"""Rule: an engine is ready when it says so, not when its port is open."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import commands_of, port_of
from pulumi_lws.rules.engine_starts import may_serve, serving_pods, starts_of
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_FIX = "Ask the engine: httpGet with path /health, or /v1/models for vLLM."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    for pods in serving_pods(subject) if may_serve(subject) else ():
        for path, container in pods.containers(before=False) if pods.has_accelerators else ():
            action = value_at(container, "readinessProbe", "tcpSocket")
            if action is None or starts_of(path, container) == []:
                continue
            where, commands, port = (
                f"{path}.readinessProbe.tcpSocket",
                commands_of(container),
                port_of(container, action),
            )
            if isinstance(commands, Unknown) or port is UNKNOWN:
                yield unseen(where, "whether an open port counts as a loaded model")
            elif isinstance(port, int) and not commands.gathers_on(port):
                yield Problem(where, f"port {port}, ready once it is open", "a question to the engine", _FIX)


READINESS_ASKS_ENGINE = Rule(
    name="readiness-asks-engine",
    title="The readiness of an engine is an answer of the engine, not an open port.",
    why=(
        "A port stays open when the engine behind it has died or hangs, and some engines open it before the model is"
        " loaded: requests go to a pod that answers none, and a rollout goes on to the next group. The port where a"
        " leader gathers its workers may be asked so."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=may_serve,
    check=_check,
    house=True,
)
