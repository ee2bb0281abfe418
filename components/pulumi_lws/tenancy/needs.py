"""Which level of the Pod Security Standards what runs for a team needs, and which of its settings say so."""

from collections.abc import Iterable, Iterator

from pulumi_lws.tenancy.pod_security import LEVELS, Violation, strictest, violations
from pulumi_lws.tenancy.settings import Level
from pulumi_lws.tenancy.workloads import TeamWorkload


def level_of(workloads: Iterable[TeamWorkload]) -> Level:
    """Return the strictest level that all pods of these workloads keep."""
    return strictest([found for workload in workloads for found in _violations(workload)])


def reason(workloads: Iterable[TeamWorkload]) -> str:
    """Say why pods of these workloads need the level that they need; empty where they keep the strictest."""
    workloads = tuple(workloads)
    level = level_of(workloads)
    if level == LEVELS[-1]:
        return ""
    parts = [f"{one.name}: {', '.join(said)}" for one in workloads if (said := _fields_beyond(one, level))]
    return f"{level}, because of {'; '.join(parts)}"


def _fields_beyond(workload: TeamWorkload, level: Level) -> list[str]:
    """Return the settings of a workload that no stricter level than this allows, each with what it does."""
    found = [one for one in _violations(workload) if LEVELS.index(one.level) <= LEVELS.index(level)]
    fields = [(workload.settings.get((one.part, one.name), one.name), one.what) for one in found]
    return list(dict.fromkeys(f"{field} ({what})" for field, what in fields))


def _violations(workload: TeamWorkload) -> Iterator[Violation]:
    for pods in workload.pods:
        yield from violations(pods.spec)
