"""Rule: every pod that gets a volume claim mounts it."""

from collections.abc import Iterable
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, Template, about_groups, items
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Mount the claim in leader and workers, or give only those a volume that need one."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for path, claim in items(groups.template_at("volumeClaimTemplates"), groups.template_path("volumeClaimTemplates")):
        name = value_at(claim, "metadata", "name")
        for template in groups.templates():
            mounted = list(_mounted(template))
            if UNKNOWN in (name, *mounted):
                yield unseen(path, "whether every pod mounts the claim")
                break
            if name is not None and name not in mounted:
                yield Problem(path, f"{name}, which no container of {template.path} mounts", "a claim in use", _FIX)


def _mounted(template: Template) -> Iterable[Any]:
    """Yield the names of the volumes that the containers of a template use."""
    for kind in ("containers", "initContainers"):
        for _, container in items(template.at(kind), ""):
            for field in ("volumeMounts", "volumeDevices"):
                yield from (value_at(mount, "name") for _, mount in items(value_at(container, field), ""))


CLAIMS_MOUNTED = Rule(
    name="claims-mounted",
    title="Leader and workers mount every volume claim.",
    why="Leader and workers get a claim of every template. One that nobody mounts is a volume that is paid for.",
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
