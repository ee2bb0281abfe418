"""Rules about what is added to a cluster: add-ons, access entries and their policies, identities of pods.

``source`` of each names the page of the EKS API that refuses, and what replaces is taken from the file of the same
resource below https://github.com/hashicorp/terraform-provider-aws/tree/main/internal/service/eks (``ForceNew``).
"""

from lab.aws.kinds.eks import ACCESS_ENTRY, CLUSTER, CLUSTER_NAME
from lab.aws.kinds.forms import OneOf, Text
from lab.aws.kinds.iam import ROLE
from lab.aws.kinds.kind import Kind, Reference, RefusedError, Request
from lab.aws.places import ADDON_VERSIONS
from lab.aws.wire import UNKNOWN, as_document, at

_API = "https://docs.aws.amazon.com/eks/latest/APIReference/API_"
_OF_CLUSTER = Reference("clusterName", CLUSTER, by=("name",))
_NODE_TYPES = ("EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "HYBRID_LINUX", "HYPERPOD_LINUX")


def _check_addon(request: Request) -> None:
    text = request.values.get("configurationValues", UNKNOWN)
    if text not in (UNKNOWN, "") and as_document(text) is None and ":" not in text:
        raise RefusedError("InvalidParameterException: ConfigurationValue is not in JSON or YAML format")


def _check_access(request: Request) -> None:
    cluster = request.account.named(CLUSTER, "name", request.values["clusterName"])
    mode = cluster and (cluster.outputs.get("accessConfig") or {}).get("authenticationMode")
    if cluster and mode == "CONFIG_MAP":
        raise RefusedError(
            "InvalidRequestException: The cluster's authentication mode must be set to one of [API, "
            "API_AND_CONFIG_MAP] to perform this operation."
        )


def _check_access_entry(request: Request) -> None:
    _check_access(request)
    groups = list(at(request.values, "kubernetesGroups"))
    if groups and request.values["type"] != "STANDARD":
        raise RefusedError(
            f"InvalidParameterException: Kubernetes groups are not allowed for type {request.values['type']}"
        )
    for group in groups:
        if group.startswith(("aws:", "eks:", "system:", "amazon:", "iam:")):
            raise RefusedError(f"InvalidParameterException: The kubernetes group name {group} is invalid")


def _check_association(request: Request) -> None:
    _check_access(request)
    values = request.values
    scope = values["accessScope"]
    if scope != UNKNOWN and (scope["type"] == "namespace") != bool(scope.get("namespaces")):
        raise RefusedError("InvalidParameterException: namespaces belong to the access scope namespace, and only to it")
    entry = request.account.find(ACCESS_ENTRY, f"{values['clusterName']}:{values['principalArn']}")
    if entry is None:
        if UNKNOWN not in (values["clusterName"], values["principalArn"]):
            raise RefusedError(
                f"ResourceNotFoundException: The specified principalArn could not be found: {values['principalArn']}"
            )
    elif entry.outputs.get("type") in _NODE_TYPES:
        raise RefusedError(
            f"InvalidRequestException: access policies cannot go to entries of type {entry.outputs['type']}"
        )


def _check_pod_identity(request: Request) -> None:
    role = request.account.named(ROLE, "arn", request.values["roleArn"])
    trust = as_document(role.outputs["assumeRolePolicy"]) if role else None
    if trust is None:
        return
    for statement in trust["Statement"] if isinstance(trust["Statement"], list) else [trust["Statement"]]:
        principal, actions = statement.get("Principal"), statement.get("Action")
        services = principal.get("Service", []) if isinstance(principal, dict) else []
        if "pods.eks.amazonaws.com" in services and {"sts:AssumeRole", "sts:TagSession"} <= set(actions):
            return
    raise RefusedError(
        "InvalidParameterException: Trust policy of role is invalid: pods.eks.amazonaws.com needs sts:AssumeRole and "
        "sts:TagSession."
    )


KINDS: dict[str, Kind] = {
    "aws:eks/addon:Addon": Kind(
        called="EKS Add-On",
        source=f"{_API}CreateAddon.html",
        id="{clusterName}:{addonName}",
        arn="arn:aws:eks:{region}:{account}:addon/{clusterName}/{addonName}/{hex}",
        replaces=frozenset({"clusterName", "addonName", "namespaceConfig"}),
        references=(
            _OF_CLUSTER,
            Reference("serviceAccountRoleArn", ROLE, by=("arn",)),
            Reference("podIdentityAssociations.roleArn", ROLE, by=("arn",)),
        ),
        forms={
            "clusterName": CLUSTER_NAME,
            "addonName": OneOf(tuple(ADDON_VERSIONS)),
            "addonVersion": Text(64, r"v\d+\.\d+\.\d+-eksbuild\.\d+"),
            "resolveConflictsOnCreate": OneOf(("NONE", "OVERWRITE")),
            "resolveConflictsOnUpdate": OneOf(("NONE", "OVERWRITE", "PRESERVE")),
        },
        unique=("clusterName", "addonName"),
        taken="ResourceInUseException: Addon already exists.",
        outputs={"addonVersion": "{addon_version}"},
        check=_check_addon,
    ),
    ACCESS_ENTRY: Kind(
        called="EKS Access Entry",
        source=f"{_API}CreateAccessEntry.html",
        id="{clusterName}:{principalArn}",
        replaces=frozenset({"clusterName", "principalArn", "type"}),
        defaults={"type": "STANDARD"},
        references=(_OF_CLUSTER, Reference("principalArn", ROLE, by=("arn",), only=r"arn:aws:iam::\d+:role/")),
        forms={
            "clusterName": CLUSTER_NAME,
            "principalArn": Text(2048, r"arn:aws:iam::\d{12}:(role|user|root).*"),
            "type": OneOf(("STANDARD", "EC2", *_NODE_TYPES)),
        },
        unique=("clusterName", "principalArn"),
        taken="ResourceInUseException: The specified access entry resource is already in use on this cluster.",
        outputs={"accessEntryArn": "arn:aws:eks:{region}:{account}:access-entry/{clusterName}/role/{hex}"},
        check=_check_access_entry,
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Kind(
        called="EKS Access Policy Association",
        source=f"{_API}AssociateAccessPolicy.html",
        id="{clusterName}#{principalArn}#{policyArn}",
        replaces=frozenset({"clusterName", "principalArn", "policyArn", "accessScope"}),
        references=(_OF_CLUSTER,),
        forms={
            "accessScope.type": OneOf(("cluster", "namespace")),
            "policyArn": Text(
                200,
                # https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
                r"arn:aws:eks::aws:cluster-access-policy/AmazonEKS("
                r"(Cluster)?AdminPolicy|AdminViewPolicy|EditPolicy|ViewPolicy|SecretReaderPolicy|ACKPolicy|ArgoCD(Cluster)?"
                r"Policy|KROPolicy|HybridPolicy|ClusterInsightsPolicy|Auto(Node|BlockStorage|Compute|LoadBalancing|"
                r"Networking)Policy|(BlockStorage|Compute|LoadBalancing|Networking)(Cluster)?Policy)",
            ),
        },
        unique=("clusterName", "principalArn", "policyArn"),
        taken="ResourceInUseException: {policyArn} is already associated with {principalArn}",
        check=_check_association,
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Kind(
        called="EKS Pod Identity Association",
        source=f"{_API}CreatePodIdentityAssociation.html",
        id="a-{hex}",
        replaces=frozenset({"clusterName", "namespace", "serviceAccount"}),
        references=(_OF_CLUSTER, Reference("roleArn", ROLE, by=("arn",))),
        forms={"namespace": Text(63), "serviceAccount": Text(253)},
        unique=("clusterName", "namespace", "serviceAccount"),
        taken="ResourceInUseException: Association already exists: {namespace}/{serviceAccount}",
        outputs={
            "associationArn": "arn:aws:eks:{region}:{account}:podidentityassociation/{clusterName}/{id}",
            "associationId": "{id}",
        },
        check=_check_pod_identity,
    ),
}
"""By type."""
