"""What a user may declare of the upstream workload APIs.

Defaults are those of the API server, so that a declaration means what the same YAML would mean. What the server would
refuse is refused here with the same verdict. Source: ``api/leaderworkerset/v1`` and ``pkg/webhooks`` of LWS 0.10.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from pulumi_lws.declarations import Count, Declaration, DnsLabel, LabelKey, PositiveCount
from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import invalid

MAXIMUM_REPLICAS = 1_000_000
"""Most groups of one LeaderWorkerSet (a bound of the CRD since LWS 0.10)."""

MAXIMUM_PODS = 2_147_483_647
"""Most pods of one LeaderWorkerSet: replicas times size must fit an int32 (validating webhook)."""

_PERCENTAGE = re.compile(r"^[0-9]+%$")


def _int_or_percentage(value: int | str) -> int | str:
    allowed = "a whole number from 0, or a percentage from 0% to 100%"
    if isinstance(value, str):
        if not _PERCENTAGE.match(value) or int(value[:-1]) > 100:
            raise invalid(allowed, "Write for example 1 or 25%.")
    elif value < 0:
        raise invalid(allowed, "Write 0 or more.")
    return value


IntOrPercentage = Annotated[Annotated[int, Field(strict=True)] | str, AfterValidator(_int_or_percentage)]
"""A number of groups, or a percentage of ``replicas``."""


class RollingUpdate(Declaration):
    """How a change of the templates reaches the groups (``spec.rolloutStrategy.rollingUpdateConfiguration``)."""

    max_unavailable: IntOrPercentage = 1
    """Groups that may be out during a rollout; a percentage is rounded down. Default 1."""
    max_surge: IntOrPercentage = 0
    """Groups above ``replicas`` during a rollout; a percentage is rounded up. Each needs GPUs of its own. Default 0."""
    partition: Count = 0
    """Groups with a smaller index keep the old template. Default 0: all groups roll."""

    def scaled(self, replicas: int) -> tuple[int, int]:
        """Return the groups that may be out and the groups on top, for that many replicas, rounded as LWS does."""
        return _scale(self.max_unavailable, replicas, up=False), _scale(self.max_surge, replicas, up=True)


def _scale(value: int | str, replicas: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    hundredths = int(value[:-1]) * replicas
    return -(-hundredths // 100) if up else hundredths // 100


class PodTemplate(Declaration):
    """A pod template: metadata that LWS passes on, and any valid pod spec."""

    labels: Mapping[str, str] = {}
    """Labels of the pods. Default none."""
    annotations: Mapping[str, str] = {}
    """Annotations of the pods. Default none."""
    spec: Mapping[str, Any]
    """The pod spec, as the Kubernetes API has it."""

    @model_validator(mode="after")
    def _leaves_reserved_keys_alone(self) -> "PodTemplate":
        for field, metadata in (("labels", self.labels), ("annotations", self.annotations)):
            for key in metadata:
                if key.startswith(labels.LWS_PREFIX):
                    allowed = f"keys outside {labels.LWS_PREFIX}"
                    raise invalid(allowed, "Remove it: the controller sets it.", field=field, found=key)
        return self


class LeaderWorkerSetArgs(Declaration):
    """A LeaderWorkerSet: ``replicas`` groups, each of one leader and ``size - 1`` workers.

    Source of every default and bound: the CRD and the webhooks of LWS 0.10.
    """

    name: DnsLabel
    """Name of the object; the names of pods and of their DNS entries start with it."""
    namespace: DnsLabel
    """Namespace of the object."""
    labels: Mapping[str, str] = {}
    """Labels of the object. Default none."""
    annotations: Mapping[str, str] = {}
    """Annotations of the object. Default none."""
    replicas: Annotated[Count, Field(le=MAXIMUM_REPLICAS)] = 1
    """Number of groups, 0 to 1,000,000. Default 1."""
    size: PositiveCount = 1
    """Pods of one group, the leader included. Default 1. A change rolls every group."""
    leader_template: PodTemplate | None = None
    """Template of the leader. Default: the worker template serves for the leader too."""
    worker_template: PodTemplate
    """Template of the workers."""
    startup_policy: Literal["LeaderCreated", "LeaderReady"] = "LeaderCreated"
    """Whether workers are made with the leader or once it is Ready. Default LeaderCreated."""
    restart_policy: Literal["RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"] = (
        "RecreateGroupOnPodRestart"
    )
    """What a container restart does to its group. Default RecreateGroupOnPodRestart. The upstream value ``Default`` is
    missing on purpose: the server stores it as ``None``, which shows as drift for ever."""
    rollout: RollingUpdate = RollingUpdate()
    """How a change rolls through the groups."""
    exclusive_topology: LabelKey | None = None
    """Node label of which one group takes one value for itself. Default none."""
    wait: Literal["serving", "none"] = "serving"
    """Whether an update waits until every group serves (condition Available). Default serving."""
    wait_minutes: PositiveCount = 60
    """How long an update waits, in minutes. Default 60: a model of several hundred GB needs most of it."""

    @model_validator(mode="after")
    def _fits_an_int32(self) -> "LeaderWorkerSetArgs":
        pods = self.replicas * self.size
        if pods > MAXIMUM_PODS:
            raise invalid(
                f"replicas x size of at most {MAXIMUM_PODS}",
                "Lower replicas or size.",
                field="replicas",
                found=f"{self.replicas} groups of {self.size}: {pods} pods",
            )
        return self

    @model_validator(mode="after")
    def _can_roll(self) -> "LeaderWorkerSetArgs":
        if self.replicas and self.rollout.scaled(self.replicas) == (0, 0):
            raise invalid(
                f"maxUnavailable or maxSurge of at least one of {self.replicas} groups; maxUnavailable is rounded down",
                "Set maxSurge to 1 and keep a spare island, or maxUnavailable to 1.",
                field="rollout",
                found=f"maxUnavailable {self.rollout.max_unavailable} and maxSurge {self.rollout.max_surge}",
            )
        return self

    @model_validator(mode="after")
    def _names_fit_labels(self) -> "LeaderWorkerSetArgs":
        longest = longest_name(self.replicas, self.size, self.rollout)
        if len(self.name) > longest:
            raise invalid(
                f"at most {longest} characters for {self.replicas} replicas of size {self.size}:"
                " the controller makes labels of 63 characters from it",
                "Shorten the name.",
                field="name",
                found=f"{self.name}, of {len(self.name)} characters",
            )
        return self


def longest_name(replicas: int, size: int, rollout: RollingUpdate) -> int:
    """Return the longest name with which LWS can make the pods of every group.

    The worker StatefulSet is called ``<name>-<group>`` and its label ``controller-revision-hash`` adds ``-`` and up to
    ten characters, 63 in all. https://github.com/kubernetes-sigs/lws/issues/410
    """
    if size == 1:
        return 52
    highest_index = max(replicas + rollout.scaled(replicas)[1] - 1, 0)
    return 51 - len(str(highest_index))
