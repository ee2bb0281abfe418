"""Rules about networks: VPCs, subnets, gateways, routes, security groups, endpoints.

``source`` of each names the page of the EC2 API that refuses, and what replaces is taken from the file of the same
resource below https://github.com/hashicorp/terraform-provider-aws/tree/main/internal/service/ec2 (``ForceNew`` and
``RequiresReplace``).
"""

import ipaddress

from lab.aws.kinds.forms import Cidr, OneOf
from lab.aws.kinds.kind import Kind, Reference, RefusedError, Request
from lab.aws.places import zones
from lab.aws.state import Object
from lab.aws.wire import UNKNOWN, at

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
ROUTE_TABLE = "aws:ec2/routeTable:RouteTable"
INTERNET_GATEWAY = "aws:ec2/internetGateway:InternetGateway"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
EIP = "aws:ec2/eip:Eip"

_API = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_"


def _vpc_parts(vpc: Object) -> list[Object]:
    group, table = vpc.outputs["defaultSecurityGroupId"], vpc.outputs["mainRouteTableId"]
    described = {"name": "default", "description": "default VPC security group", "vpcId": vpc.id}
    return [
        Object(SECURITY_GROUP, group, {}, {**described, "region": vpc.outputs.get("region")}, owner=vpc.id),
        Object(ROUTE_TABLE, table, {}, {"vpcId": vpc.id}, owner=vpc.id),
    ]


def check_zone(request: Request) -> None:
    """Refuse a zone that the region does not have."""
    zone = request.values.get("availabilityZone", UNKNOWN)
    if zone != UNKNOWN and zone not in zones(request.region):
        names = ", ".join(zones(request.region))
        raise RefusedError(f"InvalidParameterValue: Value ({zone}) for parameter availabilityZone is invalid. {names}")


def _check_subnet(request: Request) -> None:
    check_zone(request)
    block, vpc = request.values.get("cidrBlock", UNKNOWN), request.account.find(VPC, request.values["vpcId"])
    if block == UNKNOWN or vpc is None or request.before:
        return
    wanted = ipaddress.IPv4Network(block)
    if not wanted.subnet_of(ipaddress.IPv4Network(vpc.outputs["cidrBlock"])):
        raise RefusedError(f"InvalidSubnet.Range: The CIDR '{block}' is invalid.")
    for other in request.account.of(SUBNET):
        taken = other.outputs.get("cidrBlock")
        if other.outputs["vpcId"] == vpc.id and taken and wanted.overlaps(ipaddress.IPv4Network(taken)):
            raise RefusedError(f"InvalidSubnet.Conflict: The CIDR '{block}' conflicts with another subnet")


def _check_nat_gateway(request: Request) -> None:
    values = request.values
    if values.get("availabilityMode") == "regional":
        return
    if "subnetId" not in values:
        raise RefusedError("MissingParameter: The request must contain the parameter SubnetId")
    if values["connectivityType"] == "public" and "allocationId" not in values:
        raise RefusedError("MissingParameter: The request must contain the parameter AllocationId")
    if values["connectivityType"] == "private" and "allocationId" in values:
        raise RefusedError('allocation_id is not supported with connectivity_type = "private"')


def _check_endpoint(request: Request) -> None:
    values, kind, service = request.values, request.values["vpcEndpointType"], request.values.get("serviceName", "")
    wrong = {"Gateway": ("subnetIds", "securityGroupIds", "privateDnsEnabled"), "Interface": ("routeTableIds",)}
    for name in wrong.get(kind, ()):
        if values.get(name):
            raise RefusedError(f"InvalidParameter: {name} is not allowed for endpoints of type {kind}")
    if kind == "Gateway" and service != UNKNOWN and service.rpartition(".")[2] not in ("s3", "dynamodb"):
        raise RefusedError(f"InvalidServiceName: The Vpc Endpoint Service '{service}' does not support type Gateway")
    if service.startswith("com.amazonaws.") and not service.startswith(f"com.amazonaws.{request.region}."):
        raise RefusedError(f"InvalidServiceName: The Vpc Endpoint Service '{service}' does not exist")
    subnets = [request.account.find(SUBNET, subnet) for subnet in at(values, "subnetIds")]
    placed = [subnet.outputs.get("availabilityZone") for subnet in subnets if subnet]
    if len(set(placed)) < len(placed):
        raise RefusedError("DuplicateSubnetsInSameZone: Found another VPC endpoint subnet in the availability zone")


