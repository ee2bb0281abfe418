"""The controller of LeaderWorkerSet and DisaggregatedSet."""

from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Site, UpgradeStep
from pulumi_lws.addons.settings import AddOn, LwsAddOn
from pulumi_lws.facts import labels
from pulumi_lws.facts.lws_releases import UPGRADE_NOTES


def _values(declared: AddOn, site: Site) -> dict[str, Any]:
    own = declared if isinstance(declared, LwsAddOn) else LwsAddOn()
    gangs = {"gangSchedulingManagement": {"schedulerProvider": own.gang_scheduler}} if own.gang_scheduler else {}
    return {
        # While none answers, no pod of a group can be made.
        "replicaCount": 2,
        "priorityClassName": "system-cluster-critical",
        "enableDisaggregatedSet": own.disaggregated_sets,
        "enableCertManager": own.certificates == "cert-manager",
        "enablePrometheus": "kube_prometheus_stack" in site.installed,
        # Its chart lets running controllers go on with an old configuration: only another pod reads it anew.
        "podAnnotations": {labels.CONFIGURATION: own.gang_scheduler or "none"},
        **gangs,
    }


LWS = AddOnFacts(
    name="lws",
    title="LeaderWorkerSet",
    purpose="groups of pods",
    pin="lws",
    release="lws",
    namespace="lws-system",
    values=_values,
    after=("cert_manager", "kube_prometheus_stack"),
    crds=(
        "disaggregatedsetrolescalers.disaggregatedset.x-k8s.io",
        "disaggregatedsets.disaggregatedset.x-k8s.io",
        "leaderworkersets.leaderworkerset.x-k8s.io",
    ),
    controllers=("Deployment/lws-controller-manager",),
    images=("image.manager.repository",),
    steps=(
        UpgradeStep(
            (0, 8),
            UPGRADE_NOTES[0, 8],
            "Leave keepCrds at true, go to 0.9 or later at once, and do it when every group may restart.",
        ),
        UpgradeStep(
            (0, 11),
            UPGRADE_NOTES[0, 11],
            "Change each DisaggregatedSet under 0.10 so that it rolls, and wait until its sets have the new names.",
        ),
    ),
)
