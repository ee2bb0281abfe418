"""Rule: no container sets a variable that LWS sets."""

from collections.abc import Iterable
from typing import Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups, items
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

INJECTED: Final = ("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX")
"""What LWS sets in every container of a group."""

_FIX = "Choose another name."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for template in groups.templates():
        for kind in ("containers", "initContainers"):
            for path, container in items(template.at(kind), template.path_to(kind)):
                for entry_path, entry in items(value_at(container, "env"), f"{path}.env"):
                    name = value_at(entry, "name")
                    if name is UNKNOWN:
                        yield unseen(entry_path, "whether LWS sets it too")
                    elif name in INJECTED:
                        yield Problem(f"{entry_path}.name", name, "a variable that LWS does not set", _FIX)


INJECTED_VARIABLES = Rule(
    name="injected-variables",
    title="Containers set no variable that LWS sets.",
    why=f"LWS sets {', '.join(INJECTED)} in every container and drops the values of the template.",
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
