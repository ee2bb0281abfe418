"""Rule: vLLM tells other pods the address of its own pod, where it hands caches over by NIXL."""

from collections.abc import Iterable
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import commands_of
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups, items
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_VARIABLE: Final = "VLLM_NIXL_SIDE_CHANNEL_HOST"
_OF_NO_POD: Final = {"", "0.0.0.0", "::", "localhost", "127.0.0.1", "::1"}  # noqa: S104 - addresses to refuse
_ALLOWED = "the pod's own address"
_FIX = f"Set {_VARIABLE} by valueFrom.fieldRef from status.podIP."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for template in groups.templates():
        for path, container in template.containers():
            commands = commands_of(container)
            if isinstance(commands, Unknown):
                yield unseen(path, "whether it hands caches over by NIXL")
            elif commands.mentions("NixlConnector"):
                yield from _container(path, container)


def _container(path: str, container: Any) -> Iterable[Problem]:
    for entry_path, entry in items(value_at(container, "env"), f"{path}.env"):
        name, value = value_at(entry, "name"), value_at(entry, "value", default="")
        if name is UNKNOWN or (name == _VARIABLE and value is UNKNOWN):
            yield unseen(entry_path, "which address the pod tells others")
            return
        if name == _VARIABLE:
            if value_at(entry, "valueFrom") is None and str(value) in _OF_NO_POD:
                yield Problem(f"{entry_path}.value", str(value) or "nothing", _ALLOWED, _FIX)
            return
    if value_at(container, "envFrom") is None:
        yield Problem(f"{path}.env", f"no {_VARIABLE}, which is localhost then", _ALLOWED, _FIX)


SIDE_CHANNEL_HOST = Rule(
    name="side-channel-host",
    title="vLLM with NIXL knows the address of its pod.",
    why=(
        "The variable is what vLLM listens on and what it tells the pods that read its caches. With localhost, its"
        " default, they find no cache and compute every prompt again without a word"
        " (https://github.com/vllm-project/vllm/issues/27083); with 0.0.0.0 they ask themselves and crash."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
