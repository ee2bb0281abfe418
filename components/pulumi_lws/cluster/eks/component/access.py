"""Who may enter a cluster: people, CI and nodes."""

from typing import Any

from pulumi_lws.cluster.component import sdk
from pulumi_lws.cluster.eks import iam, names
from pulumi_lws.cluster.eks.component.parts import RunningParts, role
from pulumi_lws.cluster.eks.settings import Access


def grant_access(parts: RunningParts) -> None:
    """Make the access entries of the declaration."""
    for key, access in parts.cluster.access.items():
        entry = _entry(parts, f"access-{key}", access.principal_arn, kubernetes_groups=list(access.groups) or None)
        if access.policy is not None:
            policy = iam.ACCESS_POLICIES[access.policy]
            _policy(parts, f"access-{key}", access.principal_arn, policy, scope=_scope(access), entry=entry)


def admit_nodes(parts: RunningParts) -> list[Any]:
    """Make the role of the nodes and let them join; return what nodes wait for."""
    cluster, mode = parts.cluster, parts.cluster.compute.kind
    made, attachments = role(parts, "nodes", names.node_role(cluster), iam.node_trust(cluster), iam.NODE_POLICIES[mode])
    entry = _entry(parts, "nodes", made.arn, type=iam.NODE_ACCESS[mode])
    if mode == "karpenter":
        return [*attachments, entry]
    policy = iam.AUTO_NODE_ACCESS_POLICY
    return [*attachments, _policy(parts, "nodes", made.arn, policy, scope={"type": "cluster"}, entry=entry)]


def _scope(access: Access) -> dict[str, Any]:
    if access.namespaces:
        return {"type": "namespace", "namespaces": list(access.namespaces)}
    return {"type": "cluster"}


def _entry(parts: RunningParts, key: str, principal: Any, **further: Any) -> Any:
    return sdk("pulumi_aws").eks.AccessEntry(
        f"{parts.name}-{key}",
        cluster_name=parts.cluster.name,
        principal_arn=principal,
        opts=parts.on_aws(depends_on=[parts.made]),
        **further,
    )


def _policy(parts: RunningParts, key: str, principal: Any, policy: str, *, scope: dict[str, Any], entry: Any) -> Any:
    return sdk("pulumi_aws").eks.AccessPolicyAssociation(
        f"{parts.name}-{key}",
        cluster_name=parts.cluster.name,
        principal_arn=principal,
        policy_arn=iam.access_policy_arn(parts.cluster, policy),
        access_scope=scope,
        opts=parts.on_aws(depends_on=[entry]),
    )
