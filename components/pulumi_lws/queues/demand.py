"""What the copies of a role request, as Kueue counts it."""

from fractions import Fraction

from pulumi_lws.serving import pods
from pulumi_lws.serving.pod_amounts import pod_amounts
from pulumi_lws.serving.roles import Role


def copy_requests(role: Role) -> dict[str, Fraction]:
    """Return what one copy of a role requests: its leader and all of its workers."""
    total = pod_amounts(pods.pod_spec(role, "leader"), "requests")
    if (workers := role.shape.size - 1) > 0:
        for name, amount in pod_amounts(pods.pod_spec(role, "worker"), "requests").items():
            total[name] = total.get(name, Fraction(0)) + workers * amount
    return total
