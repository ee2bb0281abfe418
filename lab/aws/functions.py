"""Answers of the functions that programs ask: about the account, its places, and what exists in it; pure."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lab.aws.kinds.eks import CLUSTER
from lab.aws.kinds.iam import ROLE
from lab.aws.kinds.kind import RefusedError
from lab.aws.kinds.network import ROUTE_TABLE, SECURITY_GROUP, SUBNET, VPC
from lab.aws.places import KUBERNETES_VERSIONS, MANAGED_POLICIES, PARTITION, offered, zones
from lab.aws.policy_documents import document
from lab.aws.state import Object
from lab.aws.values import Surroundings, addon_version
from pulumi_lws.facts.instances import INSTANCE_TYPES

Arguments = Mapping[str, Any]
Answer = dict[str, Any]


def answer(token: str, arguments: Arguments, around: Surroundings) -> Answer:
    """What a function returns.

    Raises:
        RefusedError: AWS would refuse, or nothing here knows the answer.
    """
    if token not in _ANSWERS:
        known = ", ".join(sorted(one.rpartition(":")[2] for one in _ANSWERS))
        raise RefusedError(f"This stand-in for AWS has no answer for {token}. It knows {known}.")
    return _ANSWERS[token](arguments, around)


def _caller_identity(_: Arguments, around: Surroundings) -> Answer:
    number = around.account.number
    arn = f"arn:aws:sts::{number}:assumed-role/lab/somebody"
    return {"accountId": number, "arn": arn, "id": number, "userId": "AROALAB:somebody"}


def _region(arguments: Arguments, around: Surroundings) -> Answer:
    region = arguments.get("region", around.region)
    endpoint = f"ec2.{region}.amazonaws.com"
    return {"id": region, "name": region, "region": region, "description": region, "endpoint": endpoint}


def _partition(_: Arguments, __: Surroundings) -> Answer:
    return {"id": PARTITION, "partition": PARTITION, "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}


def _availability_zones(arguments: Arguments, around: Surroundings) -> Answer:
    found = {
        name: zone_id
        for name, zone_id in zones(around.region).items()
        if name not in arguments.get("excludeNames", ()) and zone_id not in arguments.get("excludeZoneIds", ())
    }
    return {
        **arguments,
        "id": around.region,
        "groupNames": [around.region],
        "names": [*found],
        "zoneIds": [*found.values()],
    }


def _instance_type_offerings(arguments: Arguments, around: Surroundings) -> Answer:
    wanted = _filters(arguments).get("instance-type", list(INSTANCE_TYPES))
    places = _filters(arguments).get("location")
    by_id = arguments.get("locationType") == "availability-zone-id"
    rows = []
    for name in wanted:
        for zone in offered(name, around.region) if arguments.get("locationType", "region") != "region" else ["region"]:
            place = around.region if zone == "region" else zones(around.region)[zone] if by_id else zone
            if places is None or place in places:
                rows.append((name, place))
    kind = arguments.get("locationType", "region")
    return {
        **arguments,
        "id": around.region,
        "instanceTypes": [name for name, _ in rows],
        "locations": [place for _, place in rows],
        "locationTypes": [kind for _ in rows],
    }


def _instance_type(arguments: Arguments, _: Surroundings) -> Answer:
    name = arguments["instanceType"]
    if name not in INSTANCE_TYPES:
        raise RefusedError(f"InvalidInstanceType: The following supplied instance types do not exist: [{name}]")
    known = INSTANCE_TYPES[name]
    return {
        "id": name,
        "instanceType": name,
        "defaultVcpus": known.vcpus,
        "memorySize": known.memory_mib,
        "efaSupported": known.efa_interfaces > 0,
        "efaMaximumInterfaces": known.efa_interfaces,
        "maximumNetworkCards": max(1, known.efa_interfaces + known.ena_only_cards),
        "gpuses": [
            {"count": known.gpus, "name": known.gpu, "manufacturer": "NVIDIA", "memorySize": known.gpu_memory_mib}
        ],
    }


def _policy_document(arguments: Arguments, _: Surroundings) -> Answer:
    text = json.dumps(document(arguments), indent=2)
    minified = json.dumps(json.loads(text), separators=(",", ":"))
    return {**arguments, "id": _digest(text), "json": text, "minifiedJson": minified}


def _parameter(arguments: Arguments, around: Surroundings) -> Answer:
    name = arguments["name"]
    if found := around.account.find("aws:ssm/parameter:Parameter", name):
        value = found.outputs.get("value") or found.outputs.get("insecureValue")
        return {**found.outputs, **arguments, "id": name, "value": value}
    if re.fullmatch(r"/aws/service/(eks/optimized-ami|bottlerocket)/.+/(image_id|recommended/image_id)", name):
        # Made up, but always the same one for the same name.
        return {
            **arguments,
            "id": name,
            "type": "String",
            "version": 1,
            "value": f"ami-{_digest(name)[:17]}",
            "arn": "",
        }
    raise RefusedError(f"couldn't find resource: reading SSM Parameter ({name}): ParameterNotFound")


def _addon_version(arguments: Arguments, _: Surroundings) -> Answer:
    addon, kubernetes = arguments["addonName"], arguments["kubernetesVersion"]
    if kubernetes not in KUBERNETES_VERSIONS or not addon_version(addon, kubernetes):
        raise RefusedError(f"reading EKS Add-On version info ({addon}, {kubernetes}): couldn't find resource")
    return {**arguments, "id": addon, "version": addon_version(addon, kubernetes)}


def _cluster(arguments: Arguments, around: Surroundings) -> Answer:
    if found := around.account.find(CLUSTER, arguments["name"]):
        one = found.outputs
        wrapped = {name: [one[name]] for name in ("accessConfig", "kubernetesNetworkConfig") if one.get(name)}
        data = [{"data": one["certificateAuthority"]["data"]}]
        return {**one, **wrapped, "id": found.id, "name": found.id, "certificateAuthorities": data}
    raise RefusedError(f"reading EKS Cluster ({arguments['name']}): couldn't find resource")


def _role(arguments: Arguments, around: Surroundings) -> Answer:
    if found := around.account.find(ROLE, arguments["name"]):
        return {"roleLastUseds": [], **found.outputs, "id": found.id}
    raise RefusedError(f"reading IAM Role ({arguments['name']}): NoSuchEntity: The role cannot be found.")


def _policy(arguments: Arguments, around: Surroundings) -> Answer:
    arn = arguments.get("arn") or next(
        (one for one in MANAGED_POLICIES if one.endswith(f"/{arguments.get('name')}")), ""
    )
    if found := around.account.named("aws:iam/policy:Policy", "arn", arn):
        return {**found.outputs, "id": found.id}
    if arn in MANAGED_POLICIES:
        described = {"id": arn, "arn": arn, "name": arn.rpartition("/")[2], "description": "", "policy": "{}"}
        return {**described, "policyId": "ANPAAWS", "path": "/", "attachmentCount": 0, "tags": {}}
    raise RefusedError("reading IAM Policy: no matching IAM Policy found")


def _one(kind: str, called: str) -> Callable[[Arguments, Surroundings], Answer]:
    def find(arguments: Arguments, around: Surroundings) -> Answer:
        found = _matching(kind, arguments, around)
        if len(found) != 1:
            what = "no matching" if not found else "multiple"
            raise RefusedError(f"reading {called}: {what} {called} found; use additional constraints")
        extra = {"availableIpAddressCount": 0, "state": "available", "defaultForAz": False, "default": False}
        lists: Answer = {"cidrBlockAssociations": [], "routes": [], "associations": []}
        return {**extra, **lists, "tags": {}, **found[0].outputs, "id": found[0].id}

    return find


def _many(kind: str) -> Callable[[Arguments, Surroundings], Answer]:
    def find(arguments: Arguments, around: Surroundings) -> Answer:
        found = _matching(kind, arguments, around)
        arns = [one.outputs.get("arn", "") for one in found]
        return {
            "tags": {},
            **arguments,
            "id": around.region,
            "ids": [one.id for one in found],
            "arns": arns,
            "vpcIds": [],
        }

    return find


def _matching(kind: str, arguments: Arguments, around: Surroundings) -> list[Object]:
    """The objects of a type in a region that fit arguments, filters and tags."""
    plain = {name: value for name, value in arguments.items() if name not in ("filters", "tags", "region", "default")}
    found = []
    for one in around.account.of(kind):
        tags = one.outputs.get("tagsAll", {})
        fits = (
            one.outputs.get("region", around.region) == around.region
            and all(one.value(name) == value for name, value in plain.items())
            and arguments.get("tags", {}).items() <= tags.items()
            and all(_fits(one, tags, name, allowed) for name, allowed in _filters(arguments).items())
        )
        # The account has no default VPC, which new accounts have and careful owners delete.
        if fits and not arguments.get("default"):
            found.append(one)
    return found


def _fits(one: Object, tags: Mapping[str, str], name: str, allowed: Iterable[str]) -> bool:
    if name == "tag-key":
        return bool(set(allowed) & set(tags))
    if name.startswith("tag:"):
        value = tags.get(name.removeprefix("tag:"))
    else:
        words = name.split("-")
        value = one.value(words[0] + "".join(map(str.title, words[1:])))
    return any(re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), str(value)) for pattern in allowed)


def _filters(arguments: Arguments) -> dict[str, list[str]]:
    return {one["name"]: one["values"] for one in arguments.get("filters", [])}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_ANSWERS: dict[str, Callable[[Arguments, Surroundings], Answer]] = {
    "aws:ec2/getInstanceType:getInstanceType": _instance_type,
    "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings": _instance_type_offerings,
    "aws:ec2/getRouteTable:getRouteTable": _one(ROUTE_TABLE, "EC2 Route Table"),
    "aws:ec2/getSecurityGroup:getSecurityGroup": _one(SECURITY_GROUP, "EC2 Security Group"),
    "aws:ec2/getSecurityGroups:getSecurityGroups": _many(SECURITY_GROUP),
    "aws:ec2/getSubnet:getSubnet": _one(SUBNET, "EC2 Subnet"),
    "aws:ec2/getSubnets:getSubnets": _many(SUBNET),
    "aws:ec2/getVpc:getVpc": _one(VPC, "EC2 VPC"),
    "aws:ec2/getVpcs:getVpcs": _many(VPC),
    "aws:eks/getAddonVersion:getAddonVersion": _addon_version,
    "aws:eks/getCluster:getCluster": _cluster,
    "aws:iam/getPolicy:getPolicy": _policy,
    "aws:iam/getPolicyDocument:getPolicyDocument": _policy_document,
    "aws:iam/getRole:getRole": _role,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _availability_zones,
    "aws:index/getCallerIdentity:getCallerIdentity": _caller_identity,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getRegion:getRegion": _region,
    "aws:ssm/getParameter:getParameter": _parameter,
}

TOKENS = tuple(_ANSWERS)
"""Every function that has an answer."""