KINDS: dict[str, Kind] = {
    VPC: Kind(
        called="EC2 VPC",
        source=f"{_API}CreateVpc.html",
        id="vpc-{hex}",
        arn="arn:aws:ec2:{region}:{account}:vpc/{id}",
        replaces=frozenset({"cidrBlock", "instanceTenancy", "ipv4IpamPoolId", "ipv4NetmaskLength"}),
        defaults={"enableDnsSupport": True, "instanceTenancy": "default"},
        forms={"cidrBlock": Cidr(16, 28), "instanceTenancy": OneOf(("default", "dedicated"))},
        one_of=(("cidrBlock", "ipv4IpamPoolId"),),
        missing="InvalidVpcID.NotFound: The vpc ID '{value}' does not exist",
        blocked="DependencyViolation: The vpc '{id}' has dependencies and cannot be deleted.",
        outputs={
            "defaultSecurityGroupId": "sg-{hex}",
            "mainRouteTableId": "rtb-{hex}",
            "defaultNetworkAclId": "acl-{hex}",
            "dhcpOptionsId": "dopt-{hex}",
        },
        owns=_vpc_parts,
    ),
    SUBNET: Kind(
        called="EC2 Subnet",
        source=f"{_API}CreateSubnet.html",
        id="subnet-{hex}",
        arn="arn:aws:ec2:{region}:{account}:subnet/{id}",
        replaces=frozenset(
            {
                *("vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId", "outpostArn", "ipv6Native"),
                *("ipv4IpamPoolId", "ipv4NetmaskLength", "ipv6IpamPoolId", "ipv6NetmaskLength"),
            }
        ),
        references=(Reference("vpcId", VPC, blocks=True),),
        forms={"cidrBlock": Cidr(16, 28)},
        at_most_one_of=(("availabilityZone", "availabilityZoneId"),),
        missing="InvalidSubnetID.NotFound: The subnet ID '{value}' does not exist",
        blocked="DependencyViolation: The subnet '{id}' has dependencies and cannot be deleted.",
        outputs={"availabilityZone": "{region}a", "privateDnsHostnameTypeOnLaunch": "ip-name"},
        check=_check_subnet,
    ),
    INTERNET_GATEWAY: Kind(
        called="EC2 Internet Gateway",
        source=f"{_API}AttachInternetGateway.html",
        id="igw-{hex}",
        arn="arn:aws:ec2:{region}:{account}:internet-gateway/{id}",
        references=(Reference("vpcId", VPC, blocks=True),),
        unique=("vpcId",),
        taken="Resource.AlreadyAssociated: {vpcId} already has an internet gateway attached",
        missing="InvalidInternetGatewayID.NotFound: The internetGateway ID '{value}' does not exist",
    ),
    NAT_GATEWAY: Kind(
        called="EC2 NAT Gateway",
        source=f"{_API}CreateNatGateway.html",
        id="nat-{hex}",
        replaces=frozenset(
            {"allocationId", "connectivityType", "privateIp", "secondaryPrivateIpAddressCount", "subnetId", "vpcId"}
        ),
        defaults={"connectivityType": "public"},
        forms={"connectivityType": OneOf(("public", "private"))},
        references=(Reference("subnetId", SUBNET, blocks=True), Reference("allocationId", EIP, blocks=True)),
        unique=("allocationId",),
        taken="Resource.AlreadyAssociated: Elastic IP address [{allocationId}] is already associated",
        missing="NatGatewayNotFound: The Nat Gateway {value} was not found",
        check=_check_nat_gateway,
    ),
    EIP: Kind(
        called="EC2 EIP",
        source=f"{_API}AllocateAddress.html",
        id="eipalloc-{hex}",
        arn="arn:aws:ec2:{region}:{account}:elastic-ip/{id}",
        replaces=frozenset(
            {"address", "customerOwnedIpv4Pool", "domain", "ipamPoolId", "networkBorderGroup", "publicIpv4Pool"}
        ),
        forms={"domain": OneOf(("vpc",))},
        missing="InvalidAllocationID.NotFound: The allocation ID '{value}' does not exist",
        blocked="InvalidIPAddress.InUse: Address {id} is in use.",
        outputs={"allocationId": "{id}", "domain": "vpc", "publicIp": "203.0.113.{byte}", "publicIpv4Pool": "amazon"},
    ),
    ROUTE_TABLE: Kind(
        called="EC2 Route Table",
        source=f"{_API}CreateRouteTable.html",
        id="rtb-{hex}",
        arn="arn:aws:ec2:{region}:{account}:route-table/{id}",
        replaces=frozenset({"vpcId"}),
        references=(
            Reference("vpcId", VPC, blocks=True),
            Reference("routes.gatewayId", INTERNET_GATEWAY, only="igw-"),
            Reference("routes.natGatewayId", NAT_GATEWAY),
        ),
        forms={"routes.cidrBlock": Cidr()},
        missing="InvalidRouteTableID.NotFound: The routeTable ID '{value}' does not exist",
    ),
    "aws:ec2/route:Route": Kind(
        called="EC2 Route",
        source=f"{_API}CreateRoute.html",
        id="r-{routeTableId}-{hex}",
        replaces=frozenset(
            {"routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId"}
        ),
        references=(
            Reference("routeTableId", ROUTE_TABLE),
            Reference("gatewayId", INTERNET_GATEWAY, only="igw-"),
            Reference("natGatewayId", NAT_GATEWAY),
        ),
        forms={"destinationCidrBlock": Cidr()},
        one_of=(
            ("destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId"),
            (
                *("carrierGatewayId", "coreNetworkArn", "egressOnlyGatewayId", "gatewayId", "localGatewayId"),
                *("natGatewayId", "networkInterfaceId", "transitGatewayId", "vpcEndpointId", "vpcPeeringConnectionId"),
            ),
        ),
        unique=("routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId"),
        taken="RouteAlreadyExists: Route in Route Table ({routeTableId}) with destination already exists",
        outputs={"origin": "CreateRoute", "state": "active"},
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Kind(
        called="EC2 Route Table Association",
        source=f"{_API}AssociateRouteTable.html",
        id="rtbassoc-{hex}",
        replaces=frozenset({"subnetId", "gatewayId"}),
        references=(Reference("subnetId", SUBNET), Reference("routeTableId", ROUTE_TABLE)),
        one_of=(("subnetId", "gatewayId"),),
        unique=("subnetId", "gatewayId"),
        taken="Resource.AlreadyAssociated: the specified association for route table {routeTableId} conflicts with an "
        "existing association",
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Kind(
        called="EC2 VPC Endpoint",
        source=f"{_API}CreateVpcEndpoint.html",
        id="vpce-{hex}",
        arn="arn:aws:ec2:{region}:{account}:vpc-endpoint/{id}",
        replaces=frozenset(
            {
                *("resourceConfigurationArn", "serviceName", "serviceNetworkArn", "serviceRegion", "vpcEndpointType"),
                *("vpcId", "dnsOptions.privateDnsPreference", "dnsOptions.privateDnsSpecifiedDomains"),
            }
        ),
        defaults={"vpcEndpointType": "Gateway"},
        references=(
            Reference("vpcId", VPC, blocks=True),
            Reference("subnetIds", SUBNET, blocks=True),
            Reference("securityGroupIds", SECURITY_GROUP, blocks=True),
            Reference("routeTableIds", ROUTE_TABLE),
        ),
        forms={
            "vpcEndpointType": OneOf(
                ("Gateway", "GatewayLoadBalancer", "Interface", "Resource", "ServiceNetwork"),
            ),
        },
        one_of=(("serviceName", "resourceConfigurationArn", "serviceNetworkArn"),),
        unique=("vpcId", "serviceName", "vpcEndpointType"),
        taken="InvalidParameter: {vpcId} already has an endpoint of type {vpcEndpointType} for {serviceName}",
        outputs={"state": "available", "privateDnsEnabled": False, "ipAddressType": "ipv4"},
        check=_check_endpoint,
    ),
}
"""By type."""
