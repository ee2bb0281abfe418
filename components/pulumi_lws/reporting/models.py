"""What happens to running models: which copies restart, whether capacity is missing meanwhile, and for how long."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pulumi_lws.reporting.differences import reasons
from pulumi_lws.reporting.workload import Workload


class Fate(StrEnum):
    """What happens to a model, the worst first."""

    REMOVED = "removed"
    REPLACED = "replaced"
    RESTARTS = "restarts"
    SCALED = "scaled"
    ADDED = "added"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class ModelChange:
    """What happens to one workload.

    Attributes:
        fate: What happens.
        old: How it is now.
        new: How it will be.
        reasons: Why its copies restart.
        missing: Copies that are missing meanwhile, at worst.
        minutes: How long at most, until all copies are new; None where nothing tells how long a start takes.
    """

    fate: Fate
    old: Workload | None
    new: Workload | None
    reasons: tuple[str, ...] = ()
    missing: int = 0
    minutes: int | None = None

    @property
    def workload(self) -> Workload:
        """The workload as it will be, or as it was."""
        found = self.new or self.old
        if found is None:
            raise AssertionError("a change is about a workload")
        return found

    @property
    def running(self) -> int:
        """Copies that run now."""
        return self.old.replicas if self.old else 0

    @property
    def is_outage(self) -> bool:
        """Whether no copy is left, for a time or for good."""
        return self.running > 0 and self.missing >= self.running


def model_changes(
    before: Mapping[str, Workload], after: Mapping[str, Workload], replaced: Collection[str]
) -> list[ModelChange]:
    """Compare workloads, the worst first.

    Args:
        before: Workloads now, by key.
        after: Workloads then, by key.
        replaced: URNs of resources that are made anew.
    """
    keys = [*after, *(key for key in before if key not in after)]
    changes = [_change(before.get(key), after.get(key), replaced) for key in keys]
    order = list(Fate)
    return sorted(changes, key=lambda change: (order.index(change.fate), -change.missing))


def _change(old: Workload | None, new: Workload | None, replaced: Collection[str]) -> ModelChange:
    if old is None:
        return ModelChange(Fate.ADDED, old, new, minutes=new.budget_minutes if new else None)
    if new is None:
        return ModelChange(Fate.REMOVED, old, new, missing=old.replicas)
    why = tuple(reasons(old, new))
    if new.urn in replaced:
        return ModelChange(Fate.REPLACED, old, new, why, old.replicas, new.budget_minutes)
    if why and old.replicas:
        missing, minutes = _rolled(old, new)
        return ModelChange(Fate.RESTARTS, old, new, why, missing, minutes)
    if (old.replicas, old.most_replicas) != (new.replicas, new.most_replicas):
        return ModelChange(Fate.SCALED, old, new, minutes=new.budget_minutes)
    return ModelChange(Fate.UNCHANGED, old, new)


def _rolled(old: Workload, new: Workload) -> tuple[int, int | None]:
    """Return how many copies are missing at worst, and how long it takes until all are new."""
    rolling = max(0, min(old.replicas, new.replicas or old.replicas) - new.rollout.kept)
    missing = min(new.rollout.unavailable, rolling)
    at_once = max(1, missing + min(new.rollout.surge, rolling))
    budget = new.budget_minutes
    return missing, None if budget is None else -(-rolling // at_once) * budget
