"""IAM policy documents."""

from collections.abc import Mapping, Sequence
from typing import Any

Document = Mapping[str, Any]
"""An IAM policy document."""


def document(*statements: Mapping[str, Any]) -> Document:
    """Return a document of statements."""
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(
    sid: str,
    actions: str | Sequence[str],
    resources: str | Sequence[str] = "*",
    *,
    principal: Mapping[str, Any] | None = None,
    condition: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a statement; in a trust policy, which has a principal and no name, the resource is the role itself."""
    statement: dict[str, Any] = {"Sid": sid} if sid else {}
    statement |= {"Effect": "Allow"}
    if principal is not None:
        statement["Principal"] = principal
    statement["Action"] = actions
    if sid:
        statement["Resource"] = resources
    if condition is not None:
        statement["Condition"] = condition
    return statement
