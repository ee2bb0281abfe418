"""Changes that a running cluster cannot follow: it would be destroyed, or the update would fail halfway."""

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_lws.planning.problems import Problem, shown

_FIXED: Mapping[str, str] = {
    "name": "a cluster cannot be renamed",
    "account": "a cluster cannot move",
    "region": "a cluster cannot move",
    "compute.kind": "a running cluster does not change who makes its nodes",
    "serviceCidr": "Services keep their addresses",
    "kmsKey": "Secrets stay encrypted with the key that they are encrypted with",
    "network.kind": "a cluster stays in its VPC",
    "network.cidr": "a VPC keeps its addresses, and a cluster stays in its VPC",
    "network.vpcId": "a cluster stays in its VPC",
}
"""Fields that a running cluster keeps, and why."""


def replacement_problems(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Problem]:
    """Return the changes from one declaration to the next that a running cluster cannot follow.

    Args:
        old: The declaration that the cluster was last updated with, as a stack file has it.
        new: The declaration to update it with.
    """
    return [*_fixed(old, new), *_zones(old, new), *_authentication(old, new), *_version(old, new)]


def _fixed(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Problem]:
    for path, reason in _FIXED.items():
        was, is_ = _at(old, path), _at(new, path)
        moved = path.startswith("network.") and _at(old, "network.kind") != _at(new, "network.kind")
        if was != is_ and not (moved and path != "network.kind"):
            yield _refused(path, shown(is_), shown(was), reason)


def _zones(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Problem]:
    """Subnets are laid out by the order of zones; those of the first two hold the control plane."""
    if _at(old, "network.kind") != _at(new, "network.kind"):
        return
    was, is_ = _at(old, "network.zones") or [], _at(new, "network.zones") or []
    if list(is_[: len(was)]) != list(was):
        yield _refused(
            "network.zones",
            ", ".join(is_),
            f"{', '.join(was)}, and further zones after them",
            "the subnets of zones that are left out or moved would be destroyed with all nodes in them",
        )
    before, now = _control_plane(old), _control_plane(new)
    if before != now:
        yield _refused(
            "network.privateSubnets", ", ".join(now), ", ".join(before), "the control plane stays in its subnets' zones"
        )


def _control_plane(declared: Mapping[str, Any]) -> list[str]:
    return sorted(_at(declared, "network.privateSubnets") or {})[:2]


def _authentication(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Problem]:
    was, is_ = _at(old, "authentication"), _at(new, "authentication")
    if (was, is_) == ("API", "API_AND_CONFIG_MAP"):
        yield _refused("authentication", shown(is_), shown(was), "EKS does not go back to aws-auth")


def _version(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Problem]:
    was, is_ = str(_at(old, "version")), str(_at(new, "version"))
    steps = _minor(is_) - _minor(was)
    if steps not in {0, 1}:
        reason = "a cluster cannot go back" if steps < 0 else "a cluster takes one minor version at a time"
        yield _refused("version", shown(is_), f"{shown(was)}, or '1.{_minor(was) + 1}'", reason)


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def _at(declared: Mapping[str, Any], path: str) -> Any:
    value: Any = declared
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _refused(path: str, found: str, kept: str, reason: str) -> Problem:
    return Problem(
        path,
        found,
        f"{kept}, as the running cluster has it: {reason}",
        "Change it back. To make another cluster instead and to destroy this one, with all that runs on it: apply"
        " protect: false first, then set allowReplacement: true.",
    )
