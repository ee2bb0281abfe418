"""How the pods of a deployment join a Kueue queue, and what of that cannot work whatever the queue is.

Kueue admits each group as a whole: its pods stay gated, and no node is made for them, until there is quota for all of
them. Whether a queue exists and how much it has is judged where queues are (``queues/checks.py``).
"""

from collections.abc import Iterator, Sequence

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import ModelSettings

_ONE_DOMAIN = "group"
"""Name that leader and workers share for Kueue to put them into one domain; it counts within one group."""


def queue_labels(role: Role) -> dict[str, str]:
    """Return the labels by which the workload of a role joins its queue; none without one."""
    deployment = role.deployment
    named = {labels.KUEUE_QUEUE: deployment.queue, labels.KUEUE_PRIORITY: deployment.priority}
    return {key: value for key, value in named.items() if value is not None}


def topology_request(role: Role) -> dict[str, str]:
    """Return the annotations of leaders and workers by which Kueue puts a group on one island."""
    if not role.is_on_islands or role.keeps_islands:
        return {}
    return {labels.KUEUE_REQUIRED_TOPOLOGY: labels.ISLAND, labels.KUEUE_POD_SET_GROUP: _ONE_DOMAIN}


def queueing_problems(model: ModelSettings, roles: Sequence[Role]) -> Iterator[Problem]:
    """Return what is wrong with ``queue``, ``priority`` and ``placement``; paths start at the deployment."""
    if model.priority is not None and model.queue is None:
        fix = "Name a queue, or remove priority."
        yield Problem("priority", model.priority, "none: nothing waits without a queue", fix)
    if model.placement == "exclusive":
        return
    found = model.placement
    if model.queue is None:
        fix = "Name a queue, or remove placement."
        yield Problem("placement", found, "exclusive, where there is no queue: Kueue places what it admits", fix)
    if roles and not any(role.is_on_islands for role in roles):
        allowed = "exclusive, where no group spans nodes: there is nothing to keep together"
        yield Problem("placement", found, allowed, "Remove placement.")
    dynamic = dict.fromkeys(role.settings.pool for role in roles if role.is_on_islands and not role.pool.is_static)
    for pool in dynamic:
        yield Problem(
            "placement",
            f"{found}, on the dynamic pool {pool}",
            "exclusive there: Kueue counts only nodes that exist, so nothing is admitted and no node is made",
            f"Remove placement, or set pools.{pool}.static to true, and pay for its nodes at all times.",
        )
