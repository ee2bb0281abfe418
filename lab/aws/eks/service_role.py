"""``eks:index:ServiceRole``: a role for a service, with policies of AWS attached."""

import hashlib
import json
from collections.abc import Sequence

import pulumi

from lab.aws.eks.children import Child

_ID_LETTERS = 8


class ServiceRole(pulumi.ComponentResource):
    """A role.

    Args:
        name: Its name in the program.
        service: Who may assume it.
        policies: Names of the policies of AWS.
        options: Its options.
        description: What it is for.
        actions: What assuming it takes; ``sts:AssumeRole`` where none are given.
        tags: Tags of the role.

    Attributes:
        role: The role.
        attachments: Its policies.
    """

    def __init__(
        self,
        name: str,
        service: str,
        policies: Sequence[str],
        options: pulumi.ResourceOptions,
        *,
        description: str | None = None,
        actions: Sequence[str] = (),
        tags: pulumi.Input[dict[str, str]] | None = None,
    ) -> None:
        arns = [f"arn:aws:iam::aws:policy/{policy}" for policy in policies]
        given = {
            "service": service,
            "description": description,
            "managedPolicyArns": [{"id": arn, "arn": arn} for arn in arns],
            "assumeRoleActions": list(actions) or None,
            "tags": tags,
        }
        super().__init__("eks:index:ServiceRole", name, {key: one for key, one in given.items() if one}, options)
        own = pulumi.ResourceOptions(parent=self)
        principal = {"Service": [service]}
        statement = {"Action": list(actions) or ["sts:AssumeRole"], "Effect": "Allow", "Principal": principal}
        trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]}, separators=(",", ":"))
        inputs = {"description": description, "assumeRolePolicy": trust, "tags": tags}
        self.role = Child("aws:iam/role:Role", f"{name}-role", inputs, own)
        self.attachments = [
            Child(
                "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
                f"{name}-{hashlib.sha1(arn.encode(), usedforsecurity=False).hexdigest()[:_ID_LETTERS]}",
                {"policyArn": arn, "role": self.role},
                own,
            )
            for arn in arns
        ]
        self.register_outputs({"directRole": self.role, "resolvedRole": self.role})
