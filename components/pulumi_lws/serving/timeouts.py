"""Every time-out that must agree, derived from one start budget.

Where they disagree, the leader gives up while a node still boots, its group is recreated, and it starts over for ever.
"""

from dataclasses import dataclass

PRE_STOP_SECONDS = 10
"""How long a serving pod goes on as if nothing happened after it was told to stop, so that Services, gateways and
routers have dropped it before it refuses a request."""

_EXIT_SECONDS = 30
"""How long an engine may take to exit once it serves nobody."""


@dataclass(frozen=True)
class Timeouts:
    """Time-outs of one deployment, in seconds unless named otherwise.

    Attributes:
        start: The start budget itself: how long the leader may live without having served.
        distributed: vLLM's ``--distributed-timeout-seconds``: how long ranks wait for one another.
        engine_ready: ``VLLM_ENGINE_READY_TIMEOUT_S``: how long the API server waits for its engine.
        leader_lookup: How long a worker waits for the leader's name to resolve.
        leader_grace: Grace period of a serving pod: routes go, running requests end, the engine exits.
        worker_grace: Grace period of a worker. Short, since an old worker that still resolves holds up the new leader.
        update_minutes: How long Pulumi waits for the groups to serve, in minutes: one budget and a tenth.
    """

    start: int
    distributed: int
    engine_ready: int
    leader_lookup: int
    leader_grace: int
    worker_grace: int
    update_minutes: int


def derive(start_budget_minutes: int, drain_seconds: int = 120) -> Timeouts:
    """Derive every time-out from the start budget, and grace periods from the drain."""
    start = start_budget_minutes * 60
    return Timeouts(
        start=start,
        distributed=start,
        engine_ready=start,
        leader_lookup=start,
        leader_grace=PRE_STOP_SECONDS + drain_seconds + _EXIT_SECONDS,
        worker_grace=_EXIT_SECONDS,
        update_minutes=start_budget_minutes + max(start_budget_minutes // 10, 1),
    )
