"""What the pack says of programs on AWS, of tokens and of force, as the engine hands them over."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.lab.engine.test_policy_pack import POLICIES, violations

pytestmark = pytest.mark.lab

MakeProject = Callable[[str], Any]

NETWORK = """
import json
import pulumi
import pulumi_aws as aws

kept = pulumi.ResourceOptions(protect={protect})
aws_provider = aws.Provider("aws", region="us-east-2")
pulumi.runtime.register_resource_transform(
    lambda args: pulumi.ResourceTransformResult(
        args.props, pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(provider=aws_provider))
    )
)
vpc = aws.ec2.Vpc("network", cidr_block="10.0.0.0/16", opts=kept)
subnets = [
    aws.ec2.Subnet(zone, vpc_id=vpc.id, cidr_block=f"10.0.{{number}}.0/24", availability_zone=zone).id
    for number, zone in enumerate(("us-east-2a", "us-east-2b"))
]
trust = {{
    "Version": "2012-10-17",
    "Statement": [
        {{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {{"Service": ["eks.amazonaws.com"]}}}}
    ],
}}
role = aws.iam.Role("role", assume_role_policy=json.dumps(trust))
aws.eks.Cluster("cluster", role_arn=role.arn, vpc_config={{"subnet_ids": subnets}}, opts=kept)
group = aws.ec2.SecurityGroup("efa", vpc_id=vpc.id)
for direction in {directions}:
    getattr(aws.vpc, f"SecurityGroup{{direction}}Rule")(
        direction, security_group_id=group.id, referenced_security_group_id=group.id, ip_protocol="-1"
    )
"""
ALL_LAST: Mapping[str, Any] = {"protected": {"throwAwayWords": []}}
"""No stack may be thrown away, though that of the tests is called local."""


def test_what_cannot_be_had_again_is_protected_and_efa_passes(project: MakeProject, tmp_path: Path) -> None:
    file = tmp_path / "policies.json"
    file.write_text(json.dumps(ALL_LAST))
    with_file = ("preview", *POLICIES, "--policy-pack-config", str(file))
    both = ("Ingress", "Egress")
    assert violations(project(NETWORK.format(protect=True, directions=both)).succeeds(*with_file)) == set()
    bare = project(NETWORK.format(protect=False, directions=both[:1]))
    assert violations(bare.fails(*with_file)) == {
        ("advisory", "protected", "network"),
        ("advisory", "protected", "cluster"),
        ("mandatory", "efa-security-group", "efa"),
    }
    assert violations(bare.fails("preview", *POLICIES)) == {("mandatory", "efa-security-group", "efa")}


def test_tokens_are_found_wherever_they_stand_and_never_shown(project: MakeProject) -> None:
    token = "hf_abcdefABCDEF0123"
    one = project(f"""
import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("cluster", enable_server_side_apply=True)
own = pulumi.ResourceOptions(provider=provider)
encrypted = pulumi.Output.secret("{token}")
kubernetes.core.v1.Secret("secret", metadata={{"name": "secret"}}, string_data={{"token": "{token}"}}, opts=own)
kubernetes.core.v1.ConfigMap("map", metadata={{"name": "map"}}, data={{"token": encrypted}}, opts=own)
kubernetes.helm.v3.Release("release", chart="./chart", values={{"token": "{token}"}}, opts=own)
kubernetes.helm.v4.Chart("chart", chart="./chart", values={{"token": encrypted}}, opts=own)
""")
    templates = one.folder / "chart" / "templates"
    templates.mkdir(parents=True)
    (templates.parent / "Chart.yaml").write_text("apiVersion: v2\nname: model\nversion: 0.1.0\n")
    (templates / "settings.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {token: {{ .Values.token }}}\n"
    )
    printed = one.fails("preview", *POLICIES)
    assert violations(printed) == {
        ("mandatory", "no-plain-secrets", "map"),
        ("mandatory", "no-plain-secrets", "release"),
        ("mandatory", "no-plain-secrets", "chart:default/settings"),
    }
    assert token not in printed


def test_force_needs_a_reason(project: MakeProject) -> None:
    printed = project("""
import pulumi
import pulumi_kubernetes as kubernetes

force = {"pulumi.com/patchForce": "true"}
reason = {"pulumi-lws/exempt.patch-force": "the console writes it, too"}
provider = kubernetes.Provider("cluster", enable_server_side_apply=True, enable_patch_force=True)
for name, annotations in {"bare": force, "explained": force | reason}.items():
    metadata = {"name": name, "annotations": annotations}
    kubernetes.core.v1.ConfigMap(name, metadata=metadata, opts=pulumi.ResourceOptions(provider=provider))
""").succeeds("preview", *POLICIES)
    assert violations(printed) == {("advisory", "patch-force", "cluster"), ("advisory", "patch-force", "bare")}
