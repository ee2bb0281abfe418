"""What a user may declare of monitoring: where it lives, whom it calls, and from when on."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from pulumi_lws.declarations import Declaration, LabelKey, NamespaceName, PositiveCount
from pulumi_lws.planning.problems import invalid

RUNBOOKS = "docs/runbooks.md"
"""The page of what to do about each alert."""

Severity = Literal["critical", "warning", "info"]
"""Of an alert: somebody gets up, somebody looks in the morning, or it only stands there."""

Minutes = Annotated[PositiveCount, Field(le=7 * 24 * 60)]
"""Minutes, at most a week."""

Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
"""A share, above 0 up to 1."""

Seconds = Annotated[float, Field(ge=0.001, le=3600, allow_inf_nan=False)]
"""Seconds, from a thousandth to an hour."""

Requests = Annotated[float, Field(ge=0.1, le=1_000_000, allow_inf_nan=False)]
"""Requests, from a tenth to a million."""

LabelName = Annotated[str, Field(pattern="^[a-z_][a-z0-9_]*$", max_length=63, examples=["team"])]
"""Name of a label of Prometheus."""


def _reason(text: str) -> str:
    if not text.strip():
        raise invalid("a reason in a few words", "Say why nobody needs this alert.")
    return text


Reason = Annotated[str, AfterValidator(_reason)]
"""Why an alert is off."""


class Thresholds(Declaration):
    """From when on an alert fires."""

    group_start_minutes: Minutes | None = None
    """How long a group may take until all its pods are ready. Default: the longest start budget, at least 60."""
    recreations_per_hour: Annotated[PositiveCount, Field(le=60)] = 3
    """How often a group may be made within an hour. Default 3."""
    partly_pending_minutes: Minutes = 15
    """How long a part of a group may hold GPUs while the rest has no node. Default 15."""
    rollout_minutes: Minutes | None = None
    """How long a rollout may go on without one more group of the new revision. Default: half as long again as a group
    may take to start."""
    down_minutes: Minutes = 5
    """How long a role that has served may be without a ready copy. Default 5."""
    kv_cache_share: Share = 0.95
    """Share of the KV cache from which on requests are put back. Default 0.95."""
    waiting_requests: Requests = 20
    """Requests that wait for each pod that serves, on average. Default 20."""
    first_token_seconds: Seconds = 10
    """Time until the first token that 95 of 100 requests should keep. Default 10."""
    stuck_minutes: Annotated[PositiveCount, Field(ge=5, le=120)] = 10
    """How long an engine may have requests and compute no token, 5 to 120. Default 10."""
    idle_minutes: Minutes = 240
    """How long all GPUs of a group that is ready may do nothing. Default 240."""
    queued_minutes: Minutes = 60
    """How long workloads may wait in a queue. Default 60."""
    claim_minutes: Annotated[PositiveCount, Field(le=14)] = 10
    """How long an instance may take to join the cluster, at most 14: Karpenter gives it up after 15. Default 10."""
    node_end_days: Annotated[PositiveCount, Field(le=20)] = 3
    """Days before a node of EKS Auto Mode must go. Default 3."""
    missing_minutes: Minutes = 15
    """How long metrics or interfaces may be missing. Default 15."""


class Monitoring(Declaration):
    """What Prometheus reads of models and GPUs, and when it calls somebody. It needs the Prometheus operator."""

    namespace: NamespaceName = "monitoring"
    """Namespace of the rules and monitors. Default monitoring."""
    scrape_seconds: Annotated[PositiveCount, Field(ge=5, le=120)] = 15
    """Seconds between two looks at an engine, 5 to 120. Default 15."""
    runbook_base: Annotated[str, Field(pattern=r"^\S+$", examples=["https://wiki.example.com/runbooks"])] = RUNBOOKS
    """Address of the page that every alert links to, with the alert's name as its anchor. Default the page of this
    package's docs; give the address under which your people find it."""
    labels: Mapping[LabelName, str] = {}
    """Further labels of every alert, by which Alertmanager routes it, such as ``team``. Default none."""
    severities: Mapping[str, Severity] = {}
    """Another severity for some alerts, by name. Default each one's own."""
    disabled: Mapping[str, Reason] = {}
    """Alerts that are off, each with the reason. Default none."""
    object_labels: Mapping[LabelKey, str] = {}
    """Further labels of rules and monitors, where Prometheus reads only what carries some. Default none."""
    thresholds: Thresholds = Thresholds()
    """From when on alerts fire. Default each one's own."""
