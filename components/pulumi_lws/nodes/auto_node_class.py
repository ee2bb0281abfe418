"""The NodeClass of EKS Auto Mode as a JSON schema.

AWS publishes no CustomResourceDefinition of ``eks.amazonaws.com/v1``. This is written from "Create a Node Class for
Amazon EKS" of the EKS user guide (state of July 2026) and the types of cdk-eks-blueprints. What it does not know yet
can still be said in a stack file, under ``nodeClass``; it is then not judged.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_lws.planning.problems import Problem, path_of, shown

Schema = dict[str, Any]


def _object(required: Sequence[str] = (), **fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def _list(items: Schema, **bounds: int) -> Schema:
    return {"type": "array", "items": items, **bounds}


def _one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def _whole(least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


def _exactly_one(*fields: str) -> Schema:
    return {"oneOf": [{"required": [field]} for field in fields]}


_TEXT: Schema = {"type": "string", "minLength": 1}
_YES_NO: Schema = {"type": "boolean"}
_TAGS: Schema = {"type": "object", "minProperties": 1, "maxProperties": 20, "additionalProperties": _TEXT}
_SUBNET = {**_object(id={"type": "string", "pattern": "^subnet-[0-9a-z]+$"}, tags=_TAGS), **_exactly_one("id", "tags")}
_SECURITY_GROUP = {
    **_object(id={"type": "string", "pattern": "^sg-[0-9a-z]+$"}, tags=_TAGS, name=_TEXT),
    **_exactly_one("id", "tags", "name"),
}
_RESERVATION = {
    # Karpenter calls the last one ownerID.
    **_object(
        id={"type": "string", "pattern": "^cr-[0-9a-z]+$"},
        tags=_TAGS,
        owner={"type": "string", "pattern": "^[0-9]{12}$"},
    ),
    **_exactly_one("id", "tags"),
}
_PLACEMENT_GROUP = {
    **_object(id={"type": "string", "pattern": "^pg-[0-9a-z]+$"}, name=_TEXT),
    **_exactly_one("id", "name"),
}
_INTERFACE = {
    **_object(
        ("networkCardIndex", "deviceIndex", "interfaceType"),
        networkCardIndex=_whole(0, 31),
        deviceIndex=_whole(0, 1),
        interfaceType=_one_of("interface", "efa-only"),
        secondaryIPv4PrefixCount=_whole(1, 32),
        secondaryIPv4Count=_whole(1, 50),
    ),
    # Addresses are for the first card only, and of one kind.
    "if": {"anyOf": [{"required": ["secondaryIPv4PrefixCount"]}, {"required": ["secondaryIPv4Count"]}]},
    "then": {
        "properties": {"networkCardIndex": {"const": 0}},
        "not": {"required": ["secondaryIPv4PrefixCount", "secondaryIPv4Count"]},
    },
}
_RESTRICTED_TAG = (
    r"^(kubernetes\.io/cluster/.*|karpenter\.sh/(provisioner-name|nodepool|nodeclaim|managed-by)"
    r"|eks\.amazonaws\.com/nodeclass)$"
)

SPEC: Schema = {
    **_object(
        ("subnetSelectorTerms", "securityGroupSelectorTerms"),
        role=_TEXT,
        instanceProfile=_TEXT,
        subnetSelectorTerms=_list(_SUBNET, minItems=1, maxItems=30),
        securityGroupSelectorTerms=_list(_SECURITY_GROUP, minItems=1, maxItems=30),
        podSubnetSelectorTerms=_list(_SUBNET, minItems=1, maxItems=30),
        podSecurityGroupSelectorTerms=_list(_SECURITY_GROUP, minItems=1, maxItems=30),
        snatPolicy=_one_of("Random", "Disabled"),
        networkPolicy=_one_of("DefaultAllow", "DefaultDeny"),
        networkPolicyEventLogs=_one_of("Enabled", "Disabled"),
        ephemeralStorage=_object(
            size={"type": "string", "pattern": "^[1-9][0-9]*(Gi|G|Ti|T)$"},
            iops=_whole(3_000, 16_000),
            throughput=_whole(125, 1_000),
            kmsKeyID=_TEXT,
        ),
        capacityReservationSelectorTerms=_list(_RESERVATION, maxItems=30),
        placementGroupSelector=_PLACEMENT_GROUP,
        advancedNetworking=_object(
            associatePublicIPAddress=_YES_NO,
            httpsProxy=_TEXT,
            noProxy=_list(_TEXT, maxItems=50),
            ipv4PrefixSize=_one_of("Auto", "32"),
            enableV4Egress=_YES_NO,
            networkInterfaces={
                **_list(_INTERFACE, maxItems=150),
                "contains": {
                    "properties": {
                        "networkCardIndex": {"const": 0},
                        "deviceIndex": {"const": 0},
                        "interfaceType": {"const": "interface"},
                    }
                },
            },
        ),
        advancedSecurity=_object(fips=_YES_NO),
        certificateBundles=_list(_object(("name", "data"), name=_TEXT, data=_TEXT)),
        tags={
            "type": "object",
            "propertyNames": {"minLength": 1, "not": {"pattern": _RESTRICTED_TAG}},
            "additionalProperties": {"type": "string"},
        },
    ),
    **_exactly_one("role", "instanceProfile"),
    "dependentRequired": {
        "podSubnetSelectorTerms": ["podSecurityGroupSelectorTerms"],
        "podSecurityGroupSelectorTerms": ["podSubnetSelectorTerms"],
    },
}
"""Schema of the ``spec``."""

FIELDS = frozenset(SPEC["properties"])
"""Fields of the ``spec`` that we know."""


def spec_problems(spec: Mapping[str, Any]) -> list[Problem]:
    """Return what Auto Mode would refuse of a NodeClass's ``spec``, as far as its fields are known."""
    # Most pools have no extra fields, and `lws plan` is to start quickly.
    import jsonschema_rs  # noqa: PLC0415

    known = {field: value for field, value in spec.items() if field in FIELDS}
    return [
        Problem(
            path_of(error.instance_path),
            shown(error.instance),
            error.message,
            "Write it as the user guide of EKS has it.",
        )
        for error in jsonschema_rs.validator_for(SPEC).iter_errors(known)
    ]
