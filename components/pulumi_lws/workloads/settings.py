"""The LeaderWorkerSet API, whole and typed.

The shape, the names and the defaults are those of the API server, so that a declaration means what the same YAML would
mean. A model refuses what the server refuses of a single field; what concerns several fields is the rules' to judge.
Source: ``api/leaderworkerset/v1`` and ``pkg/webhooks`` of LWS 0.10, and its CRD.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

from pulumi_lws.declarations import (
    NULLS_ABSENT,
    Count,
    Declaration,
    DnsLabel,
    LabelKey,
    NamespaceName,
    PositiveCount,
    UpstreamDeclaration,
    VersionText,
    Whole,
)
from pulumi_lws.facts.versions import PINS
from pulumi_lws.planning.problems import invalid
from pulumi_lws.rules.rule import Target, major_and_minor
from pulumi_lws.workloads.pods import PodSpec

DEFAULT_LWS_VERSION = PINS["lws"].version
DEFAULT_KUBERNETES_VERSION = PINS["kubernetes"].version

_PERCENTAGE = re.compile(r"[0-9]+%")


def _int_or_percentage(value: int | str) -> int | str:
    allowed = "a whole number from 0, or a percentage from 0% to 100%"
    if isinstance(value, str):
        if not _PERCENTAGE.fullmatch(value) or int(value[:-1]) > 100:
            raise invalid(allowed, "Write for example 1 or 25%.")
    elif value < 0:
        raise invalid(allowed, "Write 0 or more.")
    return value


IntOrPercentage = Annotated[Whole | str, AfterValidator(_int_or_percentage)]
"""A number of groups, or a percentage of ``replicas``."""


class RollingUpdate(UpstreamDeclaration):
    """How a change of the templates reaches the groups (``rolloutStrategy.rollingUpdateConfiguration``)."""

    max_unavailable: IntOrPercentage = 1
    """Groups that may be out during a rollout; a percentage is rounded down. Default 1."""
    max_surge: IntOrPercentage = 0
    """Groups above ``replicas`` during a rollout; a percentage is rounded up. Each needs GPUs of its own. Default 0."""
    partition: Count = 0
    """Groups with a smaller index keep the old template. Default 0: all groups roll."""


class RolloutStrategy(UpstreamDeclaration):
    """How changes are rolled out (``spec.rolloutStrategy``)."""

    type: Literal["RollingUpdate"] = "RollingUpdate"
    """The one strategy there is. Default RollingUpdate."""
    rolling_update_configuration: RollingUpdate = RollingUpdate()
    """Its bounds. Default: one group out, none on top."""


class TemplateMetadata(UpstreamDeclaration):
    """Metadata of a pod template, as far as the CRD knows it."""

    name: str | None = None
    """Taken and ignored: the controller names pods."""
    namespace: str | None = None
    """Taken and ignored: pods live where their LeaderWorkerSet lives."""
    labels: Annotated[Mapping[str, str], NULLS_ABSENT] = {}
    """Labels of the pods. Default none."""
    annotations: Annotated[Mapping[str, str], NULLS_ABSENT] = {}
    """Annotations of the pods. Default none."""
    finalizers: tuple[str, ...] = ()
    """Finalizers of the pods. Default none."""


def _as_mapping(spec: Any) -> Any:
    return spec.as_mapping() if isinstance(spec, PodSpec) else spec


class PodTemplate(UpstreamDeclaration):
    """A pod template: metadata, and any valid pod spec as the Kubernetes API has it."""

    metadata: TemplateMetadata = TemplateMetadata()
    """Labels and annotations that the pods get. Default none."""
    spec: Annotated[Mapping[str, Any], BeforeValidator(_as_mapping)]
    """The pod spec: a mapping as the Kubernetes API has it, or a ``PodSpec``. A mapping is judged by the published
    schema of Kubernetes, not here."""


class SubGroupPolicy(UpstreamDeclaration):
    """Groups inside a group, each with a topology domain of its own (``leaderWorkerTemplate.subGroupPolicy``)."""

    sub_group_policy_type: Literal["LeaderWorker", "LeaderExcluded"] = "LeaderWorker"
    """Whether the leader belongs to the first subgroup or to none. Default LeaderWorker."""
    sub_group_size: PositiveCount
    """Pods of one subgroup, 1 to ``size``. Required: without it the webhook of LWS up to 0.10 crashes
    (https://github.com/kubernetes-sigs/lws/issues/931). It can neither be set, changed nor removed later."""


class VolumeRetention(UpstreamDeclaration):
    """What happens to the volume claims of a group (``persistentVolumeClaimRetentionPolicy``)."""

    when_deleted: str | None = None
    """``Retain`` (the default) or ``Delete`` when a StatefulSet goes, which happens at every restart of a group."""
    when_scaled: str | None = None
    """``Retain`` (the default) or ``Delete`` when there are fewer replicas."""


RestartPolicy = Literal["RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None", "Default"]
"""What a container restart does to its group. ``Default`` is a deprecated word for ``None``."""


class LeaderWorkerTemplate(UpstreamDeclaration):
    """The pods of a group (``spec.leaderWorkerTemplate``). Any change of it rolls every group."""

    leader_template: PodTemplate | None = None
    """Template of the leader. Default: the worker template serves for the leader too."""
    worker_template: PodTemplate
    """Template of the workers."""
    size: PositiveCount = 1
    """Pods of one group, the leader included, from 1. Default 1."""
    restart_policy: RestartPolicy = "RecreateGroupOnPodRestart"
    """What a container restart does to its group. Default RecreateGroupOnPodRestart."""
    sub_group_policy: SubGroupPolicy | None = None
    """Subgroups. Default none."""
    volume_claim_templates: tuple[Mapping[str, Any], ...] = ()
    """PersistentVolumeClaims that leader and workers each get, and must mount. Default none. Since LWS 0.8. Only name,
    accessModes, storageClassName, volumeMode and resources reach the claims."""
    persistent_volume_claim_retention_policy: VolumeRetention | None = None
    """What happens to the claims. Default: they are retained. Since LWS 0.8."""


class NetworkConfig(UpstreamDeclaration):
    """Names of the pods in DNS (``spec.networkConfig``). A change rolls every group."""

    subdomain_policy: Literal["Shared", "UniquePerReplica"]
    """One headless Service for all groups, or one for each."""


class LeaderWorkerSetSpec(UpstreamDeclaration):
    """The spec of a LeaderWorkerSet."""

    replicas: Count = 1
    """Number of groups, from 0; up to 1,000,000 since LWS 0.10. Default 1."""
    leader_worker_template: LeaderWorkerTemplate
    """The pods of a group."""
    rollout_strategy: RolloutStrategy = RolloutStrategy()
    """How changes are rolled out. Default: one group at a time."""
    startup_policy: Literal["LeaderCreated", "LeaderReady"] = "LeaderCreated"
    """Whether workers are made with the leader or once it is Ready. Default LeaderCreated."""
    network_config: NetworkConfig | None = None
    """Names in DNS. Default: the server fills in Shared."""


class WorkloadArgs(Declaration):
    """What every workload of LWS has: an identity, and the cluster that it is meant for."""

    name: DnsLabel
    """Name of the object; the names of pods and of their DNS entries start with it."""
    namespace: NamespaceName
    """Namespace of the object."""
    labels: Mapping[str, str] = {}
    """Labels of the object. Default none."""
    annotations: Mapping[str, str] = {}
    """Annotations of the object. Default none."""
    lws_version: VersionText = DEFAULT_LWS_VERSION
    """Version of LWS in the cluster; what it does not know yet is a problem. Default: the one of the pin table."""
    kubernetes_version: VersionText = DEFAULT_KUBERNETES_VERSION
    """Version of Kubernetes. Default: the one of the pin table."""

    @property
    def target(self) -> Target:
        """The cluster that the object is meant for, as rules look at it."""
        return Target(lws=major_and_minor(self.lws_version), kubernetes=major_and_minor(self.kubernetes_version))


class LeaderWorkerSetArgs(WorkloadArgs):
    """A LeaderWorkerSet: ``replicas`` groups, each of one leader and ``size - 1`` workers."""

    exclusive_topology: LabelKey | None = None
    """Node label of which one group takes one value for itself. Default none."""
    subgroup_exclusive_topology: LabelKey | None = None
    """Node label of which one subgroup takes one value for itself; needs a ``subGroupPolicy``. Default none."""
    spec: LeaderWorkerSetSpec
    """The spec."""
    wait: Literal["serving", "none"] | None = None
    """Whether an update waits until every group serves (condition Available). Default: serving, but none where a Kueue
    queue is named, since a group may rightly wait there for hours, and where there are no replicas."""
    wait_minutes: PositiveCount = 60
    """How long an update waits, in minutes. Default 60: a model of several hundred GB needs most of it."""
    scaled_elsewhere: bool = False
    """Whether an autoscaler owns ``replicas``, so that updates leave it alone. Default false."""
