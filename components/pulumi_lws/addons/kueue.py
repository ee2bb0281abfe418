"""Kueue: queues, quota, and groups that start as a whole."""

from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Oldest, Site, UpgradeStep
from pulumi_lws.addons.settings import AddOn


def _values(_declared: AddOn, site: Site) -> dict[str, Any]:
    return {
        "controllerManager": {
            "replicas": 2,
            "manager": {"priorityClassName": "system-cluster-critical"},
            "podDisruptionBudget": {"enabled": True},
        },
        "enablePrometheus": "kube_prometheus_stack" in site.installed,
    }


KUEUE = AddOnFacts(
    name="kueue",
    title="Kueue",
    purpose="queues, quota, and groups that start as a whole",
    pin="kueue-chart",
    release="kueue",
    namespace="kueue-system",
    values=_values,
    # It takes up a kind once its CRD is there.
    after=("kube_prometheus_stack", "lws", "kuberay"),
    crds=(
        "admissionchecks.kueue.x-k8s.io",
        "clusterqueues.kueue.x-k8s.io",
        "cohorts.kueue.x-k8s.io",
        "localqueues.kueue.x-k8s.io",
        "multikueueclusters.kueue.x-k8s.io",
        "multikueueconfigs.kueue.x-k8s.io",
        "provisioningrequestconfigs.kueue.x-k8s.io",
        "resourceflavors.kueue.x-k8s.io",
        "topologies.kueue.x-k8s.io",
        "workloadpriorityclasses.kueue.x-k8s.io",
        "workloads.kueue.x-k8s.io",
    ),
    controllers=("Deployment/kueue-controller-manager",),
    images=("controllerManager.manager.image.repository",),
    oldest=Oldest((0, 18), "names of groups may be longer than 39 characters"),
    steps=(
        UpgradeStep(
            (0, 17),
            "workloads placed by topology since before 0.14 are no longer known as such"
            " (https://github.com/kubernetes-sigs/kueue/blob/main/CHANGELOG/CHANGELOG-0.17.md)",
            "Delete and make anew what has been placed by topology since before 0.14.",
        ),
        UpgradeStep(
            (0, 18),
            "templates of LeaderWorkerSets that run lack the queue's name, and pods that are made anew wait for ever"
            " (https://github.com/kubernetes-sigs/kueue/issues/13968)",
            "Go to 0.18.6, 0.19.2 or later instead; or apply every LeaderWorkerSet in a queue once more after this.",
            mended=((0, 18, 6), (0, 19, 2)),
        ),
        UpgradeStep(
            (0, 19),
            "whoever is not ready within 30 minutes loses its place, unless the configuration says another time, and"
            " the head of a Ray cluster that scales itself counts 500m CPU and 512Mi more"
            " (https://github.com/kubernetes-sigs/kueue/blob/main/CHANGELOG/CHANGELOG-0.19.md)",
            "Declare queues, whose configuration allows for the longest start, and raise the quota of Ray's queues.",
        ),
    ),
)
