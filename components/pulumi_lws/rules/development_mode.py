"""Rule: no engine serves with the switches of its developers on."""

from collections.abc import Iterable
from typing import Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.pods import Pods, about_accelerated_pods, makes_pods
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Remove the variable; profile a copy that nobody else reaches."
_SWITCHES: Final = ("VLLM_SERVER_DEV_MODE", "VLLM_TORCH_PROFILER_DIR")
_OFF: Final = ("", "0")


def _check(pods: Pods, _context: Context) -> Iterable[Problem]:
    for path, container in pods.containers(before=False):
        for where, variable in items(value_at(container, "env"), f"{path}.env"):
            name, value = value_at(variable, "name"), value_at(variable, "value", default="")
            if name is not UNKNOWN and name not in _SWITCHES:
                continue
            if UNKNOWN in (name, value):
                yield unseen(where, "whether an engine serves with switches of its developers on")
            elif str(value) not in _OFF:
                yield Problem(f"{where}.value", f"{name}={value}", "nothing", _FIX)


DEVELOPMENT_MODE = Rule(
    name="development-mode",
    title="vLLM serves without its development mode and its profiler.",
    why=(
        "Both open paths that no API key guards: they reset caches, put the engine to sleep, and slow it down while it"
        " writes traces (https://docs.vllm.ai/en/latest/usage/security.html)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=makes_pods,
    check=about_accelerated_pods(_check),
    house=True,
)
