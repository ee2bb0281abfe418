"""What a user declares of a team: its namespace, what it may use, and who may do what in it."""

from typing import Annotated, Literal

from pydantic import AfterValidator, WithJsonSchema, model_validator

from pulumi_lws.cluster.network.settings import Cidr
from pulumi_lws.declarations import Count, Declaration, NamespaceName, ObjectName, PositiveCount
from pulumi_lws.planning.problems import invalid
from pulumi_lws.serving.engines.settings import PortNumber
from pulumi_lws.serving.settings import Client

Level = Literal["privileged", "baseline", "restricted"]
"""A level of the Pod Security Standards, from what allows everything to what allows least."""

_OF_THE_CLUSTER = ("system:", "eks:", "aws:", "amazon:", "iam:")


def _group_name(name: str) -> str:
    if not name or not name.isprintable() or name.startswith(_OF_THE_CLUSTER):
        raise invalid(
            f"a group of your own, whose name does not start with {' or '.join(_OF_THE_CLUSTER)}",
            "Name the group that your access entry or identity provider gives to the people of the team.",
        )
    return name


GroupName = Annotated[
    str,
    AfterValidator(_group_name),
    WithJsonSchema({"type": "string", "minLength": 1, "examples": ["search-engineers"]}),
]
"""A group of users, as an access entry of EKS or an identity provider names it."""


class TeamQuota(Declaration):
    """The most that the pods of a team take at once.

    What is not declared is exactly what runs there: deployments, what is on Ray, copies of weights, and load tests.
    """

    gpus: Count | None = None
    """GPUs. Default: those of what runs there, with all copies of autoscalers, and those of a rollout."""
    efa_interfaces: Count | None = None
    """EFA interfaces. Default: those of what runs there."""
    cpus: Count | None = None
    """CPUs that pods request. Default: those of what runs there."""
    memory_gib: Count | None = None
    """Memory that pods request, and that they are limited to, in GiB. Default: that of what runs there."""
    load_balancers: Count = 0
    """Services of the type LoadBalancer: each may open the team's pods to the internet. Default 0."""
    node_ports: Count = 0
    """Ports that Services open on every node. Default 0."""


class ContainerDefaults(Declaration):
    """What a container gets that asks for nothing. With a quota the API server refuses it otherwise."""

    milli_cpus: PositiveCount = 100
    """CPU that it requests, in thousandths. Default 100."""
    memory_mib: PositiveCount = 256
    """Memory that it requests and is limited to, in MiB. Default 256."""


class Destination(Declaration):
    """Where pods of a team may open connections to, beyond what is known that they need."""

    cidr: Cidr | None = None
    """A network, such as ``10.8.0.0/16``. Either this or ``namespace``."""
    namespace: NamespaceName | None = None
    """A namespace of the cluster."""
    ports: tuple[PortNumber, ...] = ()
    """TCP ports. Default: all ports, of every protocol."""

    @model_validator(mode="after")
    def _one_place(self) -> "Destination":
        if (self.cidr is None) == (self.namespace is None):
            found = "neither" if self.cidr is None else "both"
            raise invalid("a cidr or a namespace, not both", "Name one of them.", found=found)
        return self


class TeamNetwork(Declaration):
    """NetworkPolicies: nothing passes but what runs there needs, and what is said here.

    Deployments say themselves who reaches them (``network``).
    """

    clients: tuple[Client, ...] = ()
    """Who reaches pods of the team that belong to no deployment. Default: nobody."""
    destinations: tuple[Destination, ...] = ()
    """Where all pods of the team may connect to beside DNS, their own namespace, and the sources of weights for those
    that read them. Programs on a Ray pool have nothing else. Default nowhere."""
    https_to: tuple[Cidr, ...] = ()
    """Networks in which the sources of weights are reached by HTTPS. Default: everywhere, since the hub and S3 have no
    fixed addresses."""


class Team(Declaration):
    """A team: a namespace with a quota, a network that is closed by default, and people with rights."""

    namespace: NamespaceName | None = None
    """Its namespace, which is made here and destroyed with the stack. Default: the name of the team."""
    adopt: bool = False
    """Whether the namespace exists already: it then gets the labels, and stays when the stack is destroyed. Default
    false."""
    quota: TeamQuota = TeamQuota()
    """The most that its pods take at once. Default: what runs there."""
    container_defaults: ContainerDefaults = ContainerDefaults()
    """What a container gets that asks for nothing. Default 100 thousandths of a CPU and 256 MiB."""
    pod_security: Level | None = None
    """Level of the Pod Security Standards that pods must keep. Default: the strictest that all of them keep; with
    any model that is ``privileged``, since ``baseline`` forbids to lock memory."""
    network: TeamNetwork | None = TeamNetwork()
    """What passes its network. Default: what runs there needs it. None: no NetworkPolicy is made for the namespace."""
    editors: tuple[GroupName, ...] = ()
    """Groups of people who may change what runs in it (ClusterRole ``edit``). Default none."""
    viewers: tuple[GroupName, ...] = ()
    """Groups of people who may look at it, without Secrets (ClusterRole ``view``). Default none."""
    service_accounts: tuple[ObjectName, ...] = ()
    """ServiceAccounts that are made, without a token in their pods. Default none beside those of its deployments."""
