"""Rules about what nodes are made from: launch templates, placement groups, capacity reservations; and flow logs, tags.

What replaces is taken from the file of the same resource below
https://github.com/hashicorp/terraform-provider-aws/tree/main/internal/service/ec2 (``ForceNew``).
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from lab.aws.kinds.forms import Between, OneOf, Text
from lab.aws.kinds.kind import Kind, Reference, RefusedError, Request
from lab.aws.kinds.network import SECURITY_GROUP, SUBNET, VPC, check_zone
from lab.aws.places import offered
from lab.aws.wire import UNKNOWN

LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"
CAPACITY_RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"

_API = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_"


def _check_launch_template(request: Request) -> None:
    values = request.values
    if (text := values.get("userData", UNKNOWN)) != UNKNOWN:
        try:
            base64.b64decode(text, validate=True)
        except binascii.Error as error:
            raise RefusedError("InvalidUserData.Malformed: Invalid BASE64 encoding of user data.") from error
    interfaces = values.get("networkInterfaces", [])
    if interfaces == UNKNOWN:
        return
    if interfaces and values.get("vpcSecurityGroupIds"):
        raise RefusedError(
            "InvalidParameterCombination: Network interfaces and an instance-level security groups may not be "
            "specified on the same request"
        )
    for problem in _interface_problems(interfaces):
        raise RefusedError(problem)


def _interface_problems(interfaces: list[Mapping[str, Any]]) -> Iterator[str]:
    """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html and …/using-eni.html#network-cards."""
    places = [(one.get("networkCardIndex", 0), one.get("deviceIndex", 0)) for one in interfaces]
    if len(set(places)) < len(places):
        yield "InvalidParameterValue: Each network interface requires a card and device index of its own."
    if interfaces and (0, 0) not in places:
        yield "InvalidParameterValue: A primary network interface is required: card 0, device 0."
    for place, one in zip(places, interfaces, strict=True):
        if place == (0, 0) and one.get("interfaceType") == "efa-only":
            yield "InvalidParameterValue: The primary network interface cannot be efa-only."
        if len(interfaces) > 1 and one.get("associatePublicIpAddress") in (True, "true"):
            yield (
                "InvalidParameterCombination: The associatePublicIPAddress parameter cannot be specified when "
                "launching with multiple network interfaces."
            )


def _check_placement_group(request: Request) -> None:
    if request.values["strategy"] != "partition" and "partitionCount" in request.values:
        raise RefusedError("InvalidParameterCombination: Partition count is only for the strategy 'partition'.")


def _check_reservation(request: Request) -> None:
    check_zone(request)
    values = request.values
    kind, zone = values["instanceType"], values["availabilityZone"]
    if UNKNOWN not in (kind, zone) and zone not in offered(kind, request.region):
        raise RefusedError(
            f"Unsupported: The requested configuration is currently not supported: no {kind} in {zone}. This stand-in "
            f"offers it in {', '.join(offered(kind, request.region))}."
        )
    if (values["endDateType"] == "limited") != ("endDate" in values):
        raise RefusedError("InvalidParameterCombination: EndDate belongs to the EndDateType limited, and only to it.")


def _check_flow_log(request: Request) -> None:
    if request.values["logDestinationType"] == "cloud-watch-logs" and "iamRoleArn" not in request.values:
        raise RefusedError("InvalidParameter: DeliverLogsPermissionArn is required for delivery to CloudWatch Logs.")


def _check_tag(request: Request) -> None:
    resource, key = request.values["resourceId"], request.values["key"]
    if resource != UNKNOWN and not any(one.id == resource for one in request.account.objects):
        raise RefusedError(f"InvalidID: The ID '{resource}' is not valid")
    if key.startswith("aws:"):
        raise RefusedError(f"InvalidParameterValue: Tag keys starting with 'aws:' are reserved for internal use: {key}")


