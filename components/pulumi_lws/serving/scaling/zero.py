"""Whether all copies may go while nobody asks: what tells that somebody does, and how long a start takes then.

Engines that do not run report nothing, so what stands before them must count requests: an Envoy does from its first
second on. The endpoint picker's counters do not, since each of them appears with the first request that it counts.
"""

import re
from collections.abc import Iterator, Sequence

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.times import Start, minutes, start_times
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.routing import envoy
from pulumi_lws.serving.routing.manifests import router_name
from pulumi_lws.serving.routing.settings import StandaloneRouter
from pulumi_lws.serving.scaling.manifests import deployment_pods
from pulumi_lws.serving.scaling.settings import ScaleToZero
from pulumi_lws.serving.settings import DisaggregatedVllmArgs

_PATH = "autoscaling.scaleToZero"
_ENGINE_METRIC = re.compile(r"\b(vllm|sglang):\w+")


def requests_query(role: Role) -> str | None:
    """Return the query of the requests that a role's copies come back for; None where some stay, or none is known."""
    zero, args = _zero(role), role.deployment
    if zero is None:
        return None
    if zero.requests is not None:
        return zero.requests
    if isinstance(args, DisaggregatedVllmArgs) and isinstance(args.router, StandaloneRouter):
        return envoy.requests(args.namespace, deployment_pods(router_name(args.name)))
    return None


def zero_problems(roles: Sequence[Role]) -> list[Problem]:
    """Return why the copies of a deployment cannot all go; paths start at the deployment."""
    found = [problem.below(role.path) if role.path else problem for role in roles for problem in _source(role)]
    staying = [role.name for role in roles if _zero(role) is None]
    if 0 < len(staying) < len(roles):
        (going,) = (role for role in roles if _zero(role) is not None)
        (stays,) = staying
        found.append(
            Problem(
                f"{going.path}.{_PATH}",
                f"a role that goes to 0 while {stays} stays",
                "both roles or neither: one without the other holds GPUs and serves nobody well",
                f"Set scaleToZero of {stays}, too, or remove this one.",
            )
        )
    return found


def cold_start_problems(role: Role, start: Start | None) -> list[Problem]:
    """Return whether clients wait longer for the first copy than was accepted; paths start at the role's settings.

    Args:
        role: The role.
        start: What its start depends on; None where the size of the model is not known, and so no estimate.
    """
    zero = _zero(role)
    if zero is None:
        return []
    accepted, budget = zero.accept_cold_start_minutes, role.deployment.start_budget_minutes
    needed = minutes(start_times(start).first) if start else budget
    if accepted >= needed:
        return []
    reason = "the estimate of a first start, as the plan shows it" if start else "the start budget, without an estimate"
    return [
        Problem(
            f"{_PATH}.acceptColdStartMinutes",
            str(accepted),
            f"at least {needed}: {reason}",
            f"Set it to {needed} if clients bear that, or scaleToZero to null.",
        )
    ]


def _zero(role: Role) -> ScaleToZero | None:
    return role.settings.autoscaling.scale_to_zero if role.settings.autoscaling else None


def _source(role: Role) -> Iterator[Problem]:
    zero = _zero(role)
    if zero is None:
        return
    query = requests_query(role)
    if query is None:
        yield Problem(
            f"{_PATH}.requests",
            "nothing",
            "a query that is above 0 while somebody asks, also where no copy runs: nothing of this deployment does",
            "Set requests to the count of what stands before it, such as"
            " sum(increase(envoy_http_downstream_rq_total[2m])) of a gateway, or scaleToZero to null.",
        )
    elif metric := _ENGINE_METRIC.search(query):
        yield Problem(
            f"{_PATH}.requests",
            f"a query of {metric[0]}",
            "metrics of what stands before the engines: where none runs, none reports",
            "Ask for the requests at your gateway.",
        )
    if role.pool.is_static:
        yield Problem(
            _PATH,
            f"copies that go, on {role.settings.pool}, whose nodes stay",
            "a pool whose nodes go with them: those of a static one are paid for all the same",
            "Set scaleToZero to null, or name a pool whose nodes go.",
            Severity.WARNING,
        )
