"""Karpenter on nodes of its own: roles, the queue of interruptions, and its charts."""

import json
from typing import Any

from pulumi_kubernetes.helm.v4 import Chart

from pulumi_lws.cluster.component import sdk
from pulumi_lws.cluster.eks import iam, interruption, names
from pulumi_lws.cluster.eks.component.parts import RunningParts, role
from pulumi_lws.cluster.eks.controller_policies import controller_policies
from pulumi_lws.cluster.eks.karpenter import NAMESPACE, SERVICE_ACCOUNT, controller_values
from pulumi_lws.cluster.eks.settings import AddOn, KarpenterCompute, SystemNodes, addon_version
from pulumi_lws.facts.versions import PINS


def karpenter_nodes(parts: RunningParts, before: list[Any]) -> list[Any]:
    """Make the system nodes and Karpenter on them; return what workloads and pools wait for.

    Args:
        parts: The cluster.
        before: What nodes need to join.
    """
    compute = parts.cluster.compute
    if not isinstance(compute, KarpenterCompute):
        raise TypeError("not a cluster of Karpenter")
    agent = _addon(parts, "eks-pod-identity-agent", [parts.made])
    system = _system_nodes(parts, compute.system_nodes)
    dns = _addon(parts, "coredns", [system])
    # Pods learn of their role when they start; so it is there before them.
    controller = [*_controller_role(parts), agent, *_interruptions(parts)]
    crds = _chart(parts, compute, "karpenter-crd", [system], {})
    return [
        dns,
        _chart(parts, compute, "karpenter", [*before, *controller, crds, dns], controller_values(parts.cluster)),
    ]


def _addon(parts: RunningParts, addon: AddOn, before: list[Any]) -> Any:
    return sdk("pulumi_aws").eks.Addon(
        f"{parts.name}-{addon}",
        cluster_name=parts.cluster.name,
        addon_name=addon,
        addon_version=addon_version(parts.cluster, addon),
        # EKS itself installs CoreDNS with a new cluster; the add-on takes it over.
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        opts=parts.on_aws(depends_on=before),
    )


def _system_nodes(parts: RunningParts, nodes: SystemNodes) -> Any:
    aws, cluster, name = sdk("pulumi_aws"), parts.cluster, f"{parts.name}-system"
    made, attachments = role(
        parts, "system", names.system_role(cluster), iam.node_trust(cluster), iam.NODE_POLICIES["karpenter"]
    )
    template = aws.ec2.LaunchTemplate(
        name,
        instance_type=nodes.instance_type,
        block_device_mappings=[
            {
                "device_name": "/dev/xvda",
                "ebs": {"volume_size": 50, "volume_type": "gp3", "encrypted": "true", "delete_on_termination": "true"},
            }
        ],
        # One hop: pods cannot take the node's role.
        metadata_options={"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 1},
        opts=parts.on_aws(),
    )
    return aws.eks.NodeGroup(
        name,
        cluster_name=cluster.name,
        node_role_arn=made.arn,
        subnet_ids=parts.subnets,
        ami_type="AL2023_x86_64_STANDARD",
        version=cluster.version,
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        scaling_config={"desired_size": nodes.nodes, "min_size": nodes.nodes, "max_size": nodes.nodes + 1},
        update_config={"max_unavailable": 1},
        opts=parts.on_aws(depends_on=[parts.made, *attachments]),
    )


def _controller_role(parts: RunningParts) -> list[Any]:
    aws, cluster = sdk("pulumi_aws"), parts.cluster
    made, _ = role(parts, "karpenter", names.controller_role(cluster), iam.pod_trust(cluster), ())
    attachments = []
    for key, document in controller_policies(cluster).items():
        policy = aws.iam.Policy(
            f"{parts.name}-karpenter-{key}",
            name=f"{names.controller_role(cluster)}-{key}",
            policy=json.dumps(document),
            opts=parts.on_aws(),
        )
        attachments.append(
            aws.iam.RolePolicyAttachment(
                f"{parts.name}-karpenter-{key}", role=made.name, policy_arn=policy.arn, opts=parts.on_aws()
            )
        )
    association = aws.eks.PodIdentityAssociation(
        f"{parts.name}-karpenter",
        cluster_name=cluster.name,
        namespace=NAMESPACE,
        service_account=SERVICE_ACCOUNT,
        role_arn=made.arn,
        opts=parts.on_aws(depends_on=[parts.made, *attachments]),
    )
    return [association]


def _interruptions(parts: RunningParts) -> list[Any]:
    aws, cluster = sdk("pulumi_aws"), parts.cluster
    queue = aws.sqs.Queue(
        f"{parts.name}-interruptions",
        name=names.queue(cluster),
        message_retention_seconds=interruption.RETENTION_SECONDS,
        sqs_managed_sse_enabled=True,
        opts=parts.on_aws(),
    )
    made = [
        aws.sqs.QueuePolicy(
            f"{parts.name}-interruptions",
            queue_url=queue.url,
            policy=json.dumps(iam.queue_policy(cluster)),
            opts=parts.on_aws(),
        )
    ]
    for event, pattern in interruption.EVENTS.items():
        rule = aws.cloudwatch.EventRule(
            f"{parts.name}-{event}",
            name=names.rule(cluster, event),
            event_pattern=json.dumps(pattern),
            opts=parts.on_aws(),
        )
        made.append(
            aws.cloudwatch.EventTarget(f"{parts.name}-{event}", rule=rule.name, arn=queue.arn, opts=parts.on_aws())
        )
    return made


def _chart(
    parts: RunningParts, compute: KarpenterCompute, chart: str, before: list[Any], values: dict[str, Any]
) -> Chart:
    return Chart(
        f"{parts.name}-{chart}",
        name=chart,
        chart=f"{compute.charts}/{chart}",
        version=PINS["karpenter-chart"].version,
        namespace=NAMESPACE,
        skip_crds=True,
        values=values,
        opts=parts.on_kubernetes(depends_on=before),
    )
