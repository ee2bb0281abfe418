"""Rules about security groups.

``source`` of each names the page of the EC2 API that refuses, and what replaces is taken from the file of the same
resource below https://github.com/hashicorp/terraform-provider-aws/tree/main/internal/service/ec2 (``ForceNew`` and
``RequiresReplace``).
"""

from typing import Any

from lab.aws.kinds.forms import Between, Cidr, OneOf, Text
from lab.aws.kinds.kind import Kind, Reference, RefusedError, Request
from lab.aws.kinds.network import SECURITY_GROUP, VPC

_API = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_"
_GROUP_TEXT = r"[A-Za-z0-9 ._\-:/()#,@\[\]+=&;{}!$*]*"


def _check_ports(request: Request) -> None:
    protocol = request.values.get("ipProtocol")
    if protocol in ("tcp", "udp", "6", "17") and not {"fromPort", "toPort"} <= set(request.values):
        raise RefusedError("InvalidParameterValue: fromPort and toPort are required for tcp and udp")


_RULE_REFERENCES = (
    Reference("securityGroupId", SECURITY_GROUP),
    Reference("referencedSecurityGroupId", SECURITY_GROUP, blocks=True),
)
_RULE: dict[str, Any] = {
    "source": f"{_API}AuthorizeSecurityGroupIngress.html",
    "id": "sgr-{hex}",
    "arn": "arn:aws:ec2:{region}:{account}:security-group-rule/{id}",
    "replaces": frozenset({"securityGroupId"}),
    "references": _RULE_REFERENCES,
    "one_of": (("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId"),),
    "unique": (
        *("securityGroupId", "ipProtocol", "fromPort", "toPort"),
        *("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId"),
    ),
    "taken": "InvalidPermission.Duplicate: the specified rule already exists",
    "forms": {"cidrIpv4": Cidr(), "ipProtocol": Text(10, r"-1|[0-9]+|tcp|udp|icmp|icmpv6")},
    "outputs": {"securityGroupRuleId": "{id}"},
    "check": _check_ports,
}

KINDS: dict[str, Kind] = {
    SECURITY_GROUP: Kind(
        called="EC2 Security Group",
        source=f"{_API}CreateSecurityGroup.html",
        id="sg-{hex}",
        arn="arn:aws:ec2:{region}:{account}:security-group/{id}",
        replaces=frozenset({"name", "namePrefix", "description", "vpcId"}),
        defaults={"description": "Managed by Pulumi", "revokeRulesOnDelete": False},
        references=(
            Reference("vpcId", VPC, blocks=True),
            Reference("ingress.securityGroups", SECURITY_GROUP, blocks=True),
            Reference("egress.securityGroups", SECURITY_GROUP, blocks=True),
        ),
        forms={"name": Text(255, rf"(?!sg-){_GROUP_TEXT}"), "description": Text(255, _GROUP_TEXT, shortest=0)},
        unique=("vpcId", "name"),
        taken="InvalidGroup.Duplicate: The security group '{name}' already exists for VPC '{vpcId}'",
        missing="InvalidGroup.NotFound: The security group '{value}' does not exist",
        blocked="DependencyViolation: resource {id} has a dependent object",
    ),
    "aws:ec2/securityGroupRule:SecurityGroupRule": Kind(
        called="EC2 Security Group Rule",
        source=f"{_API}AuthorizeSecurityGroupIngress.html",
        id="sgrule-{number}",
        replaces=frozenset(
            {
                *("cidrBlocks", "fromPort", "ipv6CidrBlocks", "prefixListIds", "protocol", "securityGroupId", "self"),
                *("sourceSecurityGroupId", "toPort", "type"),
            }
        ),
        references=(
            Reference("securityGroupId", SECURITY_GROUP),
            Reference("sourceSecurityGroupId", SECURITY_GROUP, blocks=True),
        ),
        forms={
            "type": OneOf(("ingress", "egress")),
            "cidrBlocks": Cidr(),
            "protocol": Text(10, r"-1|[0-9]+|all|tcp|udp|icmp|icmpv6"),
            "fromPort": Between(-1, 65535),
            "toPort": Between(-1, 65535),
        },
        unique=(
            *("type", "securityGroupId", "protocol", "fromPort", "toPort", "cidrBlocks", "ipv6CidrBlocks"),
            *("prefixListIds", "self", "sourceSecurityGroupId"),
        ),
        taken="InvalidPermission.Duplicate: the specified rule already exists",
        outputs={"securityGroupRuleId": "sgr-{hex}"},
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Kind(
        called="VPC Security Group Ingress Rule", **_RULE
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": Kind(called="VPC Security Group Egress Rule", **_RULE),
}
"""By type."""
