"""What caches need of the cluster: EKS add-ons, and service accounts that may read S3."""

from collections.abc import Iterator, Mapping
from typing import Final

from pulumi_lws.caches.settings import Caches, Copy, NodeModel, S3Origin

_ADD_ONS: Final[Mapping[str, str]] = {"fsx-lustre": "aws-fsx-csi-driver", "efs": "aws-efs-csi-driver"}
"""EKS add-on with the CSI driver of each kind of volume; its pin is ``eks-<name>``."""


def csi_add_ons(caches: Caches) -> tuple[str, ...]:
    """Return the EKS add-ons without which the shared volumes cannot be mounted."""
    kinds = {volume.kind for volume in caches.shared_volumes.values()}
    return tuple(add_on for kind, add_on in _ADD_ONS.items() if kind in kinds)


def s3_readers(caches: Caches) -> dict[str | None, dict[str, tuple[str, ...]]]:
    """Return the folders in S3 that copies read, by service account, by team; None for the platform's namespace.

    A service account that is not named is the namespace's own, ``default``.
    """
    found: dict[str | None, dict[str, set[str]]] = {}
    for team, copy in _copies(caches):
        is_removed = isinstance(copy, NodeModel) and copy.remove
        if isinstance(copy.origin, S3Origin) and not is_removed:
            account = copy.service_account or "default"
            found.setdefault(team, {}).setdefault(account, set()).add(copy.origin.uri)
    return {team: {name: tuple(sorted(uris)) for name, uris in accounts.items()} for team, accounts in found.items()}


def accounts_of(caches: Caches) -> Iterator[tuple[str | None, str]]:
    """Yield the service accounts that pods of copies name, each with its team; None for the platform's namespace."""
    for team, copy in _copies(caches):
        if copy.service_account is not None:
            yield team, copy.service_account


def _copies(caches: Caches) -> Iterator[tuple[str | None, Copy]]:
    for model in caches.node_models.values():
        yield None, model
    for volume in caches.shared_volumes.values():
        for copy in volume.copies.values():
            yield volume.team, copy
