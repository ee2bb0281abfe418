"""KEDA: autoscaling by what Prometheus knows."""

from pulumi_lws.addons.addon import AddOnFacts, UpgradeStep

KEDA = AddOnFacts(
    name="keda",
    title="KEDA",
    purpose="autoscaling by what Prometheus knows",
    pin="keda-chart",
    release="keda",
    namespace="keda",
    crds=(
        "cloudeventsources.eventing.keda.sh",
        "clustercloudeventsources.eventing.keda.sh",
        "clustertriggerauthentications.keda.sh",
        "scaledjobs.keda.sh",
        "scaledobjects.keda.sh",
        "triggerauthentications.keda.sh",
    ),
    controllers=(
        "Deployment/keda-operator",
        "Deployment/keda-operator-metrics-apiserver",
        "Deployment/keda-admission-webhooks",
    ),
    images=("global.image.registry",),
    steps=(
        UpgradeStep(
            (2, 18),
            "triggers on CPU and memory with metadata.type no longer work (https://github.com/kedacore/keda/pull/6698)",
            "Write metricType beside metadata in ScaledObjects of your own; those of deployments ask Prometheus.",
        ),
    ),
)
