"""The component of a cluster on the real engine, with the stand-ins for AWS and EKS."""

import json
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.lab

Raw = dict[str, Any]

CLUSTER: Raw = {
    "kind": "eks",
    "name": "llm",
    "account": "123456789012",
    "region": "us-east-2",
    "network": {"kind": "vpc", "zones": ["us-east-2a", "us-east-2b"], "flowLogs": {}},
    "compute": {"kind": "auto"},
    "protect": False,
}
KARPENTER: Raw = CLUSTER | {"compute": {"kind": "karpenter"}}

PROGRAM = """
import json
from pathlib import Path

import pulumi
from pulumi_lws.cluster.eks.component.cluster import EksCluster

made = EksCluster("env", json.loads(Path("cluster.json").read_text()))
pulumi.export("arn", made.connection.arn)
"""


def declare(project: Any, raw: Raw) -> None:
    (project.folder / "cluster.json").write_text(json.dumps(raw))


@pytest.mark.parametrize("raw", [CLUSTER, KARPENTER], ids=["auto", "karpenter"])
def test_a_first_preview_takes_the_whole_cluster(aws_project: Callable[[str], Any], raw: Raw) -> None:
    project = aws_project(PROGRAM)
    declare(project, raw)
    operations = project.operations(LWS_LAB_KUBECONFIG_UNKNOWN="1")
    assert set(operations) == {"create"}
    assert {"env-network-vpc", "env-cluster-eksCluster", "env-nodes", "env-efa-egress"} <= set(operations["create"])


def test_a_change_that_would_replace_the_cluster_is_refused_at_preview_with_the_reason(
    aws_project: Callable[[str], Any],
) -> None:
    project = aws_project(PROGRAM)
    declare(project, CLUSTER)
    # Nothing answers at the cluster's address, so the system pool fails; all of AWS is there.
    assert "env-system-nodeclass" in project.fails("up", "--yes", "--skip-preview")
    declare(project, KARPENTER | {"name": "models"})
    shown = project.fails("preview")
    assert "Cluster env has 2 problems:" in shown
    assert "name: found 'models'; allowed: 'llm', as the running cluster has it: a cluster cannot be renamed." in shown
    assert "compute.kind: found 'karpenter'; allowed: 'auto', as the running cluster has it" in shown
    declare(project, CLUSTER | {"name": "models", "allowReplacement": True})
    assert "env-cluster-eksCluster" in project.operations(LWS_LAB_KUBECONFIG_UNKNOWN="1")["replace"]


def test_a_further_zone_and_a_further_version_replace_nothing(aws_project: Callable[[str], Any]) -> None:
    project = aws_project(PROGRAM)
    declare(project, CLUSTER | {"version": "1.34"})
    assert "env-system-nodeclass" in project.fails("up", "--yes", "--skip-preview")
    zones = [*CLUSTER["network"]["zones"], "us-east-2c"]
    declare(project, CLUSTER | {"network": CLUSTER["network"] | {"zones": zones}})
    operations = project.operations(LWS_LAB_KUBECONFIG_UNKNOWN="1")
    assert set(operations) == {"create", "update"}
    assert "env-cluster-eksCluster" in operations["update"]
