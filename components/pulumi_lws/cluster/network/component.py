"""The network of a cluster as a Pulumi component."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from pulumi_lws.cluster.component import sdk
from pulumi_lws.cluster.eks.iam import flow_log_policy, flow_log_trust
from pulumi_lws.cluster.eks.settings import partition_of
from pulumi_lws.cluster.network.layout import Subnet, network_problems, subnets_of
from pulumi_lws.cluster.network.settings import ExistingVpc, FlowLogs, Vpc, control_plane_zones
from pulumi_lws.component import raise_problems
from pulumi_lws.facts import labels


@dataclass(frozen=True)
class NetworkArgs:
    """What a :class:`Network` is made from.

    Attributes:
        network: The network, as in a stack file.
        cluster: Name of the cluster, for names and for the tag by which Karpenter finds subnets.
        account: Number of the AWS account.
        region: Region of the cluster.
        karpenter: Whether our own Karpenter makes the nodes, which needs further endpoints in an isolated network.
        protect: Whether the VPC is protected from being deleted.
    """

    network: Vpc | ExistingVpc
    cluster: str
    account: str
    region: str
    karpenter: bool = False
    protect: bool = True


class Network(pulumi.ComponentResource):
    """A VPC with private and public subnets, their routes and its endpoints; or the ids of one that exists.

    Args:
        name: Pulumi name of the component.
        args: What to make.
        opts: Give the AWS provider in ``providers``.

    Raises:
        DeclarationError: The network would not work.
    """

    vpc_id: pulumi.Input[str]
    """Id of the VPC."""
    private_subnets: Mapping[str, list[Any]]
    """Ids of the private subnets by zone; nodes live there."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        network = args.network
        raise_problems(network_problems(network, args.region, karpenter=args.karpenter), f"Network {name}")
        inputs = {"cluster": args.cluster, "network": network.model_dump(by_alias=True, exclude_none=True)}
        super().__init__("lws:index:Network", name, inputs, opts)
        self._name, self._args = name, args
        self.routes: list[pulumi.Resource] = []
        if isinstance(network, Vpc):
            self._make(network)
        else:
            self.vpc_id = network.vpc_id
            self.private_subnets = {zone: list(ids) for zone, ids in network.private_subnets.items()}
        self.register_outputs({"vpcId": self.vpc_id, "privateSubnets": self.private_subnets})

    @property
    def control_plane_subnets(self) -> list[Any]:
        """Ids of the two subnets in which EKS has its interfaces."""
        return [self.private_subnets[zone][0] for zone in control_plane_zones(self._args.network)]

    def _make(self, network: Vpc) -> None:
        ec2 = sdk("pulumi_aws").ec2
        vpc = ec2.Vpc(
            f"{self._name}-vpc",
            cidr_block=network.cidr,
            # Nodes find the API server and the endpoints by names that only the VPC resolves.
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._tags("vpc"),
            opts=pulumi.ResourceOptions(parent=self, protect=self._args.protect),
        )
        self.vpc_id = vpc.id
        subnets = {subnet: self._subnet(subnet) for subnet in subnets_of(network)}
        self.private_subnets = {subnet.zone: [made.id] for subnet, made in subnets.items() if not subnet.public}
        tables = self._route(network, subnets)
        self._endpoints(network, tables)
        if network.flow_logs is not None:
            self._flow_logs(network.flow_logs)

    def _subnet(self, subnet: Subnet) -> Any:
        kind = "public" if subnet.public else "private"
        found_by = (
            {"kubernetes.io/role/elb": "1"}
            if subnet.public
            else {"kubernetes.io/role/internal-elb": "1", labels.DISCOVERY: self._args.cluster}
        )
        return sdk("pulumi_aws").ec2.Subnet(
            f"{self._name}-{kind}-{subnet.zone}",
            vpc_id=self.vpc_id,
            availability_zone=subnet.zone,
            cidr_block=subnet.cidr,
            map_public_ip_on_launch=False,
            tags=self._tags(f"{kind}-{subnet.zone}") | found_by,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _route(self, network: Vpc, subnets: Mapping[Subnet, Any]) -> list[Any]:
        """Make gateways and route tables, and return the tables."""
        ec2 = sdk("pulumi_aws").ec2
        own = pulumi.ResourceOptions(parent=self)
        internet = ec2.InternetGateway(
            f"{self._name}-internet", vpc_id=self.vpc_id, tags=self._tags("internet"), opts=own
        )
        tables = {"public": self._table("public", gateway_id=internet.id)}
        nat = {"per-zone": network.zones, "single": network.zones[:1], "none": ()}[network.nat]
        gateways = {
            subnet.zone: self._nat_gateway(subnet.zone, made, internet)
            for subnet, made in subnets.items()
            if subnet.public and subnet.zone in nat
        }
        for zone in network.zones:
            gateway = gateways.get(zone) or next(iter(gateways.values()), None)
            tables[zone] = self._table(f"private-{zone}", **({"nat_gateway_id": gateway.id} if gateway else {}))
        for subnet, made in subnets.items():
            kind = "public" if subnet.public else "private"
            association = ec2.RouteTableAssociation(
                f"{self._name}-{kind}-{subnet.zone}",
                subnet_id=made.id,
                route_table_id=tables["public" if subnet.public else subnet.zone].id,
                opts=own,
            )
            self.routes.append(association)
        return list(tables.values())

    def _table(self, kind: str, **default: Any) -> Any:
        ec2 = sdk("pulumi_aws").ec2
        own = pulumi.ResourceOptions(parent=self)
        table = ec2.RouteTable(f"{self._name}-{kind}", vpc_id=self.vpc_id, tags=self._tags(kind), opts=own)
        if default:
            # A route of its own: mixed with routes inside the table they would undo one another.
            route = ec2.Route(
                f"{self._name}-{kind}-default",
                route_table_id=table.id,
                destination_cidr_block="0.0.0.0/0",
                opts=own,
                **default,
            )
            self.routes.append(route)
        return table

    def _nat_gateway(self, zone: str, subnet: Any, internet: Any) -> Any:
        ec2 = sdk("pulumi_aws").ec2
        address = ec2.Eip(
            f"{self._name}-nat-{zone}",
            domain="vpc",
            tags=self._tags(f"nat-{zone}"),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[internet]),
        )
        return ec2.NatGateway(
            f"{self._name}-nat-{zone}",
            subnet_id=subnet.id,
            allocation_id=address.id,
            tags=self._tags(f"nat-{zone}"),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[internet]),
        )

    def _endpoints(self, network: Vpc, tables: list[Any]) -> None:
        aws = sdk("pulumi_aws")
        own = pulumi.ResourceOptions(parent=self)
        prefix = f"com.amazonaws.{self._args.region}"
        s3 = aws.ec2.VpcEndpoint(
            f"{self._name}-s3",
            vpc_id=self.vpc_id,
            service_name=f"{prefix}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[table.id for table in tables],
            tags=self._tags("s3"),
            opts=own,
        )
        self.routes.append(s3)
        if not network.endpoints:
            return
        group = aws.ec2.SecurityGroup(
            f"{self._name}-endpoints",
            vpc_id=self.vpc_id,
            description="Endpoints of AWS services: HTTPS from the VPC",
            tags=self._tags("endpoints"),
            opts=own,
        )
        rule = aws.vpc.SecurityGroupIngressRule(
            f"{self._name}-endpoints-https",
            security_group_id=group.id,
            cidr_ipv4=network.cidr,
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            description="HTTPS from the VPC",
            opts=own,
        )
        subnets = [ids[0] for ids in self.private_subnets.values()]
        self.routes.append(rule)
        self.routes += [
            aws.ec2.VpcEndpoint(
                f"{self._name}-{service.replace('.', '-')}",
                vpc_id=self.vpc_id,
                service_name=f"{prefix}.{service}",
                vpc_endpoint_type="Interface",
                private_dns_enabled=True,
                subnet_ids=subnets,
                security_group_ids=[group.id],
                tags=self._tags(service),
                opts=own,
            )
            for service in network.endpoints
        ]

    def _flow_logs(self, logs: FlowLogs) -> None:
        aws = sdk("pulumi_aws")
        own = pulumi.ResourceOptions(parent=self)
        name, group_name = f"{self._name}-flow-logs", f"/aws/vpc/{self._args.cluster}"
        group = aws.cloudwatch.LogGroup(name, name=group_name, retention_in_days=logs.retention_days, opts=own)
        role = aws.iam.Role(name, assume_role_policy=json.dumps(flow_log_trust(self._args.account)), opts=own)
        arn = f"arn:{partition_of(self._args.region)}:logs:{self._args.region}:{self._args.account}:log-group"
        aws.iam.RolePolicy(name, role=role.name, policy=json.dumps(flow_log_policy(f"{arn}:{group_name}")), opts=own)
        aws.ec2.FlowLog(
            name,
            vpc_id=self.vpc_id,
            traffic_type=logs.traffic,
            log_destination_type="cloud-watch-logs",
            log_destination=group.arn,
            iam_role_arn=role.arn,
            tags=self._tags("flow-logs"),
            opts=own,
        )

    def _tags(self, name: str) -> dict[str, str]:
        network = self._args.network
        return {"Name": f"{self._args.cluster}-{name}", **(network.tags if isinstance(network, Vpc) else {})}