KINDS: dict[str, Kind] = {
    LAUNCH_TEMPLATE: Kind(
        called="EC2 Launch Template",
        source=f"{_API}CreateLaunchTemplate.html",
        id="lt-{hex}",
        arn="arn:aws:ec2:{region}:{account}:launch-template/{id}",
        replaces=frozenset({"name", "namePrefix"}),
        references=(
            Reference("vpcSecurityGroupIds", SECURITY_GROUP),
            Reference("networkInterfaces.securityGroups", SECURITY_GROUP),
            Reference("networkInterfaces.subnetId", SUBNET),
            Reference("placement.groupName", PLACEMENT_GROUP, by=("name",)),
            Reference("placement.groupId", PLACEMENT_GROUP, by=("placementGroupId",)),
            Reference(
                "capacityReservationSpecification.capacityReservationTarget.capacityReservationId", CAPACITY_RESERVATION
            ),
            Reference("iamInstanceProfile.name", "aws:iam/instanceProfile:InstanceProfile", by=("name",)),
            Reference("iamInstanceProfile.arn", "aws:iam/instanceProfile:InstanceProfile", by=("arn",)),
        ),
        forms={
            "name": Text(128, r"[A-Za-z0-9().\-/_]+", shortest=3),
            "imageId": Text(255, r"ami-[0-9a-f]{8,17}|resolve:ssm:.+"),
            "networkInterfaces.interfaceType": OneOf(("efa", "efa-only", "interface")),
            "instanceMarketOptions.marketType": OneOf(("capacity-block", "interruptible-capacity-reservation", "spot")),
            "metadataOptions.httpTokens": OneOf(("optional", "required")),
            "metadataOptions.httpPutResponseHopLimit": Between(1, 64),
            "placement.tenancy": OneOf(("default", "dedicated", "host")),
        },
        unique=("name",),
        taken="InvalidLaunchTemplateName.AlreadyExistsException: Launch template name already in use.",
        missing="InvalidLaunchTemplateId.NotFound: The specified launch template, with template ID {value}, does not "
        "exist.",
        outputs={"latestVersion": 1, "defaultVersion": 1},
        bumped=("latestVersion",),
        check=_check_launch_template,
    ),
    PLACEMENT_GROUP: Kind(
        called="EC2 Placement Group",
        source=f"{_API}CreatePlacementGroup.html",
        id="{name}",
        arn="arn:aws:ec2:{region}:{account}:placement-group/{name}",
        replaces=frozenset({"name", "strategy", "partitionCount", "spreadLevel"}),
        forms={
            "name": Text(255, r"[\x20-\x7e]+"),
            "strategy": OneOf(("cluster", "partition", "spread")),
            "spreadLevel": OneOf(("host", "rack")),
            "partitionCount": Between(1, 7),
        },
        unique=("name",),
        taken="InvalidPlacementGroup.Duplicate: The placement group '{name}' already exists.",
        missing="InvalidPlacementGroup.Unknown: The Placement Group '{value}' is unknown.",
        blocked="InvalidPlacementGroup.InUse: The placement group '{id}' is in use and may not be deleted.",
        outputs={"placementGroupId": "pg-{hex}"},
        check=_check_placement_group,
    ),
    CAPACITY_RESERVATION: Kind(
        called="EC2 Capacity Reservation",
        source=f"{_API}CreateCapacityReservation.html",
        id="cr-{hex}",
        arn="arn:aws:ec2:{region}:{account}:capacity-reservation/{id}",
        replaces=frozenset(
            {
                *("availabilityZone", "ebsOptimized", "ephemeralStorage", "instanceMatchCriteria"),
                *("instancePlatform", "instanceType", "tenancy"),
            }
        ),
        defaults={
            "endDateType": "unlimited",
            "instanceMatchCriteria": "open",
            "tenancy": "default",
            "ebsOptimized": False,
            "ephemeralStorage": False,
        },
        references=(Reference("placementGroupArn", PLACEMENT_GROUP, by=("arn",), blocks=True),),
        forms={
            "endDateType": OneOf(("unlimited", "limited")),
            "instanceCount": Between(1, 1000),
            "instanceMatchCriteria": OneOf(("open", "targeted")),
            "tenancy": OneOf(("default", "dedicated")),
            "instanceType": Text(64, r"[a-z0-9-]+\.[a-z0-9-]+"),
            "instancePlatform": Text(64, r"(?:Linux|Windows|Red Hat|SUSE|RHEL|Ubuntu).*"),
        },
        missing="InvalidCapacityReservationId.NotFound: The capacity reservation '{value}' does not exist",
        check=_check_reservation,
    ),
    "aws:ec2/flowLog:FlowLog": Kind(
        called="EC2 Flow Log",
        source=f"{_API}CreateFlowLogs.html",
        id="fl-{hex}",
        arn="arn:aws:ec2:{region}:{account}:vpc-flow-log/{id}",
        replaces=frozenset(
            {
                *("deliverCrossAccountRole", "destinationOptions", "eniId", "iamRoleArn", "logDestination"),
                *("logDestinationType", "logFormat", "maxAggregationInterval", "subnetId", "trafficType"),
                *("transitGatewayAttachmentId", "transitGatewayId", "vpcId", "regionalNatGatewayId"),
            }
        ),
        defaults={"logDestinationType": "cloud-watch-logs", "maxAggregationInterval": 600},
        references=(
            Reference("vpcId", VPC),
            Reference("subnetId", SUBNET),
            Reference("iamRoleArn", "aws:iam/role:Role", by=("arn",)),
            Reference("logDestination", "aws:cloudwatch/logGroup:LogGroup", by=("arn",), only="arn:aws:logs:"),
        ),
        forms={
            "logDestinationType": OneOf(("cloud-watch-logs", "kinesis-data-firehose", "s3")),
            "maxAggregationInterval": OneOf((60, 600)),
            "trafficType": OneOf(("ACCEPT", "ALL", "REJECT")),
        },
        one_of=(
            ("eniId", "regionalNatGatewayId", "subnetId", "transitGatewayAttachmentId", "transitGatewayId", "vpcId"),
        ),
        check=_check_flow_log,
    ),
    "aws:ec2/tag:Tag": Kind(
        called="EC2 Tag",
        source=f"{_API}CreateTags.html",
        id="{resourceId},{key}",
        replaces=frozenset({"resourceId", "key"}),
        forms={"key": Text(128), "value": Text(256, shortest=0)},
        check=_check_tag,
    ),
}
"""By type."""
