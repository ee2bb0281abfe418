"""KEDA: autoscaling by what Prometheus knows."""

from pulumi_lws.addons.addon import AddOnFacts

KEDA = AddOnFacts(
    name="keda",
    title="KEDA",
    purpose="autoscaling by what Prometheus knows",
    pin="keda-chart",
    release="keda",
    namespace="keda",
    after=("cert_manager", "kube_prometheus_stack"),
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
)
