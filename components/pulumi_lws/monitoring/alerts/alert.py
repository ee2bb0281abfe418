"""What an alert is, and what to do about it."""

from dataclasses import dataclass

from pulumi_lws.monitoring.settings import Severity


@dataclass(frozen=True)
class Alert:
    """One alert, with its section of the runbooks.

    Attributes:
        name: Its name, which is the anchor of its section in lower case.
        expression: PromQL; it fires for each series that this finds.
        minutes: How long it must find one.
        severity: How bad it is.
        summary: One line; ``{{ $labels.x }}`` and ``{{ $value }}`` are filled in.
        description: What happens, with the numbers.
        meaning: What it says about the system, for the runbook.
        look: Commands to look with, each with what it shows.
        fixes: Causes, and what to do about each.
        keep_minutes: How long it goes on firing after the series is gone, where it comes and goes.
    """

    name: str
    expression: str
    minutes: int
    severity: Severity
    summary: str
    description: str
    meaning: str
    look: tuple[tuple[str, str], ...]
    fixes: tuple[tuple[str, str], ...]
    keep_minutes: int = 0

    @property
    def anchor(self) -> str:
        """Anchor of its section in the runbooks."""
        return self.name.lower()


IN_GROUP = "{{ $labels.namespace }}/{{ $labels.leader_worker_set }} group {{ $labels.group }}"
"""How a group is named in a summary."""

IN_ROLE = "{{ $labels.namespace }}/{{ $labels.deployment }}{{ with $labels.role }} ({{ . }}){{ end }}"
"""How a role of a deployment is named in a summary."""

PODS_OF_GROUP = (
    "kubectl get pods -n NAMESPACE"
    " -l leaderworkerset.sigs.k8s.io/name=SET,leaderworkerset.sigs.k8s.io/group-index=GROUP"
)
"""Command that shows the pods of a group."""
