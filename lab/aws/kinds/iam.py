"""Rules about IAM.

``source`` of each names the page of the IAM API that refuses, and what replaces is taken from the file of the same
resource below https://github.com/hashicorp/terraform-provider-aws/tree/main/internal/service/iam (``ForceNew``).
"""

from lab.aws.kinds.forms import Between, Policy, Text
from lab.aws.kinds.kind import Kind, Reference, RefusedError, Request
from lab.aws.places import MANAGED_POLICIES
from lab.aws.wire import UNKNOWN

ROLE = "aws:iam/role:Role"
POLICY = "aws:iam/policy:Policy"

_API = "https://docs.aws.amazon.com/IAM/latest/APIReference/API_"
_NAME = r"[\w+=,.@-]+"
_PATH = Text(512, r"/|/[\x21-\x7e]+/")
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
_IDENTITY_POLICY, _TRUST_POLICY, _ROLE_POLICY = (6144, 2048, 10240)


def _check_attachment(request: Request) -> None:
    arn = request.values["policyArn"]
    if arn != UNKNOWN and ":aws:policy/" in arn and arn not in MANAGED_POLICIES:
        raise RefusedError(
            f"NoSuchEntity: Policy {arn} does not exist or is not attachable. (If AWS has it, this stand-in's table "
            "MANAGED_POLICIES lacks it.)"
        )


KINDS: dict[str, Kind] = {
    ROLE: Kind(
        called="IAM Role",
        source=f"{_API}CreateRole.html",
        id="{name}",
        arn="arn:aws:iam::{account}:role{path}{name}",
        regional=False,
        replaces=frozenset({"name", "namePrefix", "path"}),
        defaults={"forceDetachPolicies": False, "maxSessionDuration": 3600, "path": "/"},
        references=(Reference("permissionsBoundary", POLICY, by=("arn",)),),
        forms={
            "name": Text(64, _NAME),
            "path": _PATH,
            "description": Text(1000, shortest=0),
            "maxSessionDuration": Between(3600, 43200),
            "assumeRolePolicy": Policy(_TRUST_POLICY, principal=True),
            "inlinePolicies.policy": Policy(_ROLE_POLICY, principal=False),
        },
        unique=("name",),
        taken="EntityAlreadyExists: Role with name {name} already exists.",
        missing="NoSuchEntity: The role {value} cannot be found.",
        blocked="DeleteConflict: Cannot delete entity, must detach all policies first.",
        outputs={"uniqueId": "AROA{HEX}"},
    ),
    "aws:iam/rolePolicy:RolePolicy": Kind(
        called="IAM Role Policy",
        source=f"{_API}PutRolePolicy.html",
        id="{role}:{name}",
        regional=False,
        replaces=frozenset({"name", "namePrefix", "role"}),
        references=(Reference("role", ROLE, by=("name",), blocks=True),),
        forms={
            "name": Text(128, _NAME),
            "role": Text(64, _NAME),
            "policy": Policy(_ROLE_POLICY, principal=False),
        },
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Kind(
        called="IAM Role Policy Attachment",
        source=f"{_API}AttachRolePolicy.html",
        id="{role}/{policyArn}",
        regional=False,
        replaces=frozenset({"role", "policyArn"}),
        references=(
            Reference("role", ROLE, by=("name",), blocks=True),
            Reference("policyArn", POLICY, by=("arn",), blocks=True),
        ),
        forms={"role": Text(64, _NAME), "policyArn": Text(2048, r"arn:aws[a-z-]*:iam::(aws|\d{12}):policy/.+")},
        check=_check_attachment,
    ),
    POLICY: Kind(
        called="IAM Policy",
        source=f"{_API}CreatePolicy.html",
        id="arn:aws:iam::{account}:policy{path}{name}",
        arn="{id}",
        regional=False,
        replaces=frozenset({"name", "namePrefix", "path", "description"}),
        defaults={"path": "/"},
        forms={
            "name": Text(128, _NAME),
            "path": _PATH,
            "policy": Policy(_IDENTITY_POLICY, principal=False),
        },
        unique=("name",),
        taken="EntityAlreadyExists: A policy called {name} already exists. Duplicate names are not allowed.",
        missing="NoSuchEntity: Policy {value} does not exist or is not attachable.",
        blocked="DeleteConflict: Cannot delete a policy attached to entities.",
        outputs={"policyId": "ANPA{HEX}", "attachmentCount": 0},
    ),
    "aws:iam/instanceProfile:InstanceProfile": Kind(
        called="IAM Instance Profile",
        source=f"{_API}CreateInstanceProfile.html",
        id="{name}",
        arn="arn:aws:iam::{account}:instance-profile{path}{name}",
        regional=False,
        replaces=frozenset({"name", "namePrefix", "path"}),
        defaults={"path": "/"},
        references=(Reference("role", ROLE, by=("name",), blocks=True),),
        forms={"name": Text(128, _NAME), "path": _PATH},
        unique=("name",),
        taken="EntityAlreadyExists: Instance Profile {name} already exists.",
        missing="InvalidParameterValue: Value ({value}) for parameter iamInstanceProfile is invalid.",
        outputs={"uniqueId": "AIPA{HEX}"},
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Kind(
        called="IAM OIDC Provider",
        source=f"{_API}CreateOpenIDConnectProvider.html",
        id="arn:aws:iam::{account}:oidc-provider/{url_path}",
        arn="{id}",
        regional=False,
        named_by="",
        replaces=frozenset({"url"}),
        forms={
            "url": Text(255, r"(https://)?[A-Za-z0-9.-]+(/[^?]*)?"),
            "thumbprintLists": Text(40, r"[0-9A-Fa-f]{40}", shortest=40),
        },
        unique=("url",),
        taken="EntityAlreadyExists: Provider with url {url} already exists.",
    ),
}
"""By type."""
