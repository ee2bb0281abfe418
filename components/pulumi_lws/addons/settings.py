"""What a user declares of the add-ons: which are installed, from where, and with which values."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, WithJsonSchema

from pulumi_lws.declarations import Declaration, NamespaceName
from pulumi_lws.planning.problems import invalid
from pulumi_lws.serving.names import EnvironmentName

AddOnName = Literal[
    "cert_manager",
    "kube_prometheus_stack",
    "prometheus_adapter",
    "nvidia_device_plugin",
    "efa_device_plugin",
    "dcgm_exporter",
    "lws",
    "kueue",
    "keda",
    "kuberay",
    "envoy_gateway",
    "inference_pools",
]
"""Add-ons, as the fields of :class:`AddOns` are called."""

ADD_ON_NAMES: tuple[AddOnName, ...] = get_args(AddOnName)


def _location(text: str) -> str:
    if not text or not text.isprintable() or " " in text or text.endswith("/"):
        raise invalid(
            "a registry such as oci://registry.example.com/charts, a repository such as https://charts.example.com, or"
            " a folder",
            "Write where the charts lie, without a '/' at the end and without credentials.",
        )
    if "@" in text.partition("://")[2].partition("/")[0]:
        raise invalid(
            "an address without credentials",
            "Take them out, and name the variables that hold them under credentials.",
            found="an address with credentials",
        )
    return text


ChartLocation = Annotated[
    str,
    AfterValidator(_location),
    WithJsonSchema({"type": "string", "examples": ["oci://registry.example.com/charts", "./charts"]}),
]
"""Where charts lie under their names: a registry (``oci://…``), a repository (``https://…``), or a folder, relative to
the project's."""

ChartVersion = Annotated[str, Field(pattern=r"^v?[0-9]+\.[0-9]+\.[0-9]+([-+.][0-9A-Za-z.-]+)?$", examples=["0.10.0"])]
"""Version of a chart, without ranges."""


class Credentials(Declaration):
    """How a registry or repository of charts is entered. The values never stand in a stack file."""

    username_variable: EnvironmentName
    """Environment variable, where Pulumi runs, that holds the user's name."""
    password_variable: EnvironmentName
    """The same for the password or the token."""


class AddOn(Declaration):
    """One add-on, installed from its chart. An empty mapping installs it as it is pinned."""

    version: ChartVersion | None = None
    """Version of the chart. Default: the pinned one. A change across a release that breaks what runs is refused, with
    what to do first; see ``confirmUpgradeTo``."""
    charts: ChartLocation | None = None
    """Registry, repository or folder where the chart lies under its own name. Default: the one of all add-ons."""
    manifests: (
        Annotated[str, Field(pattern=r"^(https://|\.{0,2}/)\S+\.ya?ml$", examples=["./charts/lws.yaml"])] | None
    ) = None
    """Address or path of one YAML file of the release, to be applied instead of the chart; ``values`` have no say then.
    Default: the chart."""
    namespace: NamespaceName | None = None
    """Namespace; it is made. Default: upstream's usual one."""
    values: Mapping[str, Any] = {}
    """Values of the chart, merged into ours: mappings field by field, anything else in its place. Null takes a value of
    ours away. Default none. Not for secrets."""
    confirm_upgrade_to: ChartVersion | None = None
    """Version to which a refused upgrade may go, after what it asks for was done. Default none."""


class LwsAddOn(AddOn):
    """The controller of LeaderWorkerSet and DisaggregatedSet."""

    gang_scheduler: Literal["volcano"] | None = None
    """Gang scheduler that LWS makes PodGroups for. Kueue needs none: it admits whole groups by itself. Default none."""
    certificates: Literal["internal", "cert-manager"] = "internal"
    """Who makes the certificates of its webhooks. cert-manager needs LWS 0.10. Default internal."""
    disaggregated_sets: bool = True
    """Whether DisaggregatedSets are validated: without it their webhook is missing. Default true."""


class AddOns(Declaration):
    """What is installed on the cluster before queues and deployments. What is left out is not installed."""

    charts: ChartLocation | None = None
    """Registry, repository or folder where all charts lie under their own names. Default: each one's upstream."""
    credentials: Credentials | None = None
    """How it is entered. Default: without credentials."""
    keep_crds: bool = True
    """Whether CRDs stay when their add-on goes. Without them every object of their kinds is deleted, also those that
    others made. Default true."""
    cert_manager: AddOn | None = None
    """cert-manager: certificates for webhooks and gateways. Default: not installed."""
    kube_prometheus_stack: AddOn | None = None
    """Prometheus, its operator, Alertmanager, Grafana and kube-state-metrics. Default: not installed."""
    prometheus_adapter: AddOn | None = None
    """Metrics of engines for HorizontalPodAutoscalers (``autoscaling.kind: hpa``). Default: not installed."""
    nvidia_device_plugin: AddOn | None = None
    """GPUs as a resource of nodes. Default: not installed."""
    efa_device_plugin: AddOn | None = None
    """EFA interfaces as a resource of nodes. Default: not installed."""
    dcgm_exporter: AddOn | None = None
    """Metrics of GPUs. Default: not installed."""
    lws: LwsAddOn | None = None
    """LeaderWorkerSet. Default: not installed."""
    kueue: AddOn | None = None
    """Kueue: queues, quota and gang scheduling. Default: not installed."""
    keda: AddOn | None = None
    """KEDA: autoscaling by Prometheus (``autoscaling.kind: keda``). Default: not installed."""
    kuberay: AddOn | None = None
    """The KubeRay operator. Default: not installed."""
    envoy_gateway: AddOn | None = None
    """Envoy Gateway, the front door of deployments, with the Gateway API. Default: not installed."""
    inference_pools: AddOn | None = None
    """The API InferencePool of the Gateway API Inference Extension. Default: not installed."""

    def installed(self) -> Iterator[tuple[AddOnName, AddOn]]:
        """Yield the add-ons that are installed, by name."""
        for name in ADD_ON_NAMES:
            if (declared := getattr(self, name)) is not None:
                yield name, declared
